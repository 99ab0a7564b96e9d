"""Which way to take hold of a thing, which way to put it down, and how to get the arm there past the table."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from anima.body.arm.clearance import Box, Clearance
from anima.body.arm.kinematics import ArmKinematics, ToolTarget, Vector
from anima.body.arm.poses import Joints

# The hand tilts towards the robot a little: straight down reaches less far, flatter comes close to the table.
PITCHES_RAD = tuple(math.radians(degrees) for degrees in (78, 85, 70, 60, 50))
# A tilted hand whose jaws close along its own tilt meets a box's face at that tilt; from here on it may.
_STEEP_RAD = math.radians(84)
_ALONG = math.cos(math.radians(44))
LIFT_M = 0.08
_STEPS_M = (LIFT_M, 0.05, 0.025, 0.0)
# The inner face of the fixed finger lies this far from the tool point in the direction of closing. The moving jaw
# pushes a thing against it, so starting near it keeps the thing where it is.
_FIXED_FACE_M = 0.023
_FACE_GAP_M = 0.005
# Fingertips reach 9 mm beyond the tool point; a thin thing is taken a little above its middle instead of not at all.
_HIGHER_M = (0.0, 0.003, 0.006, 0.010)
_OPENINGS = (1.0, 0.75)  # of the full opening: less beside a neighbour
_ROUND = frozenset({"cylinder", "ball"})
WIDEST_M = 0.055


Result = TypeVar("Result")
Planning = Generator[None, None, Result]
"""Planning in small pieces: yields between them and comes back with a `Result`."""


def at_once(planning: Planning[Result]) -> Result:
    """The result of a planning, without pause."""
    while True:
        try:
            next(planning)
        except StopIteration as done:
            result: Result = done.value
            return result


@dataclass(frozen=True)
class Thing:
    """A graspable thing: centre (3,) and heading in base_link, metres; `size` along its own axes; its shape."""

    centre: Vector
    yaw: float
    size: tuple[float, float, float]
    shape: str

    def box(self) -> Box:
        """The space that it takes."""
        x, y, z = (float(value) for value in self.centre)
        return Box((x, y, z), self.size, 0.0 if self.shape in _ROUND else self.yaw)


@dataclass(frozen=True)
class Reach:
    """A way down to a point: postures from above it to it, the hand's opening on the way, and the target itself."""

    waypoints: tuple[Joints, ...]
    gripper: float
    target: ToolTarget

    @property
    def above(self) -> Joints:
        """The posture above the point."""
        return self.waypoints[0]


@dataclass
class ArmPlanner:
    """Plans with the arm's kinematics and clearances. Obstacles are boxes in base_link: tops, neighbours.

    What may take longer than a step of the motor cortex comes as `Planning`: it yields between candidates, so that
    whoever runs it can let time go on, and returns what it found. `at_once` runs it to its end.
    """

    arm: ArmKinematics
    open_rad: float
    clearance: Clearance = field(init=False)

    def __post_init__(self) -> None:
        self.clearance = Clearance(self.arm)

    def grasp(self, thing: Thing, obstacles: Sequence[Box]) -> Planning[Reach | None]:
        """The way of taking hold that turns the wrist least, steep before flat; None when there is none."""
        for opening in _OPENINGS:
            for pitch in PITCHES_RAD:
                found = []
                for target in self._grasp_targets(thing, pitch):
                    reach = self._descent(target, opening * self.open_rad, obstacles)
                    if reach is not None:
                        found.append(reach)
                    yield
                if found:
                    return min(found, key=lambda reach: abs(float(reach.waypoints[-1][4])))
        return None

    def release(self, point: Vector, roll: float, gripper: float, obstacles: Sequence[Box]) -> Planning[Reach | None]:
        """The way down to put a held thing at `point` (of the tool, (3,), base_link) upright, as it was taken.

        It was taken with the wrist rolled by `roll`: with the same roll and pitch it stands upright again.
        """
        for pitch in PITCHES_RAD:
            reach = self._descent(ToolTarget(point, pitch, roll=roll), gripper, obstacles)
            if reach is not None:
                return reach
            yield
        return None

    def route(
        self, start: Joints, goal: Joints, gripper: float, obstacles: Sequence[Box]
    ) -> Planning[list[Joints] | None]:
        """Postures from `start` to `goal` (both included) that keep clear on the way, or None.

        The wrist and shoulder may turn first, last, or in a high posture in between.
        """
        for between in self._betweens(start, goal):
            waypoints = [start, *between, goal]
            if self.clearance.path_clear(waypoints, gripper, obstacles):
                return waypoints
            yield
        return None

    def lift(self, start: Joints, height_m: float) -> list[Joints]:
        """Postures that raise the hand straight up by up to `height_m` from wherever it is, the start included."""
        tool = self.arm.tool(start)
        target = ToolTarget(tool.position, self.arm.pitch(start), roll=float(start[4]))
        waypoints = [start]
        steps = max(1, math.ceil(height_m / 0.02))
        for step in range(1, steps + 1):
            raised = self._solve_near(target.raised(height_m * step / steps), waypoints[-1])
            if raised is None:
                break
            waypoints.append(raised)
        return waypoints

    def step_aside(self, start: Joints, distance_m: float) -> list[Joints]:
        """Postures that take the fixed finger off what stands between the open jaws; empty where that can't be done."""
        tool = self.arm.tool(start)
        along = np.array([tool.closing[0], tool.closing[1], 0.0]) * distance_m
        found = self._solve_near(ToolTarget(tool.position + along, self.arm.pitch(start), roll=float(start[4])), start)
        return [] if found is None else [found]

    def _grasp_targets(self, thing: Thing, pitch: float) -> Iterator[ToolTarget]:
        radial = math.atan2(thing.centre[1] - self.arm.shoulder[1], thing.centre[0] - self.arm.shoulder[0])
        for heading, width in _closings(thing, radial):
            if width > WIDEST_M or (abs(math.cos(heading - radial)) > _ALONG and pitch < _STEEP_RAD):
                continue
            towards = np.array([math.cos(heading), math.sin(heading), 0.0])
            offset = max(0.0, _FIXED_FACE_M - width / 2 - _FACE_GAP_M)
            yield ToolTarget(thing.centre - towards * offset, pitch, heading)

    def _descent(self, target: ToolTarget, gripper: float, obstacles: Sequence[Box]) -> Reach | None:
        for higher in _HIGHER_M:
            lowest = target.raised(higher)
            bottom = self.arm.solve(lowest)
            if bottom is None or not self.clearance.clear(bottom, gripper, obstacles):
                continue
            postures = [bottom]
            for height in reversed(_STEPS_M[:-1]):
                posture = self._solve_near(lowest.raised(height), postures[-1])
                if posture is None:
                    break
                postures.append(posture)
            else:
                down = tuple(reversed(postures))
                if self.clearance.path_clear([down[0], *down], gripper, obstacles):
                    return Reach(down, gripper, lowest)
        return None

    def _solve_near(self, target: ToolTarget, near: Joints) -> Joints | None:
        found = self.arm.solve(target, near)
        # A far solution would swing through other space on the way.
        return found if found is not None and float(np.abs(found - near).max()) < 0.8 else None

    @staticmethod
    def _betweens(start: Joints, goal: Joints) -> Iterator[list[Joints]]:
        yield []
        turned = start.copy()
        turned[[0, 4]] = goal[[0, 4]]
        yield [turned]
        unturned = goal.copy()
        unturned[[0, 4]] = start[[0, 4]]
        yield [unturned]
        for bend in ((-1.2, 1.0, 0.9), (-1.6, 1.5, 0.9), (-1.0, 0.4, 1.0), (-0.5, 0.0, 1.2)):
            yield [np.array([start[0], *bend, start[4]]), np.array([goal[0], *bend, goal[4]])]


def _closings(thing: Thing, radial: float) -> Iterator[tuple[float, float]]:
    """Headings in which the jaws may close on the thing, and its width there."""
    if thing.shape in _ROUND:
        for turn in (0.5, -0.5, 0.35, -0.35, 0.65, -0.65):
            yield radial + turn * math.pi, thing.size[0]
        return
    for quarter in range(4):
        yield thing.yaw + quarter * math.pi / 2, thing.size[quarter % 2]

