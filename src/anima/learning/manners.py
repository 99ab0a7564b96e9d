"""Manners: how lessons of a closed effect act on the body, always inside what the reflex kernel allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anima.learning.tuning import MannersTuning
from anima.types.learning import Guidance


@dataclass(frozen=True)
class Manners:
    """What the guidance of the moment asks of the body.

    `people` are positions (x, y) in metres, map frame. Nothing in it can make the body faster or move it at all.
    """

    tuning: MannersTuning
    people: Sequence[tuple[float, float]] = ()
    guidance: Guidance | None = None

    def slowed(self, velocity: tuple[float, float], at: tuple[float, float] | None) -> tuple[float, float]:
        """The velocity (m/s, rad/s) that is polite at the place `at` (None: not known): scaled down near people.

        The curve stays the same: both parts shrink alike.
        """
        if self.guidance is None or self.guidance.speed_near_people != "slow" or at is None:
            return velocity
        if not any(math.dist(at, person) <= self.tuning.near_m for person in self.people):
            return velocity
        linear, angular = velocity
        over = max(abs(linear) / self.tuning.slow_mps, abs(angular) / self.tuning.slow_radps, 1.0)
        return linear / over, angular / over

    def first_places(self) -> Sequence[str]:
        """Surfaces to look at first, in order."""
        return self.guidance.search_order if self.guidance is not None else ()
