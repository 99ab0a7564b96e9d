"""What was learned of risks and times from how calls ended."""

from __future__ import annotations

from random import Random

from pydantic import BaseModel

from anima.failure import Failure
from anima.regions.rollouts.config import ProspectionTuning

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

    def visit(self, place: str) -> None:
        """The robot stood at a place."""
        if place and place not in self.been:
            self.been = [*self.been, place][-_KEPT:]

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
