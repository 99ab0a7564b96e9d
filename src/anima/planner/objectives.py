"""What an utterance asks for: goals of the closed vocabulary, or a decline, an answer, a question back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anima.planner.names import KnownNames
from anima.types.base import Time
from anima.types.mind import Objective, Utterance, WorldState
from anima.world import affordances
from anima.world.predicates import PERSON, ROBOT, Predicate

MAX_GOALS = 4
REASONS = ("unknown_object", "unknown_place", "forbidden", "not_able")
TOPICS = ("battery", "place", "holding", "objects", "task", "abilities")
Kind = Literal["do", "decline", "answer", "reply", "ask", "cancel"]


class NotUnderstood(ValueError):
    """A decoded text that is no reading of an utterance; the message says where it breaks."""


@dataclass(frozen=True)
class Understanding:
    """A reading of one utterance. `detail` is the reason, the topic, the reply's text or the question.

    `dropped` says what was decoded but not kept, and why.
    """

    kind: Kind
    goals: tuple[Predicate, ...] = ()
    detail: str = ""
    dropped: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind == "do":
            return "; ".join(map(str, self.goals))
        return f"{self.kind}({self.detail})" if self.kind in ("decline", "answer") else self.kind


def check_goal(goal: Predicate, names: KnownNames) -> str:
    """Why the goal can't be an objective on this map, or empty when it can."""
    objects, receivers = names.objects, (*names.surfaces, PERSON)
    match goal.name, goal.args:
        case "at", (thing, place) if thing == ROBOT:
            known = place in names.places
        case "at", (thing, place):
            known = thing in objects and place in receivers
        case ("holding" | "told" | "seen"), (thing,):
            known = thing in objects
        case _:
            known = True
    return "" if known else f"{goal} speaks of something that is not known"


# What of the body a condition takes that is to be made true.
_TAKES = {
    "at": ("arm", "camera"), "holding": ("arm", "camera"), "hand_empty": ("arm",), "seen": ("camera",),
    "told": ("camera",), "docked": ("dock",), "charged": ("dock",),
}


def check_body(goal: Predicate, state: WorldState | None) -> str:
    """Why this robot can't ever make the goal true, or empty when it can, or when its body is not known yet."""
    if state is None or goal.args[:1] == (ROBOT,):
        return ""
    missing = affordances.missing(_TAKES.get(goal.name, ()), state)
    return missing[0].reason if missing else ""


def check_bodily(goals: Sequence[Predicate], state: WorldState | None) -> str:
    """The first reason of `check_body` for any of the goals, or empty."""
    return next(filter(None, (check_body(goal, state) for goal in goals)), "")


def objective_of(now: float, heard: Utterance, order: int, condition: str, state: str, reason: str) -> Objective:
    """The objective number `order` that an utterance asks for; an utterance without an id goes by its time."""
    return Objective(
        id=f"{heard.id or now}.{order}", condition=condition, said=heard.text, source=heard.id, order=order,
        state=state, reason=reason, created=Time.at(now),
    )
