"""Which orders were said before the last stop word, and so must not be obeyed when the planner brings them late."""

from __future__ import annotations

from pydantic import BaseModel

from anima.types.mind import Objective, Utterance

_KEPT = 200


class Hearing(BaseModel):
    """Ids of utterances heard since the last stop word, and of those from before it."""

    heard: list[str] = []
    silenced: list[str] = []
    silenced_at: float | None = None

    def hear(self, utterance: Utterance) -> None:
        """Somebody said something."""
        self.heard = [*self.heard, utterance.id][-_KEPT:]

    def silence(self, now: float, utterance: Utterance) -> None:
        """Somebody said stop."""
        self.silenced = [*self.silenced, *self.heard, utterance.id][-_KEPT:]
        self.heard = []
        self.silenced_at = min(now, utterance.header.stamp.seconds)

    def too_late(self, objective: Objective) -> bool:
        """Whether the objective comes from something that was said before the last stop word."""
        if self.silenced_at is None:
            return False
        return objective.source in self.silenced or objective.created.seconds < self.silenced_at
