"""A base of two numbers among boxes on a grid, with a lidar by ray marching: enough to test navigation in no time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anima.body.grid_map import GridMap
from anima.body.navigation.navigator import Navigation, Navigator
from anima.body.pose import Pose2D, wrap
from anima.types.base import Header
from anima.types.std import (
    LaserScan,
    Odometry,
    PoseWithCovariance,
    Twist,
    TwistWithCovariance,
    Vector3,
)

Box = tuple[float, float, float, float]
STEP_S = 0.05
RESOLUTION_M = 0.05


def room(width_m: float, height_m: float, *boxes: Box) -> GridMap:
    """An empty room with walls around it and boxes (x0, y0, x1, y1) in it."""
    shape = (round(height_m / RESOLUTION_M), round(width_m / RESOLUTION_M))
    blocked = np.zeros(shape, dtype=bool)
    blocked[0, :] = blocked[-1, :] = blocked[:, 0] = blocked[:, -1] = True
    for box in boxes:
        fill(blocked, box)
    return GridMap(RESOLUTION_M, (0.0, 0.0), blocked)


def fill(blocked: NDArray[np.bool_], box: Box) -> None:
    """Block the cells that a box covers."""
    x0, y0, x1, y1 = (round(v / RESOLUTION_M) for v in box)
    blocked[y0:y1, x0:x1] = True


@dataclass
class Cart:
    """A differential-drive base with limited acceleration. `real` is what stands there, known or not."""

    real: GridMap
    pose: Pose2D
    now: float = 0.0
    speed: tuple[float, float] = (0.0, 0.0)
    dead: bool = False
    way: list[Pose2D] = field(default_factory=list)

    def odometry(self) -> Odometry:
        """Perfect odometry."""
        twist = Twist(linear=Vector3(x=self.speed[0]), angular=Vector3(z=self.speed[1]))
        return Odometry(
            header=Header.at(self.now, "odom"), child_frame_id="base_link",
            pose=PoseWithCovariance(pose=self.pose.to_msg(), covariance=np.zeros(36)),
            twist=TwistWithCovariance(twist=twist, covariance=np.zeros(36)),
        )

    def scan(self, beams: int = 180, reach_m: float = 6.0) -> LaserScan:
        """What a lidar over the base's centre sees."""
        angles = np.linspace(-math.pi, math.pi, beams, endpoint=False)
        steps = np.arange(0.02, reach_m, 0.02)
        x = self.pose.x + np.cos(angles + self.pose.yaw)[:, None] * steps
        y = self.pose.y + np.sin(angles + self.pose.yaw)[:, None] * steps
        cells = self.real.cells(np.stack([x.ravel(), y.ravel()], axis=1))
        hits = self.real.blocked[cells[:, 0], cells[:, 1]].reshape(x.shape)
        ranges = np.where(hits.any(axis=1), steps[np.argmax(hits, axis=1)], np.inf).astype(np.float32)
        return LaserScan(
            header=Header.at(self.now, "laser_link"), angle_min=-math.pi, angle_max=math.pi,
            angle_increment=2 * math.pi / beams, time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=reach_m,
            ranges=ranges, intensities=np.zeros(0, np.float32),
        )

    def drive(self, velocity: tuple[float, float]) -> None:
        """Obey a command for one step."""
        if self.dead:
            velocity = (0.0, 0.0)
        linear = self.speed[0] + float(np.clip(velocity[0] - self.speed[0], -1.0 * STEP_S, 1.0 * STEP_S))
        angular = self.speed[1] + float(np.clip(velocity[1] - self.speed[1], -3.0 * STEP_S, 3.0 * STEP_S))
        middle = self.pose.yaw + 0.5 * angular * STEP_S
        self.pose = Pose2D(
            self.pose.x + linear * STEP_S * math.cos(middle),
            self.pose.y + linear * STEP_S * math.sin(middle),
            wrap(self.pose.yaw + angular * STEP_S),
        )
        self.speed = (linear, angular)
        self.now += STEP_S
        self.way.append(self.pose)

    def follow(self, navigator: Navigator, limit_s: float = 120.0, see: bool = True) -> Navigation:
        """Let a navigator drive to the end of its goal."""
        found = None
        while self.now < limit_s:
            scan = self.scan() if see and round(self.now / STEP_S) % 2 == 0 else None
            found = navigator.step(self.now, self.pose, self.odometry(), scan)
            if found.status.value in ("arrived", "blocked", "stalled"):
                return found
            self.drive(found.velocity)
        raise AssertionError(f"still {found} after {limit_s} s")
