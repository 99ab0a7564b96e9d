"""Slow series in words: what falls fast, and what rises while the robot does something."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from anima.regions.relay.config import TrendTuning
from anima.regions.relay.traffic import Fact
from anima.types.std import JointState

KIND = SOURCE = "trend"
_OVER = 0.75  # a trend is over when what made it has gone back to this share of its threshold


class BatteryTrend:
    """Says once when the battery begins to fall fast."""

    def __init__(self, tuning: TrendTuning) -> None:
        self._tuning = tuning
        self._samples: deque[tuple[float, float]] = deque(maxlen=tuning.battery_samples)
        self._fast = False

    def take(self, now: float, charge: float, doing: str) -> list[Fact]:
        """Take in the share of full; `doing` is what the robot does, in words."""
        if self._samples and 0 <= now - self._samples[-1][0] < self._tuning.battery_sample_s:
            return []
        if self._samples and now < self._samples[-1][0]:
            self._samples.clear()
        self._samples.append((now, charge))
        if len(self._samples) < self._tuning.battery_samples:
            return []
        began, before = self._samples[0]
        fall_per_min = (before - charge) / (now - began) * 60.0
        was, limit = self._fast, self._tuning.fast_fall_per_min
        self._fast = fall_per_min > (limit * _OVER if was else limit)
        return [] if was or not self._fast else [Fact(SOURCE, KIND, "battery", f"battery falling fast while {doing}")]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {"samples": [list(sample) for sample in self._samples], "fast": self._fast}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._samples.extend((at, charge) for at, charge in data["samples"])
        self._fast = data["fast"]


class WheelTrend:
    """Says once when a wheel needs ever more effort, and what the robot does meanwhile.

    Two leaky averages of the effort's size, short and long, taken while the base moves; a trend is the short one well
    above the long one.
    """

    def __init__(self, tuning: TrendTuning) -> None:
        self._tuning = tuning
        self._sampled = -math.inf
        self._means: dict[str, list[float]] = {}  # wheel -> short and long mean (N m), number of samples
        self._rising: dict[str, bool] = {}
        self.motion = "standing"

    def is_due(self, now: float) -> bool:
        """Whether it is time to look at the wheels again."""
        return not 0 <= now - self._sampled < self._tuning.wheel_sample_s

    def take(self, now: float, joints: JointState, where: str) -> list[Fact]:
        """Take in a joint state; `where` is the room or place, or empty."""
        self._sampled = now
        tuning = self._tuning
        wheels = {}
        for name in (tuning.left_wheel, tuning.right_wheel):
            at = joints.name.index(name) if name in joints.name else -1
            if 0 <= at < min(len(joints.velocity), len(joints.effort)):
                speed, effort = float(joints.velocity[at]), abs(float(joints.effort[at]))
                if math.isfinite(speed) and math.isfinite(effort):
                    wheels[name] = (speed, effort)
        self.motion = self._moving([speed for speed, _ in wheels.values()])
        if self.motion == "standing":
            return []
        facts = []
        for name, (_, effort) in wheels.items():
            if self._has_begun_to_rise(name, effort):
                words = name.removesuffix("_joint").replace("_", " ")
                place = f" in the {where.replace('_', ' ')}" if where else ""
                facts.append(Fact(SOURCE, KIND, name, f"{words} effort rising while {self.motion}{place}"))
        return facts

    def _moving(self, speeds: list[float]) -> str:
        if not speeds or max(map(abs, speeds)) < self._tuning.moving_radps:
            return "standing"
        if min(speeds) < -self._tuning.moving_radps < self._tuning.moving_radps < max(speeds):
            return "turning"
        return "reversing" if sum(speeds) < 0 else "driving"

    def _has_begun_to_rise(self, name: str, effort: float) -> bool:
        tuning = self._tuning
        short, long, count = self._means.get(name, [effort, effort, 0.0])
        short += (effort - short) * -math.expm1(-tuning.wheel_sample_s / tuning.short_s)
        long += (effort - long) * -math.expm1(-tuning.wheel_sample_s / tuning.long_s)
        self._means[name] = [short, long, count + 1]
        was = self._rising.get(name, False)
        scale = _OVER if was else 1.0
        up = short > long * (1 + (tuning.rise_ratio - 1) * scale) and short - long > tuning.rise_nm * scale
        self._rising[name] = up and count >= tuning.settled_samples
        return self._rising[name] and not was

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        sampled = self._sampled if math.isfinite(self._sampled) else None
        means = {name: list(mean) for name, mean in self._means.items()}
        return {"sampled": sampled, "means": means, "rising": dict(self._rising), "motion": self.motion}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._sampled = -math.inf if data["sampled"] is None else data["sampled"]
        self._means = {name: list(mean) for name, mean in data["means"].items()}
        self._rising, self.motion = dict(data["rising"]), data["motion"]
