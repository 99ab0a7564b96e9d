"""What an encounter begins with: lessons as mechanism or as words of the prefix, the portrait, open promises."""

from __future__ import annotations

import itertools

from anima.config import Switches
from anima.learning.book import Book
from anima.learning.effects import ADDRESS, REPORT_LENGTH, SEARCH_ORDER, SPEED_NEAR_PEOPLE, split
from anima.types.base import Header
from anima.types.learning import Guidance

_LEARNED = "What I learned about dealing with"
_CALLED = "- Call the person "
_WHEN = {
    "report": "when reporting",
    "talk": "when talking",
    "drive": "when driving",
    "search": "when searching",
    "handle": "when handling things",
    "rest": "when there is nothing to do",
}


def compose(now: float, now_utc_s: float, encounter: str, person: str, book: Book, switches: Switches) -> Guidance:
    """The guidance for `person`, from what the book says now. The same book gives the same bytes."""
    shown = book.tuning.guidance
    because: list[str] = []
    effects: dict[str, str] = {}
    lines: list[str] = []
    if switches.lessons:
        for id, lesson in book.in_force(person):
            if lesson.effect:
                name, value = split(lesson.effect)
                rival = effects.get(name)
                if rival is None or _sure(book, person, name, value, now_utc_s) > _sure(
                    book, person, name, rival, now_utc_s
                ):
                    effects[name] = value
                because.append(id)
        rules = [(id, one) for id, one in book.in_force(person) if not one.effect]
        rules.sort(key=lambda pair: (-book.sure(pair[1], now_utc_s), pair[0]))
        for id, one in rules[: shown.rules_shown]:
            when = _WHEN.get(one.situation, "")
            lines.append(f"- {when}: {one.rule}" if when else f"- {one.rule}")
            because.append(id)
        if ADDRESS in effects:
            lines.append(f"{_CALLED}{effects[ADDRESS]}.")
        if lines:
            lines.insert(0, f"{_LEARNED} {person or 'people'}:")
    if switches.facts:
        facts = book.facts_about(person)[: shown.facts_shown]
        if facts:
            lines.append(f"What I know about {person}:")
            lines += [f"- {one.content}" for _, one in facts]
            because += [id for id, _ in facts]
    if switches.intentions:
        open_ones = [(id, one) for id, one in sorted(book.intentions.items()) if one.person in ("", person)]
        if open_ones:
            lines.append("What I still mean to do:")
            lines += [f"- {one.do}" for _, one in open_ones[: shown.rules_shown]]
            because += [id for id, _ in open_ones[: shown.rules_shown]]
    portrait = book.portrait.text if switches.selfmodel and book.portrait is not None else ""
    return Guidance(
        header=Header.at(now),
        encounter=encounter,
        person=person,
        text="\n".join(lines),
        portrait=portrait,
        report_length=effects.get(REPORT_LENGTH, ""),
        speed_near_people=effects.get(SPEED_NEAR_PEOPLE, ""),
        search_order=[place for place in effects.get(SEARCH_ORDER, "").split(",") if place],
        address=effects.get(ADDRESS, ""),
        because=because,
    )


def for_acting(text: str) -> tuple[str, ...]:
    """The lessons in a guidance's `text` that bear on what the robot does, surest first: e.g. ``when driving: …``.

    What is only about words (how to report, how to talk, what to call somebody) says nothing about which call is next.
    """
    head, *lines = text.splitlines() or [""]
    if not head.startswith(_LEARNED):
        return ()
    of_words = (_CALLED, *(f"- {_WHEN[situation]}: " for situation in ("report", "talk")))
    lessons = itertools.takewhile(lambda line: line.startswith("- "), lines)
    return tuple(line[2:] for line in lessons if not line.startswith(of_words))


def _sure(book: Book, person: str, name: str, value: str, now_utc_s: float) -> float:
    found = [one for _, one in book.in_force(person) if one.effect == f"{name}={value}"]
    return max((book.sure(one, now_utc_s) for one in found), default=0.0)


def portrait_text(book: Book, now_utc_s: float, robot: str) -> str:
    """The portrait as the beliefs say it, strongest first: what stands where no model has written a better one."""
    shown = book.tuning.guidance
    strong = [one for one in book.weighted(now_utc_s) if one.weight >= shown.belief_shown_from]
    sentences = [one.text.rstrip(".") + "." for one in strong[: shown.beliefs_shown]]
    return " ".join([f"I'm {robot.title()}.", *sentences])


def reminder_text(do: str) -> str:
    """An intention as the robot brings it up."""
    verb, _, rest = do.partition(" ")
    match verb:
        case "ask" if rest.startswith(
            ("how ", "what ", "whether ", "if ", "when ", "where ", "why ", "who ", "which ", "about ")
        ):
            return f"I wanted to ask {rest.rstrip('.?!')}."
        case "remind":
            return f"I was to {do.rstrip('.?!')}."
        case "tell" | "wish" if not rest.startswith(("you ", "him ", "her ", "them ")):
            return f"I wanted to {verb} you {rest.rstrip('.?!')}."
    return f"I meant to {do.rstrip('.?!')}."
