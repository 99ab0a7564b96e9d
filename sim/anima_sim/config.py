"""The robot's configuration, read once from YAML into checked values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anima_sim.errors import RobotError
from anima_sim.gazebo.tuning import GazeboTuning
from anima_sim.paths import robot_config_file

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Footprint(_Section):
    """Distances from base_link to the outermost parts."""

    front: Positive
    rear: Positive
    half_width: Positive


class BaseConfig(_Section):
    wheel_radius_m: Positive
    track_m: Positive
    max_linear_mps: Positive
    max_angular_radps: Positive
    max_linear_accel_mps2: Positive
    max_angular_accel_radps2: Positive
    max_linear_decel_mps2: Positive
    max_angular_decel_radps2: Positive
    command_timeout_s: Positive
    footprint_m: Footprint


class ArmConfig(_Section):
    joints: list[str] = Field(min_length=1)
    gripper: str
    max_joint_speed_radps: Positive
    stow: dict[str, float]


class LidarConfig(_Section):
    frame: str
    beams: int = Field(ge=1)
    range_min_m: Positive
    range_max_m: Positive
    noise_m: NotNegative
    rate_hz: Positive


class CameraConfig(_Section):
    frame: str
    width: int = Field(ge=16)
    height: int = Field(ge=16)
    vertical_fov_deg: float = Field(gt=1.0, lt=170.0)
    depth_min_m: Positive
    depth_max_m: Positive
    rate_hz: Positive


class CameraNoise(_Section):
    colour_levels: NotNegative
    depth_at_1m_m: NotNegative
    dropout: Share


class ImuConfig(_Section):
    frame: str
    gyro_noise_radps: NotNegative
    gyro_bias_radps: NotNegative
    accel_noise_mps2: NotNegative
    rate_hz: Positive


class OdometryConfig(_Section):
    encoder_counts_per_turn: int = Field(ge=1)
    encoder_scale_error: NotNegative


class BumperConfig(_Section):
    links: tuple[str, str]
    threshold_n: NotNegative


class CliffConfig(_Section):
    frames: tuple[str, str, str, str]
    nominal_range_m: Positive
    range_min_m: Positive
    range_max_m: Positive
    noise_m: NotNegative


class Sensors(_Section):
    lidar: LidarConfig
    mast_camera: CameraConfig
    wrist_camera: CameraConfig
    camera_noise: CameraNoise
    imu: ImuConfig
    odometry: OdometryConfig
    bumpers: BumperConfig
    cliffs: CliffConfig


class BatteryConfig(_Section):
    capacity_wh: Positive
    full_voltage_v: Positive
    empty_voltage_v: Positive
    internal_resistance_ohm: NotNegative
    electronics_w: NotNegative
    drive_efficiency: float = Field(gt=0.0, le=1.0)
    wheel_loss_w_per_nm2: NotNegative
    arm_loss_w_per_nm2: NotNegative
    charger_w: Positive
    start_percentage: Share


class ServoTuning(_Section):
    kp: Positive
    kv: Positive
    armature: NotNegative


class GripperTuning(ServoTuning):
    force_limit_nm: Positive


class WheelTuning(_Section):
    kv: Positive
    armature: NotNegative
    sliding_friction: Positive


class PadContact(_Section):
    """Collisions (by their URDF names) that hold things, and how they touch."""

    links: dict[str, str]
    condim: Literal[3, 4, 6]
    friction: tuple[Positive, NotNegative, NotNegative]
    solref: tuple[float, float]
    solimp: tuple[float, float, float]
    priority: int


class Simulation(_Section):
    timestep_s: Positive
    control_period_s: Positive
    integrator: Literal["Euler", "implicit", "implicitfast"]
    cone: Literal["pyramidal", "elliptic"]
    impratio: Positive
    servo: ServoTuning
    gripper: GripperTuning
    wheel: WheelTuning
    pads: PadContact
    gazebo: GazeboTuning = GazeboTuning()
    ignore_contact: list[tuple[str, str]]


class RobotConfig(_Section):
    """Everything about one kind of robot that its URDF can't say."""

    name: str
    base: BaseConfig
    arm: ArmConfig
    sensors: Sensors
    battery: BatteryConfig
    simulation: Simulation

    @property
    def joints(self) -> list[str]:
        """The commanded joints: the arm's and the gripper."""
        return [*self.arm.joints, self.arm.gripper]


def load_robot(name_or_file: str | Path = "anima") -> RobotConfig:
    """Reads a robot by name or file. Raises `RobotError` that names the file, the key and what is wrong."""
    file = name_or_file if isinstance(name_or_file, Path) else robot_config_file(name_or_file)
    try:
        return RobotConfig.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise RobotError(f"{file}: can't be read: {error}") from error
    except ValidationError as error:
        lines = [f"  {'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()]
        raise RobotError(f"{file}: {len(lines)} thing(s) to correct:\n" + "\n".join(lines)) from error
