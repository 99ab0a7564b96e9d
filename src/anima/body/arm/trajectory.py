"""Smooth motion through postures: one bell-shaped speed profile along the polyline in joint space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anima.body.arm.poses import Joints

# Peak of the minimum-jerk speed profile over its mean (Flash and Hogan 1985).
PEAK_OVER_MEAN = 1.875
_SHORTEST_S = 0.15


class Trajectory:
    """Minimum-jerk motion along the straight pieces between postures; no joint is faster than the limit."""

    def __init__(self, waypoints: Sequence[Joints], speed_limit_radps: float) -> None:
        """Raises ValueError without a waypoint or without a positive, finite speed."""
        if not waypoints or not 0.0 < speed_limit_radps < np.inf:
            raise ValueError(f"a motion needs waypoints and a speed; got {len(waypoints)} at {speed_limit_radps} rad/s")
        self._points: NDArray[np.float64] = np.array(waypoints, dtype=np.float64)
        pieces = np.abs(np.diff(self._points, axis=0)).max(axis=1) if len(waypoints) > 1 else np.zeros(0)
        self._along: NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(pieces)])
        length = float(self._along[-1])
        self.duration_s = max(_SHORTEST_S, PEAK_OVER_MEAN * length / speed_limit_radps) if length > 1e-9 else 0.0

    @property
    def goal(self) -> Joints:
        """The last posture, shape (5,), rad."""
        return np.array(self._points[-1])

    def at(self, elapsed_s: float) -> Joints:
        """The posture `elapsed_s` after the start, shape (5,), rad; the goal from `duration_s` on."""
        if elapsed_s >= self.duration_s:
            return self.goal
        u = max(0.0, elapsed_s / self.duration_s)
        along = self._along[-1] * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        return np.array([np.interp(along, self._along, column) for column in self._points.T])
