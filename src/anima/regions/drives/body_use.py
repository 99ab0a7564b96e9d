"""What the body uses up: charge per metre and per second, heat of the motors, life."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anima.regions.drives.config import Battery, DischargeTuning, HeatTuning, WearTuning
from anima.types.std import JointState


@dataclass
class _Window:
    """What happened since the percentage last dropped by enough: shares, seconds, metres, ampere-seconds."""

    began_at: float
    still_s: float = 0.0
    moving_s: float = 0.0
    metres: float = 0.0
    still_as: float = 0.0
    moving_as: float = 0.0


class Discharge:
    """Shares of the battery per second at rest and per metre driven, learned slowly from the gauge.

    The gauge is the truth, in windows of a drop that stands out from its steps; the current, where it is measured,
    tells how a window's drop divides between standing and driving.
    """

    def __init__(self, tuning: DischargeTuning, battery: Battery) -> None:
        self._tuning = tuning
        self._first = (battery.electronics_w / battery.capacity_j, tuning.drive_j_per_m / battery.capacity_j)
        self.per_s, self.per_m = self._first
        self._window: _Window | None = None

    def feel(self, share: float, current: float, dt: float, metres: float, *, moving: bool, charging: bool) -> None:
        """One period of `dt` seconds that ended at `share`; `current` in amperes, negative when discharging or NaN."""
        if charging:
            self._window = None
            return
        window = self._window
        if window is None or share > window.began_at + self._tuning.window_share:
            self._window = _Window(share)
            return
        drawn = -current * dt if math.isfinite(current) and current < 0.0 else 0.0
        if moving:
            window.moving_s += dt
            window.moving_as += drawn
            window.metres += metres
        else:
            window.still_s += dt
            window.still_as += drawn
        if window.began_at - share >= self._tuning.window_share:
            self._learn(window, window.began_at - share)
            self._window = _Window(share)

    def _learn(self, window: _Window, drop: float) -> None:
        resting = window.still_s * self.per_s
        driving = window.moving_s * self.per_s + window.metres * self.per_m
        if window.still_as + window.moving_as > 0.0:
            resting, driving = window.still_as, window.moving_as
        if resting + driving <= 0.0:
            return
        rested = drop * resting / (resting + driving)
        if window.still_s >= 5.0:
            self.per_s = self._mixed(self.per_s, rested / window.still_s, self._first[0])
        if window.metres >= 1.0:
            per_m = (drop - rested - window.moving_s * self.per_s) / window.metres
            self.per_m = self._mixed(self.per_m, per_m, self._first[1])

    def _mixed(self, known: float, measured: float, first: float) -> float:
        mixed = known + self._tuning.gain * (measured - known)
        return min(max(mixed, first / self._tuning.bound), first * self._tuning.bound)

    def believe(self, per_s: float, per_m: float) -> None:
        """Begin with what was learned before, as far as it can be of such a battery and body."""
        per = [
            min(max(known, first / self._tuning.bound), first * self._tuning.bound)
            for known, first in zip((per_s, per_m), self._first, strict=True)
        ]
        self.per_s, self.per_m = per

    def dump(self) -> dict[str, Any]:
        """What was learned, and the window under way."""
        return {
            "per_s": self.per_s,
            "per_m": self.per_m,
            "window": None if self._window is None else asdict(self._window),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Go on from what `dump` gave."""
        self.per_s, self.per_m = float(data["per_s"]), float(data["per_m"])
        self._window = None if data["window"] is None else _Window(**data["window"])


class Heat:
    """Temperatures of wheel and arm motors, degrees Celsius, from the copper losses of their effort.

    dT/dt = (ambient + kelvin_per_w * loss - T) / settle_s, with loss = W/Nm^2 * sum of effort^2 of the group.
    """

    def __init__(self, tuning: HeatTuning, battery: Battery) -> None:
        self._tuning = tuning
        self._losses = (battery.wheel_loss_w_per_nm2, battery.arm_loss_w_per_nm2)
        self._names: list[str] = []
        self._watts: NDArray[np.float64] = np.zeros((0, 2))
        self.wheels_c = self.arm_c = tuning.ambient_c

    def feel(self, joints: Sequence[JointState], dt: float) -> float:
        """A period of `dt` seconds with the joint states that came in it; returns the joules lost in the motors."""
        wheels_w = arm_w = 0.0
        looked = joints[:: max(1, len(joints) // self._tuning.samples)]
        for state in looked:
            effort = state.effort
            if len(effort) != len(state.name):
                continue
            if state.name != self._names:
                self._know(state.name)
            loss = np.nan_to_num(effort * effort, nan=0.0, posinf=0.0) @ self._watts
            wheels_w += float(loss[0]) / len(looked)
            arm_w += float(loss[1]) / len(looked)
        share = 1.0 - math.exp(-dt / self._tuning.settle_s)
        base, rise = self._tuning.ambient_c, self._tuning.kelvin_per_w
        # No motor gets hotter than this before its own protection ends it; a wild effort must not stay for hours.
        self.wheels_c = min(150.0, self.wheels_c + share * (base + rise * wheels_w - self.wheels_c))
        self.arm_c = min(150.0, self.arm_c + share * (base + rise * arm_w - self.arm_c))
        return (wheels_w + arm_w) * dt

    def _know(self, names: list[str]) -> None:
        self._names = list(names)
        self._watts = np.array(
            [(self._losses[0], 0.0) if "wheel" in name else (0.0, self._losses[1]) for name in names]
        ).reshape(-1, 2)


@dataclass
class Wear:
    """What was ever used up: joules lost in motors, metres, failed grasps."""

    joules: float = 0.0
    metres: float = 0.0
    failed_grasps: int = 0

    def level(self, tuning: WearTuning) -> float:
        """0 as new, towards 1 far beyond a life."""
        lives = self.joules / tuning.life_j + self.metres / tuning.life_m + self.failed_grasps / tuning.life_grasps
        return 1.0 - math.exp(-lives)
