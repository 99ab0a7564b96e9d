"""How fast the base may move: limits of the body, of what is held back, and of the free path ahead."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anima.regions.reflex.config import MAX_STEP_S, BaseLimits, CommandTuning, Extent, ObstacleTuning
from anima.regions.reflex.mux import ZERO, Velocity
from anima.regions.reflex.scan import Points

# Below these a guarded motion is no progress, only creeping into the margin.
_CRAWL_MPS = 0.01
_CRAWL_RADPS = 0.02
# How far a corner of the footprint moves between two checked poses.
_SAMPLE_M = 0.005
# A point inside the margin stops a motion that comes nearer by more than this share of the way.
_APPROACH_SHARE = 0.05


@dataclass(frozen=True)
class Permit:
    """The greatest speeds allowed: forward and backward m/s, turning rad/s either way. All are >= 0."""

    forward: float = math.inf
    backward: float = math.inf
    turn: float = math.inf

    def __and__(self, other: Permit) -> Permit:
        """What both allow."""
        return Permit(min(self.forward, other.forward), min(self.backward, other.backward), min(self.turn, other.turn))

    def apply(self, wish: Velocity) -> Velocity:
        """The wish, cut to what is allowed."""
        return Velocity(
            min(max(wish.linear, -self.backward), self.forward), min(max(wish.angular, -self.turn), self.turn)
        )


NOTHING = Permit(0.0, 0.0, 0.0)
NO_TRANSLATION = Permit(0.0, 0.0)


def clamp(wish: Velocity, limits: BaseLimits) -> Velocity:
    """Within the body's speeds; both are scaled alike, so that the path stays the same."""
    over = max(abs(wish.linear) / limits.max_linear_mps, abs(wish.angular) / limits.max_angular_radps, 1.0)
    if math.isinf(over):
        return ZERO
    return Velocity(
        _within(wish.linear / over, limits.max_linear_mps), _within(wish.angular / over, limits.max_angular_radps)
    )


def ramp(last: Velocity, wish: Velocity, dt_s: float, limits: BaseLimits, tuning: CommandTuning) -> Velocity:
    """The next velocity on the way to `wish`: speeding up within the body's limits, slowing down by the brakes."""
    dt = min(max(dt_s, 0.0), MAX_STEP_S)
    return Velocity(
        _ramp(last.linear, wish.linear, limits.max_linear_accel_mps2 * dt, tuning.linear_brake_mps2 * dt),
        _ramp(last.angular, wish.angular, limits.max_angular_accel_radps2 * dt, tuning.angular_brake_radps2 * dt),
    )


def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


def _ramp(last: float, wish: float, faster: float, slower: float) -> float:
    if last * wish < 0:
        # Through zero: brake first, and speed up the other way from the next step on.
        wish = 0.0
    if abs(wish) > abs(last):
        return last + math.copysign(min(abs(wish) - abs(last), faster), wish)
    return last - math.copysign(min(abs(last) - abs(wish), slower), last)


def distance(extent: Extent, points: Points) -> NDArray[np.float64]:
    """Signed distance of points (…, 2) in base_link to the chassis rectangle: metres, negative inside. Shape (…)."""
    dx = np.maximum(points[..., 0] - extent.front, -extent.rear - points[..., 0])
    dy = np.abs(points[..., 1]) - extent.half_width
    outside = np.hypot(np.maximum(dx, 0.0), np.maximum(dy, 0.0))
    inside: NDArray[np.float64] = outside + np.minimum(np.maximum(dx, dy), 0.0)
    return inside


def guard(wish: Velocity, points: Points, extent: Extent, tuning: ObstacleTuning) -> Velocity:
    """`wish`, slowed on its own path so that the robot can stop `margin_m` before every point (N, 2) in base_link.

    Both speeds are scaled alike, so the path is kept. When there is no way on, turning on the spot is what remains,
    where the corners clear everything.
    """
    slowed = _slowed(wish, points, extent, tuning)
    if slowed.linear == 0.0 and wish.linear != 0.0 and wish.angular != 0.0:
        return _slowed(Velocity(0.0, wish.angular), points, extent, tuning)
    return slowed


def _slowed(wish: Velocity, points: Points, extent: Extent, tuning: ObstacleTuning) -> Velocity:
    if wish.is_zero or not len(points):
        return wish
    # Along the path time is counted at the wished speed; scaled by s the robot covers s of it a second and can
    # brake by `brake` of it a second squared: s * reaction + s^2 / (2 * brake) must fit into what is free.
    brake = min(
        tuning.braking_mps2 / abs(wish.linear) if wish.linear else math.inf,
        tuning.braking_radps2 / abs(wish.angular) if wish.angular else math.inf,
    )
    if math.isinf(brake):
        return ZERO  # so slow that it is no motion, and that its time to brake has no finite figure
    horizon = tuning.reaction_s + 1 / (2 * brake)
    free = _free_time(wish, horizon, points, extent, tuning)
    scale = brake * (math.sqrt(tuning.reaction_s**2 + 2 * free / brake) - tuning.reaction_s)
    if scale >= 1.0:
        return wish
    slowed = Velocity(wish.linear * scale, wish.angular * scale)
    if abs(slowed.linear) < _CRAWL_MPS and abs(slowed.angular) < _CRAWL_RADPS:
        return ZERO
    if wish.linear and abs(slowed.linear) < _CRAWL_MPS:
        return ZERO
    return slowed


def _free_time(wish: Velocity, horizon: float, points: Points, extent: Extent, tuning: ObstacleTuning) -> float:
    """How long the path can be followed at the wished speed before a point is in the way, at most `horizon`."""
    radius = math.hypot(max(extent.front, extent.rear), extent.half_width)
    speed = abs(wish.linear) + abs(wish.angular) * radius
    margin = tuning.margin_m
    reach = radius + margin + abs(wish.linear) * horizon
    near = points[np.hypot(points[:, 0], points[:, 1]) <= reach]
    if not len(near):
        return horizon
    samples = min(max(math.ceil(speed * horizon / _SAMPLE_M), 2), 64)
    times = np.linspace(0.0, horizon, samples + 1)
    x, y, yaw = _arc(wish, times)
    cos, sin = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
    dx, dy = near[None, :, 0] - x[:, None], near[None, :, 1] - y[:, None]
    seen = np.stack((cos * dx + sin * dy, cos * dy - sin * dx), axis=-1)
    gap = distance(extent, seen)
    nearer = gap[0] - gap[1:]
    way = speed * times[1:, None]
    in_the_way = (gap[1:] < margin) & (nearer > _APPROACH_SHARE * way) | (gap[1:] < 0.0) & (nearer > 1e-9)
    in_the_way &= gap[0] >= -tuning.self_depth_m
    hit = np.flatnonzero(in_the_way.any(axis=1))
    return float(times[hit[0]]) if len(hit) else horizon


def _arc(
    wish: Velocity, times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Positions and headings (K,) of base_link after the times at constant velocity, in base_link at the start."""
    yaw = wish.angular * times
    if abs(wish.angular) < 1e-6:
        return wish.linear * times, np.zeros_like(times), yaw
    radius = wish.linear / wish.angular
    return radius * np.sin(yaw), radius * (1 - np.cos(yaw)), yaw
