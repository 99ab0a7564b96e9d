"""The numbers of the reflex kernel: its tuning, and the limits of the body that it guards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from anima.body.equipment import Equipment, load_equipment
from anima.body.robot_model import lidar_pose, load_robot_model
from anima.config import CONFIG, ConfigError, Settings, Tuning, parse, read_yaml

MAX_STEP_S = 0.1  # a longer gap between steps doesn't let a limit grow further


class CommandTuning(Tuning):
    """How long a command counts, and how hard an ordinary slowing-down may be.

    Timeouts up: a stream with gaps drives smoother, and a dead sender moves the robot for longer. Tolerance up:
    clocks may differ more. Brakes up: the robot answers a smaller command quicker and jerks more.
    """

    skill_timeout_s: float = Field(gt=0, le=1)
    teleop_timeout_s: float = Field(gt=0, le=1)
    arm_timeout_s: float = Field(gt=0, le=2)
    future_tolerance_s: float = Field(ge=0, le=0.5)
    linear_brake_mps2: float = Field(gt=0, le=10)
    angular_brake_radps2: float = Field(gt=0, le=30)


class ObstacleTuning(Tuning):
    """How near the robot goes to what the lidar sees.

    Margin and reaction up: it stops farther away and slows down sooner; narrow passages close. Braking up: it trusts
    its brakes more and comes in faster. `blind_turn_radps` up: it turns faster without a scan. `max_bad_share` up:
    more NaN beams are put up with, per half of the scan. A point deeper than `self_depth_m` inside the footprint, or
    in a sector of `laser_mask_deg` (from, to; counter-clockwise), is the robot itself. Where the lidar sits is the
    robot's matter, and filled in from its description.
    """

    margin_m: float = Field(ge=0, le=0.3)
    reaction_s: float = Field(ge=0, le=1)
    braking_mps2: float = Field(gt=0, le=10)
    braking_radps2: float = Field(gt=0, le=30)
    blind_turn_radps: float = Field(ge=0, le=3)
    max_bad_share: float = Field(ge=0, lt=1)
    self_depth_m: float = Field(ge=0, le=0.3)
    laser_x_m: float = 0.0
    laser_y_m: float = 0.0
    laser_yaw_rad: float = 0.0
    laser_mask_deg: tuple[tuple[float, float], ...]


class ContactTuning(Tuning):
    """Bumpers and cliffs. `escape_mps` up: it backs off faster. `cliff_drop_m` up: it takes lower steps for floor
    (a threshold, a cable duct) and notices real edges later. `hold_s` up: it stays careful longer after the contact.
    """

    escape_mps: float = Field(gt=0, le=0.3)
    cliff_drop_m: float = Field(gt=0, le=0.2)
    hold_s: float = Field(ge=0, le=10)
    cliff_sides: dict[str, Literal["front", "rear"]]


class TiltTuning(Tuning):
    """Tilt. `limit_rad` up: steeper ground is driven on. `hold_s` up: it waits longer after having been upright."""

    limit_rad: float = Field(gt=0, le=1)
    hold_s: float = Field(ge=0, le=10)


class StallTuning(Tuning):
    """A wheel that pushes and doesn't turn. Up: `min_command_radps`, `min_effort_nm` and `after_s` make it push on
    for longer before it gives in; `moving_share` makes it call a slow wheel stalled; `rest_s` rests it longer.
    Without known effort it takes twice `after_s`. The names of the wheels' joints are filled in from the robot's file.
    """

    min_command_radps: float = Field(gt=0)
    moving_share: float = Field(gt=0, lt=1)
    min_effort_nm: float = Field(ge=0)
    after_s: float = Field(gt=0, le=10)
    rest_s: float = Field(ge=0, le=30)
    left_wheel: str = ""
    right_wheel: str = ""


class SilenceTuning(Tuning):
    """When a sensor or a process counts as silent. Up: gaps are put up with, and a death is noticed later.
    No process is missed during the first `grace_s`.
    """

    sensor_timeout_s: float = Field(gt=0, le=2)
    process_timeout_s: float = Field(gt=0, le=2)
    grace_s: float = Field(ge=0, le=60)


class ReportTuning(Tuning):
    """`quiet_s` up: a flickering reflex is told as one. `state_period_s` up: the stop state is repeated less often."""

    quiet_s: float = Field(gt=0, le=10)
    state_period_s: float = Field(gt=0, le=10)


class ReflexTuning(Tuning):
    """Everything in `config/reflex.yaml`."""

    commands: CommandTuning
    obstacle: ObstacleTuning
    contact: ContactTuning
    tilt: TiltTuning
    stall: StallTuning
    silence: SilenceTuning
    report: ReportTuning


class _Section(BaseModel):
    # The robot's file also holds what only a simulator or a driver reads.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Extent(_Section):
    """The chassis as a rectangle in base_link: metres from the origin to front, rear and either side."""

    front: float = Field(gt=0)
    rear: float = Field(gt=0)
    half_width: float = Field(gt=0)


class BaseLimits(_Section):
    """What the wheels can do."""

    wheel_radius_m: float = Field(gt=0)
    track_m: float = Field(gt=0)
    max_linear_mps: float = Field(gt=0)
    max_angular_radps: float = Field(gt=0)
    max_linear_accel_mps2: float = Field(gt=0)
    max_angular_accel_radps2: float = Field(gt=0)
    footprint_m: Extent


class _Arm(_Section):
    joints: list[str] = Field(min_length=1)
    gripper: str
    max_joint_speed_radps: float = Field(gt=0)


class _Cliffs(_Section):
    frames: list[str] = []
    nominal_range_m: float = Field(gt=0)


class _Sensors(_Section):
    cliffs: _Cliffs | None = None


class _RobotFile(_Section):
    base: BaseLimits
    arm: _Arm | None = None
    sensors: _Sensors


@dataclass(frozen=True)
class ArmLimits:
    """What the arm's joints, the gripper among them, can do: radians, and radians per second."""

    range_rad: dict[str, tuple[float, float]]
    gripper: str
    max_speed_radps: float


class Body(Tuning):
    """The body that is guarded. While one of its `senses` is silent it doesn't drive."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)
    base: BaseLimits
    arm: ArmLimits
    floor_range_m: float
    cliff_frames: tuple[str, ...]
    senses: tuple[str, ...]


class ReflexConfig(Tuning):
    """Tuning and body together, checked against each other."""

    tuning: ReflexTuning
    body: Body

    @model_validator(mode="after")
    def _every_cliff_sensor_has_a_side(self) -> ReflexConfig:
        missing = set(self.body.cliff_frames) - set(self.tuning.contact.cliff_sides)
        if missing:
            raise ValueError(f"contact.cliff_sides says nothing of {', '.join(sorted(missing))}: add front or rear")
        return self


def load_reflex(settings: Settings) -> ReflexConfig:
    """The kernel's configuration; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning_file = CONFIG / "reflex.yaml"
    tuning: ReflexTuning = parse(ReflexTuning, read_yaml(tuning_file), str(tuning_file))
    try:
        robot = _RobotFile.model_validate(read_yaml(settings.robot_file))
    except ValidationError as error:
        faults = "\n".join(f"  {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ConfigError(f"{settings.robot_file}:\n{faults}") from error
    equipment = load_equipment(settings)
    joints = load_robot_model(settings).joints
    names = [] if robot.arm is None else [*robot.arm.joints, robot.arm.gripper]
    unknown = [name for name in names if name not in joints]
    if unknown:
        raise ConfigError(f"{settings.robot_file}: arm names {', '.join(unknown)}, which the URDF doesn't have")
    body = Body(
        base=robot.base,
        arm=ArmLimits(
            {name: (joints[name].lower, joints[name].upper) for name in names},
            robot.arm.gripper if robot.arm else "",
            robot.arm.max_joint_speed_radps if robot.arm else 0.0,
        ),
        floor_range_m=robot.sensors.cliffs.nominal_range_m if robot.sensors.cliffs else 0.0,
        cliff_frames=tuple(robot.sensors.cliffs.frames) if robot.sensors.cliffs else (),
        senses=_senses(equipment),
    )
    laser = lidar_pose(settings)
    obstacle = tuning.obstacle.model_copy(
        update={"laser_x_m": laser.x, "laser_y_m": laser.y, "laser_yaw_rad": laser.yaw}
    )
    left, right = equipment.wheel_joints
    stall = tuning.stall.model_copy(update={"left_wheel": left, "right_wheel": right})
    tuning = tuning.model_copy(update={"obstacle": obstacle, "stall": stall})
    try:
        return ReflexConfig(tuning=tuning, body=body)
    except ValidationError as error:
        raise ConfigError(f"{tuning_file}: {error.errors()[0]['msg']}") from error


def _senses(equipment: Equipment) -> tuple[str, ...]:
    """What the body feels, as `monitors.Silence` names it; of a robot with drivers of its own only what these give."""
    topics = {
        "scan": "scan", "bumpers": "bumpers", "cliffs": "cliffs", "imu": "imu/data", "odom": "odom",
        "joint_states": "joint_states",
    }
    return tuple(sense for sense, topic in topics.items() if equipment.has(topic))
