"""The parts of programs that move the base: to a pose, straight, on the spot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from anima.body.navigation.navigator import Goal, PathPoints, Status
from anima.body.pose import Pose2D, wrap
from anima.failure import Failure
from anima.skills.program import REST_MPS, REST_RADPS, Body, Command, Failed, Steps
from anima.types.base import Header
from anima.types.std import LaserScan, Odometry, Path, Point, Pose, PoseStamped

M = TypeVar("M", Odometry, LaserScan)

_ROUTE_PERIOD_S = 0.5
_ROUTE_SPACING = 4       # every fourth point of the path is enough for a picture
_STILL_BLOCKED_S = 3.0   # commanded, but not moving
_SILENT_S = 1.0          # nobody drives by readings older than this


class Held:
    """Notices a base that is told to move and does not. It bears that for `patience_s`."""

    def __init__(self, body: Body, phase: str, patience_s: float = _STILL_BLOCKED_S) -> None:
        self._body, self._phase, self._patience_s = body, phase, patience_s
        self._since: float | None = None

    def check(self, moves: bool, left: str) -> None:
        """Raises `Failed` (path_blocked), with what was `left` to do, once it has been held for too long."""
        now = self._body.senses.now
        if moves:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since > self._patience_s:
            raise Failed(Failure.PATH_BLOCKED, f"{self._phase}: held {left}")


def nearest(body: Body, goals: Sequence[Pose2D]) -> tuple[Pose2D, float]:
    """The goal that is quickest to drive to, and the metres there (`inf` when none can be reached)."""
    lengths = body.navigator.path_lengths(body.senses.located(), goals)
    best = int(np.argmin(lengths))
    return goals[best], lengths[best]


def drive_to(body: Body, goal: Goal, phase: str) -> Steps[str]:
    """Drive to a pose of the map; says how far off it came to rest.

    Raises `Failed`: path_blocked when no way is free after waiting and trying others, stalled when the base does not
    do what it is told, hardware_fault when odometry or lidar are silent, precondition_unmet without a pose.
    """
    body.senses.located()
    body.navigator.set_goal(goal)
    longest, shown = 0.0, -math.inf
    while True:
        senses = body.senses
        odometry = _heard(senses.now, senses.odometry, "odometry")
        scan = _heard(senses.now, senses.scan, "the lidar")
        found = body.navigator.step(senses.now, senses.located(), odometry, scan)
        match found.status:
            case Status.ARRIVED:
                return found.detail
            case Status.BLOCKED:
                raise Failed(Failure.PATH_BLOCKED, f"{phase}: {found.detail}")
            case Status.STALLED:
                raise Failed(Failure.STALLED, f"{phase}: {found.detail}")
        longest = max(longest, found.remaining_m)
        route = None
        if senses.now - shown >= _ROUTE_PERIOD_S:
            shown, route = senses.now, as_path(senses.now, found.path)
        yield Command(
            velocity=found.velocity,
            phase=f"{phase}: {found.detail}",
            progress=1.0 - found.remaining_m / longest if longest > 0 else None,
            route=route,
        )


def drive_straight(
    body: Body, distance_m: float, speed_mps: float, phase: str, tolerance_m: float = 0.005
) -> Steps[None]:
    """Drive straight by odometry, holding the heading; a negative distance goes backwards.

    Raises `Failed` (path_blocked) when the base is held for some seconds on the way.
    """
    start = _odometry(body)
    held = Held(body, phase)
    while True:
        here = _odometry(body)
        forward, _ = start.seen(here.x, here.y)
        left = distance_m - forward
        if abs(left) <= tolerance_m or left * distance_m <= 0.0:
            break
        held.check(abs(body.senses.speed[0]) > REST_MPS, f"{abs(left):.2f} m before the end")
        speed = min(abs(speed_mps), max(0.03, 1.5 * abs(left)))
        yield Command(velocity=(math.copysign(speed, left), 2.0 * wrap(start.yaw - here.yaw)), phase=phase)
    yield from halt(body, phase)


def turn_to(body: Body, yaw: float, phase: str, tolerance_rad: float = 0.03, speed_radps: float = 0.8) -> Steps[None]:
    """Turn on the spot to a heading of the map. Raises `Failed` (path_blocked) when the base is held on the way."""
    held = Held(body, phase)
    while True:
        off = wrap(yaw - body.senses.located().yaw)
        if abs(off) <= 0.5 * tolerance_rad:
            break
        held.check(abs(body.senses.speed[1]) > REST_RADPS, f"{abs(off):.2f} rad before the end of a turn")
        yield Command(velocity=(0.0, math.copysign(min(speed_radps, max(0.08, 2.0 * abs(off))), off)), phase=phase)
    yield from halt(body, phase)


def turn_by(body: Body, angle_rad: float, phase: str) -> Steps[None]:
    """Turn on the spot, counter-clockwise positive. Raises `Failed` as `turn_to` does."""
    yield from turn_to(body, wrap(body.senses.located().yaw + angle_rad), phase)


def as_path(now: float, points: PathPoints) -> Path:
    """Points of the map as a path to show."""
    header = Header.at(now, "map")
    kept = points[::_ROUTE_SPACING]
    if len(points):
        kept = np.concatenate([kept, points[-1:]])
    poses = [PoseStamped(header=header, pose=Pose(position=Point(x=float(x), y=float(y)))) for x, y in kept]
    return Path(header=header, poses=poses)


def _heard(now: float, reading: M | None, sensor: str) -> M:
    """A fresh reading, or the failure that it is missing."""
    if reading is None:
        raise Failed(Failure.HARDWARE_FAULT, f"nothing from {sensor}: is the body connected?")
    silent_s = now - reading.header.stamp.seconds
    if silent_s > _SILENT_S:
        raise Failed(Failure.HARDWARE_FAULT, f"nothing from {sensor} for {silent_s:.1f} s")
    return reading


def _odometry(body: Body) -> Pose2D:
    return Pose2D.of(_heard(body.senses.now, body.senses.odometry, "odometry").pose.pose)


def halt(body: Body, phase: str) -> Steps[None]:
    """Stand still, and wait a moment until the base does."""
    until = body.senses.now + 1.0
    yield Command(velocity=(0.0, 0.0), phase=phase)
    while not body.senses.base_at_rest and body.senses.now < until:
        yield Command(velocity=(0.0, 0.0), phase=phase)
