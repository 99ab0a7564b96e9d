"""A skill at work: whether it still gains anything."""

from __future__ import annotations

from pydantic import BaseModel

from anima.types.mind import SkillFeedback, WorldState

_LOOKED_AT = 0.5
_SEGMENT = 0.5  # progress that falls by so much belongs to another stretch of the way


def ground_of(world: WorldState) -> str:
    """What a skill can change, in one text: the facts and the surfaces looked at; the battery's level is none of it."""
    facts = [fact for fact in world.facts if not fact.startswith("charged(")]
    looked = [surface.name for surface in world.surfaces if surface.coverage >= _LOOKED_AT]
    return "; ".join([*facts, *(f"looked({name})" for name in looked)])


class Run(BaseModel):
    """What a lease has come to so far. `ground` is the world that it began in, `trodden` every one since.

    It is over by `until`, whether or not anybody says so.

    It gains when its progress passes the best of this stretch of its way, when it enters a phase, or when the world
    is as it has not been since it began.
    """

    call: str
    id: str
    objective: str
    by_planner: bool
    ground: str
    gained_at: float
    until: float
    trodden: list[str] = []
    phases: list[str] = []
    best: dict[str, float] = {}

    def feel(self, feedback: SkillFeedback, now: float, min_gain: float) -> None:
        """Take in what the skill says of itself."""
        if feedback.phase not in self.phases:
            self.phases.append(feedback.phase)
            self.gained_at = now
        stretch = feedback.phase.rpartition(": ")[0] or feedback.phase
        best = self.best.get(stretch, 0.0)
        if feedback.progress >= best + min_gain:
            self.gained_at = now
            self.best[stretch] = feedback.progress
        elif feedback.progress < best - _SEGMENT:
            self.best[stretch] = feedback.progress

    def look(self, ground: str, now: float) -> None:
        """Take in the world."""
        if ground != self.ground and ground not in self.trodden:
            self.trodden.append(ground)
            self.gained_at = now
