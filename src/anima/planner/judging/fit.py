"""Learning a head from labelled states: multinomial logistic regression, chosen and calibrated by cross-validation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from anima.planner.judging.head import features, softmax
from anima.planner.llm.base import State

FOLDS = 5
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)  # weight of the cases against that of small weights
BINS = 10
ALIKE = 0.2  # how much cases of one group have in common; turned up, a head of few groups is less sure

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]


@dataclass(frozen=True)
class Figures:
    """How well probabilities agree with labels. `accuracy` counts the likeliest answer of every case, `sure_accuracy`
    only of those at or above the bar, `unsure` is the share below it; `calibration_error` is the expected one, 0..1.
    """

    count: int
    accuracy: float
    unsure: float
    sure_accuracy: float
    calibration_error: float
    confusion: tuple[tuple[int, ...], ...]


def figures(p: Floats, y: Whole, bar: float) -> Figures:
    """Figures of probabilities `p` (cases, labels) against label numbers `y`."""
    best, top = p.argmax(axis=1), p.max(axis=1)
    right, sure = best == y, top >= bar
    confusion = np.zeros((p.shape[1], p.shape[1]), int)
    np.add.at(confusion, (y, best), 1)
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    error = sum(
        abs(float(right[bins == b].mean()) - float(top[bins == b].mean())) * float((bins == b).mean())
        for b in range(BINS)
        if (bins == b).any()
    )
    return Figures(
        count=len(y),
        accuracy=float(right.mean()),
        unsure=float(1 - sure.mean()),
        sure_accuracy=float(right[sure].mean()) if sure.any() else 0.0,
        calibration_error=error,
        confusion=tuple(tuple(map(int, row)) for row in confusion),
    )


@dataclass(frozen=True)
class Scaling:
    """Shift and scale of features, from the cases that are learned from."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, x: Floats) -> Scaling:
        """Zero mean and unit deviation; a feature that hardly varies is not blown up."""
        deviation = x.std(axis=0)
        return cls(x.mean(axis=0), np.maximum(deviation, 0.1 * float(np.median(deviation)) + 1e-6))

    def __call__(self, x: Floats) -> Floats:
        return (x - self.mean) / self.scale


class Basis:
    """The span of the cases. There are far fewer cases than features, and the best weights of a penalized regression
    lie in it: the problem is solved there, in as many dimensions as cases (exact, not an approximation).
    """

    def __init__(self, x: Floats) -> None:
        values, vectors = np.linalg.eigh(x @ x.T)
        keep = values > values[-1] * 1e-10
        self._x, self._by = x, vectors[:, keep] / np.sqrt(values[keep])

    def coordinates(self, x: Floats) -> Floats:
        """Cases (n, features) in the span's coordinates."""
        return np.asarray((x @ self._x.T) @ self._by, np.float64)

    def weights(self, table: Floats) -> Floats:
        """Weights (labels, coordinates) as weights of features."""
        return np.asarray((table @ self._by.T) @ self._x, np.float64)


def regress(z: Floats, y: Whole, labels: int, strength: float) -> tuple[Floats, Floats]:
    """Weights (labels, n) and biases of a logistic regression with L2 penalty, every label counting alike."""
    n, d = z.shape
    weight = n / (labels * np.maximum(np.bincount(y, minlength=labels), 1))[y]
    wanted = np.eye(labels)[y]

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(labels, d + 1)
        p = softmax(z @ table[:, :d].T + table[:, d])
        value = -strength * float(np.sum(weight * np.log(np.maximum(p[np.arange(n), y], 1e-300))))
        value += 0.5 * float(np.sum(table[:, :d] ** 2))
        away = strength * weight[:, None] * (p - wanted)
        gradient = np.hstack([away.T @ z + table[:, :d], away.sum(axis=0)[:, None]])
        return value, gradient.ravel()

    found = minimize(loss, np.zeros(labels * (d + 1)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    table = found.x.reshape(labels, d + 1)
    return table[:, :d], table[:, d]


def folds(groups: Sequence[str], seed: int) -> Whole:
    """A fold for each case; cases of one group (one household, one author, the same words first) stay together: what is
    tested is then as strange to the head as what comes from the next household."""
    order = {
        group: int.from_bytes(hashlib.sha256(f"{seed} {group}".encode()).digest()[:8], "big") for group in set(groups)
    }
    rank = {group: i % FOLDS for i, group in enumerate(sorted(order, key=lambda g: order[g]))}
    return np.array([rank[group] for group in groups])


def unseen_scores(x: Floats, y: Whole, labels: int, fold: Whole) -> dict[float, Floats]:
    """Scores of each case by a head that was learned from the other folds, for each strength."""
    scores = {strength: np.zeros((len(y), labels)) for strength in STRENGTHS}
    for number in sorted(set(fold)):
        train, test = fold != number, fold == number
        scaling = Scaling.of(x[train])
        known, unknown = scaling(x[train]), scaling(x[test])
        basis = Basis(known)
        z, z_test = basis.coordinates(known), basis.coordinates(unknown)
        for strength in STRENGTHS:
            weights, bias = regress(z, y[train], labels, strength)
            scores[strength][test] = z_test @ weights.T + bias
    return scores


def worth(cases: int, groups: int) -> float:
    """How many unlike cases so many cases in so many groups of equal size are worth (Kish's design effect)."""
    return cases / (1.0 + (cases / groups - 1.0) * ALIKE)


def temperature_of(scores: Floats, y: Whole, seen: float) -> float:
    """The temperature at which scores become the most honest probabilities (least negative log-likelihood).

    However well `seen` unlike cases were told apart, the next may be otherwise: every answer counts as if one more case
    had turned out to have it (Platt's rule). Without it a head that makes no mistake on its cases would be certain of
    everything.
    """
    labels = scores.shape[1]
    wanted = (seen * np.eye(labels)[y] + 1.0) / (seen + labels)

    def loss(log_t: float) -> float:
        p = softmax(scores / np.exp(log_t))
        return -float(np.mean(np.sum(wanted * np.log(np.maximum(p, 1e-300)), axis=1)))

    found: Any = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded")
    return float(np.exp(found.x))


def calibrated(scores: Floats, y: Whole, fold: Whole, seen: float) -> Floats:
    """Probabilities of unseen cases, each fold's temperature taken from the others."""
    p = np.zeros_like(scores)
    for number in set(fold):
        others = fold != number
        p[~others] = softmax(scores[~others] / temperature_of(scores[others], y[others], seen))
    return p


@dataclass(frozen=True)
class Choice:
    """Which states and which strength did best on unseen cases, and how well."""

    states: tuple[State, ...]
    strength: float
    temperature: float
    likelihood: float
    figures: Figures


def choose(
    states: dict[State, Floats], candidates: Sequence[tuple[State, ...]], y: Whole, groups: Sequence[str], labels: int,
    bar: float, progress: Callable[[float], None], seed: int = 0,
) -> Choice:
    """The best of the candidates by the likelihood of unseen cases. `states` has (cases, width) for each state."""
    fold, seen = folds(groups, seed), worth(len(y), len(set(groups)))
    best: Choice | None = None
    for number, candidate in enumerate(candidates):
        x = joined(states, candidate)
        for strength, scores in unseen_scores(x, y, labels, fold).items():
            p = calibrated(scores, y, fold, seen)
            likelihood = float(np.mean(np.log(np.maximum(p[np.arange(len(y)), y], 1e-12))))
            if best is None or likelihood > best.likelihood:
                found = figures(p, y, bar)
                best = Choice(candidate, strength, temperature_of(scores, y, seen), likelihood, found)
        progress((number + 1) / len(candidates))
    assert best is not None
    return best


def joined(states: dict[State, Floats], candidate: Sequence[State]) -> Floats:
    """Features (cases, n) of the states of a candidate."""
    rows = np.stack([states[state] for state in candidate], axis=1).astype(np.float32)
    return features(rows).astype(np.float64)
