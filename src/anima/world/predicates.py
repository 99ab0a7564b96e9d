"""The closed vocabulary of conditions: `at(red_cube, kitchen_table)` and its kin, parsed, written and checked."""

from __future__ import annotations

import re
from dataclasses import dataclass

from anima.types.mind import ObjectState, WorldState

ROBOT = "robot"
PERSON = "person"
ARITY = {"at": 2, "holding": 1, "hand_empty": 0, "docked": 0, "charged": 1, "seen": 1, "told": 1, "lacks": 1}
_FORM = re.compile(r"([a-z_]+)(?:\(([a-z0-9_, ]*)\))?\Z")


class PredicateError(ValueError):
    """A text that is not a condition of the closed vocabulary."""


@dataclass(frozen=True)
class Predicate:
    """One condition over `WorldState`.

    ``at(object, surface)``, ``at(object, person)``, ``at(robot, place)``, ``holding(object)``, ``hand_empty``,
    ``docked``, ``charged(percent)``, ``seen(object)``, ``told(object)`` (the person was told where it is, or
    that it was not found), ``lacks(part)`` (the robot has no such part; never a goal).
    """

    name: str
    args: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Predicate:
        """The predicate written as `text`; raises `PredicateError` naming what is wrong."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise PredicateError(f"{text!r} is not of the form name(arg, arg)")
        name = match[1]
        args = tuple(arg.strip() for arg in match[2].split(",")) if match[2] else ()
        if name not in ARITY:
            raise PredicateError(f"{text!r}: unknown condition {name!r}; known: {', '.join(sorted(ARITY))}")
        if len(args) != ARITY[name] or not all(args):
            raise PredicateError(f"{text!r}: {name} takes {ARITY[name]} argument(s)")
        if name == "charged" and not (args[0].isdigit() and int(args[0]) <= 100):
            raise PredicateError(f"{text!r}: charged takes whole percent from 0 to 100")
        return cls(name, args)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.args)})" if self.args else self.name

    @property
    def is_event(self) -> bool:
        """True when it becomes true by something that happens once, so that the state alone can't tell."""
        return self.name == "told"


def find_object(state: WorldState, name: str) -> ObjectState | None:
    """The tracked object of that name, absent ones included, or None."""
    return next((thing for thing in state.objects if thing.name == name), None)


def is_seen(state: WorldState, name: str) -> bool:
    """Whether the object is known to be somewhere now."""
    thing = find_object(state, name)
    return thing is not None and thing.status == "confirmed"


def holds(predicate: Predicate, state: WorldState) -> bool:
    """Whether the condition is true in `state`. Events (`told`) are never true of a state."""
    match predicate.name, predicate.args:
        case "at", (thing, place) if thing == ROBOT:
            return place in (state.place, state.room)
        case "at", (thing, place):
            known = find_object(state, thing)
            return known is not None and known.status == "confirmed" and known.place == place
        case "holding", (thing,):
            return state.holding == thing
        case "hand_empty", ():
            return not state.holding
        case "docked", ():
            return state.docked
        case "charged", (percent,):
            return state.battery * 100 >= int(percent)
        case "seen", (thing,):
            return is_seen(state, thing)
        case "lacks", _:
            return str(predicate) in state.facts  # what the body is made of follows from nothing else
    return False
