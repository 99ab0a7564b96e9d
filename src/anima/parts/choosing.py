"""The Self: which bids it follows and why. In isolated mode nothing that came from outside can be put before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import get_args, get_origin, get_type_hints

from anima.parts import gbnf
from anima.parts.bidding import BadBid, Draft
from anima.parts.happening import Happening
from anima.parts.roles import PartsTuning
from anima.parts.schema import Part
from anima.parts.selves import SelfProfile
from anima.parts.vocabulary import (
    Confidence,
    Emotion,
    Intensity,
    Lean,
    Origin,
    Record,
    confidence_of,
    emotion_of,
    intensity_of,
    record_of,
)
from anima.planner.llm.base import Request
from anima.planner.packet import one_line

LETTERS = "ABCDEFGHIJ"
NOT_NOW = ("it is not the moment", "another bid says the same", "it was wrong too often")
FOLLOW, IGNORE = "follow", "ignore"


class NotClosed(ValueError):
    """Something that is not of the closed vocabulary was to be shown to an isolated Self."""


@dataclass(frozen=True)
class Name:
    """A name of the robot's own map or vocabulary. It can only be made from one of `known`."""

    text: str

    @classmethod
    def of(cls, text: str, known: Sequence[str]) -> Name:
        """`text`, if it is known; raises `NotClosed`."""
        if text and text not in known:
            raise NotClosed(f"{text!r} is no name of the map")
        return cls(text)


@dataclass(frozen=True)
class ClosedBid:
    """All that an isolated Self gets to know of a bid. Every field is of a closed set: no text can be carried in it.

    `core`: the part came with a pack. `target` and `focus` are names of the map.
    """

    core: bool
    emotion: Emotion
    intensity: Intensity
    lean: Lean
    target: Name
    focus: Name
    confidence: Confidence
    within: Name
    record: Record
    origin: Origin

    def __post_init__(self) -> None:
        """Raises `NotClosed` for a value outside of its set, whatever the type checker was told."""
        hints = get_type_hints(type(self))
        for field in fields(self):
            value, hint = getattr(self, field.name), hints[field.name]
            if get_origin(hint) is not None and value not in get_args(hint):
                raise NotClosed(f"{field.name}: {value!r} is none of {', '.join(get_args(hint))}")
            if hint in (bool, Name) and type(value) is not hint:
                raise NotClosed(f"{field.name}: {value!r} is no {hint.__name__}")

    @property
    def line(self) -> str:
        """The bid in words of our own."""
        about = f" {self.target.text}" if self.target.text else ""
        toward = f", wants {self.focus.text}" if self.focus.text else ""
        born = "came with me" if self.core else "grew from what I lived"
        return (
            f"a part that {born}, {self.emotion} ({self.intensity}), leans to {self.lean}{about}{toward}; "
            f"{self.confidence} within {self.within.text}; so far {self.record}; about something {self.origin}"
        )


@dataclass(frozen=True)
class Voiced:
    """A draft with the part whose it is."""

    part: Part
    draft: Draft
    id: str = ""
    version: int = 0


@dataclass(frozen=True)
class Choice:
    """What the Self made of the bids: per bid whether it follows it and why; `first` is followed first, or -1."""

    followed: tuple[bool, ...]
    reasons: tuple[str, ...]
    first: int


def closed(voiced: Voiced, event: Happening, known: Sequence[str], within: Mapping[str, float]) -> ClosedBid:
    """The bid with everything left out that anybody could have written. `known` are all names that may be shown."""
    draft, part = voiced.draft, voiced.part
    target = "" if draft.leaning.kind in ("none", "hold_back", "speak") else draft.leaning.target
    frame = min(within, key=lambda name: abs(within[name] - draft.within_s))
    return ClosedBid(
        core=part.core_part, emotion=emotion_of(part.emotion), intensity=intensity_of(part.intensity),
        lean=draft.leaning.kind, target=Name.of(target, known), focus=Name.of(draft.focus, known),
        confidence=confidence_of(draft.confidence), within=Name.of(frame, tuple(within)),
        record=record_of([entry.result for entry in part.suggestions_and_results]), origin=event.origin,
    )


def open_line(voiced: Voiced) -> str:
    """The bid as a Self in standard mode sees it."""
    part, draft = voiced.part, voiced.draft
    record = record_of([entry.result for entry in part.suggestions_and_results])
    lean = "" if draft.leaning.kind == "none" else f" [{draft.leaning}]"
    said = f"{one_line(part.name, 50)}: {draft.want}{lean}; predicts {draft.prediction}"
    return f"{said} ({draft.confidence}); so far {record}"


def choose_request(
    profile: SelfProfile,
    event: Happening | None,
    lines: Sequence[str],
    tuning: PartsTuning,
    leaning: Sequence[str] = (),
) -> Request:
    """The turn in which the Self chooses. Without an event it is isolated, and `lines` are those of `ClosedBid`.

    `leaning` says per bid what was judged already (`FOLLOW`, `IGNORE`, or anything else for undecided): then the turn
    is about the reason, and about what comes first.
    """
    shown = event.line if event is not None else ""
    return choose_request_of(profile.text, profile.affects, shown, lines, tuning, leaning)


def choose_request_of(
    about: str,
    affects: Sequence[str],
    event: str,
    lines: Sequence[str],
    tuning: PartsTuning,
    leaning: Sequence[str] = (),
) -> Request:
    """As `choose_request`, of a Self's profile as text."""
    happened = [f"happened: {event}"] if event else []
    bids = [f"{letter}. {line}" for letter, line in zip(LETTERS, lines, strict=False)]
    turn = "\n".join((about, *happened, "bids:", *bids))
    reasons = {FOLLOW: [f"{FOLLOW}: {affect}" for affect in affects], IGNORE: [f"{IGNORE}: {why}" for why in NOT_NOW]}
    open_to = [leaning[number] if number < len(leaning) else "" for number in range(len(lines))]
    form = gbnf.Fields()
    for letter, judged in zip(LETTERS, open_to, strict=False):
        form.add(letter, gbnf.choice(reasons.get(judged, [*reasons[FOLLOW], *reasons[IGNORE]])))
    may_be_first = [letter for letter, judged in zip(LETTERS, open_to, strict=False) if judged != IGNORE]
    form.add("first", gbnf.choice([*may_be_first, "none"]))
    return tuning.roles.choose.request("choose", turn, form.grammar(), tuning.turns)


def read_choice(text: str, count: int) -> Choice:
    """The Self's choice in an answer; raises `BadBid`. First comes only what is followed."""
    try:
        data = json.loads(text)
        words = [str(data[letter]) for letter in LETTERS[:count]]
        first = str(data["first"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadBid(f"{text[:80]!r} is no choice among {count} bids") from error
    followed = tuple(word.startswith(FOLLOW) for word in words)
    reasons = tuple(word.partition(": ")[2] for word in words)
    number = LETTERS.find(first) if first in LETTERS[:count] else -1
    if number < 0 or not followed[number]:
        number = followed.index(True) if True in followed else -1
    return Choice(followed, reasons, number)
