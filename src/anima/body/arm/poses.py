"""Named postures of the arm and the gripper's openings, from `config/arm_poses.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

Joints = NDArray[np.float64]
"""Positions of the five arm joints, shape (5,), rad, in the order of `ARM_JOINTS`."""

ARM_JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
GRIPPER_JOINT = "gripper"

Angle = Annotated[float, Field(ge=-3.2, le=3.2)]
Posture = tuple[Angle, Angle, Angle, Angle, Angle]


class _Postures(Tuning):
    tuck: Posture
    carry: Posture
    look_right: Posture
    look_left: Posture


class _Gripper(Tuning):
    open_rad: Angle
    close_rad: Angle
    held_above_rad: Angle


class ArmPoses(Tuning):
    """The arm's named postures and the gripper's numbers.

    `held_above_rad`: turned up, the robot doubts that it holds thin objects; turned down, it believes in empty grasps.
    """

    poses: _Postures
    gripper: _Gripper

    def joints(self, name: str) -> Joints:
        """The posture of that name, shape (5,), rad."""
        return np.array(getattr(self.poses, name), dtype=np.float64)


def load_poses(path: Path | None = None) -> ArmPoses:
    """The postures in `path` (default `config/arm_poses.yaml`); raises `ConfigError` naming key and range."""
    source = path or CONFIG / "arm_poses.yaml"
    poses: ArmPoses = parse(ArmPoses, read_yaml(source), str(source))
    return poses
