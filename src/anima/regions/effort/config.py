"""The numbers of the conflict monitor."""

from __future__ import annotations

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml


class ConflictTuning(Tuning):
    """How soon effort without progress is noticed (`config/acc.yaml`).

    `stall_after_s` up: a running skill may stand still for longer. `min_gain` up: it must gain more to count as
    getting on. `same_failures` up: the same call may fail in the same world in the same way more often.
    `same_successes` up: the same call may succeed without changing anything more often, `same_waits` the same for
    waiting. `calls_without_progress` up: more calls may leave the condition as far away as it was. `longest_cycle` up:
    longer rounds of tactics are recognized. `escalate_from`, `ask_from` up: more conflicts over one objective before
    it is set aside, or a person is asked. `look_s` up: it waits longer for the world to be looked at before it judges
    a success.
    """

    stall_after_s: float = Field(gt=0, le=600)
    min_gain: float = Field(gt=0, lt=1)
    same_failures: int = Field(ge=2, le=20)
    same_successes: int = Field(ge=2, le=20)
    same_waits: int = Field(ge=2, le=100)
    calls_without_progress: int = Field(ge=2, le=100)
    longest_cycle: int = Field(ge=2, le=6)
    escalate_from: int = Field(ge=1, le=20)
    ask_from: int = Field(ge=1, le=20)
    look_s: float = Field(ge=0, le=10)


def load_conflict() -> ConflictTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "acc.yaml"
    tuning: ConflictTuning = parse(ConflictTuning, read_yaml(file), str(file))
    return tuning
