"""What the driver knows: its own numbers, and of the robot's file what odometry and sensors need."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from anima.config import CONFIG, Settings, Tuning, parse, read_yaml


class LinkTuning(Tuning):
    """How the driver handles the line.

    `reopen_s` up: it tries a missing device less often. `silent_s` up: a dead brainstem is noticed later.
    `request_timeout_s` up: a lost request is repeated later. `arming_limit_s` up: it tries longer before it says that
    arming failed. `command_timeout_s` up: an older velocity is still driven; it is never repeated beyond that.
    `repeat_joints_s` up: a joint target that got lost reaches the arm later. `ping_period_s` up: round trips are
    measured less often. `wheel_torque_nm_per_a` is the wheel motors' constant. `tilt_filter_s` up: the accelerometer
    corrects the tilt slower. `charge_filter_s` up: the charge level follows the voltage slower.
    """

    baud: int = Field(ge=9600, le=4_000_000)
    reopen_s: float = Field(gt=0, le=60)
    silent_s: float = Field(gt=0.05, le=5)
    request_timeout_s: float = Field(gt=0, le=5)
    arming_limit_s: float = Field(gt=0, le=60)
    command_timeout_s: float = Field(gt=0, le=1)
    repeat_joints_s: float = Field(gt=0, le=10)
    ping_period_s: float = Field(gt=0, le=60)
    wheel_torque_nm_per_a: float = Field(gt=0, le=100)
    tilt_filter_s: float = Field(gt=0, le=60)
    charge_filter_s: float = Field(gt=0, le=600)


class _Part(BaseModel):
    # The robot's file also holds what only others read.
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Base(_Part):
    wheel_radius_m: float = Field(gt=0)
    track_m: float = Field(gt=0)


class _Arm(_Part):
    joints: list[str]
    gripper: str


class _Imu(_Part):
    frame: str
    gyro_noise_radps: float = Field(ge=0)
    accel_noise_mps2: float = Field(ge=0)


class _Encoders(_Part):
    encoder_counts_per_turn: int = Field(ge=1)


class _Cliffs(_Part):
    frames: tuple[str, str, str, str]
    range_min_m: float = Field(gt=0)
    range_max_m: float = Field(gt=0)
    noise_m: float = Field(ge=0)


class _Sensors(_Part):
    imu: _Imu
    odometry: _Encoders
    cliffs: _Cliffs


class Battery(_Part):
    """The cells: what their voltage says about their charge."""

    capacity_wh: float = Field(gt=0)
    full_voltage_v: float = Field(gt=0)
    empty_voltage_v: float = Field(gt=0)
    internal_resistance_ohm: float = Field(ge=0)


class Robot(_Part):
    """The parts of `config/robots/<robot>.yaml` that a driver needs."""

    base: _Base
    arm: _Arm
    sensors: _Sensors
    battery: Battery

    @property
    def joints(self) -> list[str]:
        """Arm and gripper, in the link's order."""
        return [*self.arm.joints, self.arm.gripper]


@dataclass(frozen=True)
class LinkConfig:
    """Everything that the driver is configured by."""

    tuning: LinkTuning
    robot: Robot


def load_link(settings: Settings) -> LinkConfig:
    """Raises `ConfigError` that names the file and the key."""
    path = CONFIG / "link.yaml"
    tuning: LinkTuning = parse(LinkTuning, read_yaml(path), str(path))
    robot = parse(Robot, read_yaml(settings.robot_file), str(settings.robot_file))  # type: ignore[arg-type]
    return LinkConfig(tuning, robot)
