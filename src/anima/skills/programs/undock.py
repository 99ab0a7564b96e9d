"""`undock`: drive straight out of the dock."""

from __future__ import annotations

from anima.body.pose import Pose2D
from anima.failure import Failure
from anima.skills.arguments import NoArguments
from anima.skills.driving import drive_straight
from anima.skills.program import Body, Failed, Program, hold_still

_OUT_MPS = 0.20
_NOTICED_S = 2.0


def run(arguments: NoArguments, body: Body) -> Program:
    """Drive out to the pose before the dock.

    Raises `Failed`: precondition_unmet off the dock, path_blocked when held on the way.
    """
    if not body.senses.known_world().docked:
        raise Failed(Failure.PRECONDITION_UNMET, "the robot is not docked")
    ahead, _ = body.senses.located().seen(*body.places.dock.approach[:2])
    yield from drive_straight(body, ahead, _OUT_MPS, "driving out of the dock")
    until = body.senses.now + _NOTICED_S
    while body.senses.known_world().docked:
        if body.senses.now > until:
            raise Failed(Failure.STALLED, "the battery still charges after driving out of the dock")
        yield from hold_still(body, 0.1, "waiting for the charger to let go")
    off = Pose2D(*body.places.dock.approach).distance(body.senses.located())
    return f"off the dock, {off * 100:.0f} cm from the pose before it"
