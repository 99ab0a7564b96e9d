"""The simulator's truth in localization's place: what an errand would be for a robot that always knows where it is."""

from __future__ import annotations

import numpy as np

from anima import topics as t
from anima.body.grid_map import load_occupancy
from anima.body.localization.node import tell_map, tell_pose
from anima.body.pose import Pose2D, PoseHistory
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.mind import GroundTruth

_SURE = np.diag([1e-6] * 6).ravel()  # m², rad²: a millimetre, so that nobody divides by nothing


class TruePose:
    """Tells the true pose and the map → odom that belongs to it. For measuring alone: see `Settings.pose`."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when the map can't be used."""
        self._drawn = load_occupancy(settings.map_folder)
        self._map_sent = False
        self._odometry = PoseHistory()
        self._truth: GroundTruth | None = None
        self._where: Pose2D | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Tell the newest truth, once the odometry of its moment is there; and once the map."""
        out = [] if self._map_sent else [tell_map(now, self._drawn)]
        self._map_sent = True
        for odometry in inbox.new(t.ODOM):
            self._odometry.add(odometry.header.stamp.seconds, Pose2D.of(odometry.pose.pose))
        self._truth = next(reversed(inbox.new(t.GROUND_TRUTH)), self._truth)
        if self._truth is None:
            return out
        stamp = self._truth.header.stamp.seconds
        rolled = self._odometry.at(stamp)
        if rolled is None:
            return out
        self._where, self._truth = Pose2D.of(self._truth.robot), None
        return [*out, *tell_pose(stamp, self._where @ rolled.inverse(), rolled, _SURE)]

    def why(self) -> str:
        """One sentence: where it is."""
        if self._where is None:
            return "the simulator has told no truth yet"
        return f"the robot is at ({self._where.x:.2f}, {self._where.y:.2f}), as the simulator knows"
