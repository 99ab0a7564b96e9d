"""Poses on the floor, and the estimate of the robot's own between two localizations."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

from anima.types.std import Odometry, Pose, PoseWithCovarianceStamped

_HISTORY = 128  # odometry samples kept to find the one of a localization: 2.5 s at 50 Hz
# A position that is known no better than this is not known: who needs it stands still.
LOST_SIGMA_M = 0.5


def wrap(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2 * math.pi)


@dataclass(frozen=True)
class Pose2D:
    """A pose on the floor: metres, radians."""

    x: float
    y: float
    yaw: float

    @classmethod
    def of(cls, pose: Pose) -> Pose2D:
        """The floor part of a pose in space."""
        return cls(pose.position.x, pose.position.y, pose.orientation.yaw)

    @property
    def is_finite(self) -> bool:
        """Whether all three are numbers."""
        return math.isfinite(self.x) and math.isfinite(self.y) and math.isfinite(self.yaw)

    def to_msg(self) -> Pose:
        """This pose as a message."""
        return Pose.planar(self.x, self.y, self.yaw)

    def __matmul__(self, inner: Pose2D) -> Pose2D:
        """`inner`, given in this pose's frame, in the frame that this pose is given in."""
        x, y = self.point(inner.x, inner.y)
        return Pose2D(x, y, wrap(self.yaw + inner.yaw))

    def inverse(self) -> Pose2D:
        """The outer frame's origin in this pose's frame."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return Pose2D(-c * self.x - s * self.y, s * self.x - c * self.y, wrap(-self.yaw))

    def point(self, forward: float, left: float) -> tuple[float, float]:
        """A point of this pose's frame in the outer frame."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return self.x + c * forward - s * left, self.y + s * forward + c * left

    def seen(self, x: float, y: float) -> tuple[float, float]:
        """An outer point in this pose's frame: metres forward, metres left."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        dx, dy = x - self.x, y - self.y
        return c * dx + s * dy, c * dy - s * dx

    def distance(self, other: Pose2D) -> float:
        """Metres between the two positions."""
        return math.hypot(other.x - self.x, other.y - self.y)

    def bearing(self, x: float, y: float) -> float:
        """How far to turn to face the point, radians, counter-clockwise positive."""
        return wrap(math.atan2(y - self.y, x - self.x) - self.yaw)


def is_lost(pose: PoseWithCovarianceStamped) -> bool:
    """Whether a localization says of itself that it doesn't know: its spread in x or y is `LOST_SIGMA_M` or more."""
    spread = max(float(pose.pose.covariance[0]), float(pose.pose.covariance[7]))
    return not spread < LOST_SIGMA_M**2


class PoseHistory:
    """Poses of the last seconds, each with its time, and what was between them."""

    def __init__(self) -> None:
        self._stamps: deque[float] = deque(maxlen=_HISTORY)
        self._poses: deque[Pose2D] = deque(maxlen=_HISTORY)

    def add(self, stamp: float, pose: Pose2D) -> bool:
        """Take a pose in. False when its time is before the last one's: time jumped, and the past is forgotten."""
        goes_on = not self._stamps or stamp >= self._stamps[-1]
        if not goes_on:
            self._stamps.clear()
            self._poses.clear()
        self._stamps.append(stamp)
        self._poses.append(pose)
        return goes_on

    @property
    def newest(self) -> tuple[float, Pose2D] | None:
        """The last pose and its time, or None before the first."""
        return (self._stamps[-1], self._poses[-1]) if self._stamps else None

    def nearest(self, stamp: float) -> Pose2D:
        """The pose whose time is nearest; raises IndexError when there is none."""
        after = min(bisect_left(self._stamps, stamp), len(self._stamps) - 1)
        before = max(0, after - 1)
        return self._poses[before if stamp - self._stamps[before] < self._stamps[after] - stamp else after]

    def at(self, stamp: float) -> Pose2D | None:
        """The pose at a time, between the two around it; None for times that aren't reached from both sides."""
        if not self._stamps or not self._stamps[0] <= stamp <= self._stamps[-1]:
            return None
        after = bisect_left(self._stamps, stamp)
        if self._stamps[after] == stamp:
            return self._poses[after]
        earlier, later = self._poses[after - 1], self._poses[after]
        share = (stamp - self._stamps[after - 1]) / (self._stamps[after] - self._stamps[after - 1])
        return Pose2D(
            earlier.x + share * (later.x - earlier.x),
            earlier.y + share * (later.y - earlier.y),
            wrap(earlier.yaw + share * wrap(later.yaw - earlier.yaw)),
        )


class PoseTracker:
    """The robot's pose in the map: the last localization, carried on by odometry (REP 105).

    A localization that is lost (`is_lost`) makes the pose unknown until the next one that isn't.
    """

    def __init__(self) -> None:
        self._odometry = PoseHistory()
        self._map_to_odom: Pose2D | None = None
        self._pending: tuple[float, Pose2D] | None = None

    def add_odometry(self, odometry: Odometry) -> None:
        """Take in odometry; an older stamp than the last means that time jumped, and what was known is void.

        A pose that is not finite is no pose: it is dropped.
        """
        stamp, where = odometry.header.stamp.seconds, Pose2D.of(odometry.pose.pose)
        if not where.is_finite:
            return
        if not self._odometry.add(stamp, where):
            self._map_to_odom = None
        if self._pending is not None and stamp >= self._pending[0]:
            self._anchor(*self._pending)

    def add_localization(self, pose: PoseWithCovarianceStamped) -> None:
        """Take in a localization; it is matched with the odometry of its own time, which may still have to come."""
        stamp, where = pose.header.stamp.seconds, Pose2D.of(pose.pose.pose)
        if not where.is_finite:
            return
        if is_lost(pose):
            self._map_to_odom = self._pending = None
            return
        newest = self._odometry.newest
        if newest is not None and stamp <= newest[0]:
            self._anchor(stamp, where)
        else:
            self._pending = (stamp, where)

    def _anchor(self, stamp: float, where: Pose2D) -> None:
        self._map_to_odom = where @ self._odometry.nearest(stamp).inverse()
        self._pending = None

    @property
    def pose(self) -> Pose2D | None:
        """base_link in the map, or None before the first localization and while the robot is lost."""
        newest = self._odometry.newest
        if self._map_to_odom is None or newest is None:
            return self._pending[1] if self._pending is not None else None
        return self._map_to_odom @ newest[1]

    def at(self, stamp: float) -> Pose2D | None:
        """base_link in the map at a time gone by, between the two odometry samples around it.

        None while `pose` is unknown, and for times that the kept odometry doesn't reach from both sides.
        """
        where = None if self._map_to_odom is None else self._odometry.at(stamp)
        return None if where is None or self._map_to_odom is None else self._map_to_odom @ where
