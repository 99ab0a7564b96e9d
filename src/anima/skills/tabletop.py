"""The parts of programs that work at a surface: seeing a thing on it, creeping up to its edge, backing off again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anima.body.arm.clearance import Box
from anima.body.arm.grasp import Thing
from anima.body.places import Surface
from anima.body.pose import Pose2D, wrap
from anima.failure import Failure
from anima.skills.arm_motion import Hand, move_arm
from anima.skills.driving import Held, halt
from anima.skills.program import REST_MPS, Body, Command, Failed, Steps
from anima.types.mind import Detection

# Base centre to edge, metres: where things on a surface are looked at from, and how close the base may come.
STANDOFF_M = 0.50
CLOSEST_M = 0.26
# Radius from the shoulder's pan axis at which the arm works best.
BEST_RADIUS_M = 0.215
_CREEP_MPS = 0.12
_CREEP_TOLERANCE_M = 0.006
_BACK_MPS = 0.20
_HELD_S = 2.5
_LOOK_S = 0.5        # a sighting is the middle of what was seen for this long,
_LOOK_PATIENCE_S = 1.0
_SETTLE_S = 0.25     # pictures taken while the body came to rest are blurred
SURE = 0.6           # detections of a thing in full view are surer than this
_SLAB_M = 0.06
_AROUND_M = 0.8      # farther tops are out of the arm's way
_ASIDE_M = 0.42      # free space that the stretched arm takes beside the robot


@dataclass(frozen=True)
class Edge:
    """An edge of a surface with free floor before it. `frame` lies in its middle, x pointing over the surface (map)."""

    surface: Surface
    frame: Pose2D
    length_m: float

    def base_at(self, distance_m: float, left_m: float) -> Pose2D:
        """The pose of a base that faces the edge squarely, `left_m` of its middle."""
        x, y = self.frame.point(-distance_m, left_m)
        return Pose2D(x, y, self.frame.yaw)

    def base_distance(self, base: Pose2D) -> float:
        """Metres from the base's centre to the edge's line."""
        return -self.frame.seen(base.x, base.y)[0]


@dataclass(frozen=True)
class Sighting:
    """A thing as it was seen: centre and heading in the map, size along its own axes, how many pictures agreed."""

    x: float
    y: float
    z: float
    yaw: float
    size: tuple[float, float, float]
    shape: str
    pictures: int

    def seen_from(self, base: Pose2D) -> Thing:
        """The thing in base_link of a robot at `base`."""
        forward, left = base.seen(self.x, self.y)
        return Thing(np.array([forward, left, self.z]), wrap(self.yaw - base.yaw), self.size, self.shape)


def edges(surface: Surface) -> list[Edge]:
    """The edges that can be approached."""
    return [Edge(surface, Pose2D(*a.edge_centre, a.pose[2]), a.edge_length_m) for a in surface.approaches]


def facing_edge(surface: Surface, base: Pose2D) -> Edge:
    """The edge that a base at that pose faces best."""

    def off(edge: Edge) -> float:
        return base.distance(edge.base_at(STANDOFF_M, 0.0)) + abs(wrap(edge.frame.yaw - base.yaw))

    return min(edges(surface), key=off)


def stop_distance(depth_m: float, shoulder_m: float) -> float:
    """Where the base stops before an edge so that a spot `depth_m` behind the edge is at the arm's best radius."""
    return min(STANDOFF_M, max(CLOSEST_M, BEST_RADIUS_M + shoulder_m - depth_m))


def obstacles(body: Body, but: str = "") -> list[Box]:
    """Tops near the robot, then what is known to stand on them except the thing called `but`, as boxes in base_link."""
    base = body.senses.located()
    near = [surface for surface in body.places.surfaces if surface.distance_m(base.x, base.y) < _AROUND_M]
    boxes = []
    for top in near:
        centre = (*top.centre, top.height_m - _SLAB_M / 2)
        boxes.append(Box(centre, (*top.size_m, _SLAB_M)).seen_from(base))
    names = {name for top in near for name in (top.name, top.holder) if name}
    for thing in body.senses.known_world().objects:
        at, size = thing.position, thing.size
        real = min(size.x, size.y, size.z) > 0.0
        if real and thing.name != but and thing.status != "absent" and thing.place in names:
            boxes.append(Box((at.x, at.y, at.z), (size.x, size.y, size.z), thing.yaw).seen_from(base))
    return boxes


# --- seeing ------------------------------------------------------------------------------------


def watch(body: Body, wanted: Callable[[Detection], bool], seconds: float, phase: str) -> Steps[list[Detection]]:
    """Stand still for a while; all detections that are wanted, oldest first."""
    until = body.senses.now + seconds
    fresh_from = body.senses.now
    found: list[Detection] = []
    while True:
        for picture in body.senses.detections:
            if picture.header.stamp.seconds >= fresh_from:
                found += [detection for detection in picture.detections if wanted(detection)]
        if body.senses.now >= until:
            return found
        yield Command(velocity=(0.0, 0.0), phase=phase)


def is_of(name: str) -> Callable[[Detection], bool]:
    """Whether a detection may be the thing of that name: the colour decides, shapes look alike from some sides."""
    colour = name.split("_", maxsplit=1)[0]
    return lambda detection: detection.colour == colour


def sight(body: Body, hand: Hand, name: str, surface: Surface, phase: str) -> Steps[Sighting | None]:
    """Look for a thing on a surface: as the arm is, then with it stretched out to one side, then to the other."""
    for posture in ("", *_sides(body)):
        if posture:
            boxes = obstacles(body)
            yield from move_arm(body, hand, hand.poses.joints(posture), boxes, f"{phase}: arm out of view")
        yield from watch(body, lambda _: False, _SETTLE_S, phase)
        seen = yield from _gather(body, name, surface, phase)
        if seen is not None:
            return seen
    return None


def _gather(body: Body, name: str, surface: Surface, phase: str) -> Steps[Sighting | None]:
    may_be = is_of(name)

    def on_top(detection: Detection) -> bool:
        at = detection.position
        near_top = -0.01 < at.z - surface.height_m < 0.08
        return may_be(detection) and detection.confidence >= SURE and near_top and surface.contains(at.x, at.y, 0.01)

    found: list[Detection] = []
    until = body.senses.now + _LOOK_PATIENCE_S
    while len(found) < 3 and body.senses.now < until:
        found += yield from watch(body, on_top, _LOOK_S, phase)
    return merged(found, name) if found else None


def merged(found: Sequence[Detection], name: str) -> Sighting:
    """One sighting out of several detections of a thing: medians, and the mean heading within its symmetry."""
    shape = name.rsplit("_", maxsplit=1)[-1]
    same = [d for d in found if d.shape == shape] or list(found)
    middle = np.median([(d.position.x, d.position.y, d.position.z, d.size.x, d.size.y, d.size.z) for d in same], axis=0)
    x, y, z, long, wide, high = (float(value) for value in middle)
    fold = 4 if same[0].shape == "cube" else 2
    turned = sum(complex(math.cos(fold * d.yaw), math.sin(fold * d.yaw)) for d in same)
    yaw = math.atan2(turned.imag, turned.real) / fold
    return Sighting(x, y, z, yaw, (long, wide, high), same[0].shape, len(same))


def _sides(body: Body) -> Sequence[str]:
    """The look postures for which there is room beside the robot, the roomier side first where only one is free."""
    right, left = _gap(body, -math.pi / 2), _gap(body, math.pi / 2)
    sides = [(right, "look_right"), (left, "look_left")]
    free = [posture for gap, posture in sides if gap > _ASIDE_M]
    return free or [max(sides)[1]]


def _gap(body: Body, direction: float) -> float:
    scan = body.senses.scan
    if scan is None:
        return math.inf
    angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
    beside = np.abs(np.remainder(angles - direction + math.pi, 2 * math.pi) - math.pi) < 0.6
    hits = np.asarray(scan.ranges, dtype=np.float64)[beside & np.isfinite(scan.ranges)]
    return float(hits.min()) if hits.size else math.inf


# --- moving the base before an edge --------------------------------------------------------------


def creep(body: Body, edge: Edge, distance_m: float, phase: str) -> Steps[None]:
    """Drive slowly, square to the edge, until the base's centre is `distance_m` before it; never farther.

    Raises `Failed` (path_blocked) when the base is held on the way.
    """
    yield from _along(body, edge, distance_m, _CREEP_MPS, phase)


def back_off(body: Body, edge: Edge, phase: str) -> Steps[None]:
    """Back straight off until the base can turn freely, or until something behind holds it."""
    try:
        yield from _along(body, edge, STANDOFF_M, _BACK_MPS, phase)
    except Failed as failed:
        if failed.failure is not Failure.PATH_BLOCKED:
            raise


def _along(body: Body, edge: Edge, distance_m: float, speed_mps: float, phase: str) -> Steps[None]:
    held = Held(body, phase, _HELD_S)
    forwards = edge.base_distance(body.senses.located()) > distance_m
    while True:
        base = body.senses.located()
        left = edge.base_distance(base) - distance_m
        if (left if forwards else -left) <= _CREEP_TOLERANCE_M:
            break
        held.check(abs(body.senses.speed[0]) > REST_MPS, f"{abs(left):.2f} m before the end")
        speed = math.copysign(min(speed_mps, max(0.03, 1.5 * abs(left))), left)
        yield Command(velocity=(speed, 1.5 * wrap(edge.frame.yaw - base.yaw)), phase=phase)
    yield from halt(body, phase)
