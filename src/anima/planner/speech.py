"""What the planner says, composed from facts: never from the model's prose, except small talk."""

from __future__ import annotations

import re
from collections.abc import Sequence

from anima.planner.grounding import Grounding
from anima.planner.names import KnownNames
from anima.planner.options import Step
from anima.planner.packet import LOW_BATTERY
from anima.skills.words import listed, spoken
from anima.types.mind import Objective, WorldState
from anima.world.predicates import PERSON, ROBOT, Predicate

SHORT, FULL = "short", "full"
OWN = ("striatum", "parts")  # what the robot wants of itself
GIVE_UP_WORDS = {
    "not_found": "I looked and did not find it",
    "cannot_grasp": "I tried and could not grasp it",
    "way_blocked": "the way is blocked",
    "body_faulty": "something in my body does not work",
    "not_possible": "I see no way to do it",
}


def given_up(reason: str, hopeless: str) -> str:
    """Why it gave up, in words; `hopeless` is what stands in the way of the next step, if nothing mends it."""
    return spoken(hopeless) if hopeless and reason == "not_possible" else GIVE_UP_WORDS[reason]


UNDERSTOOD_AS = {
    "do": "a new task",
    "decline": "declined",
    "answer": "answered",
    "reply": "answered",
    "ask": "asked back",
    "cancel": "the task before was dropped",
}


def the(name: str) -> str:
    """A name with its article, the person as "you"."""
    return "you" if name == PERSON else f"the {spoken(name)}"


def intention(goal: Predicate) -> str:
    """The goal as something to do: ``bring you the red cube``."""
    match goal.name, goal.args:
        case "at", (thing, place) if thing == ROBOT:
            return "come to you" if place == PERSON else f"go to {the(place)}"
        case "at", (thing, place):
            return f"bring you {the(thing)}" if place == PERSON else f"put {the(thing)} on {the(place)}"
        case "holding", (thing,):
            return f"pick up {the(thing)}"
        case "told", (thing,):
            return f"find {the(thing)} and tell you where it is"
        case "seen", (thing,):
            return f"look for {the(thing)}"
        case "charged", (percent,):
            return f"charge to {percent} percent"
        case "docked", _:
            return "go to the dock and charge"
    return "empty my hand"


def fact(goal: Predicate) -> str:
    """The goal as something that is now so: ``the red cube is on the kitchen table``."""
    match goal.name, goal.args:
        case "at", (thing, place) if thing == ROBOT:
            return "I am with you" if place == PERSON else f"I am at {the(place)}"
        case "at", (thing, place):
            return f"you have {the(thing)}" if place == PERSON else f"{the(thing)} is on {the(place)}"
        case "holding", (thing,):
            return f"I hold {the(thing)}"
        case ("told" | "seen"), (thing,):
            return f"you know about {the(thing)}" if goal.name == "told" else f"I have seen {the(thing)}"
        case "charged", (percent,):
            return f"my battery is at {percent} percent or more"
        case "docked", _:
            return "I am on the dock"
    return "my hand is empty"


def understood(goals: Sequence[Predicate], adding: bool, length: str = "") -> str:
    """Says back what was understood; only that it was, when the person wants reports `short`."""
    if length == SHORT:
        return "OK, after that." if adding else "OK."
    return f"{'OK, after that' if adding else 'OK'}: I'll {', then '.join(intention(goal) for goal in goals)}."


def declined(reason: str, grounding: Grounding) -> str:
    """Says no, and why, in the person's own words where they are the reason."""
    unknown = [*(group.text for group in grounding.mismatched), *grounding.unknown]
    words = ' or '.join(f'"{word}"' for word in unknown[-2:])
    match reason:
        case "unknown_object":
            return f"Sorry, I can't: I don't know {words or 'such a thing'} as anything that I can find and carry."
        case "unknown_place":
            return f"Sorry, I can't: I don't know {words or 'that place'} as a place that I can reach."
        case "forbidden":
            return f"Sorry, I won't: the {listed([spoken(area) for area in grounding.no_go])} are off limits for me."
    return "Sorry, that is nothing that I am able to do. I can fetch, carry, find and hand over small things."


def ended(objective: Objective, length: str = "", steps: Sequence[Step] = ()) -> str:
    """How an objective ended; empty when there is nothing to add to what was said already.

    Declined and cancelled ones were answered at once, and a declined one has no condition to speak of. Nobody asked
    for a look around, so nobody is told how it ended. `length` short leaves out all but that it ended and how; full
    adds what the `steps` were and which of them failed.
    """
    if objective.state not in ("done", "failed", "parked") or objective.source in OWN:
        return ""
    goal = Predicate.parse(objective.condition)
    short = length == SHORT
    because = f": {objective.reason}" if objective.reason and not short else ""
    told = _told(steps) if length == FULL else ""
    match objective.state:
        case "done":
            return "" if goal.is_event else "Done." if short else f"Done: {fact(goal)}.{told}"
        case "failed":
            return f"I could not {intention(goal)}{because}.{told}"
    return f"I have paused before I could {intention(goal)}{because}."


def _told(steps: Sequence[Step]) -> str:
    """What it took, step by step."""
    if not steps:
        return ""
    calls = [re.sub(r"\((.*)\)", lambda m: f" {m[1]}" if m[1] else "", step.call).replace("_", " ") for step in steps]
    failed = [
        f"{call} failed ({step.ended.replace('_', ' ')})"
        for call, step in zip(calls, steps, strict=True)
        if step.failure
    ]
    count = f"{len(steps)} step{'s' if len(steps) != 1 else ''}"
    wrong = f" On the way {', '.join(failed)}." if failed else " Nothing went wrong."
    return f" It took {count}: {', '.join(calls)}.{wrong}"


def is_report(text: str) -> bool:
    """Whether the robot's words tell of an errand: what it took on, or how it ended."""
    return text.startswith(("Done", "I could not ", "I have paused ", "OK: I'll ", "OK, after that", "OK."))


def is_composed(text: str) -> bool:
    """Whether the words are one of the robot's own forms, which promise nothing beyond the errand at hand."""
    own = ("OK, ", "Sorry, I ", "My battery ", "I am ", "I hold ", "I know of ", "Which ")
    return is_report(text) or text.startswith(own)


def answer(topic: str, state: WorldState | None, focus: Objective | None, names: KnownNames) -> str:
    """A question about the robot, answered from what is known."""
    if topic == "abilities":
        return "I can fetch, carry, find and hand over small things, go to places, and charge myself."
    if topic == "task":
        return f"I am about to {intention(Predicate.parse(focus.condition))}." if focus else "Nothing at the moment."
    if state is None:
        return "I don't know yet: my senses have not reported."
    if topic == "battery":
        low = ", which is low" if state.battery < LOW_BATTERY else ""
        return f"My battery is at {state.battery:.0%}{low}{', and I am on the dock' if state.docked else ''}."
    if topic == "place":
        at = f"at {the(state.place)}" if state.place and state.place != PERSON else "with you" if state.place else ""
        where = " ".join(part for part in (at, f"in the {spoken(state.room)}" if state.room else "") if part)
        return f"I am {where}." if where else "I don't know where I am."
    if topic == "holding":
        return f"I hold the {spoken(state.holding)}." if state.holding else "My hand is empty."
    seen = [
        f"the {spoken(t.name)}" + (f" on the {spoken(t.place)}" if t.place in names.surfaces else "")
        for t in state.objects
        if t.status == "confirmed"
    ]
    return f"I know of {listed(seen)}." if seen else "I have seen none of the things that I know yet."
