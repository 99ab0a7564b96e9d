"""The numbers of the striatum, and the pressure of one unfinished objective."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class PressureTuning(Tuning):
    """What of an objective presses, each part 0..1: that it is there (`base`), that a person asked for it, how long
    it is open (all of `age` long after `age_s`), how near to done it is, and how often it was set aside (all of
    `regret` from `regret_parks` times)."""

    base: Share
    person: Share
    age: Share
    age_s: Positive
    near: Share
    regret: Share
    regret_parks: Annotated[int, Field(ge=1, le=100)]

    def of(self, *, asked: bool, age_s: float, near: float, parks: int) -> float:
        """Pressure 0..1 of one objective; `near` is how near to done it is, 0..1."""
        aged = 1.0 - math.exp(-max(age_s, 0.0) / self.age_s)
        regret = min(parks / self.regret_parks, 1.0)
        pressed = self.base + self.person * asked + self.age * aged + self.near * near + self.regret * regret
        return min(max(pressed, 0.0), 1.0)


class ArousalTuning(Tuning):
    """How awake the robot is, between `floor` and `ceiling`. People wake it; unfinished work keeps it awake; left
    alone it calms down by `calm_s`, and below `awake_above` it no longer explores. All up: a restless robot."""

    floor: Share
    ceiling: Share
    calm_s: Positive
    awake_above: Share


class ExploreTuning(Tuning):
    """When and where the robot goes to look by itself.

    `idle_s`, `quiet_s` up: it waits longer after work, and after a person spoke. `per_hour` up: more trips (a neutral
    initiative; none or twice as many at its ends). `stale_s` up: what it saw counts as known for longer.
    `gain_above` up: only what is nearly unknown is worth a trip; `gain_per_m` up: a far one less. A surface that could
    not be looked at within `give_up_s` is left alone for `retry_s`.
    """

    idle_s: Annotated[float, Field(ge=0.0)]
    quiet_s: Annotated[float, Field(ge=0.0)]
    per_hour: Annotated[int, Field(ge=0, le=60)]
    stale_s: Positive
    gain_above: Share
    gain_per_m: Annotated[float, Field(ge=0.0)]
    retry_s: Positive
    give_up_s: Positive


class StriatumTuning(Tuning):
    """How much what is unfinished bothers the robot (`config/striatum.yaml`).

    `rise_s` up: idle, it takes longer to feel the pressure; `fall_s` up: it feels it longer when nothing is left.
    `discharge` up: progress relieves more, `discharge_done` the same for an objective done,
    `discharge_outcome` for a skill that worked. `resume_above` up: it
    bears more before it takes up again by itself; `initiative_swing` up: temperament shifts that more;
    `strain_swing` up: a strained body does. What is parked for a reason with one of `left_to_others` in it waits for a
    person, for the battery or for the gate itself, and does not press. `repeat_s` up: it repeats what it said less
    often.
    """

    pressure: PressureTuning
    rise_s: Positive
    fall_s: Positive
    discharge: Share
    discharge_done: Share
    discharge_outcome: Share
    resume_above: Share
    initiative_swing: Share
    strain_swing: Share
    left_to_others: tuple[str, ...]
    arousal: ArousalTuning
    explore: ExploreTuning
    repeat_s: Positive


def load_striatum(file: Path = CONFIG / "striatum.yaml") -> StriatumTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning: StriatumTuning = parse(StriatumTuning, read_yaml(file), str(file))
    return tuning
