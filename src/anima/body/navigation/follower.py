"""The path follower: regulated pure pursuit, with turns in place at start and end and a precise stop at the goal.

Pure pursuit after Coulter (CMU-RI-TR-92-01): curvature 2 sin(a) / L to a point at distance L and bearing a. Speed is
held back by curvature, by the distance left and by the clearance, as Nav2's Regulated Pure Pursuit does.
"""

from __future__ import annotations

import math
from enum import Enum

import numpy as np

from anima.body.navigation.navigator import NO_PATH, Goal, PathPoints
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D, wrap

_TURN_FIRST_RAD = 0.7      # further off than this, turn in place before driving
_TURNED_RAD = 0.12
_TURN_GAIN = 2.2
_TURN_LEAST_RADPS = 0.08
_CREEP_MPS = 0.03
_STOP_SHORT_M = 0.004
_CORRECTIONS = 3
_SEARCH_POINTS = 40        # how far ahead of the last nearest point the next is looked for
_NARROW_MPS = 0.22         # pace where there is no room to dodge


class Stage(Enum):
    """What the follower is at."""

    DRIVE = "following the path"
    CORRECT = "correcting its position"
    ALIGN = "turning to the goal's heading"
    DONE = "at the goal"


class Follower:
    """Follows one path to one goal. `step` costs some fifty microseconds."""

    def __init__(self, tuning: NavigationTuning) -> None:
        self._tuning = tuning
        self._path: PathPoints = NO_PATH
        self._along = np.zeros(0)
        self._goal: Goal | None = None
        self._nearest = 0
        self._turning = False
        self._corrections = 0
        self.stage = Stage.DONE

    def follow(self, path: PathPoints, goal: Goal) -> None:
        """Take a new path, which starts at the robot and ends at the goal's position."""
        step = np.hypot(*(path[1:] - path[:-1]).T)
        self._path, self._goal = path, goal
        self._along = np.concatenate([[0.0], np.cumsum(step)])
        self._nearest, self._turning, self._corrections = 0, False, 0
        self.stage = Stage.DRIVE

    @property
    def ahead(self) -> PathPoints:
        """The points that are still ahead, shape (n, 2)."""
        return self._path[self._nearest :]

    @property
    def passed(self) -> int:
        """How many points of the path lie behind."""
        return self._nearest

    @property
    def remaining_m(self) -> float:
        """Metres of path ahead."""
        return float(self._along[-1] - self._along[self._nearest]) if len(self._along) else 0.0

    def off_path_m(self, pose: Pose2D) -> float:
        """Metres from the robot to the nearest point of the path."""
        x, y = self._path[self._nearest]
        return math.hypot(x - pose.x, y - pose.y)

    def step(self, pose: Pose2D, clearance_m: float) -> tuple[float, float]:
        """The velocity (m/s, rad/s) that follows the path from `pose`, in surroundings with that clearance."""
        assert self._goal is not None
        if self.stage is Stage.DRIVE:
            near = pose.distance(self._goal.pose) <= 0.6 * self._goal.position_tolerance_m
            if not near or len(self.ahead) > 8:
                velocity = self._drive(pose, clearance_m)
                if velocity is not None:
                    return velocity
            self._turning = False
            self.stage = Stage.CORRECT
        if self.stage is Stage.CORRECT:
            velocity = self._correct(pose)
            if velocity is not None:
                return velocity
            self.stage = Stage.ALIGN
        if self.stage is Stage.ALIGN:
            velocity = self._align(pose)
            if velocity is not None:
                return velocity
            self.stage = Stage.DONE
        return 0.0, 0.0

    def _drive(self, pose: Pose2D, clearance_m: float) -> tuple[float, float] | None:
        """Pure pursuit; None once the goal is reached or passed."""
        self._advance(pose)
        end = self._path[-1]
        before = self._path[max(0, len(self._path) - 3)]
        heading = math.atan2(end[1] - before[1], end[0] - before[0])
        left_over = (end[0] - pose.x) * math.cos(heading) + (end[1] - pose.y) * math.sin(heading)
        at_end = self.remaining_m < 0.3
        if at_end and left_over <= _STOP_SHORT_M:
            return None
        x, y = self._target(heading)
        bearing = pose.bearing(x, y)
        if abs(bearing) > _TURN_FIRST_RAD:
            self._turning = True
        elif abs(bearing) < _TURNED_RAD:
            self._turning = False
        if self._turning:
            return 0.0, self._turn(bearing)
        reach = max(0.1, math.hypot(x - pose.x, y - pose.y))
        curvature = 2.0 * math.sin(bearing) / reach
        left = max(left_over, 0.0) if at_end else self.remaining_m
        speed = min(
            self._tuning.cruise_mps,
            math.sqrt(2.0 * self._tuning.brake_mps2 * left),
            self._tuning.cruise_mps / (1.0 + 0.5 * abs(curvature)),
            _NARROW_MPS + max(0.0, clearance_m - self._tuning.turning_clearance_m),
            0.8 * self._tuning.turn_radps / max(abs(curvature), 1e-6),
        )
        speed = max(speed, _CREEP_MPS)
        return speed, speed * curvature

    def _advance(self, pose: Pose2D) -> None:
        window = self._path[self._nearest : self._nearest + _SEARCH_POINTS]
        self._nearest += int(np.argmin(np.hypot(window[:, 0] - pose.x, window[:, 1] - pose.y)))

    def _target(self, heading: float) -> tuple[float, float]:
        """The point to pursue; beyond the end the path goes on straight, so that the last metre is straight too."""
        wanted = self._along[self._nearest] + self._tuning.lookahead_m
        over = wanted - self._along[-1]
        if over > 0:
            end = self._path[-1]
            return float(end[0] + over * math.cos(heading)), float(end[1] + over * math.sin(heading))
        return (
            float(np.interp(wanted, self._along, self._path[:, 0])),
            float(np.interp(wanted, self._along, self._path[:, 1])),
        )

    def _correct(self, pose: Pose2D) -> tuple[float, float] | None:
        """Face the goal (or turn the back on it) and drive straight at it until the position is within tolerance."""
        assert self._goal is not None
        goal = self._goal.pose
        distance = pose.distance(goal)
        if distance <= 0.8 * self._goal.position_tolerance_m or self._corrections >= _CORRECTIONS:
            return None
        bearing = pose.bearing(goal.x, goal.y)
        backwards = abs(bearing) > math.pi / 2
        off = wrap(bearing + math.pi) if backwards else bearing
        if abs(off) > 0.25 and not self._turning:
            self._turning = True
        if self._turning:
            if abs(off) > 0.08:
                return 0.0, self._turn(off)
            self._turning = False
            self._corrections += 1
        ahead = distance * math.cos(off)
        speed = min(0.12, max(_CREEP_MPS, ahead))
        return (-speed if backwards else speed), 1.5 * off * (1.0 if distance > 0.05 else 0.0)

    def _align(self, pose: Pose2D) -> tuple[float, float] | None:
        assert self._goal is not None
        if self._goal.heading_tolerance_rad is None:
            return None
        off = wrap(self._goal.pose.yaw - pose.yaw)
        return None if abs(off) <= 0.5 * self._goal.heading_tolerance_rad else (0.0, self._turn(off))

    def _turn(self, off: float) -> float:
        """Turn rate that brings a heading error to nothing without overshoot."""
        rate = min(self._tuning.turn_radps, max(_TURN_LEAST_RADPS, _TURN_GAIN * abs(off)))
        return math.copysign(rate, off)
