"""What learning keeps, one model per kind of the store. Nothing in it came out of memory: `origin` is lived."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from anima.learning.evidence import Evidence

LESSON, BELIEF, PORTRAIT, INTENTION = "lesson", "belief", "portrait", "intention"
FACT, ENTITY, RELATION, OBSERVATION, FORGOTTEN = "fact", "entity", "relation", "observation", "forgotten"
SELF = "self"  # the id of the one portrait

Situation = Literal["", "report", "talk", "drive", "search", "handle", "rest"]
"""What the robot was doing when a lesson was learned, and the only thing that it holds for; empty: whatever it does."""


class Kept(BaseModel):
    """Base: unknown fields are errors, values don't change, and all of it was lived."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    origin: Literal["lived"] = "lived"


class Observation(Kept):
    """A reaction of a person (`types.learning.Reaction`), as it was seen once."""

    encounter: str
    person: str
    source: str
    act: str
    said: str
    kind: str
    signal: float = Field(ge=-1, le=1)
    confidence: float = Field(ge=0, le=1)
    what: str = ""
    hint: str = ""
    explicit: bool = False
    category: Literal["style", "behavior"] = "behavior"
    situation: Situation = ""
    effect: str = ""
    at_utc_s: float


class Lesson(Kept):
    """How to act with a person in a situation. A mechanism obeys an `effect`; else `rule` stands in the prefix."""

    rule: str = Field(min_length=1, max_length=200)
    person: str
    situation: Situation = ""
    effect: str = ""
    category: Literal["style", "behavior", "self"] = "behavior"
    evidence: list[Evidence] = Field(default_factory=list)
    standing: Literal["tentative", "established", "habit", "refuted"] = "tentative"
    pinned: bool = False


class Belief(Kept):
    """Something the robot holds of itself, in the first person, with the events that speak for and against it."""

    text: str = Field(pattern=r"^(I|I'm|My)\b", max_length=160)
    evidence: list[Evidence] = Field(default_factory=list)
    pinned: bool = False


class Weighted(BaseModel):
    """A belief in a version of the portrait: which, its words, how much it weighed then, and the events behind it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    belief: str
    text: str
    weight: float = Field(ge=0, le=1)
    events: list[str] = Field(default_factory=list)


class Portrait(Kept):
    """Who the robot says that it is: a short text in the first person, and the beliefs that it rests on."""

    text: str = Field(min_length=1)
    beliefs: list[Weighted] = Field(default_factory=list)
    encounter: str = ""


class Intention(Kept):
    """Something to do or say later: to `person` (empty: whoever is there), at `due_utc_s` or else when they meet.

    `do` follows "I meant to": ``ask how the cat is``. `state`: open, raised (it was brought up in `encounter`), kept,
    dropped.
    """

    do: str = Field(min_length=1, max_length=200)
    person: str
    due_utc_s: float | None = None
    not_before_utc_s: float = 0.0
    made_in: str = ""
    said: str = ""
    state: Literal["open", "raised", "kept", "dropped"] = "open"
    raised_in: str = ""


class Fact(Kept):
    """Something true about a person and their world, in the third person, never advice to the robot."""

    content: str = Field(min_length=1, max_length=300)
    person: str
    core: bool = False
    importance: float = Field(default=0.5, ge=0, le=1)
    entities: list[str] = Field(default_factory=list)
    supersedes: list[str] = Field(default_factory=list)
    because: list[str] = Field(default_factory=list)
    event: str
    at_utc_s: float


class Entity(Kept):
    """Somebody or something that facts are about."""

    name: str = Field(min_length=1, max_length=80)
    type: Literal["person", "pet", "place", "org", "topic", "thing"] = "thing"
    aliases: list[str] = Field(default_factory=list)


class Relation(Kept):
    """How two entities belong together, e.g. Masha, sister of, ana."""

    src: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    dst: str = Field(min_length=1)
    event: str


class Forgotten(Kept):
    """What a person had the robot forget. The events in it never teach the same kind of thing again."""

    kind: str
    id: str
    events: list[str]
