"""`go_to`: drive to a named place."""

from __future__ import annotations

import math

from anima.body.navigation.navigator import Goal
from anima.body.places import UnknownPlace
from anima.failure import Failure
from anima.skills.arguments import ToPlace
from anima.skills.driving import drive_to, nearest
from anima.skills.program import Body, Failed, Program

# In a room it is enough to be there; before a surface, arm and camera count on the pose.
_ROOM_TOLERANCE_M = 0.15


def run(arguments: ToPlace, body: Body) -> Program:
    """Drive to the room's entry, before the dock, or to whichever side of the surface is quickest to reach."""
    place = arguments.place
    try:
        goals = body.places.poses(place)
    except UnknownPlace as error:
        raise Failed(Failure.TOOL_MISMATCH, str(error)) from error
    words = place.replace("_", " ")
    phase = f"driving to the {words}"
    left = list(goals)
    while True:
        pose, metres = nearest(body, left)
        if math.isinf(metres):
            pose = left[0]
        goal = Goal(pose, _ROOM_TOLERANCE_M, None) if body.places.is_room(place) else Goal(pose)
        try:
            detail = yield from drive_to(body, goal, phase)
        except Failed as failed:
            left.remove(pose)
            if failed.failure is not Failure.PATH_BLOCKED or not left:
                raise
            phase = f"driving to another side of the {words}"
        else:
            return f"at the {words}, {detail}"
