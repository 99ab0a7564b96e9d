"""The leaky sum of small failures, and the label with hysteresis that people and the gate see."""

from __future__ import annotations

import math

from anima.regions.strain.config import InsulaTuning

LABELS = ("STABLE", "STRAINED", "WORN", "DEGRADED")


class Strain:
    """0..1. A failure of weight w takes the share w of the calm that is left, so that any number stays below 1; a
    success takes the share `relief` of the strain; time does the rest.

    More failures never give less strain: each of the three maps grows with the strain that it is given.
    """

    def __init__(self, tuning: InsulaTuning) -> None:
        self._tuning = tuning
        self.value = 0.0
        self.level = 0

    def rest(self, seconds: float) -> None:
        """Time passes."""
        self.value *= math.exp(-max(0.0, seconds) / self._tuning.recover_s)

    def ease(self) -> None:
        """Something went well."""
        self.value *= 1.0 - self._tuning.relief

    def add(self, weight: float) -> None:
        """Something went badly."""
        self.value += (1.0 - self.value) * weight

    def label(self) -> str:
        """The label now: up at a threshold, down only when well below it."""
        limits = (self._tuning.strained, self._tuning.worn, self._tuning.degraded)
        self.level = max(
            sum(self.value >= limit for limit in limits),
            min(self.level, sum(self.value >= limit - self._tuning.hysteresis for limit in limits)),
        )
        return LABELS[self.level]

    def scale(self, drop: float) -> float:
        """What a budget is multiplied by: 1 without strain, less with it."""
        return max(self._tuning.least_scale, 1.0 - drop * self.value)
