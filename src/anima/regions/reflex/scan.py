"""What a laser scan means for driving: points in base_link, and the directions in which it forbids or says nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anima.regions.reflex.config import ObstacleTuning
from anima.types.std import LaserScan

Points = NDArray[np.float64]
"""Points on the floor plane in base_link, metres, shape (N, 2)."""

_MAX_BEAMS = 20_000
_MAX_ANGLE_RAD = 20.0


@dataclass(frozen=True)
class ScanView:
    """One scan, read for the reflexes.

    `near_front` and `near_rear`: something is too close to measure in that half. `blind_front` and `blind_rear`: too
    many beams of that half are bad, so that it counts as unseen.
    """

    stamp: float
    points: Points
    near_front: bool = False
    near_rear: bool = False
    blind_front: bool = False
    blind_rear: bool = False

    def dump(self) -> dict[str, Any]:
        """The view, as JSON."""
        return {**self.__dict__, "points": self.points.tolist()}

    @classmethod
    def load(cls, data: dict[str, Any]) -> ScanView:
        """A dumped view."""
        return cls(**{**data, "points": np.array(data["points"], dtype=np.float64).reshape(-1, 2)})


def read_scan(scan: LaserScan, tuning: ObstacleTuning) -> ScanView:
    """Read a scan by REP 117: +inf (or beyond range_max) is free, -inf (or below range_min) too close, NaN bad.

    Zero and negative finite ranges, which some drivers send for "nothing measured", are bad too. A scan whose
    geometry makes no sense is blind all around.
    """
    stamp = scan.header.stamp.seconds
    ranges = np.asarray(scan.ranges, dtype=np.float64).ravel()
    geometry = (scan.angle_min, scan.angle_increment, scan.range_min, scan.range_max)
    usable = bool(np.all(np.isfinite(geometry))) and scan.angle_increment != 0.0 and scan.range_min >= 0.0
    # Far beyond a turn it isn't a scan, and angles lose their meaning.
    usable = usable and max(abs(scan.angle_min), abs(scan.angle_increment) * len(ranges)) <= _MAX_ANGLE_RAD
    if not usable or not 0 < len(ranges) <= _MAX_BEAMS:
        return ScanView(stamp, np.zeros((0, 2)), blind_front=True, blind_rear=True)
    beams = scan.angle_min + scan.angle_increment * np.arange(len(ranges), dtype=np.float64)
    kept = ~_masked(beams, tuning.laser_mask_deg)
    ranges, bearing = ranges[kept], beams[kept] + tuning.laser_yaw_rad
    ahead = np.cos(bearing)
    bad = np.isnan(ranges) | (np.isfinite(ranges) & (ranges <= 0.0))
    near = ~bad & (ranges < scan.range_min)
    hit = ~bad & ~near & (ranges <= scan.range_max)
    points = np.stack(
        (
            tuning.laser_x_m + ranges[hit] * np.cos(bearing[hit]),
            tuning.laser_y_m + ranges[hit] * np.sin(bearing[hit]),
        ),
        axis=-1,
    )
    front, rear = ahead >= 0.0, ahead <= 0.0
    return ScanView(
        stamp,
        points,
        near_front=bool(np.any(near & front)),
        near_rear=bool(np.any(near & rear)),
        blind_front=_share(bad, front) > tuning.max_bad_share,
        blind_rear=_share(bad, rear) > tuning.max_bad_share,
    )


def _share(bad: NDArray[np.bool_], half: NDArray[np.bool_]) -> float:
    """Bad beams of a half; a half without beams is not seen at all."""
    return float(bad[half].mean()) if half.any() else 1.0


def _masked(beams: NDArray[np.float64], sectors: tuple[tuple[float, float], ...]) -> NDArray[np.bool_]:
    degrees = np.degrees(beams)
    masked = np.zeros(len(beams), dtype=bool)
    for start, end in sectors:
        masked |= (degrees - start) % 360.0 <= (end - start) % 360.0
    return masked
