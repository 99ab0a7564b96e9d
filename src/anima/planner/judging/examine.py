"""How well a judgement does on labelled cases: asked one after the other, as the robot asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from anima.config import ROOT
from anima.planner.judge import Judge, Judgement
from anima.planner.judging.fit import Figures, figures
from anima.planner.judging.question import Case
from anima.planner.llm.base import LlmError, Mind, wait

HELD_OUT = ROOT / "tests" / "llm" / "heldout"  # cases by another hand, used for nothing but this
HELD_OUT_SETS = {"first": HELD_OUT, "second": ROOT / "tests" / "llm" / "heldout2"}  # the second is for the final word


@dataclass(frozen=True)
class Exam:
    """What came of it. `seconds` is the median of a call, the first left out: it makes the prefix ready."""

    name: str
    labels: tuple[str, ...]
    figures: Figures
    seconds: float

    def record(self) -> dict[str, Any]:
        """For programs."""
        found = self.figures
        return {
            "cases": found.count,
            "accuracy": round(found.accuracy, 4),
            "unsure": round(found.unsure, 4),
            "accuracy_among_sure": round(found.sure_accuracy, 4),
            "calibration_error": round(found.calibration_error, 4),
            "seconds_per_call_s": round(self.seconds, 3),
            "labels": list(self.labels),
            "confusion": [list(row) for row in found.confusion],
        }


def asked(judge: Judge, slots: dict[str, str], model: Mind) -> Judgement:
    """A judgement, waited for. Raises `LlmError` when the model can't make it."""
    judged = wait(judge.ask(model, slots))
    if judged.error:
        raise LlmError(judged.error)
    return judged


def examine(judge: Judge, cases: Sequence[Case], model: Mind, progress: Callable[[float], None]) -> Exam:
    """Ask about every case and compare with its label."""
    rows, seconds = [], []
    for number, case in enumerate(cases, 1):
        judged = asked(judge, case.slots, model)
        rows.append([judged.probabilities[label] for label in judge.labels])
        seconds.append(judged.seconds)
        progress(number / len(cases))
    y = np.array([judge.labels.index(case.label) for case in cases])
    found = figures(np.array(rows), y, judge.question.unsure_below)
    return Exam(judge.name, judge.labels, found, median(seconds[1:] or seconds))
