"""Where the hand is for given joints, and which joints bring it where it should be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from anima.body.arm.poses import ARM_JOINTS, GRIPPER_JOINT, Joints

Vector = NDArray[np.float64]

_ITERATIONS = 60
_STEP_LIMIT_RAD = 0.4
_DAMPING = 1e-5
_ANGLE_WEIGHT_M = 0.15  # one radian weighs like this many metres
_PATIENCE = 12  # iterations in which the error must fall by a third, or the start leads nowhere
_TOLERANCE_M = 4e-4
_TOLERANCE_RAD = 4e-3
# shoulder_lift, elbow_flex, wrist_flex to start from: stretched, folded, low, high.
_BENDS = ((0.0, 0.0, 1.2), (-0.8, 0.8, 1.2), (0.6, -0.3, 1.2), (-0.5, 1.2, 0.8), (0.3, 0.3, 0.3), (-1.2, 1.2, 0.6))


class ArmError(ValueError):
    """The robot description has no arm that this code can move."""


@dataclass(frozen=True)
class ToolPose:
    """Pose of `tool_link` in base_link: its origin (3,), the direction out of the hand (3,), that of closing (3,)."""

    position: Vector
    out: Vector
    closing: Vector

    @property
    def heading(self) -> float:
        """Heading of the jaws' closing direction, rad: the `ToolTarget.heading` that this pose satisfies."""
        n = self.closing - self.out * (self.closing[2] / self.out[2]) if abs(self.out[2]) > 1e-6 else self.closing
        return math.atan2(n[1], n[0])


@dataclass(frozen=True)
class ToolTarget:
    """What five joints can be asked for: a point (base_link, m), how steeply the hand looks down (rad, pi/2 is
    straight down) and either the heading of the jaws' closing direction or the wrist's roll joint."""

    position: Vector
    pitch: float
    heading: float | None = None
    roll: float | None = None

    def raised(self, height_m: float) -> ToolTarget:
        """The same, higher by `height_m`."""
        return ToolTarget(self.position + np.array([0.0, 0.0, height_m]), self.pitch, self.heading, self.roll)


class ArmKinematics:
    """Kinematics of the arm in base_link, from the robot's URDF.

    Inverse: Gauss-Newton with damping on the five things that the five joints decide: position, pitch of the hand in
    the arm's vertical plane, and heading or roll; from several starts (Nakamura and Hanafusa 1986 for the damping).
    """

    def __init__(self, urdf: str) -> None:
        """Raises `ArmError` when the URDF lacks one of the arm's joints or `tool_link`."""
        full = pin.buildModelFromXML(urdf)
        wanted = (*ARM_JOINTS, GRIPPER_JOINT)
        missing = [name for name in wanted if not full.existJointName(name)]
        if missing or not full.existFrame("tool_link"):
            raise ArmError(f"the URDF has no {', '.join(missing) or 'tool_link'}; the arm can't be used without")
        geometry = pin.buildGeomFromUrdfString(full, urdf, pin.GeometryType.COLLISION)
        locked = [full.getJointId(name) for name in list(full.names)[1:] if name not in wanted]
        self.model, self.geometry = pin.buildReducedModel(full, geometry, locked, pin.neutral(full))
        if list(self.model.names)[1:] != list(wanted):
            raise ArmError(f"the arm's joints must follow each other as {', '.join(wanted)}")
        self._data = self.model.createData()
        self._tool = self.model.getFrameId("tool_link")
        self._pan = self.model.getJointId("shoulder_pan")
        self.lower: Joints = np.array(self.model.lowerPositionLimit[:5])
        self.upper: Joints = np.array(self.model.upperPositionLimit[:5])
        pin.framesForwardKinematics(self.model, self._data, np.zeros(self.model.nq))
        self.shoulder: Vector = np.array(self._data.oMi[self._pan].translation)
        lift, elbow, wrist = (
            np.array(self._data.oMi[self.model.getJointId(name)].translation) for name in ARM_JOINTS[1:4]
        )
        tool = np.array(self._data.oMf[self._tool].translation)
        self._lift_height, self._lift_radius = float(lift[2]), float(np.linalg.norm((lift - self.shoulder)[:2]))
        self._two_links = float(np.linalg.norm(elbow - lift) + np.linalg.norm(wrist - elbow))
        self._hand = float(np.linalg.norm(tool - wrist))

    def configuration(self, joints: Joints, gripper: float = 0.0) -> Vector:
        """Joints and gripper as the model's configuration, shape (6,)."""
        return np.append(joints, gripper)

    def tool(self, joints: Joints) -> ToolPose:
        """Pose of the tool in base_link. Joints of shape (5,), rad."""
        pin.framesForwardKinematics(self.model, self._data, self.configuration(joints))
        placement = self._data.oMf[self._tool]
        rotation = np.array(placement.rotation)
        return ToolPose(np.array(placement.translation), rotation[:, 2], rotation[:, 0])

    def pitch(self, joints: Joints) -> float:
        """How steeply the hand looks down, rad: 0 level and away from the shoulder, pi/2 straight down."""
        out = self.tool(joints).out
        return math.atan2(-out[2], float(out @ self._radial(joints)))

    def solve(self, target: ToolTarget, near: Joints | None = None) -> Joints | None:
        """Joints (5,) that bring the tool to the target, or None. With `near` that posture is tried first."""
        if self._too_far(target):
            return None
        for seed in self._seeds(target, near):
            found = self._descend(target, seed)
            if found is not None:
                return found
        return None

    def _too_far(self, target: ToolTarget) -> bool:
        # Where the wrist must be, if the tool were on its axis; the tool is off it by a few centimetres at most.
        radius = float(np.linalg.norm((target.position - self.shoulder)[:2])) - self._hand * math.cos(target.pitch)
        height = float(target.position[2]) + self._hand * math.sin(target.pitch)
        slack = self._lift_radius + 0.03
        return math.hypot(radius, height - self._lift_height) > self._two_links + slack

    def _seeds(self, target: ToolTarget, near: Joints | None) -> Sequence[Joints]:
        aim = self.shoulder[:2]
        azimuth = math.atan2(target.position[1] - aim[1], target.position[0] - aim[0])
        seeds = [] if near is None else [near.copy()]
        rolls = (target.roll,) if target.roll is not None else (0.0, 1.5, -1.5)
        seeds += [np.array([-azimuth, *bend, roll]) for roll in rolls for bend in _BENDS]
        return [np.clip(seed, self.lower, self.upper) for seed in seeds]

    def _radial(self, joints: Joints) -> Vector:
        # The pan axis points down, so the arm's vertical plane stands at azimuth -pan.
        return np.array([math.cos(joints[0]), -math.sin(joints[0]), 0.0])

    def _descend(self, target: ToolTarget, seed: Joints) -> Joints | None:
        joints = seed.copy()
        weights = np.array([1.0, 1.0, 1.0, _ANGLE_WEIGHT_M, _ANGLE_WEIGHT_M])
        errors: list[float] = []
        for iteration in range(_ITERATIONS):
            error, jacobian = self._linearized(target, joints)
            errors.append(float(np.linalg.norm(weights * error)))
            if iteration >= _PATIENCE and errors[-1] > 0.67 * errors[-1 - _PATIENCE]:
                return None
            if np.linalg.norm(error[:3]) < _TOLERANCE_M and np.abs(error[3:]).max() < _TOLERANCE_RAD:
                return joints
            weighted = jacobian * weights[:, None]
            step = np.linalg.solve(weighted.T @ weighted + _DAMPING * np.eye(5), weighted.T @ (weights * error))
            longest = np.abs(step).max()
            if longest > _STEP_LIMIT_RAD:
                step *= _STEP_LIMIT_RAD / longest
            joints = np.clip(joints + step, self.lower, self.upper)
        return None

    def _linearized(self, target: ToolTarget, joints: Joints) -> tuple[Vector, NDArray[np.float64]]:
        data: Any = self._data
        pin.computeJointJacobians(self.model, data, self.configuration(joints))
        placement = pin.updateFramePlacement(self.model, data, self._tool)
        full = pin.getFrameJacobian(self.model, data, self._tool, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, :5]
        out, closing = placement.rotation[:, 2], placement.rotation[:, 0]
        radial = self._radial(joints)
        sideways = np.array([-radial[1], radial[0], 0.0])
        error, jacobian = np.empty(5), np.empty((5, 5))
        error[:3], jacobian[:3] = target.position - placement.translation, full[:3]
        error[3] = target.pitch - math.atan2(-out[2], float(out @ radial))
        jacobian[3] = sideways @ full[3:]
        if target.heading is None:
            error[4] = (target.roll or 0.0) - joints[4]
            jacobian[4] = (0.0, 0.0, 0.0, 0.0, 1.0)
        else:
            wanted = np.array([math.cos(target.heading), math.sin(target.heading), 0.0])
            wanted -= out * (out @ wanted)
            error[4] = math.atan2(float(out @ np.cross(closing, wanted)), float(closing @ wanted))
            jacobian[4] = out @ full[3:]
        return error, jacobian
