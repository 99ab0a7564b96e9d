"""Where the robot is on the map, supplied by the simulator until a particle filter or SLAM takes over."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from anima import topics as t
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import std
from anima.types.base import Header, Time
from anima_sim.mapping import occupancy
from anima_sim.scene import load_scene

_SAME_TIME_S = 0.011  # half a control period: odometry of the same moment
_COVARIANCE = np.diag([1e-4, 1e-4, 0.0, 0.0, 0.0, 1e-4]).ravel()


class SimulatorLocalization:
    """Sends the true pose as an estimate, the transform map → odom that goes with it, and once the known map."""

    def __init__(self, settings: Settings) -> None:
        self._grid = occupancy(load_scene(settings.scene))
        self._odometry: deque[std.Odometry] = deque(maxlen=25)
        self._map_sent = False
        self._last = "it has had no word of the robot yet"

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Pairs the newest truth with the odometry of the same moment."""
        out: list[Sent] = []
        if not self._map_sent:
            out.append(t.MAP.of(self._map(now)))
            self._map_sent = True
        for odometry in inbox.new(t.ODOM):
            if self._odometry and odometry.header.stamp.seconds < self._odometry[-1].header.stamp.seconds:
                self._odometry.clear()  # time jumped back: another run of the simulator
            self._odometry.append(odometry)
        truths = inbox.new(t.GROUND_TRUTH)
        if not truths:
            return out
        truth = truths[-1]
        estimate = std.PoseWithCovariance(pose=truth.robot, covariance=_COVARIANCE)
        out.append(t.POSE.of(std.PoseWithCovarianceStamped(header=truth.header, pose=estimate)))
        stamp = truth.header.stamp.seconds
        nearest = min(self._odometry, key=lambda o: abs(o.header.stamp.seconds - stamp), default=None)
        if nearest is not None and abs(nearest.header.stamp.seconds - stamp) <= _SAME_TIME_S:
            out.append(t.TF.of(std.TFMessage(transforms=[_map_to_odom(truth.header, truth.robot, nearest.pose.pose)])))
        at = truth.robot.position
        self._last = f"the simulator says that the robot is at ({at.x:.2f}, {at.y:.2f})"
        return out

    def why(self) -> str:
        """What it last knew."""
        return self._last

    def _map(self, now: float) -> std.OccupancyGrid:
        rows, columns = self._grid.cells.shape
        about = std.MapMetaData(
            map_load_time=Time.at(now),
            resolution=self._grid.resolution_m,
            width=columns,
            height=rows,
            origin=std.Pose.planar(*self._grid.origin, 0.0),
        )
        return std.OccupancyGrid(header=Header.at(now, "map"), info=about, data=self._grid.cells.reshape(-1))


def _map_to_odom(header: Header, base: std.Pose, odom: std.Pose) -> std.TransformStamped:
    """The pose of `odom` in `map`, from base_link in both frames."""
    turn = base.orientation.yaw - odom.orientation.yaw
    c, s = math.cos(turn), math.sin(turn)
    x = base.position.x - (c * odom.position.x - s * odom.position.y)
    y = base.position.y - (s * odom.position.x + c * odom.position.y)
    moved = std.Transform(translation=std.Vector3(x=x, y=y), rotation=std.Quaternion.from_yaw(turn))
    return std.TransformStamped(header=header, child_frame_id="odom", transform=moved)
