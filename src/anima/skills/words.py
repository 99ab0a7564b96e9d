"""Names and what is known, in words that people say."""

from __future__ import annotations

from collections.abc import Sequence

from anima.body.places import Places, UnknownPlace
from anima.types.mind import ObjectState, WorldState
from anima.world.predicates import find_object

AGAIN = "in the second grasp"
"""What the result of `pick` says when its first grasp did not hold."""
_LOOKED_AT = 0.5  # coverage from which one may say that one looked at a surface


def spoken(name: str) -> str:
    """A name as people say it: ``red_cube`` -> ``red cube``."""
    return name.replace("_", " ")


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def whereabouts(name: str, world: WorldState, places: Places) -> str:
    """A sentence about where the object is, or where it was looked for, by what is known."""
    thing = find_object(world, name)
    if world.holding == name:
        return f"I have the {spoken(name)} in my hand."
    if thing is not None and thing.status == "confirmed":
        return f"The {spoken(name)} is {_where(thing, places)}."
    looked = [surface.name for surface in world.surfaces if surface.coverage >= _LOOKED_AT]
    gone = ""
    if thing is not None and thing.status == "absent" and thing.place:
        gone = f"The {spoken(name)} was {_where(thing, places)}, but it is no longer there. "
    if looked:
        return f"{gone}I looked at the {listed([spoken(s) for s in looked])} and did not find the {spoken(name)}."
    return f"{gone}I don't know where the {spoken(name)} is; I have not looked for it."


def _where(thing: ObjectState, places: Places) -> str:
    room = places.room_at(thing.position.x, thing.position.y)
    if thing.place == "floor":
        return f"on the floor in the {spoken(room)}" if room else "on the floor"
    try:
        surface = places.surface(thing.place)
    except UnknownPlace:
        return f"in the {spoken(room)}" if room else "in sight"
    if surface.holder:
        return "on your tray"
    if surface.room in surface.name:
        return f"on the {spoken(surface.name)}"
    return f"on the {spoken(surface.name)} in the {spoken(surface.room)}"
