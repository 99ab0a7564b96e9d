"""The base's motor driver (ramp, time-out) and the odometry that it reports."""

from __future__ import annotations

import math

import numpy as np

from anima_sim.config import BaseConfig, OdometryConfig
from anima_sim.errors import CommandError


class BaseDriver:
    """Turns a body velocity into wheel speeds, with limits on speeding up and on braking; stops without commands."""

    def __init__(self, config: BaseConfig) -> None:
        self._config = config
        self._wanted = (0.0, 0.0)
        self._now = (0.0, 0.0)
        self._deadline_s = -math.inf

    def command(self, time_s: float, linear_mps: float, angular_radps: float) -> None:
        """Takes a new velocity, clipped to the driver's own limits. Raises `CommandError` if it isn't finite."""
        if not (math.isfinite(linear_mps) and math.isfinite(angular_radps)):
            raise CommandError(f"base command ({linear_mps}, {angular_radps}) isn't finite; the last stays in force")
        c = self._config
        self._wanted = (
            min(max(linear_mps, -c.max_linear_mps), c.max_linear_mps),
            min(max(angular_radps, -c.max_angular_radps), c.max_angular_radps),
        )
        self._deadline_s = time_s + c.command_timeout_s

    def wheel_speeds(self, time_s: float, period_s: float) -> tuple[float, float]:
        """Set points of the left and right wheel (rad/s) for the next period."""
        c = self._config
        linear, angular = self._wanted if time_s <= self._deadline_s else (0.0, 0.0)
        v, w = self._now
        v = _approach(v, linear, c.max_linear_accel_mps2 * period_s, c.max_linear_decel_mps2 * period_s)
        w = _approach(w, angular, c.max_angular_accel_radps2 * period_s, c.max_angular_decel_radps2 * period_s)
        self._now = (v, w)
        half = c.track_m / 2
        return (v - w * half) / c.wheel_radius_m, (v + w * half) / c.wheel_radius_m


def _approach(now: float, wanted: float, faster: float, slower: float) -> float:
    """One step from `now` towards `wanted`. Through zero it brakes first, and speeds up the other way afterwards."""
    goal = 0.0 if now * wanted < 0 else wanted
    step = faster if abs(goal) > abs(now) else slower
    return now + min(max(goal - now, -step), step)


class Odometer:
    """Dead reckoning from wheel encoders and gyro: starts at zero, drifts a little, never jumps."""

    def __init__(self, base: BaseConfig, config: OdometryConfig, rng: np.random.Generator) -> None:
        self._base = base
        self._count_rad = 2 * math.pi / config.encoder_counts_per_turn
        self._scale = 1.0 + rng.normal(0.0, config.encoder_scale_error)
        self._counts: tuple[int, int] | None = None
        self.pose = (0.0, 0.0, 0.0)
        self.velocity = (0.0, 0.0)

    def update(self, left_rad: float, right_rad: float, gyro_radps: float | None, period_s: float) -> None:
        """Adds one period. Without a gyro (None) the heading comes from the wheels, as a driver falls back."""
        counts = (round(left_rad / self._count_rad), round(right_rad / self._count_rad))
        before = self._counts or counts
        self._counts = counts
        unit = self._count_rad * self._base.wheel_radius_m * self._scale
        left, right = (counts[0] - before[0]) * unit, (counts[1] - before[1]) * unit
        turn = (right - left) / self._base.track_m if gyro_radps is None else gyro_radps * period_s
        ahead = (left + right) / 2
        x, y, yaw = self.pose
        middle = yaw + turn / 2
        heading = math.atan2(math.sin(yaw + turn), math.cos(yaw + turn))
        self.pose = (x + ahead * math.cos(middle), y + ahead * math.sin(middle), heading)
        self.velocity = (ahead / period_s, turn / period_s)
