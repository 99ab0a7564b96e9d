"""The costmap around the robot as a topic, so that people see why it drives where it drives."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anima import topics as t
from anima.body.navigation.costmap import Costmap
from anima.body.pose import Pose2D
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.std import MapMetaData, OccupancyGrid, Pose

PERIOD_S = 1.0
_REACH_M = 3.0
_DEAREST = 20.0  # cost of a metre that is drawn darkest; beyond it nothing is told apart

# As Nav2's costmaps are read: an obstacle; where the robot's middle can't be; where it fits but can't turn.
OBSTACLE, NO_ROOM, TIGHT = 100, 99, 98


class CostmapTopic:
    """Says once a second, and only when it changed, what driving costs within three metres of the robot."""

    def __init__(self, costmap: Costmap) -> None:
        self._costmap = costmap
        self._at = -math.inf
        self._last: tuple[float, float, bytes] | None = None

    def step(self, now: float, pose: Pose2D | None) -> list[Sent]:
        """The costmap if it is time for it and something is new; nothing while the robot doesn't know where it is."""
        if pose is None or 0.0 <= now - self._at < PERIOD_S:
            return []
        self._at = now
        grid = self._costmap.grid
        (row, column), reach = grid.cell(pose.x, pose.y), math.ceil(_REACH_M / grid.resolution_m)
        rows, columns = grid.blocked.shape
        top, left = max(row - reach, 0), max(column - reach, 0)
        window = slice(top, min(row + reach + 1, rows)), slice(left, min(column + reach + 1, columns))
        cells = shades(self._costmap, window)
        x, y = grid.origin[0] + left * grid.resolution_m, grid.origin[1] + top * grid.resolution_m
        said = (x, y, cells.tobytes())
        if said == self._last:
            return []
        self._last = said
        about = MapMetaData(
            map_load_time=Time.at(now),
            resolution=grid.resolution_m,
            width=cells.shape[1],
            height=cells.shape[0],
            origin=Pose.planar(x, y, 0.0),
        )
        return [t.COSTMAP.of(OccupancyGrid(header=Header.at(now, "map"), info=about, data=cells.reshape(-1)))]


def shades(costmap: Costmap, window: tuple[slice, slice]) -> NDArray[np.int8]:
    """What `nav_msgs/OccupancyGrid` says of each cell: 0 free and cheap, up to 97 dear, then `TIGHT` to `OBSTACLE`."""
    costs = np.nan_to_num(costmap.costs(window), posinf=_DEAREST)
    drawn = np.clip((costs - 1.0) / (_DEAREST - 1.0) * 97.0, 0.0, 97.0)
    clearance = costmap.clearance[window]
    drawn[clearance < costmap.turning_clearance_m] = TIGHT
    drawn[clearance < costmap.tight_clearance_m] = NO_ROOM
    drawn[clearance <= 0.0] = OBSTACLE
    return np.round(drawn).astype(np.int8)
