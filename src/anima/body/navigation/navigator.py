"""The interface to whatever drives the base to a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from anima.body.pose import Pose2D
from anima.types.std import LaserScan, Odometry

PathPoints = NDArray[np.float64]
"""Points in the map frame, shape (n, 2), metres."""

NO_PATH: PathPoints = np.zeros((0, 2))


@dataclass(frozen=True)
class Goal:
    """Where to go. Without `heading_tolerance_rad` the heading at the goal does not matter."""

    pose: Pose2D
    position_tolerance_m: float = 0.03
    heading_tolerance_rad: float | None = 0.03


class Status(Enum):
    """How a drive stands. The last two end it; a new goal starts over."""

    DRIVING = "driving"
    WAITING = "waiting"
    ARRIVED = "arrived"
    BLOCKED = "blocked"
    STALLED = "stalled"


@dataclass(frozen=True)
class Navigation:
    """One step of a drive: what to command (m/s, rad/s), the path ahead, the metres that remain, and why in words."""

    status: Status
    velocity: tuple[float, float] = (0.0, 0.0)
    path: PathPoints = field(default_factory=lambda: NO_PATH)
    remaining_m: float = 0.0
    detail: str = ""


class Navigator(Protocol):
    """Drives the base to a goal in the map.

    `set_goal` then `step` at 20 Hz until `status` is ARRIVED, BLOCKED or STALLED. Nothing is commanded by a navigator
    itself: the caller sends `velocity`. The back end here is `anima.body.navigation.grid.GridNavigator`; on a robot
    that runs Nav2, its NavigateToPose action is the other: `set_goal` sends the goal, `step` hands on the velocity
    that the controller server publishes and maps the action's error codes to BLOCKED and STALLED.
    """

    def set_goal(self, goal: Goal) -> None:
        """Start over towards `goal`."""
        ...

    def step(
        self, now: float, pose: Pose2D, odometry: Odometry, scan: LaserScan | None
    ) -> Navigation:
        """One step of the drive. `pose` is base_link in the map at `now`."""
        ...

    def dislike(self, areas: Sequence[tuple[float, float, float, float, float]]) -> None:
        """From the next goal on drive round these areas (x0, y0, x1, y1, how much: 0..1) where that is not too far."""
        ...

    def path_lengths(self, start: Pose2D, goals: Sequence[Pose2D]) -> list[float]:
        """Metres to drive from `start` to each goal by what is known now; `inf` where there is no way."""
        ...

    def can_turn_at(self, goals: Sequence[Pose2D]) -> list[bool]:
        """Whether the base could turn on the spot at each goal, by what is known now, a little off it too."""
        ...
