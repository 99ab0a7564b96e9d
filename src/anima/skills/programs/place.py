"""`place`: put the held thing on a free spot of the surface that the robot stands at."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anima.body.places import Surface, UnknownPlace
from anima.failure import Failure
from anima.skills.arguments import ObjectOnto
from anima.skills.arm_motion import (
    LADEN_RADPS,
    Hand,
    arm_joints,
    come_up,
    go_down,
    gripper,
    hand_of,
    holds_something,
    move_arm,
    move_gripper,
    think,
)
from anima.skills.program import Body, Failed, Program, Steps, come_to_rest
from anima.skills.programs.approach import stow
from anima.skills.tabletop import (
    Edge,
    back_off,
    creep,
    facing_edge,
    is_of,
    obstacles,
    sight,
    stop_distance,
    watch,
)
from anima.world.predicates import find_object

_LOOK_S = 0.6
_FAR_M = 1.0             # farther from the edge than this, the robot is not at the surface
_RIM_M = 0.04            # how far inside the rim a thing is put,
_APART_M = 0.07          # and how far from its neighbours, centre to centre, at least
_ROOMY_M = 0.12         # more room than this is no better
_DEPTHS_M = (0.09, 0.11, 0.07, 0.13, 0.15, 0.05)
_ASIDES_M = (0.0, 0.04, -0.04, 0.08, -0.08, 0.12, -0.12, 0.16, -0.16)
_RELEASE_GAP_M = 0.004   # let go this high above the top: touching it would push the hand open
_LET_GO_RAD = 0.35       # how far the jaws open more than they are: enough to be free, too little to hit a neighbour
_STEP_AWAY_M = 0.006
_NEAR_SPOT_M = 0.08
_HALF_HEIGHT_M = 0.018   # of a thing of which nothing is known


@dataclass(frozen=True)
class Spot:
    """A place to put something: metres behind the edge and left of its middle."""

    depth_m: float
    left_m: float


def run(arguments: ObjectOnto, body: Body) -> Program:
    """Find a free spot, creep up, put the thing down, go up, look whether it stands there, back off."""
    try:
        surface = body.places.surface(arguments.surface)
    except UnknownPlace as error:
        raise Failed(Failure.TOOL_MISMATCH, str(error)) from error
    return (yield from put(body, arguments.object, surface))


def put(body: Body, name: str, surface: Surface) -> Steps[str]:
    """The whole of `place`, for the thing called `name`."""
    hand = hand_of(body.settings)
    words, there = name.replace("_", " "), surface.name.replace("_", " ")
    yield from come_to_rest(body)
    edge = facing_edge(surface, body.senses.located())
    if edge.base_distance(body.senses.located()) > _FAR_M:
        raise Failed(Failure.PRECONDITION_UNMET, f"the robot is not at the {there}: go there first")
    if not holds_something(body, hand):
        raise Failed(Failure.SLIP, f"the hand is empty: the {words} was lost on the way")
    yield from stow(body, hand, "folding the arm")
    spot = yield from _choose(body, edge, name)
    shoulder = float(hand.planner.arm.shoulder[0])
    yield from creep(body, edge, stop_distance(spot.depth_m, shoulder), f"closing in on the {there}")
    yield from _let_go(body, hand, edge, spot, name)
    at = edge.frame.point(spot.depth_m, spot.left_m)
    yield from stow(body, hand, "folding the arm")
    yield from back_off(body, edge, "backing off")
    # From here the folded arm hides nothing.
    seen = yield from sight(body, hand, name, surface, f"looking whether the {words} stands")
    yield from stow(body, hand, "folding the arm")
    if holds_something(body, hand):
        raise Failed(Failure.GRASP_FAILED, f"the {words} is still in the hand: the gripper closes on it")
    if seen is None:
        raise Failed(Failure.PERCEPTION_MISS, f"let go of the {words}, but it is not to be seen on the {there}")
    off = math.hypot(seen.x - at[0], seen.y - at[1])
    if off > _NEAR_SPOT_M:
        return f"the {words} is on the {there}, {off * 100:.0f} cm from where it was put"
    return f"the {words} stands on the {there}"


def _choose(body: Body, edge: Edge, name: str) -> Steps[Spot]:
    others = yield from _others(body, edge, name)
    base = body.senses.located()
    spot = free_spot(edge, edge.frame.seen(base.x, base.y)[1], others)
    if spot is None:
        there = edge.surface.name.replace("_", " ")
        raise Failed(Failure.CONSTRAINT_PREVENTED, f"no free spot within reach on this side of the {there}")
    return spot


def free_spot(edge: Edge, base_left_m: float, others: Sequence[tuple[float, float]]) -> Spot | None:
    """A free spot that the arm reaches from a base `base_left_m` left of the edge's middle, or None.

    `others` are (depth, left) of other things in the edge's frame. The nearer to straight ahead and to a good depth
    the better, and the farther from others, up to a point.
    """
    across = _across(edge)
    best: tuple[float, Spot] | None = None
    for depth, aside in itertools.product(_DEPTHS_M, _ASIDES_M):
        left = base_left_m + aside
        inside = abs(left) <= edge.length_m / 2 - _RIM_M and depth >= _RIM_M and across - depth >= _RIM_M
        room = min((math.dist((depth, left), other) for other in others), default=math.inf)
        if not inside or room < _APART_M:
            continue
        cost = abs(depth - _DEPTHS_M[0]) + abs(aside) + 0.5 * max(0.0, _ROOMY_M - room)
        if best is None or cost < best[0]:
            best = (cost, Spot(depth, left))
    return None if best is None else best[1]


def _across(edge: Edge) -> float:
    """How deep the surface is behind the edge, metres."""
    along_x = abs(math.cos(edge.frame.yaw)) > 0.7
    return edge.surface.size_m[0] if along_x else edge.surface.size_m[1]


def _others(body: Body, edge: Edge, name: str) -> Steps[Sequence[tuple[float, float]]]:
    """Where other things are on the surface, in the edge's frame: what is known, and what is seen now."""
    surface, is_held = edge.surface, is_of(name)
    phase = f"looking for a free spot on the {surface.name.replace('_', ' ')}"
    now = yield from watch(body, lambda seen: not is_held(seen), _LOOK_S, phase)
    points = [(seen.position.x, seen.position.y) for seen in now]
    for thing in body.senses.known_world().objects:
        if thing.name != name and thing.status != "absent" and thing.place in (surface.name, surface.holder):
            points.append((thing.position.x, thing.position.y))
    return [edge.frame.seen(x, y) for x, y in points if surface.contains(x, y, 0.05)]


def _let_go(body: Body, hand: Hand, edge: Edge, spot: Spot, name: str) -> Steps[None]:
    words, surface = name.replace("_", " "), edge.surface
    forward, left = body.senses.located().seen(*edge.frame.point(spot.depth_m, spot.left_m))
    half = _half_height(body, name)
    point = np.array([forward, left, surface.height_m + half + _RELEASE_GAP_M])
    held_at = gripper(body)
    roll = body.senses.joint("wrist_roll")
    opened = min(hand.poses.gripper.open_rad, held_at + _LET_GO_RAD)
    boxes = obstacles(body, but=name)
    reach = yield from think(hand.planner.release(point, roll, opened, boxes), f"thinking how to put the {words} down")
    if reach is None:
        yield from back_off(body, edge, "backing off")
        raise Failed(Failure.CONSTRAINT_PREVENTED, f"no way to put the {words} down there without touching something")
    yield from move_arm(body, hand, reach.above, boxes, f"bringing the {words} over the spot", LADEN_RADPS)
    yield from go_down(body, reach, f"lowering the {words}")
    yield from move_gripper(body, opened, f"letting go of the {words}")
    aside = hand.planner.step_aside(arm_joints(body), _STEP_AWAY_M)
    yield from come_up(body, reach, "drawing the hand back", first=aside)
    yield from move_gripper(body, hand.poses.gripper.close_rad, "closing the empty hand")


def _half_height(body: Body, name: str) -> float:
    thing = find_object(body.senses.known_world(), name)
    return thing.size.z / 2 if thing is not None and thing.size.z > 0.01 else _HALF_HEIGHT_M
