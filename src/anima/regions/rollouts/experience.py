"""What was learned of risks and times from how calls ended."""

from __future__ import annotations

from random import Random

import numpy as np
from pydantic import BaseModel

from anima.failure import Failure
from anima.memory.kinds import KeptRisks
from anima.regions.rollouts.config import ProspectionTuning
from anima.types.base import Header
from anima.types.costs import Risks

DRIVES = frozenset({"go_to", "approach", "dock", "look_for"})
GRASP, WAY, SLIP = "grasp:", "way:", "slip"
_KEPT = 200
_FADING = 0.97  # of what was lived before, at each new experience of the same kind: doors open, rugs are moved
_TIME_GAIN = 0.3


class Experience(BaseModel):
    """Tries and failures by kind, how fast the robot gets about, how long skills last, and where it has been."""

    lived: dict[str, tuple[float, float]] = {}
    speed_mps: float
    lasting_s: dict[str, float]
    been: list[str] = []

    def chance(self, kind: str, prior: float, tuning: ProspectionTuning, rng: Random, seen: float = 0.0) -> float:
        """A chance of failure that fits what was lived: drawn from Beta(failures + prior, successes + prior).

        `seen` adds failures that came to mind, or (negative) successes.
        """
        tries, failures = self.lived.get(kind, (0.0, 0.0))
        bad = failures + max(seen, 0.0) + prior * tuning.prior_tries
        good = tries - failures + max(-seen, 0.0) + (1.0 - prior) * tuning.prior_tries
        return rng.betavariate(bad, good)

    def visit(self, place: str) -> bool:
        """The robot stands at a place; whether that is news."""
        if not place or place in self.been:
            return False
        self.been = [*self.been, place][-_KEPT:]
        return True

    def go_on_from(self, kept: KeptRisks) -> None:
        """Begin with what was learned in earlier lives; a skill that was unknown then keeps its first guess."""
        self.lived = dict(list(kept.lived.items())[-_KEPT:])
        self.speed_mps = kept.speed_mps
        self.lasting_s |= {skill: time_s for skill, time_s in kept.lasting_s.items() if skill in self.lasting_s}
        self.been = kept.been[-_KEPT:]

    def told(self, now: float) -> Risks:
        """All of it, as a value for others."""
        counts = np.array(list(self.lived.values()), dtype=np.float64).reshape(-1, 2)
        return Risks(
            header=Header.at(now), kinds=list(self.lived), tries=counts[:, 0].copy(), failures=counts[:, 1].copy(),
            speed_mps=self.speed_mps, skills=list(self.lasting_s), lasting_s=np.array(list(self.lasting_s.values())),
            been=list(self.been),
        )

    def live(
        self, skill: str, thing: str, way: str, metres: float, success: bool, failure: int, lasted_s: float
    ) -> None:
        """A call ended. `way` and `metres` as they were foreseen, empty and 0 if they were not."""
        if not success and failure in (Failure.INTERRUPTED, Failure.RESOURCE_DENIED, Failure.PRECONDITION_UNMET):
            return  # says nothing of the world's risks
        driving = skill in DRIVES
        if driving and way:
            self._count(WAY + way, failure == Failure.PATH_BLOCKED)
        if driving:
            self._count(SLIP, failure in (Failure.SLIP, Failure.STALLED))
        if skill == "pick":
            self._count(GRASP + thing, not success)
        elif not driving or failure not in (Failure.PATH_BLOCKED, Failure.SLIP, Failure.STALLED):
            self._count(skill, not success)
        if success and skill == "go_to" and metres > 1.0 and lasted_s > 0.0:
            pace = min(max(metres / lasted_s, 0.02), 2.0)
            self.speed_mps += _TIME_GAIN * (pace - self.speed_mps)
        elif success and skill in self.lasting_s and not driving:
            self.lasting_s[skill] += _TIME_GAIN * (min(lasted_s, 600.0) - self.lasting_s[skill])

    def _count(self, kind: str, failed: bool) -> None:
        tries, failures = self.lived.pop(kind, (0.0, 0.0))
        self.lived[kind] = (tries * _FADING + 1.0, failures * _FADING + failed)
        while len(self.lived) > _KEPT:
            self.lived.pop(next(iter(self.lived)))
