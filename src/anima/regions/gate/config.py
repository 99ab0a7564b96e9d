"""The numbers of the gate."""

from __future__ import annotations

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml


class GateTuning(Tuning):
    """How stubborn the robot is, and how sure it wants to be (`config/gate.yaml`).

    `retries_per_signature` up: the same call that fails in the same way is tried again more often.
    `failures_per_objective`, `calls_per_objective` up: it goes on longer in varied ways before it gives up.
    `refusals_in_a_row` up: the planner may propose longer what the validator refuses.
    `stable_s` up: a condition must hold longer before its objective counts as done.
    `look_s` up: after a call the next one waits longer for the world to be looked at, when nothing new is said of it.
    `settle_s` up: it waits longer for the end of a skill that was taken back, before it calls the skill lost.
    `resume_after_s` up: after a transient stop it waits longer before it goes on.
    `deadline_grace_s` up: a skill has more time to report its own timeout before its lease is taken back.
    `failures_told` up: the planner is reminded of more past failures. `finished_kept` up: others see longer how
    objectives ended. `repeat_s` up: the backlog is repeated less often.
    """

    retries_per_signature: int = Field(ge=0, le=20)
    failures_per_objective: int = Field(ge=1, le=100)
    calls_per_objective: int = Field(ge=1, le=1000)
    refusals_in_a_row: int = Field(ge=1, le=100)
    stable_s: float = Field(ge=0, le=10)
    look_s: float = Field(ge=0, le=10)
    settle_s: float = Field(gt=0, le=60)
    resume_after_s: float = Field(ge=0, le=60)
    deadline_grace_s: float = Field(ge=0, le=10)
    failures_told: int = Field(ge=0, le=20)
    finished_kept: int = Field(ge=0, le=100)
    repeat_s: float = Field(gt=0, le=60)


def load_gate() -> GateTuning:
    """The gate's tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "gate.yaml"
    tuning: GateTuning = parse(GateTuning, read_yaml(file), str(file))
    return tuning
