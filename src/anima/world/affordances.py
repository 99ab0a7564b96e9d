"""What can be done here, now: the preconditions of each skill, each with its reason and what would mend it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anima.skills.arguments import NoArguments, ObjectOnto, OfObject, Say, ToPlace, Wait
from anima.types.mind import ObjectState, WorldState
from anima.world.predicates import PERSON, find_object

# Radial window of the tool point from the shoulder's pan axis, for objects on a 0.40 m high top, and how far
# off straight ahead the arm still works without turning the base. The shoulder is at x = +0.139 of base_link.
REACH_M = (0.10, 0.34)
REACH_BEARING_RAD = 1.0
SHOULDER_X_M = 0.139


@dataclass(frozen=True)
class Unmet:
    """A precondition that does not hold: why, and the call that would mend it (empty: none known)."""

    reason: str
    repair: str = ""


_MISSING = {
    "arm": "this robot has no arm",
    "camera": "this robot has no camera that measures depth",
    "dock": "this robot has no dock that it can drive onto",
}


def missing(parts: Sequence[str], state: WorldState) -> list[Unmet]:
    """Those of the parts that the robot has not. Nothing mends that."""
    return [Unmet(_MISSING[part]) for part in parts if f"lacks({part})" in state.facts]


def in_reach(state: WorldState, thing: ObjectState) -> bool:
    """Whether the arm reaches the object from where the base stands."""
    yaw = state.robot.orientation.yaw
    dx = thing.position.x - state.robot.position.x
    dy = thing.position.y - state.robot.position.y
    forward = math.cos(yaw) * dx + math.sin(yaw) * dy - SHOULDER_X_M
    left = -math.sin(yaw) * dx + math.cos(yaw) * dy
    return (
        REACH_M[0] <= math.hypot(forward, left) <= REACH_M[1]
        and abs(math.atan2(left, forward)) <= REACH_BEARING_RAD
    )


def _free_to_drive(state: WorldState) -> list[Unmet]:
    unmet = []
    if state.stopped:
        unmet.append(Unmet("the software stop is latched", "a person must reset the stop"))
    if not state.localized:
        unmet.append(Unmet("the robot does not know where it is", "relocalize()"))
    return unmet


def _off_dock(state: WorldState) -> list[Unmet]:
    return [*_free_to_drive(state), *([Unmet("the robot is docked", "undock()")] if state.docked else [])]


def _confirmed(state: WorldState, name: str) -> tuple[ObjectState | None, list[Unmet]]:
    thing = find_object(state, name)
    if thing is None or thing.status == "tentative":
        return None, [Unmet(f"{name} has not been seen", f"look_for({name})")]
    if thing.status == "absent":
        return None, [Unmet(f"{name} is no longer where it was seen", f"look_for({name})")]
    return thing, []


def go_to(arguments: ToPlace, state: WorldState) -> Sequence[Unmet]:
    """Driving needs a free base off the dock."""
    unmet = _off_dock(state)
    if not unmet and arguments.place == state.place:
        unmet.append(Unmet(f"the robot is already at {arguments.place}"))
    return unmet


def look_for(arguments: OfObject, state: WorldState) -> Sequence[Unmet]:
    """Searching drives around with the arm out of view, so the hand may hold something else but not the object."""
    unmet = _off_dock(state)
    if state.holding == arguments.object:
        unmet.append(Unmet(f"{arguments.object} is already in the hand"))
    return unmet


def approach(arguments: OfObject, state: WorldState) -> Sequence[Unmet]:
    """Going close needs to know where the object is, and that it lies on a surface."""
    unmet = _off_dock(state)
    thing, unseen = _confirmed(state, arguments.object)
    unmet += unseen
    if thing is not None:
        if state.holding == arguments.object:
            unmet.append(Unmet(f"{arguments.object} is already in the hand"))
        elif thing.place in ("", "floor"):
            unmet.append(Unmet(f"{arguments.object} lies on the floor, out of the arm's reach"))
    return unmet


def pick(arguments: OfObject, state: WorldState) -> Sequence[Unmet]:
    """Grasping needs an empty hand and the object within reach."""
    unmet = _off_dock(state)
    if state.holding:
        unmet.append(Unmet(f"the hand already holds {state.holding}", f"place({state.holding}, …)"))
    thing, unseen = _confirmed(state, arguments.object)
    unmet += unseen
    if thing is not None and not in_reach(state, thing):
        unmet.append(Unmet(f"{arguments.object} is not within reach", f"approach({arguments.object})"))
    return unmet


def place(arguments: ObjectOnto, state: WorldState) -> Sequence[Unmet]:
    """Putting down needs the object in the hand and the robot at the surface."""
    unmet = _off_dock(state)
    if state.holding != arguments.object:
        unmet.append(Unmet(f"{arguments.object} is not in the hand", f"pick({arguments.object})"))
    if state.place != arguments.surface:
        unmet.append(Unmet(f"the robot is not at {arguments.surface}", f"go_to({arguments.surface})"))
    return unmet


def hand_over(arguments: OfObject, state: WorldState) -> Sequence[Unmet]:
    """Handing over needs the object in the hand and the robot at the person."""
    unmet = _off_dock(state)
    if state.holding != arguments.object:
        unmet.append(Unmet(f"{arguments.object} is not in the hand", f"pick({arguments.object})"))
    if state.place != PERSON:
        unmet.append(Unmet("the robot is not at the person", f"go_to({PERSON})"))
    return unmet


def dock(arguments: NoArguments, state: WorldState) -> Sequence[Unmet]:
    """Docking is for a robot off the dock."""
    return [*_free_to_drive(state), *([Unmet("the robot is already docked")] if state.docked else [])]


def undock(arguments: NoArguments, state: WorldState) -> Sequence[Unmet]:
    """Undocking is for a docked robot."""
    return [*_free_to_drive(state), *([] if state.docked else [Unmet("the robot is not docked")])]


def relocalize(arguments: NoArguments, state: WorldState) -> Sequence[Unmet]:
    """Looking where it is makes sense only for a robot that doesn't know, and takes moving about."""
    unmet = [Unmet("the software stop is latched", "a person must reset the stop")] if state.stopped else []
    return [*unmet, Unmet("the robot knows where it is")] if state.localized else unmet


def say(arguments: Say, state: WorldState) -> Sequence[Unmet]:
    """Speaking needs something to say."""
    if not arguments.text and not arguments.object:
        return [Unmet("nothing to say: give text or object")]
    return []


def wait(arguments: Wait, state: WorldState) -> Sequence[Unmet]:
    """Waiting is always possible."""
    return []


def stop(arguments: NoArguments, state: WorldState) -> Sequence[Unmet]:
    """Stopping is always possible."""
    return []
