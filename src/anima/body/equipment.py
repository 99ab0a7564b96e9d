"""What the robot has and has not, and how its own drivers speak: the parts of `config/robots/*.yaml` that decide it."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from anima.config import ConfigError, Settings, Tuning, parse, read_yaml

Part = Literal["arm", "camera", "dock"]
Topic = Literal["odom", "scan", "imu/data", "joint_states", "battery_state", "cmd_vel"]
"""What a mobile base speaks on, by the names that the mind has for it."""

_ALWAYS = ("odom", "scan")


class Mount(Tuning):
    """Where the lidar sits: its `frame`, and its pose in base_link, which counts for a robot with `drivers`."""

    frame: str = "laser_link"
    x_m: float = Field(default=0.0, ge=-2, le=2)
    y_m: float = Field(default=0.0, ge=-2, le=2)
    z_m: float = Field(default=0.1, ge=0, le=3)
    yaw_rad: float = Field(default=0.0, ge=-math.pi, le=math.pi)


class Drivers(Tuning):
    """A robot whose own drivers speak ROS 2, as a TurtleBot's do.

    `cmd_vel` is the type that its base listens to; a wrong one is silence. `gives` are the topics that it has besides
    odom and scan. `names` are its names where they are not the mind's. `transforms`: it publishes odom → base and its
    links itself. `zero_is_free`: its lidar reports 0 for a beam that met nothing, which else counts as a bad beam.
    `battery_in_percent`: its battery's charge goes to 100, not to 1.
    """

    cmd_vel: Literal["Twist", "TwistStamped"]
    gives: tuple[Topic, ...] = ()
    names: dict[str, str] = Field(default_factory=dict)
    transforms: bool = True
    zero_is_free: bool = False
    battery_in_percent: bool = False

    @field_validator("names")
    @classmethod
    def _names_are_relative(cls, names: dict[str, str]) -> dict[str, str]:
        unknown = sorted(set(names) - set(get_args(Topic)))
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not one of {', '.join(get_args(Topic))}")
        absolute = [name for name in names.values() if not name or name.startswith(("/", "~"))]
        if absolute:
            raise ValueError(f"{', '.join(absolute)}: write names without a leading /, so that a namespace holds them")
        return names

    def has(self, topic: str) -> bool:
        """Whether the robot publishes the topic."""
        return topic in (*_ALWAYS, *self.gives)


class Equipment(Tuning):
    """What a robot is made of, as far as the mind has to know what it can't do.

    Without `drivers` the body is a simulated one or behind the serial line, and has all the topics of
    `docs/your_robot.md`.
    """

    lidar: Mount
    drivers: Drivers | None
    arm: bool
    camera: bool
    dock: bool
    wheel_joints: tuple[str, str]

    @property
    def lacks(self) -> tuple[Part, ...]:
        """The parts that it hasn't, in a fixed order."""
        has = {"arm": self.arm, "camera": self.camera, "dock": self.dock}
        return tuple(part for part in get_args(Part) if not has[part])

    def has(self, topic: str) -> bool:
        """Whether its body publishes the topic."""
        return self.drivers is None or self.drivers.has(topic)

    def takes_part(self, node: str) -> bool:
        """Whether a node of the brain table has anything to do in this robot."""
        if node in ("perception", "sign_reader"):
            return self.camera
        if self.drivers is not None and node in ("body", "driver"):
            return False
        return node != "state_publisher" or self.drivers is None or not self.drivers.transforms

    @model_validator(mode="after")
    def _a_dock_is_felt_by_the_battery(self) -> Equipment:
        if self.dock and not self.has("battery_state"):
            raise ValueError("dock: only battery_state tells whether the robot charges; name it in drivers.gives")
        return self


def load_equipment(settings: Settings) -> Equipment:
    """The robot's equipment; raises `ConfigError` that names file, key and what is allowed."""
    if not settings.robot_file.is_file():
        known = ", ".join(sorted(file.stem for file in settings.robot_file.parent.glob("*.yaml")))
        raise ConfigError(f"robot: no {settings.robot_file}; there are {known}")
    equipment = _read(settings.robot_file)
    if settings.cmd_vel and equipment.drivers is not None:
        drivers = equipment.drivers.model_copy(update={"cmd_vel": settings.cmd_vel})
        return equipment.model_copy(update={"drivers": drivers})
    return equipment


@functools.lru_cache(maxsize=8)
def _read(file: Path) -> Equipment:
    robot = read_yaml(file)
    sensors: dict[str, Any] = robot.get("sensors") or {}
    lidar = sensors.get("lidar") or {}
    drivers = robot.get("drivers")
    equipment: Equipment = parse(
        Equipment,
        {
            "lidar": {key: lidar[key] for key in Mount.model_fields if key in lidar},
            "drivers": drivers,
            "arm": "arm" in robot,
            "camera": "mast_camera" in sensors,
            "dock": robot.get("dock", drivers is None),
            "wheel_joints": robot.get("wheel_joints", ("left_wheel_joint", "right_wheel_joint")),
        },
        str(file),
    )
    return equipment
