"""What the learner's parts share: the book, the questions to the model, the clock, what is to be written and sent."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from anima.config import Switches
from anima.learning.book import Book
from anima.learning.items import Observation
from anima.learning.work import Work
from anima.memory.opening import RunClock
from anima.memory.rows import Change, Stamp
from anima.planner.judge import Judgement
from anima.planner.names import KnownNames
from anima.topics import Sent

_NO = frozenset({"not", "no", "none", "nothing", "other", "neither", "unrelated", "unsure", ""})


@dataclass
class Desk:
    """Everything that one step works on. `observed` are the reactions, by encounter, not yet reflected on."""

    book: Book
    work: Work
    clock: RunClock
    switches: Switches
    names: KnownNames
    robot: str
    zone: dt.tzinfo
    changes: list[Change] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    observed: dict[str, list[tuple[str, Observation]]] = field(default_factory=dict)

    def stamp(self, now: float) -> Stamp:
        """The moment at which the run's clock reads `now`."""
        return self.clock.stamp(now)

    def event(self, id: str) -> str:
        """The id of an event among all that is remembered: simulated runs number theirs anew each time."""
        return id if self.clock.is_real else f"{self.clock.id}:{id}"

    def write(self, *changes: Change) -> None:
        """Have these written."""
        self.changes += changes

    def name_of(self, person: str) -> str:
        """What the person is called in facts."""
        for _, lesson in self.book.in_force(person):
            if lesson.effect.startswith("address="):
                return lesson.effect.removeprefix("address=")
        return person.replace("_", " ").title() if person not in ("", "person") else "The person"


def is_yes(judgement: Judgement) -> bool:
    """Whether a judgement with a yes and a no surely says yes."""
    return judgement.is_sure and judgement.label not in _NO


def may_be(judgement: Judgement) -> bool:
    """Whether it leans to yes without being sure."""
    return not judgement.is_sure and not judgement.error and judgement.best not in _NO
