"""Training a judgement's head: hidden states of its cases (kept on disk), then the fit."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anima.planner.judging import fit
from anima.planner.judging.head import Head, Origin
from anima.planner.judging.question import Case, Question, cases_digest
from anima.planner.llm.base import LlmError, Mind, Read, State, wait
from anima.planner.llm.llama import cache_folder

# Deeper layers tell no more and cost more: a reading computes no layer behind the deepest one that it needs.
LAST = tuple(State(layer / 28, "last") for layer in (12, 14, 15, 16))
SPAN = tuple(State(layer / 28, "span") for layer in (11, 13, 15))
SAVE_EVERY = 20  # cases, so that a training that is killed goes on where it was
CANDIDATES: tuple[tuple[State, ...], ...] = (
    *((last, span) for last in LAST[1:] for span in SPAN[1:] if span.depth <= last.depth),
    (LAST[-1],),
    LAST,
    (*LAST, SPAN[-1]),
    (*LAST, *SPAN),
)


class TrainingError(ValueError):
    """Cases that nothing can be learned from; the message says why."""


class StateCache:
    """Hidden states of the cases of one judgement, in one file, so that a change of the fit costs seconds."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self._path = (folder or cache_folder() / "states") / f"{name}.npz"
        self._states: dict[str, NDArray[np.float16]] = {}
        self.model = ""
        if self._path.is_file():
            try:
                with np.load(self._path, allow_pickle=False) as data:
                    rows = len(LAST) + len(SPAN)
                    self._states = {k: data[k] for k in data.files if k != "model" and len(data[k]) == rows}
                    self.model = str(data["model"])
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                self._states = {}  # computed anew

    def key(self, question: Question, case: Case) -> str:
        """Identifies a case under a question's wording."""
        return hashlib.sha256(repr((question.digest, sorted(case.slots.items()))).encode()).hexdigest()[:24]

    def get(self, key: str) -> NDArray[np.float16] | None:
        """States (rows of `LAST` and `SPAN`, width) of a case."""
        return self._states.get(key)

    def put(self, key: str, read: Read) -> None:
        """Keep what was read; states of another model go."""
        if read.model != self.model:
            self._states, self.model = {}, read.model
        self._states[key] = read.states.astype(np.float16)

    def save(self, wanted: Sequence[str]) -> None:
        """Write what is still wanted."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_name(f"{self._path.name}.part")
        kept = {key: self._states[key] for key in wanted if key in self._states}
        with part.open("wb") as file:
            np.savez(file, model=np.array(self.model), **kept)  # type: ignore[arg-type]
        part.replace(self._path)


def states_of(
    name: str, question: Question, cases: Sequence[Case], model: Mind, cache: StateCache,
    progress: Callable[[float], None], model_key: str,
) -> dict[State, NDArray[np.float64]]:
    """(cases, width) for each state; what the cache does not have is asked of the model."""
    keys = [cache.key(question, case) for case in cases]
    rows, unsaved = [], 0
    try:
        for number, (key, case) in enumerate(zip(keys, cases, strict=True)):
            known = cache.get(key) if cache.model == model_key else None
            if known is None:
                read = wait(model.read(question.reading(name, case.slots, (*LAST, *SPAN), background=True)))
                if read.error:
                    raise LlmError(read.error)
                cache.put(key, read)
                known = read.states.astype(np.float16)
                unsaved += 1
                if unsaved % SAVE_EVERY == 0:
                    cache.save(keys)
            rows.append(known)
            progress((number + 1) / len(cases))
    finally:
        cache.save(keys)
    table = np.stack(rows).astype(np.float64)
    return {state: table[:, i] for i, state in enumerate((*LAST, *SPAN))}


def train(
    question: Question, cases: Sequence[Case], states: dict[State, NDArray[np.float64]], model_key: str,
    progress: Callable[[float], None],
) -> tuple[Head, fit.Choice]:
    """The best head for labelled states. Raises `TrainingError` for a label with too few cases."""
    labels = tuple(question.labels)
    y = np.array([labels.index(case.label) for case in cases])
    for number, label in enumerate(labels):
        if int((y == number).sum()) < fit.FOLDS:
            raise TrainingError(f"the label {label!r} has fewer than {fit.FOLDS} cases")
    groups = [case.group for case in cases]
    if len(set(groups)) < fit.FOLDS:
        raise TrainingError(f"the cases are of fewer than {fit.FOLDS} groups")
    choice = fit.choose(states, CANDIDATES, y, groups, len(labels), question.unsure_below, progress)
    x = fit.joined(states, choice.states)
    scaling = fit.Scaling.of(x)
    scaled = scaling(x)
    basis = fit.Basis(scaled)
    table, bias = fit.regress(basis.coordinates(scaled), y, len(labels), choice.strength)
    weights = basis.weights(table)
    seen = choice.figures
    return (
        Head(
            labels=labels,
            states=choice.states,
            mean=scaling.mean.astype(np.float32),
            scale=scaling.scale.astype(np.float32),
            weights=weights.astype(np.float32),
            bias=bias.astype(np.float32),
            temperature=choice.temperature,
            origin=Origin(
                model=model_key,
                question=question.digest,
                cases=cases_digest(list(cases)),
                count=len(cases),
                accuracy=round(seen.accuracy, 4),
                unsure=round(seen.unsure, 4),
                sure_accuracy=round(seen.sure_accuracy, 4),
                calibration_error=round(seen.calibration_error, 4),
            ),
        ),
        choice,
    )
