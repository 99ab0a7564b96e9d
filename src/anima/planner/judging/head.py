"""A linear head on hidden states: weights, calibration, and what it was learned from."""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anima.config import ROOT
from anima.planner.llm.base import State

FORMAT = 1


class HeadError(ValueError):
    """A head that can't be used; the message says which, why and how to train one that fits."""


@dataclass(frozen=True)
class Origin:
    """What a head was learned from, and how well it did on cases that it had not seen (cross-validation)."""

    model: str
    question: str
    cases: str
    count: int
    accuracy: float
    unsure: float
    sure_accuracy: float
    calibration_error: float


@dataclass(frozen=True)
class Head:
    """Probabilities of `labels` from the states that `states` name, one row each.

    Each row is scaled to length 1, all are joined, shifted by `mean` and divided by `scale`, multiplied with
    `weights` (labels, features) and divided by `temperature` before the softmax.
    """

    labels: tuple[str, ...]
    states: tuple[State, ...]
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    temperature: float
    origin: Origin

    def judge(self, states: NDArray[np.float32]) -> dict[str, float]:
        """Label -> probability."""
        return dict(zip(self.labels, map(float, softmax(self.scores(features(states)))), strict=True))

    def scores(self, x: NDArray[np.float32]) -> NDArray[np.float64]:
        """Calibrated scores of features (…, n): softmax makes probabilities of them."""
        scaled = (x - self.mean) / self.scale
        scores: NDArray[np.float64] = (scaled @ self.weights.T + self.bias).astype(np.float64) / self.temperature
        return scores

    def save(self, path: Path) -> None:
        """Write it as one file of arrays, replacing what was there in one go."""
        path.parent.mkdir(parents=True, exist_ok=True)
        about = {
            "format": FORMAT,
            "labels": self.labels,
            "states": [asdict(state) for state in self.states],
            "temperature": self.temperature,
            "origin": asdict(self.origin),
        }
        part = path.with_name(f"{path.name}.part")
        with part.open("wb") as file:
            np.savez_compressed(
                file, about=json.dumps(about), weights=self.weights.astype(np.float16),
                bias=self.bias, mean=self.mean.astype(np.float16), scale=self.scale.astype(np.float16),
            )
        part.replace(path)


def features(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """States (…, rows, width) as features (…, rows * width): each row scaled to length sqrt(width)."""
    width = states.shape[-1]
    length = np.linalg.norm(states, axis=-1, keepdims=True)
    normal = states * (np.sqrt(width) / np.maximum(length, 1e-12))
    return np.asarray(normal.reshape(*states.shape[:-2], -1), np.float32)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores (…, labels) as probabilities."""
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=-1, keepdims=True), np.float64)


def head_file(name: str) -> Path:
    """Where the head of a judgement is."""
    return ROOT / "models" / "heads" / f"{name}.npz"


def load_head(name: str, path: Path | None = None) -> Head:
    """The trained head of a judgement. Raises `HeadError` when there is none or the file can't be used."""
    path = path or head_file(name)
    train = f"train it with `anima judges train {name}`"
    if not path.is_file():
        raise HeadError(f"{path}: there is no head for the judgement {name!r}; {train}")
    try:
        with np.load(path, allow_pickle=False) as data:
            about = json.loads(str(data["about"]))
            if about["format"] != FORMAT:
                raise HeadError(f"{path}: the format {about['format']} is not read by this version; {train}")
            return Head(
                labels=tuple(about["labels"]),
                states=tuple(State(**state) for state in about["states"]),
                mean=data["mean"].astype(np.float32),
                scale=data["scale"].astype(np.float32),
                weights=data["weights"].astype(np.float32),
                bias=data["bias"].astype(np.float32),
                temperature=float(about["temperature"]),
                origin=Origin(**about["origin"]),
            )
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        if isinstance(error, HeadError):
            raise
        raise HeadError(f"{path}: this is no head ({error}); {train}") from error
