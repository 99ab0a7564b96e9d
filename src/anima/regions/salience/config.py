"""The numbers of the amygdala."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

Interrupt = Literal["none", "deliberation", "execution"]


class KindRule(Tuning):
    """What a kind of event is by itself. `urgency` up: it matters more. `why` in words, for people.

    `may` is the most that it can interrupt. `threat`: caution makes it weigh more. `energy`: it is about power, so the
    drive to charge makes it weigh more, and docking is never interrupted for it. `after` up: it must come so often
    within `repeat_window_s` before it can interrupt execution.
    """

    urgency: float = Field(ge=0, le=1)
    why: str = Field(min_length=1)
    may: Interrupt = "none"
    threat: bool = False
    energy: bool = False
    after: int = Field(default=1, ge=1, le=100)


class SalienceTuning(Tuning):
    """What matters, and how much the situation adds (`config/salience.yaml`).

    `kinds`: rules by ``kind`` or ``kind/subject``; `others` for the rest. `focus_gain` up: what concerns the objective
    in focus matters more. `searched_gain` up: it jumps more at the sight of what it looks for. `dropped_gain` up: an
    object that slips from the hand matters more. `moving_gain` up: threats matter more while it moves. `giver_gain`
    up: who gave the order in focus is heeded more than others. `drive_gain` up: an empty battery makes power matter
    more. `repeat_gain` up: what repeats within `repeat_window_s` grows urgent sooner. `caution_gain` up: temperament
    makes more of a difference: skittish robots start at less, stoic ones bear more. `deliberation_from`,
    `execution_from` up: it takes more to break off a thought, or a deed.
    """

    kinds: dict[str, KindRule]
    others: KindRule
    focus_gain: float = Field(ge=0, le=1)
    searched_gain: float = Field(ge=0, le=1)
    dropped_gain: float = Field(ge=0, le=1)
    moving_gain: float = Field(ge=0, le=1)
    giver_gain: float = Field(ge=0, le=1)
    drive_gain: float = Field(ge=0, le=1)
    repeat_gain: float = Field(ge=0, le=1)
    repeat_window_s: float = Field(gt=0, le=600)
    caution_gain: float = Field(ge=0, le=1)
    deliberation_from: float = Field(gt=0, le=1)
    execution_from: float = Field(gt=0, le=1)

    def rule(self, kind: str, subject: str) -> KindRule:
        """The rule for an event, the most particular first."""
        return self.kinds.get(f"{kind}/{subject}") or self.kinds.get(kind) or self.others


def load_salience() -> SalienceTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "salience.yaml"
    tuning: SalienceTuning = parse(SalienceTuning, read_yaml(file), str(file))
    return tuning
