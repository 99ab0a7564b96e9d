"""The numbers of the insula."""

from __future__ import annotations

from pydantic import Field, model_validator

from anima.config import CONFIG, Tuning, parse, read_yaml


class StrainWeights(Tuning):
    """How much of the calm that is left each thing takes, 0..1. Turned up, that thing wears the robot down faster.

    `failure`: a call that failed; `slip`: one in which the hand lost or missed a thing; `retry`: a call made again
    after it failed; `reflex`: a reflex that held the body; `refusal`: a call that the validator refused; `conflict`:
    effort without progress.
    """

    failure: float = Field(ge=0, lt=1)
    slip: float = Field(ge=0, lt=1)
    retry: float = Field(ge=0, lt=1)
    reflex: float = Field(ge=0, lt=1)
    refusal: float = Field(ge=0, lt=1)
    conflict: float = Field(ge=0, lt=1)


class InsulaTuning(Tuning):
    """How the robot bears small failures (`config/insula.yaml`).

    `relief` up: each success takes away more of the strain. `recover_s` up: it gets over things more slowly by itself
    (the time constant). `strained`, `worn`, `degraded` up: it bears more before its label changes; `hysteresis` up:
    it keeps a label longer. `retry_drop`, `persistence_drop` up: strain lowers the gate's budgets more, but never
    below `least_scale`. `recovery_s` up: a conflict or failure is felt longer as RECOVERY. `startle_s` up: it is
    CAUTIOUS for longer after a reflex. `charge_caution` up: it must need the dock more to become cautious for it.
    `ruminate_turns` up: it may think longer without a deed before that is called RUMINATING. `retry_window` up: a call
    counts as a retry of one that failed longer ago (in calls). `repeat_s` up: the condition is repeated less often.
    """

    weights: StrainWeights
    relief: float = Field(ge=0, lt=1)
    recover_s: float = Field(gt=0, le=86400)
    strained: float = Field(gt=0, lt=1)
    worn: float = Field(gt=0, lt=1)
    degraded: float = Field(gt=0, lt=1)
    hysteresis: float = Field(ge=0, lt=0.3)
    retry_drop: float = Field(ge=0, lt=1)
    persistence_drop: float = Field(ge=0, lt=1)
    least_scale: float = Field(gt=0, le=1)
    recovery_s: float = Field(ge=0, le=600)
    startle_s: float = Field(ge=0, le=600)
    charge_caution: float = Field(ge=0, le=1)
    ruminate_turns: int = Field(ge=2, le=100)
    retry_window: int = Field(ge=1, le=100)
    repeat_s: float = Field(gt=0, le=60)

    @model_validator(mode="after")
    def _ordered(self) -> InsulaTuning:
        if not self.strained < self.worn < self.degraded:
            raise ValueError("strained < worn < degraded must hold")
        return self


def load_insula() -> InsulaTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "insula.yaml"
    tuning: InsulaTuning = parse(InsulaTuning, read_yaml(file), str(file))
    return tuning
