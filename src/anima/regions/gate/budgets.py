"""How much may be spent on an objective in the robot's present condition and temperament."""

from __future__ import annotations

from dataclasses import dataclass

from anima.regions.gate.config import GateTuning
from anima.types.glue import Condition, Temperament


@dataclass(frozen=True)
class Budgets:
    """Counts of failures of one kind, of all failures, of calls; and the frustration at which it is set aside.

    Each is at least one try. What is spent under these but not under the robot's usual ones is a reason to set an
    objective aside, not to give it up: it is the robot that is worn, not the objective that is impossible.
    """

    same: int
    failures: int
    calls: int
    patience: float

    @classmethod
    def of(cls, tuning: GateTuning, condition: Condition | None, temperament: Temperament | None) -> Budgets:
        """The tuning's budgets times the scales of the condition and the persistence of the temperament."""
        will = 1.0 if temperament is None else 0.5 + min(max(temperament.persistence, 0.0), 1.0)
        retry = will * (1.0 if condition is None else min(max(condition.retry_scale, 0.0), 1.0))
        persist = will * (1.0 if condition is None else min(max(condition.persistence_scale, 0.0), 1.0))
        return cls(
            same=max(1, round((tuning.retries_per_signature + 1) * retry)),
            failures=max(1, round(tuning.failures_per_objective * persist)),
            calls=max(1, round(tuning.calls_per_objective * persist)),
            patience=max(1.0, tuning.patience * persist),
        )
