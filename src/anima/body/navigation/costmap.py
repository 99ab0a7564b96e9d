"""Where the robot can be and how gladly: the known map, what the lidar shows besides, and the distance to both."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from anima.body.grid_map import Blocked, GridMap
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D
from anima.types.std import LaserScan

Metres = NDArray[np.float64]
DislikedArea = tuple[float, float, float, float, float]
"""x0, y0, x1, y1 in the map frame, metres, and how much it is disliked, 0..1."""

_ALL = (slice(None), slice(None))
# A lidar point this close to a mapped obstacle is that obstacle, seen with noise.
_SAME_M = 0.12
# A beam that passes a remembered obstacle by this much shows that it has gone.
_PAST_M = 0.12


def scan_points(scan: LaserScan, reach_m: float) -> Metres:
    """The scan's hits within `reach_m` in the sensor's frame, shape (n, 2). `-inf` (too close) counts as range_min."""
    ranges = np.asarray(scan.ranges, dtype=np.float64)
    angles = scan.angle_min + scan.angle_increment * np.arange(ranges.size)
    ranges = np.where(np.isneginf(ranges), scan.range_min, ranges)
    hit = np.isfinite(ranges) & (ranges <= reach_m)
    points: Metres = np.stack([ranges[hit] * np.cos(angles[hit]), ranges[hit] * np.sin(angles[hit])], axis=1)
    return points


def transform(points: Metres, pose: Pose2D) -> Metres:
    """Points of `pose`'s frame, shape (n, 2), in the frame that `pose` is given in."""
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    rotation = np.array([[c, s], [-s, c]])
    moved: Metres = points @ rotation + np.array([pose.x, pose.y])
    return moved


class Costmap:
    """Three layers over one grid: the known map, the lidar's obstacles with their time, and the clearance to either.

    `laser` is the lidar's pose in base_link.
    """

    def __init__(self, grid: GridMap, tuning: NavigationTuning, laser: Pose2D) -> None:
        self.grid = grid
        self._tuning = tuning
        self._laser = laser
        self._known = self._distances(grid.blocked)
        self._seen_at = np.full(grid.blocked.shape, -math.inf)
        self._clearance: Metres | None = None
        self._disliked: Metres | None = None
        self._scanned_at = -math.inf

    def _distances(self, blocked: Blocked) -> Metres:
        # Half a cell less: an obstacle may fill its cell to the edge.
        cells = ndimage.distance_transform_edt(~blocked)
        return np.asarray(np.maximum(cells - 0.5, 0.0) * self.grid.resolution_m)

    def add_scan(self, scan: LaserScan, pose: Pose2D, now: float) -> bool:
        """Mark what a new scan hits and clear what it looks through; `pose` is base_link when it was taken.

        Returns whether any obstacle came or went.
        """
        stamp = scan.header.stamp.seconds
        if stamp <= self._scanned_at and now >= self._scanned_at:
            return False
        self._scanned_at = stamp
        sensor = pose @ self._laser
        before = self._seen_at > -math.inf
        self._clear(scan, sensor, now)
        points = transform(scan_points(scan, self._tuning.obstacle_range_m), sensor)
        # What is inside the robot is the robot: its own mast or arm.
        own = np.hypot(points[:, 0] - pose.x, points[:, 1] - pose.y) < self._tuning.tight_clearance_m
        cells = self.grid.cells(points[~own])
        new = self._known[cells[:, 0], cells[:, 1]] > _SAME_M
        self._seen_at[cells[new, 0], cells[new, 1]] = now
        changed = bool(np.any(before != (self._seen_at > -math.inf)))
        if changed:
            self._clearance = None
        return changed

    def _clear(self, scan: LaserScan, sensor: Pose2D, now: float) -> None:
        rows, columns = np.nonzero(self._seen_at > -math.inf)
        if not rows.size:
            return
        where = self.grid.centres(np.stack([rows, columns], axis=1))
        offset = where - (sensor.x, sensor.y)
        distance = np.hypot(offset[:, 0], offset[:, 1])
        bearing = np.arctan2(offset[:, 1], offset[:, 0]) - sensor.yaw
        count = len(scan.ranges)
        beam = np.round((bearing - scan.angle_min) / scan.angle_increment).astype(np.intp) % max(count, 1)
        ranges = np.asarray(scan.ranges, dtype=np.float64)
        # The neighbours too: a beam that grazes past the edge of a thing proves nothing.
        nearest = np.minimum(ranges[beam], np.minimum(ranges[(beam + 1) % count], ranges[(beam - 1) % count]))
        gone = (nearest > distance + _PAST_M) & (distance < self._tuning.obstacle_range_m)
        old = now - self._seen_at[rows, columns] > self._tuning.obstacle_memory_s
        future = self._seen_at[rows, columns] > now
        drop = gone | old | future
        self._seen_at[rows[drop], columns[drop]] = -math.inf

    def forget_obstacles(self) -> None:
        """Drop what the lidar showed; the known map stays."""
        self._seen_at[:] = -math.inf
        self._clearance = None

    @property
    def clearance(self) -> Metres:
        """Metres from each cell to the nearest obstacle, shape (rows, columns)."""
        if self._clearance is None:
            seen = self._seen_at > -math.inf
            self._clearance = self._distances(self.grid.blocked | seen) if seen.any() else self._known
        return self._clearance

    @property
    def turning_clearance_m(self) -> float:
        """How far from any obstacle the robot's middle stays where it may have to turn."""
        return self._tuning.turning_clearance_m

    @property
    def tight_clearance_m(self) -> float:
        """The least that it ever stays away."""
        return self._tuning.tight_clearance_m

    def clearance_at(self, x: float, y: float) -> float:
        """Metres from a point to the nearest obstacle."""
        row, column = self.grid.cell(x, y)
        return float(self.clearance[row, column])

    def clearance_along(self, points: Metres) -> Metres:
        """Metres from each of the points, shape (n, 2), to the nearest obstacle."""
        cells = self.grid.cells(points)
        return self.clearance[cells[:, 0], cells[:, 1]]

    def dislike(self, areas: Sequence[DislikedArea]) -> None:
        """Make every metre in these areas cost more, in place of the areas before. None of them is forbidden."""
        self._disliked = None
        for x0, y0, x1, y1, weight in areas:
            if self._disliked is None:
                self._disliked = np.zeros(self.grid.blocked.shape)
            low, high = self.grid.cell(x0, y0), self.grid.cell(x1, y1)
            part = self._disliked[low[0] : high[0] + 1, low[1] : high[1] + 1]
            np.maximum(part, weight * self._tuning.disliked_cost, out=part)

    def costs(self, window: tuple[slice, slice] = _ALL) -> Metres:
        """Cost of each metre driven in a cell: 1 in the open, rising to 11 at the turning clearance, then `inf`.

        In disliked areas it is more, by `disliked_cost` at the most. `window`: which rows and columns are asked for.
        """
        tuning = self._tuning
        free = self.clearance[window]
        span = tuning.comfort_clearance_m - tuning.turning_clearance_m
        closeness = np.clip((tuning.comfort_clearance_m - free) / span, 0.0, 1.0)
        costs: Metres = np.where(free < tuning.turning_clearance_m, np.inf, 1.0 + 10.0 * closeness**2)
        return costs if self._disliked is None else costs + self._disliked[window]

    def tight(self) -> Blocked:
        """Cells where the robot fits but can't turn."""
        free = self.clearance
        return (free < self._tuning.turning_clearance_m) & (free >= self._tuning.tight_clearance_m)
