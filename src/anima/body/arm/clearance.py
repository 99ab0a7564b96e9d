"""Whether a posture of the arm keeps clear of the robot's own body and of what stands in front of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import coal  # type: ignore[import-untyped]
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from anima.body.arm.kinematics import ArmKinematics
from anima.body.arm.poses import Joints
from anima.body.pose import Pose2D

OBSTACLE_MARGIN_M = 0.004
BODY_MARGIN_M = 0.006
_STEP_RAD = 0.08  # between two checked postures of a motion
_MOVING = ("upper_arm", "lower_arm", "wrist", "gripper", "jaw")
_FIXED = ("base_link", "laser", "bumper", "arm_base")
# Neighbours that come close by design: the upper arm turns just above the base of the arm, the forearm beside it.
_NEIGHBOURS = {("upper_arm", "arm_base"), ("lower_arm", "arm_base")}


@dataclass(frozen=True)
class Box:
    """A box that the arm must not touch, upright, in base_link or in the map: centre (x, y, z), sizes, heading."""

    centre: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw: float = 0.0

    def seen_from(self, base: Pose2D) -> Box:
        """The same box, given in the map, in base_link of a robot that stands at `base`."""
        x, y = base.seen(self.centre[0], self.centre[1])
        return Box((x, y, self.centre[2]), self.size, self.yaw - base.yaw)


class Clearance:
    """Distances between the arm's links (the URDF's collision shapes), the robot's body and boxes around it."""

    def __init__(self, arm: ArmKinematics) -> None:
        self._arm = arm
        self._data = arm.model.createData()
        self._geometry = arm.geometry
        self._placements = pin.GeometryData(self._geometry)
        moving: list[tuple[int, str]] = []
        fixed: list[tuple[int, str]] = []
        for index, shape in enumerate(self._geometry.geometryObjects):
            for group, names in ((moving, _MOVING), (fixed, _FIXED)):
                group.extend((index, name) for name in names if shape.name.startswith(name))
        self._moving = [index for index, _ in moving]
        self._pairs = [(m, f) for m, name in moving for f, other in fixed if (name, other) not in _NEIGHBOURS]
        resting = arm.configuration(np.zeros(5))
        pin.updateGeometryPlacements(arm.model, self._data, self._geometry, self._placements, resting)
        shapes = self._geometry.geometryObjects
        self._world = [self._placement(index) for index in range(len(shapes))]
        # Balls around the shapes tell most pairs apart at once; the shapes' own frames lie in their middles.
        self._balls: NDArray[np.float64] = np.array([_ball_radius(shape.geometry) for shape in shapes])
        self._first, self._second = (np.array([pair[side] for pair in self._pairs]) for side in (0, 1))
        self._centres: NDArray[np.float64] = np.array([self._placements.oMg[i].translation for i in range(len(shapes))])

    def why_not(self, joints: Joints, gripper: float, obstacles: Sequence[Box] = ()) -> str:
        """What the arm would come too close to in this posture; empty when it is clear."""
        self._update(joints, gripper)
        shapes = self._geometry.geometryObjects
        apart = np.linalg.norm(self._centres[self._first] - self._centres[self._second], axis=1)
        near = apart - self._balls[self._first] - self._balls[self._second] < BODY_MARGIN_M
        for pair in np.flatnonzero(near):
            first, second = self._pairs[int(pair)]
            if self._closer(first, second, BODY_MARGIN_M):
                return f"{shapes[first].name} would touch {shapes[second].name}"
        for box in obstacles:
            solid, where = _solid(box)
            gaps = np.linalg.norm(self._centres[self._moving] - box.centre, axis=1) - self._balls[self._moving]
            for place in np.flatnonzero(gaps - np.linalg.norm(box.size) / 2 < OBSTACLE_MARGIN_M):
                index = self._moving[int(place)]
                if _distance(shapes[index].geometry, self._world[index], solid, where) < OBSTACLE_MARGIN_M:
                    return f"{shapes[index].name} would touch what stands at {box.centre}"
        return ""

    def clear(self, joints: Joints, gripper: float, obstacles: Sequence[Box] = ()) -> bool:
        """Whether the posture keeps its distance from everything."""
        return not self.why_not(joints, gripper, obstacles)

    def path_clear(self, waypoints: Iterable[Joints], gripper: float, obstacles: Sequence[Box] = ()) -> bool:
        """Whether straight motion in joint space through the waypoints keeps clear, the first posture excepted."""
        for start, end in itertools.pairwise(waypoints):
            pieces = max(1, math.ceil(float(np.abs(end - start).max()) / _STEP_RAD))
            for piece in range(1, pieces + 1):
                if not self.clear(start + (end - start) * (piece / pieces), gripper, obstacles):
                    return False
        return True

    def _update(self, joints: Joints, gripper: float) -> None:
        configuration = self._arm.configuration(joints, gripper)
        pin.updateGeometryPlacements(self._arm.model, self._data, self._geometry, self._placements, configuration)
        for index in self._moving:
            self._world[index] = self._placement(index)
            self._centres[index] = self._placements.oMg[index].translation

    def _placement(self, index: int) -> coal.Transform3s:
        placement = self._placements.oMg[index]
        return coal.Transform3s(placement.rotation, placement.translation)

    def _closer(self, first: int, second: int, margin_m: float) -> bool:
        shapes, world = self._geometry.geometryObjects, self._world
        return _distance(shapes[first].geometry, world[first], shapes[second].geometry, world[second]) < margin_m


def _solid(box: Box) -> tuple[coal.Box, coal.Transform3s]:
    c, s = math.cos(box.yaw), math.sin(box.yaw)
    rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return coal.Box(*box.size), coal.Transform3s(rotation, np.array(box.centre))


def _ball_radius(shape: coal.CollisionGeometry) -> float:
    shape.computeLocalAABB()
    return float(shape.aabb_radius)


_REQUEST = coal.DistanceRequest()


def _distance(
    first: coal.CollisionGeometry, at: coal.Transform3s, second: coal.CollisionGeometry, there: coal.Transform3s
) -> float:
    return float(coal.distance(first, at, second, there, _REQUEST, coal.DistanceResult()))
