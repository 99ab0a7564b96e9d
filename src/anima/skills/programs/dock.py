"""`dock`: align before the dock and back in until the battery charges."""

from __future__ import annotations

from anima.body.navigation.navigator import Goal
from anima.body.pose import Pose2D, wrap
from anima.failure import Failure
from anima.skills.arguments import NoArguments
from anima.skills.driving import drive_straight, drive_to
from anima.skills.program import REST_MPS, Body, Command, Failed, Program, Steps, hold_still

_TRIES = 2
_ALIGNED_M, _ALIGNED_RAD = 0.02, 0.02
_BACK_IN_MPS, _TOUCH_MPS = 0.12, 0.04
_TOUCH_FROM_M = 0.06
# How far past the known pose the contacts are searched, and how long the charger may take to notice.
_PAST_M = 0.015
_CONTACT_S = 1.5
_HELD_S = 3.0


def run(arguments: NoArguments, body: Body) -> Program:
    """Drive before the dock, turn the back to it, and back in slowly; once more from the start when it misses.

    Raises `Failed`: hardware_fault when the battery does not charge in the docked pose, path_blocked on the way.
    """
    if body.senses.known_world().docked:
        return "already docked"
    dock = body.places.dock
    for attempt in range(1, _TRIES + 1):
        phase = "docking" if attempt == 1 else "docking once more"
        yield from drive_to(body, Goal(Pose2D(*dock.approach), _ALIGNED_M, _ALIGNED_RAD), f"{phase}: driving before it")
        yield from _back_in(body, Pose2D(*dock.docked), f"{phase}: backing in")
        if (yield from _charges(body, phase)):
            return f"docked and charging, at try {attempt}"
        gone = Pose2D(*dock.docked).distance(Pose2D(*dock.approach))
        yield from drive_straight(body, gone, _BACK_IN_MPS, f"{phase}: out again")
    raise Failed(Failure.HARDWARE_FAULT, f"the battery did not charge in {_TRIES} tries at the dock")


def _back_in(body: Body, docked: Pose2D, phase: str) -> Steps[None]:
    """Drive backwards along the dock's axis until the contacts touch or have been passed."""
    held_since = body.senses.now
    while not body.senses.known_world().docked:
        here = body.senses.located()
        ahead, aside = docked.seen(here.x, here.y)
        if ahead < -_PAST_M:
            break
        if abs(body.senses.speed[0]) > REST_MPS:
            held_since = body.senses.now
        elif body.senses.now - held_since > _HELD_S:
            break  # against the dock, or held off by something: whether it charges decides
        speed = _TOUCH_MPS if ahead < _TOUCH_FROM_M else _BACK_IN_MPS
        # Backwards, a heading error to the left carries the robot to the right.
        wanted = max(-0.25, min(0.25, 2.0 * aside))
        yield Command(velocity=(-speed, 2.5 * wrap(docked.yaw + wanted - here.yaw)), phase=phase)
    yield Command(velocity=(0.0, 0.0), phase=phase)


def _charges(body: Body, phase: str) -> Steps[bool]:
    until = body.senses.now + _CONTACT_S
    while body.senses.now < until:
        if body.senses.known_world().docked:
            return True
        yield from hold_still(body, 0.1, f"{phase}: waiting for the charger")
    return body.senses.known_world().docked
