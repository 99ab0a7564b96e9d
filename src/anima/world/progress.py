"""How near to done a condition is, by what is known: the same for every region that reads progress."""

from __future__ import annotations

from anima.types.mind import WorldState
from anima.world.predicates import ROBOT, Predicate, find_object, holds, is_seen

# Shares of the way to a thing being somewhere: it is known where, it is at hand, it is held, it is held at the goal.
_KNOWN, _BESIDE, _HELD, _BROUGHT = 0.3, 0.45, 0.65, 0.85


def progress(condition: Predicate, world: WorldState) -> float:
    """0 for nothing done to 1 for true. Steps, not measures: it rises when a sub-goal is reached, never by noise."""
    if holds(condition, world):
        return 1.0
    match condition.name, condition.args:
        case "at", (thing, _) if thing == ROBOT:
            return 0.0
        case "at", (thing, place):
            if world.holding == thing:
                return _BROUGHT if place in (world.place, world.room) else _HELD
            return _found(thing, world)
        case "holding", (thing,):
            return _found(thing, world) / _BESIDE * _BROUGHT
        case "told", (thing,):
            return 0.5 if is_seen(world, thing) or world.holding == thing else 0.0
        case "charged", (percent,):
            return min(world.battery * 100.0 / max(int(percent), 1), 0.99) // 0.1 * 0.1
    return 0.0


def _found(thing: str, world: WorldState) -> float:
    known = find_object(world, thing)
    if known is None or known.status != "confirmed":
        return 0.0
    return _BESIDE if known.place and known.place == world.place else _KNOWN
