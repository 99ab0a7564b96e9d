"""The numbers of the hypothalamus, and what of the robot's battery they start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from anima.config import CONFIG, ConfigError, Settings, Tuning, parse, read_yaml

Positive = Annotated[float, Field(gt=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Celsius = Annotated[float, Field(ge=-40.0, le=150.0)]


class DischargeTuning(Tuning):
    """How battery use is learned.

    `drive_j_per_m` and `travel_mps`, how fast it gets about, are believed until something is measured. `window_share`
    up: it waits for a larger drop of the percentage before it learns from it, slower and surer. `gain` up: it believes
    the newest measurement more. `bound` is how many times more or less than the first belief it may come to believe.
    """

    drive_j_per_m: Positive
    travel_mps: Annotated[float, Field(ge=0.05, le=2.0)]
    window_share: Annotated[float, Field(gt=0.0, le=0.2)]
    gain: Annotated[float, Field(gt=0.0, le=1.0)]
    bound: Annotated[float, Field(ge=1.0, le=1000.0)]


class HeatTuning(Tuning):
    """A first-order estimate of arm and wheel motors, where nothing measures them.

    `kelvin_per_w` up: effort heats more. `settle_s` up: heat comes and goes slower. Above `hot_c` the robot neither
    simulates nor explores until it is below `warm_c`; above `warm_c` it does not begin to explore. `samples` joint
    states of each step are looked at.
    """

    ambient_c: Celsius
    kelvin_per_w: Positive
    settle_s: Positive
    warm_c: Celsius
    hot_c: Celsius
    samples: Annotated[int, Field(ge=1, le=100)]


class WearTuning(Tuning):
    """What wears the body out: heat lost in its motors, metres, failed grasps. A worn robot keeps up to
    `reserve_share` more in the battery, and needs as much more before it explores."""

    life_j: Positive
    life_m: Positive
    life_grasps: Positive
    reserve_share: Share


class ThinkTuning(Tuning):
    """Seconds that a turn of the planner may take: docked, otherwise, while a person waits, and when charge or heat
    is critical. Turned down, a slow machine gives up on more turns."""

    docked_s: Positive
    free_s: Positive
    person_s: Positive
    critical_s: Positive


class HypothalamusTuning(Tuning):
    """How careful the robot is with itself (`config/hypothalamus.yaml`). Shares are of a full battery.

    `reserve_share` up: it gives up everything for the dock sooner. `release_share` up: once driven to the dock by
    need, it charges longer before it goes back to work. `charge_from_share` up: it wants to charge sooner, and it does
    so until `charged_share`. `drive_floor` up: the wish to go on charging is stronger. `person_discount` up: a person
    who waits makes it put off charging more. `detour` up: it thinks the way home longer than the straight line.
    `docking_s` up: it allows more time for the docking itself. `smooth_s` up: a noisy gauge sways it less.
    `still_mps`: slower than this it stands. `simulate_above_share`, `explore_above_share` up: it imagines and explores
    only with a fuller battery. `rest_s` up: it stays put longer after work before it explores. `repeat_s` up: it
    repeats what it said less often.
    """

    reserve_share: Share
    release_share: Annotated[float, Field(gt=0.0, le=1.0)]
    charge_from_share: Share
    charged_share: Share
    drive_floor: Share
    person_discount: Share
    detour: Annotated[float, Field(ge=1.0, le=10.0)]
    docking_s: Annotated[float, Field(ge=0.0)]
    smooth_s: Positive
    still_mps: Positive
    discharge: DischargeTuning
    heat: HeatTuning
    wear: WearTuning
    think: ThinkTuning
    simulate_above_share: Share
    explore_above_share: Share
    rest_s: Annotated[float, Field(ge=0.0)]
    repeat_s: Positive

    @model_validator(mode="after")
    def _in_order(self) -> HypothalamusTuning:
        if not self.reserve_share + self.wear.reserve_share < self.charge_from_share < self.charged_share:
            raise ValueError("reserve_share + wear.reserve_share < charge_from_share < charged_share must hold")
        if not self.heat.ambient_c < self.heat.warm_c < self.heat.hot_c:
            raise ValueError("heat.ambient_c < heat.warm_c < heat.hot_c must hold")
        return self


def load_hypothalamus(file: Path = CONFIG / "hypothalamus.yaml") -> HypothalamusTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning: HypothalamusTuning = parse(HypothalamusTuning, read_yaml(file), str(file))
    return tuning


class Battery(BaseModel):
    """What the mind needs of the `battery` block of `config/robots/*.yaml`."""

    # The block also holds what only a simulator reads.
    model_config = ConfigDict(frozen=True, extra="ignore")
    capacity_wh: Positive
    electronics_w: Positive
    wheel_loss_w_per_nm2: Annotated[float, Field(ge=0.0)]
    arm_loss_w_per_nm2: Annotated[float, Field(ge=0.0)]

    @property
    def capacity_j(self) -> float:
        """Joules in a full battery."""
        return self.capacity_wh * 3600.0


def load_battery(settings: Settings) -> Battery:
    """The robot's battery; raises `ConfigError` that names the file and the key."""
    source = settings.robot_file
    try:
        return Battery.model_validate(read_yaml(source).get("battery", {}))
    except ValidationError as error:
        faults = "\n".join(f"  battery.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"{source}:\n{faults}") from error
