"""The numbers of prospection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Chance = Annotated[float, Field(gt=0.0, lt=1.0)]


class DoubtTuning(Tuning):
    """When it imagines at all. `long_m` up: only longer drives are doubtful; `margin_share` up: so is every call with
    this little of the battery above the reserve."""

    long_m: Positive
    margin_share: Share


class DriveTuning(Tuning):
    """What is believed of a drive before any was lived: `speed_mps` turns included, its relative `speed_spread`,
    `leg_s` for setting out and lining up, chances that a way is `blocked` (found out after `blocked_s`), or that
    wheels `slip` and it fails."""

    speed_mps: Positive
    speed_spread: Annotated[float, Field(ge=0.0, lt=1.0)]
    leg_s: Annotated[float, Field(ge=0.0)]
    blocked: Chance
    blocked_s: Annotated[float, Field(ge=0.0)]
    slip: Chance


class ProspectionTuning(Tuning):
    """How much the robot imagines before it acts, and what it makes of it (`config/prospection.yaml`).

    `rollouts_many` are run instead of `rollouts_few` from `many_from_caution`, or with so many doubts at once. `detour`
    up: ways that the map does not tell count as longer than the straight line. `arm_factor` up: work of the arm counts
    as costlier. `prior_tries` up: beliefs (`failing`, chances by skill, and `lasting_s`) yield to experience later.

    A call is refused when afterwards the way to the dock would leave less than `flat_share` of the battery, or when
    its hazard exceeds `hazard_limit`, which caution lowers by up to half of `caution_swing`. A call that succeeds less
    often than `rather_below` gives way to one remembered to work that is better by `rather_better_by`.
    """

    doubt: DoubtTuning
    rollouts_few: Annotated[int, Field(ge=1, le=10)]
    rollouts_many: Annotated[int, Field(ge=1, le=10)]
    many_from_caution: Share
    many_from_doubts: Annotated[int, Field(ge=1)]
    drive: DriveTuning
    detour: Annotated[float, Field(ge=1.0, le=10.0)]
    arm_factor: Annotated[float, Field(ge=1.0, le=20.0)]
    prior_tries: Positive
    failing: dict[str, Chance]
    lasting_s: dict[str, Positive]
    flat_share: Share
    hazard_limit: Share
    caution_swing: Share
    rather_below: Share
    rather_better_by: Share


def load_prospection(file: Path = CONFIG / "prospection.yaml") -> ProspectionTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning: ProspectionTuning = parse(ProspectionTuning, read_yaml(file), str(file))
    return tuning
