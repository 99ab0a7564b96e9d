"""What happened, as parts get to see it: one line of data with its origin, and a diary of what was sensed."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from anima.body.places import Places
from anima.parts.vocabulary import MAY_CHANGE_PARTS, Origin
from anima.planner.packet import one_line
from anima.types.glue import Event
from anima.types.mind import WorldState
from anima.world.quotes import LEFT_OUT, own_words

MOST_CHARACTERS = 220
ORIGINS: dict[str, Origin] = {
    "person": "person", "operator": "person", "skills": "lived", "planner": "lived", "reflex": "lived",
    "battery": "lived", "world": "lived", "acc": "lived", "trend": "lived", "sign": "outside", "memory": "recalled",
}
_ON_THE_FLOOR_M = 0.30
_SAID = re.compile(r"\S+ said (['\"])(?P<words>.*)\1", re.DOTALL)


@dataclass(frozen=True)
class Happening:
    """One event. `text` is data, whoever wrote it; `where` names the covering, place or room of the robot then,
    `spot` is its position in the map, metres, or None."""

    id: str
    at: float
    text: str
    origin: Origin
    urgency: float = 0.0
    kind: str = ""
    where: str = ""
    spot: tuple[float, float] | None = None

    @property
    def may_change_parts(self) -> bool:
        """Whether parts may be made, changed or ended by it: it was lived, or said in a person's own words alone."""
        if self.origin != "person":
            return self.origin in MAY_CHANGE_PARTS
        said = _SAID.fullmatch(self.text)
        return LEFT_OUT not in own_words(said["words"] if said else self.text)

    @property
    def line(self) -> str:
        """The event as prompts show it: quoted, with where it was."""
        words = one_line(self.text.replace('"', "'"), MOST_CHARACTERS)
        place = f", at {self.where}" if self.where and self.where not in words else ""
        marks = {"lived": "I lived", "person": "heard", "outside": "written elsewhere", "recalled": "remembered"}
        return f'{marks[self.origin]}{place}: "{words}"'


def happening(event: Event, urgency: float, world: WorldState | None, places: Places) -> Happening:
    """The event with its origin, and with where the robot was. An unknown source counts as the outside."""
    spot: tuple[float, float] | None = None
    where = ""
    if world is not None and world.localized:
        spot = (world.robot.position.x, world.robot.position.y)
        where = places.covering_at(*spot, margin_m=_ON_THE_FLOOR_M) or world.place or world.room
    origin = ORIGINS.get(event.source, "outside")
    return Happening(event.id, event.header.stamp.seconds, event.text, origin, urgency, event.kind, where, spot)


@dataclass
class Diary:
    """What was lived and heard lately, oldest first."""

    kept: int
    lines: deque[tuple[float, str, str]] = field(default_factory=deque)

    def note(self, thing: Happening) -> None:
        """Keep an event. What was only read somewhere was not sensed."""
        if thing.origin in ("lived", "person"):
            place = f" (at {thing.where})" if thing.where and thing.where not in thing.text else ""
            line = one_line(f"{thing.text}{place}".replace('"', "'"), MOST_CHARACTERS)
            self.lines.append((thing.at, line, thing.id))
            while len(self.lines) > self.kept:
                self.lines.popleft()

    def since(self, at: float, about: str, most: int) -> list[tuple[str, str]]:
        """What came after `at`, in its order, as (line, id of the event): what shares words with `about` is the first
        to be kept, then the newest."""
        wanted = words_of(about)
        found = [entry for entry in self.lines if entry[0] > at]
        ranked = sorted(found, key=lambda entry: (-len(wanted & words_of(entry[1])), -entry[0]))[:most]
        return [(line, id) for _, line, id in sorted(ranked)]


_SMALL = frozenset({
    "a", "an", "and", "are", "at", "be", "by", "for", "from", "has", "have", "i", "if", "in", "is", "it", "its", "me",
    "my", "of", "on", "or", "that", "the", "they", "this", "to", "was", "we", "will", "with", "you",
})


def words_of(text: str) -> set[str]:
    """The words of a text that tell what it is about."""
    return {word for word in re.findall(r"[a-z0-9]+", text.lower().replace("_", " ")) if word not in _SMALL}
