"""What of a scan tells where the robot is, by REP 117: only beams that measured something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anima.body.pose import Pose2D
from anima.types.std import LaserScan

Reals = NDArray[np.float64]


def hits(scan: LaserScan, mount: Pose2D) -> Reals:
    """Where beams ended, shape (n, 2), in base_link; `mount` is the lidar's pose in it.

    Left out are `-inf` (too close to measure), `+inf` (nothing within reach), NaN (bad, or the robot itself) and what
    lies outside of the sensor's own limits.
    """
    ranges = np.asarray(scan.ranges, dtype=np.float64)
    angles = scan.angle_min + scan.angle_increment * np.arange(ranges.size) + mount.yaw
    good = np.isfinite(ranges) & np.isfinite(angles) & (ranges >= scan.range_min) & (ranges <= scan.range_max)
    ranges, angles = ranges[good], angles[good]
    return np.column_stack([mount.x + ranges * np.cos(angles), mount.y + ranges * np.sin(angles)])


def some(points: Reals, count: int) -> Reals:
    """At most `count` of the points, evenly spread over the scan."""
    if len(points) <= count:
        return points
    kept: Reals = points[np.linspace(0, len(points) - 1, count).astype(np.intp)]
    return kept
