"""`relocalize`: move about carefully until the robot knows again where it is."""

from __future__ import annotations

import math

import numpy as np

from anima.body.pose import Pose2D, wrap
from anima.failure import Failure
from anima.skills.arguments import NoArguments
from anima.skills.arm_motion import hand_of
from anima.skills.driving import drive_straight
from anima.skills.program import REST_RADPS, Body, Command, Failed, Program, Steps, come_to_rest, hold_still
from anima.skills.programs.approach import stow

_LOOKS = 4             # places from which it looks around
_TURN_RADPS = 0.6
_DRIVE_MPS = 0.15
_LEG_M = 0.7           # from one look to the next
_LEAST_LEG_M = 0.25
_ROOM_AHEAD_M = 0.35   # that it leaves between itself and what the lidar sees
_HALF_WIDTH_M = 0.26   # of the lane that must be free
_HEADINGS = 36
_HELD_S = 3.0
_OUT_OF_DOCK_M = 0.5
_NOTICED_S = 2.0


def run(arguments: NoArguments, body: Body) -> Program:
    """Turn once about, then go a little way to where the lidar sees the most room, and turn again.

    It ends as soon as localization is sure. Nothing that it knows of the map counts meanwhile: it moves slowly, by
    odometry and by what the lidar sees, and the reflex kernel stops it before edges and obstacles as ever.
    Raises `Failed`: perception_miss when it still doesn't know after some looks, path_blocked when it can't move.
    """
    if body.senses.pose is None:
        if body.senses.has_arm:
            yield from stow(body, hand_of(body.settings), "folding the arm", [])
        if body.senses.known_world().docked:
            yield from drive_straight(body, _OUT_OF_DOCK_M, _DRIVE_MPS, "driving out of the dock")
    held: Failed | None = None
    for look in range(1, _LOOKS + 1):
        try:
            yield from _look_around(body, f"looking around, place {look} of {_LOOKS}")
            if body.senses.pose is None and look < _LOOKS:
                yield from _go_on(body, "going to another place to look from")
        except Failed as failed:
            if failed.failure is not Failure.PATH_BLOCKED:
                raise
            held = failed
        if body.senses.pose is not None:
            yield from come_to_rest(body, phase="found")
            yield from _until_told(body)
            at = body.senses.located()
            return f"the robot is at ({at.x:.2f}, {at.y:.2f}), found at place {look}"
    if held is not None:
        raise held
    raise Failed(Failure.PERCEPTION_MISS, f"it looked around at {_LOOKS} places and still does not know where it is")


def _look_around(body: Body, phase: str) -> Steps[None]:
    """Turn once about; ends early when localization is sure."""
    yield from _turn(body, 2.0 * math.pi, phase)


def _turn(body: Body, angle_rad: float, phase: str) -> Steps[None]:
    """Turn by odometry, counter-clockwise positive, until done or found. Raises `Failed` (path_blocked) when held."""
    before, turned, held_since = _odometry(body), 0.0, body.senses.now
    while abs(turned) < abs(angle_rad) and body.senses.pose is None:
        yield Command(
            velocity=(0.0, math.copysign(_TURN_RADPS, angle_rad)), phase=phase, progress=abs(turned / angle_rad)
        )
        here = _odometry(body)
        turned += wrap(here.yaw - before.yaw)
        before = here
        if abs(body.senses.speed[1]) > REST_RADPS:
            held_since = body.senses.now
        elif body.senses.now - held_since > _HELD_S:
            raise Failed(Failure.PATH_BLOCKED, f"{phase}: no room to turn")
    yield from come_to_rest(body, phase=phase)


def _go_on(body: Body, phase: str) -> Steps[None]:
    """Turn to where there is most room and drive there a little; stays where it is when there is none."""
    heading, room_m = _roomiest(body)
    leg = min(_LEG_M, room_m - _ROOM_AHEAD_M)
    if leg < _LEAST_LEG_M:
        return
    yield from _turn(body, heading, phase)
    if body.senses.pose is None:
        yield from drive_straight(body, leg, _DRIVE_MPS, phase)


def _roomiest(body: Body) -> tuple[float, float]:
    """The heading off straight ahead in which a lane as wide as the robot is free the longest, and how far, metres."""
    scan = body.senses.scan
    if scan is None:
        raise Failed(Failure.HARDWARE_FAULT, "nothing from the lidar: is the body connected?")
    ranges = np.asarray(scan.ranges, dtype=np.float64)
    ranges = np.where(np.isneginf(ranges), scan.range_min, ranges)
    angles = scan.angle_min + scan.angle_increment * np.arange(ranges.size)
    hit = np.isfinite(ranges)
    x, y = ranges[hit] * np.cos(angles[hit]), ranges[hit] * np.sin(angles[hit])
    best, longest = 0.0, 0.0
    for heading in np.linspace(-math.pi, math.pi, _HEADINGS, endpoint=False):
        c, s = math.cos(heading), math.sin(heading)
        ahead, aside = c * x + s * y, np.abs(c * y - s * x)
        lane = ahead[(aside < _HALF_WIDTH_M) & (ahead > 0.0)]
        free = float(lane.min()) if lane.size else float(scan.range_max)
        if free > longest:
            best, longest = float(heading), free
    return best, longest


def _until_told(body: Body) -> Steps[None]:
    """Wait until the state of the world says so too: what comes next is checked against it."""
    until = body.senses.now + _NOTICED_S
    while not body.senses.known_world().localized and body.senses.now < until:
        yield from hold_still(body, 0.1, "found")


def _odometry(body: Body) -> Pose2D:
    odometry = body.senses.odometry
    if odometry is None:
        raise Failed(Failure.HARDWARE_FAULT, "nothing from odometry: is the body connected?")
    return Pose2D.of(odometry.pose.pose)
