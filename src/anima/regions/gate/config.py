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

    Frustration, in failed calls: `patience` up: an objective may frustrate longer before it is set aside.
    `repeat_frustration`, `conflict_frustration`, `denial_frustration` up: the same failure again, effort without
    progress, a proposal that is denied, weigh more. `progress_relief`, `rest_relief` up: less of the frustration is
    left after progress and after a rest. `rest_s` up: what was set aside comes back later; `rests` up: more often.
    `answer_s` up: it waits longer for an answer to its question before it gives up.

    Attention: `avoid_s` up: a tactic that led nowhere stays forbidden longer. `hear_s` up: a loop waits longer for what
    a person's words lead to. `forecast_wait_s` up: a call waits longer for its forecast.

    Energy: `charge_drive_postpones` up: it leaves for the dock later. `charge_to_percent` up: it charges longer.
    `charge_wait_s` up: it looks less often whether it is charged. `detour`, `search_m` up: ways and searches count as
    longer, so that fewer errands are begun on a low battery. `survival_retry_s` up: after a failed way to the dock it
    tries again later.

    Initiative: `explorations_per_hour` up, `exploration_gap_s` down: it looks around more often when idle;
    `calls_per_exploration` up: it spends more on one look. `own_words_per_hour` up, `own_words_gap_s` down: its own
    parts make it speak up more often.
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
    patience: float = Field(gt=0, le=100)
    repeat_frustration: float = Field(ge=0, le=10)
    conflict_frustration: float = Field(ge=0, le=10)
    denial_frustration: float = Field(gt=0, le=10)
    progress_relief: float = Field(ge=0, le=1)
    rest_relief: float = Field(ge=0, le=1)
    rest_s: float = Field(gt=0, le=3600)
    rests: int = Field(ge=0, le=20)
    answer_s: float = Field(gt=0, le=3600)
    avoid_s: float = Field(gt=0, le=3600)
    hear_s: float = Field(ge=0, le=60)
    forecast_wait_s: float = Field(ge=0, le=5)
    charge_drive_postpones: float = Field(ge=0, le=1)
    charge_to_percent: int = Field(ge=1, le=100)
    charge_wait_s: float = Field(gt=0, le=60)
    detour: float = Field(ge=1, le=10)
    search_m: float = Field(ge=0, le=1000)
    survival_retry_s: float = Field(gt=0, le=3600)
    explorations_per_hour: int = Field(ge=0, le=1000)
    exploration_gap_s: float = Field(ge=0, le=3600)
    calls_per_exploration: int = Field(ge=1, le=100)
    own_words_per_hour: int = Field(ge=0, le=1000)
    own_words_gap_s: float = Field(ge=0, le=3600)


def load_gate() -> GateTuning:
    """The gate's tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "gate.yaml"
    tuning: GateTuning = parse(GateTuning, read_yaml(file), str(file))
    return tuning
