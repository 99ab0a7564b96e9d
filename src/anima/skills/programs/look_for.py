"""`look_for`: go and look at one surface after the other until the object is seen."""

from __future__ import annotations

from anima.body.arm.poses import ARM_JOINTS, load_poses
from anima.body.navigation.navigator import Goal
from anima.body.places import Surface
from anima.body.pose import Pose2D, wrap
from anima.failure import Failure
from anima.skills.arguments import OfObject
from anima.skills.driving import drive_straight, drive_to, turn_to
from anima.skills.program import Body, Command, Failed, Program, Steps, hold_still, move_joints
from anima.skills.words import listed, spoken
from anima.types.mind import SurfaceState
from anima.world.predicates import find_object

# Looking does not need the exact pose that grasping needs.
_STOP_TOLERANCE_M, _STOP_TOLERANCE_RAD = 0.06, 0.06
_ENOUGH_COVERAGE = 0.9
_GLANCE_S = 0.8          # perception at 10 Hz needs a few still pictures to confirm what it sees
_TURN_RAD = 0.35
_NEARER_M, _NEARER_MPS = 0.12, 0.15
_ARM_OUT_OF_WAY_RAD = 0.15


def run(arguments: OfObject, body: Body) -> Program:
    """Where the object was last seen, then where people said to look first, then what was not looked at yet, then the
    rest, nearest first.

    Succeeds as soon as the object is seen, from wherever that is. Raises `Failed`: perception_miss when it is on none
    of the surfaces that could be reached, path_blocked when none could.
    """
    name = arguments.object
    since = body.senses.now
    yield from _arm_out_of_view(body)
    left = list(body.places.surfaces)
    seen_at: list[str] = []
    unreached: list[str] = []
    while left:
        surface = _next(body, name, left, since)
        left.remove(surface)
        phase = f"looking for the {spoken(name)} on the {spoken(surface.name)}"
        try:
            found = yield from _until_seen(body, name, since, _look_at(body, surface, phase))
        except Failed as failed:
            if failed.failure is not Failure.PATH_BLOCKED:
                raise
            unreached.append(spoken(surface.name))
            continue
        if found:
            yield Command(velocity=(0.0, 0.0))
            return _report(body, name)
        seen_at.append(spoken(surface.name))
    missed = f"; the way to the {listed(unreached)} was blocked" if unreached else ""
    if not seen_at:
        raise Failed(Failure.PATH_BLOCKED, f"could not look for the {spoken(name)}{missed}")
    raise Failed(
        Failure.PERCEPTION_MISS, f"looked at the {listed(seen_at)} and did not find the {spoken(name)}{missed}"
    )


def _report(body: Body, name: str) -> str:
    thing = find_object(body.senses.known_world(), name)
    where = spoken(thing.place) if thing is not None and thing.place else "in sight"
    return f"the {spoken(name)} is seen: {where}"


def _is_seen(body: Body, name: str, since: float) -> bool:
    """Whether the object was confirmed by a look of this search."""
    thing = find_object(body.senses.world, name) if body.senses.world is not None else None
    return thing is not None and thing.status == "confirmed" and thing.last_seen.seconds >= since


def _until_seen(body: Body, name: str, since: float, steps: Steps[None]) -> Steps[bool]:
    """Run `steps`, but no further than to where the object is seen."""
    for command in steps:
        if _is_seen(body, name, since):
            steps.close()
            return True
        yield command
    return _is_seen(body, name, since)


def _arm_out_of_view(body: Body) -> Steps[None]:
    """Fold the arm beside the mast's view; what is in the hand is carried."""
    if not body.senses.has_arm:
        return
    held = bool(body.senses.known_world().holding)
    posture = load_poses().joints("carry" if held else "tuck")
    targets = dict(zip(ARM_JOINTS, map(float, posture), strict=True))
    if all(abs(body.senses.joint(name) - target) < _ARM_OUT_OF_WAY_RAD for name, target in targets.items()):
        return
    if not (yield from move_joints(body, targets, phase="folding the arm away")):
        raise Failed(Failure.HARDWARE_FAULT, "the arm does not fold away")


def _next(body: Body, name: str, left: list[Surface], since: float) -> Surface:
    """The surface to look at next."""
    world = body.senses.known_world()
    thing = find_object(world, name)
    known = {state.name: state for state in world.surfaces}
    if thing is not None and thing.last_seen.seconds < since:
        for surface in left:
            if surface.name == thing.place:
                return surface
    for place in body.first_places:
        for surface in left:
            if surface.name == place:
                return surface
    unviewed = [surface for surface in left if not _is_viewed(known.get(surface.name))]
    among = unviewed or left
    goals = [(surface, Pose2D(*approach.pose)) for surface in among for approach in surface.approaches]
    lengths = body.navigator.path_lengths(body.senses.located(), [pose for _, pose in goals])
    return goals[min(range(len(goals)), key=lengths.__getitem__)][0]


def _is_viewed(state: SurfaceState | None) -> bool:
    return state is not None and state.coverage >= _ENOUGH_COVERAGE


def _look_at(body: Body, surface: Surface, phase: str) -> Steps[None]:
    """Go before the surface and look until enough of it was covered: from nearer, then to either side, if need be."""
    since = body.senses.now
    yield from _go_before(body, surface, phase)
    yield from hold_still(body, _GLANCE_S, phase)
    if _covered(body, surface, since):
        return
    try:
        yield from drive_straight(body, _NEARER_M, _NEARER_MPS, f"{phase}, from nearer")
    except Failed as failed:
        if failed.failure is not Failure.PATH_BLOCKED:
            raise
    yield from hold_still(body, _GLANCE_S, phase)
    ahead = body.senses.located().yaw
    # First to the side that shows more of the surface.
    aside = body.senses.located().bearing(*surface.centre)
    for turn in (_TURN_RAD, -_TURN_RAD) if aside >= 0 else (-_TURN_RAD, _TURN_RAD):
        if _covered(body, surface, since):
            return
        yield from turn_to(body, wrap(ahead + turn), phase)
        yield from hold_still(body, _GLANCE_S, phase)


def _go_before(body: Body, surface: Surface, phase: str) -> Steps[None]:
    """Drive before the surface's longest side that can be reached: from there the camera sees most of it."""
    sides = sorted(surface.approaches, key=lambda approach: -approach.edge_length_m)
    for k, side in enumerate(sides):
        try:
            yield from drive_to(body, Goal(Pose2D(*side.pose), _STOP_TOLERANCE_M, _STOP_TOLERANCE_RAD), phase)
            return
        except Failed as failed:
            if failed.failure is not Failure.PATH_BLOCKED or k == len(sides) - 1:
                raise


def _covered(body: Body, surface: Surface, since: float) -> bool:
    for state in body.senses.known_world().surfaces:
        if state.name == surface.name:
            return state.coverage >= _ENOUGH_COVERAGE and state.last_viewed.seconds >= since
    return False
