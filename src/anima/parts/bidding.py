"""A part's bid: what it is shown, the grammar that holds its answer, and the answer read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from anima.body.places import Places
from anima.parts import gbnf
from anima.parts.happening import Happening, words_of
from anima.parts.roles import PartsTuning
from anima.parts.schema import Part
from anima.parts.vocabulary import (
    CONFIDENCES,
    HERE,
    NO_FOCUS,
    WITHIN,
    Confidence,
    Leaning,
    confidence_of,
)
from anima.planner.llm.base import Request
from anima.planner.names import KnownNames
from anima.planner.packet import one_line
from anima.world.predicates import Predicate

WANT_CHARACTERS, PREDICTION_CHARACTERS, QUERY_CHARACTERS = 110, 90, 60
_SHOWN = 4  # of triggers, wants, phrases and results
_PLACES_SHOWN = 3


class BadBid(ValueError):
    """An answer that is no bid; the message says what is wrong with it."""


@dataclass(frozen=True)
class Draft:
    """A bid before the Self has seen it. `focus` is a condition or empty; `want` and `prediction` are the part's words.

    `words` are what a leaning to speak says: a phrase of the part itself, never words that came in.
    """

    want: str
    leaning: Leaning
    focus: str
    prediction: str
    confidence: Confidence
    within_s: float
    words: str = ""


@dataclass(frozen=True)
class Ballot:
    """What a part may bid about an event: all leanings and all focuses that it is offered."""

    leanings: tuple[str, ...]
    focuses: tuple[str, ...]


def ballot(part: Part, event: Happening, names: KnownNames, places: Places) -> Ballot:
    """Leanings and focuses about what is named by the part or the event, and about where the robot was."""
    said = words_of(" ".join((part.name, part.description, *part.triggers, *part.wants, event.text, event.where)))
    near = [name for name in (*(area.name for area in places.coverings), *names.places) if _named(name, said)]
    where = [HERE] if event.spot is not None else []
    areas = [name for name in near if places.area_of(name) is not None]
    spoken = [f"speak {number}" for number in range(1, min(len(part.phrases), 3) + 1)]
    leanings = [
        "none", "hold_back", *spoken,
        *(f"avoid {name}" for name in _few([event.where if event.where in areas else "", *areas, *where])),
        *(f"prefer {name}" for name in _few([name for name in near if name in names.places])),
    ]
    goals = [f"at(robot, {name})" for name in _few([name for name in near if name in names.places])]
    goals += ["docked"] if {"dock", "charge", "charged", "battery", "charger"} & said else []
    goals += [f"seen({thing})" for thing in _few([name for name in names.objects if _named(name, said)])]
    return Ballot(tuple(dict.fromkeys(leanings)), (NO_FOCUS, *dict.fromkeys(goals)))


def _named(name: str, said: set[str]) -> bool:
    return set(name.split("_")) <= said


def _few(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))[:_PLACES_SHOWN]


def portrait(part: Part) -> str:
    """The part as its own prompt shows it, the newest of its evidence only: a long life costs no more than a short."""
    lines = [f"I am: {part.name} ({part.emotion}, {part.intensity}). {one_line(part.description, 300)}"]
    lines.append("I wake at: " + "; ".join(one_line(trigger, 60) for trigger in part.triggers[:_SHOWN]))
    lines.append("I want: " + "; ".join(one_line(want, 60) for want in part.wants[:_SHOWN]))
    if part.phrases:
        spoken = part.phrases[:3]
        lines.append("I can say: " + "; ".join(f"{n}. {one_line(p, 70)}" for n, p in enumerate(spoken, 1)))
    lived = [entry for entry in part.suggestions_and_results if entry.result][-2:]
    for entry in lived:
        lines.append(f"so far: {one_line(entry.your_suggestion, 60)} -> {one_line(entry.result, 80)}")
    return "\n".join(lines)


def query_request(event: Happening, tuning: PartsTuning) -> Request:
    """The turn that puts an event into other words, by which parts are found too."""
    fields = gbnf.Fields().add("about", gbnf.text(QUERY_CHARACTERS)).add("reminds", gbnf.text(QUERY_CHARACTERS))
    return tuning.roles.query.request("query", event.line, fields.grammar(), tuning.turns)


def read_queries(text: str) -> list[str]:
    """What to look for, in an answer; raises `BadBid`."""
    data = answer(text, ("about", "reminds"))
    return [found for found in (whole_words(data[name], QUERY_CHARACTERS) for name in ("about", "reminds")) if found]


def bid_request(part: Part, event: Happening, offered: Ballot, tuning: PartsTuning) -> Request:
    """The turn in which a part bids about an event."""
    turn = "\n".join(
        (
            portrait(part),
            f"happened: {event.line}",
            f"I may lean: {' | '.join(offered.leanings)}",
            f"I may focus: {' | '.join(offered.focuses)}",
        )
    )
    fields = gbnf.Fields()
    fields.add("want", gbnf.text(WANT_CHARACTERS, ("I ",)))
    fields.add("lean", gbnf.choice(offered.leanings))
    fields.add("focus", gbnf.choice(offered.focuses))
    fields.add("predict", gbnf.text(PREDICTION_CHARACTERS))
    fields.add("sure", gbnf.choice(CONFIDENCES))
    fields.add("within", gbnf.choice(tuple(WITHIN)))
    return tuning.roles.bid.request("bid", turn, fields.grammar(), tuning.turns)


def read_bid(text: str, part: Part, offered: Ballot) -> Draft:
    """The bid in an answer; raises `BadBid`."""
    data = answer(text, ("want", "lean", "focus", "predict", "sure", "within"))
    if data["lean"] not in offered.leanings or data["focus"] not in offered.focuses:
        raise BadBid(f"it leans to {data['lean']!r} and focuses on {data['focus']!r}, which were not offered")
    if data["within"] not in WITHIN:
        raise BadBid(f"{data['within']!r} is no time frame")
    leaning = Leaning.parse(data["lean"])
    words = part.phrases[int(leaning.target) - 1] if leaning.kind == "speak" else ""
    focus = "" if data["focus"] == NO_FOCUS else str(Predicate.parse(data["focus"]))
    return Draft(
        want=whole_words(data["want"], WANT_CHARACTERS), leaning=leaning, focus=focus,
        prediction=whole_words(data["predict"], PREDICTION_CHARACTERS), confidence=confidence_of(data["sure"]),
        within_s=WITHIN[data["within"]], words=words,
    )


def answer(text: str, names: Sequence[str]) -> dict[str, str]:
    """The JSON object of strings with exactly these names; raises `BadBid`."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BadBid(f"{text[:80]!r} is no JSON: {error}") from error
    if not isinstance(data, dict) or set(data) != set(names) or not all(isinstance(v, str) for v in data.values()):
        raise BadBid(f"{text[:80]!r} does not have exactly the texts {', '.join(names)}")
    return data


def whole_words(text: str, most: int) -> str:
    """`text` without a word that the limit of its field has cut."""
    text = " ".join(text.split())
    if len(text) < most - 1 or text[-1:] in ".!?" or " " not in text:
        return text
    return text.rpartition(" ")[0].rstrip(" ,;:-")
