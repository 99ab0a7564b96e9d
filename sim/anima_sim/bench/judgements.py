"""The learner's judgements on cases that nothing was made from: right answers, confusion, calibration, cost."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import yaml
from rich.console import Console
from rich.progress import track

from anima.config import ROOT
from anima.planner.judge import Judge, Judgement, load_judge
from anima.planner.llm.base import Mind

HELD_OUT = ROOT / "tests" / "llm" / "heldout"
TICK_S = 0.02


def cases(name: str) -> list[dict[str, Any]]:
    """The held-out cases of a set."""
    found: list[dict[str, Any]] = yaml.safe_load((HELD_OUT / f"{name}.yaml").read_text(encoding="utf-8"))["cases"]
    return found


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The Wilson score interval of a share, 95 %."""
    if total == 0:
        return 0.0, 1.0
    p, n = right / total, float(total)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def _judge(judge: Judge, model: Mind, slots: dict[str, str]) -> Judgement:
    pending = judge.ask(model, slots)
    while (answer := pending.poll()) is None:
        time.sleep(TICK_S)
    return answer


def measure_role(name: str, model: Mind, console: Console) -> dict[str, Any]:
    """Right answers of a judgement on cases that it was not made from; beside it what cross-validation said."""
    judge = load_judge(name)
    tested = cases(name)
    right, sure, sure_right, seconds = 0, 0, 0, 0.0
    confused: dict[str, int] = {}
    p, hit = [], []
    for case in track(tested, description=f"{name:12}", console=console, transient=True):
        answer = _judge(judge, model, {slot: str(case[slot] or "") for slot in judge.slots})
        good = answer.best == case["label"]
        right += good
        sure += answer.is_sure
        sure_right += answer.is_sure and good
        seconds += answer.seconds
        p.append(answer.p)
        hit.append(good)
        if not good:
            key = f"{case['label']} taken for {answer.best}"
            confused[key] = confused.get(key, 0) + 1
    low, high = wilson(right, len(tested))
    figures: dict[str, Any] = {
        "cases": len(tested), "right": right, "accuracy": right / len(tested), "interval": [low, high],
        "unsure_share": 1 - sure / len(tested), "accuracy_when_sure": sure_right / max(1, sure),
        "calibration_error": calibration_error(p, hit), "seconds_per_call_s": seconds / len(tested),
        "confusion": dict(sorted(confused.items(), key=lambda item: -item[1])),
    }
    if judge.head is not None:
        figures |= {"training_cases": judge.head.origin.count, "training_accuracy": judge.head.origin.accuracy}
    console.print(
        f"{name:12} {right}/{len(tested)} right ({low:.0%}-{high:.0%}), unsure {figures['unsure_share']:.0%}, sure "
        f"{figures['accuracy_when_sure']:.0%}, calibration error {figures['calibration_error']:.3f}, cross-validated "
        f"{figures.get('training_accuracy', 0.0):.0%}, {figures['seconds_per_call_s']:.2f} s a call"
    )
    for line, count in list(figures["confusion"].items())[:4]:
        console.print(f"{'':12}   {line}: {count}", style="dim")
    return figures


def calibration_error(p: Sequence[float], hit: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: how far probability and share of right answers lie apart, over bins of p."""
    which = np.minimum((np.asarray(p) * bins).astype(int), bins - 1)
    hits, ps = np.asarray(hit, float), np.asarray(p)
    parts = [(which == b) for b in range(bins) if (which == b).any()]
    return float(sum(abs(hits[b].mean() - ps[b].mean()) * b.sum() for b in parts) / len(ps))


def measure_merges(model: Mind, console: Console) -> dict[str, Any]:
    """What an observation does to the lessons that stand: confirm one, contradict one, or neither."""
    judge = load_judge("contradicts")
    right, confused = 0, dict[str, int]()
    tested = cases("lesson_merge")
    for case in track(tested, description="merges", console=console, transient=True):
        best = ("neither", None, 0.0)
        for lesson in case["lessons"]:
            answer = _judge(judge, model, {"first": str(lesson["rule"]), "second": str(case["observation"])})
            if answer.is_sure and answer.label != "unrelated" and answer.p > best[2]:
                best = ("confirm" if answer.label == "same" else "contradict", lesson["id"], answer.p)
        label = case["label"] if case["label"] in ("confirm", "contradict") else "neither"
        good = best[0] == label and (label == "neither" or best[1] == case["lesson"])
        right += good
        if not good:
            key = f"{label} taken for {best[0]}"
            confused[key] = confused.get(key, 0) + 1
    low, high = wilson(right, len(tested))
    console.print(f"{'merges':12} {right}/{len(tested)} right ({low:.0%}-{high:.0%}) {confused or ''}", markup=False)
    return {"merges": len(tested), "merges_right": right, "merges_confusion": confused}
