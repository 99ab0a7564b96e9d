"""The judge of an errand: the simulator's own truth against what was asked."""

from __future__ import annotations

from anima.body.places import Places
from anima.types.mind import GroundTruth
from anima.world.predicates import PERSON, ROBOT, Predicate

AT_PLACE_M = 0.8


def words(name: str) -> str:
    """A name as people say it."""
    return name.replace("_", " ")


def support_names(place: str, places: Places) -> set[str]:
    """The surfaces that count as `place`: its own, or the tray for the person."""
    return {surface.name for surface in places.surfaces if place in (surface.name, surface.holder)} or {place}


def is_true(condition: Predicate, truth: GroundTruth, places: Places, said: list[str]) -> bool:
    """Whether the condition holds in truth. `said` is what the robot said about it, for `told`.

    A `told` is true when what was said names the place where the object really is.
    """
    objects = {thing.name: thing for thing in truth.objects}
    match condition.name, condition.args:
        case "at", (thing, place) if thing == ROBOT:
            return places.near(place, truth.robot.position.x, truth.robot.position.y, AT_PLACE_M)
        case "at", (thing, place):
            return thing in objects and objects[thing].support in support_names(place, places)
        case "holding", (thing,):
            return thing in objects and objects[thing].support == "gripper"
        case "hand_empty", ():
            return all(thing.support != "gripper" for thing in truth.objects)
        case ("docked", ()) | ("charged", _):
            return truth.docked
        case "told", (thing,):
            if thing not in objects:
                return False
            support = objects[thing].support
            holder = next((s.holder for s in places.surfaces if s.name == support), "")
            names = {words(support), words(holder) or words(support), *(("you",) if holder == PERSON else ())}
            return any(words(thing) in text.lower() and any(n in text.lower() for n in names) for text in said)
        case "seen", (thing,):
            return thing in objects
    return False
