"""`approach`: drive to where a thing on a surface can be grasped."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anima.body.arm.clearance import Box
from anima.body.navigation.navigator import Goal
from anima.body.places import Surface
from anima.body.pose import Pose2D
from anima.failure import Failure
from anima.skills.arguments import OfObject
from anima.skills.arm_motion import Hand, hand_of, holds_something, move_arm
from anima.skills.driving import drive_to
from anima.skills.program import Body, Failed, Program, Steps
from anima.skills.tabletop import (
    CLOSEST_M,
    STANDOFF_M,
    Edge,
    Sighting,
    back_off,
    creep,
    edges,
    obstacles,
    sight,
    stop_distance,
)
from anima.types.mind import ObjectState
from anima.world.affordances import REACH_M, in_reach
from anima.world.predicates import find_object

_FARTHEST_M = REACH_M[1] - 0.015  # a stand that counts on the last centimetre fails by the error of the drive
_EASY_M = 0.28                    # farther than this the arm must stretch,
_STRETCH_COST = 10.0              # so much more drive a stand is worth for each metre that it saves the arm
_CORNER_M = 0.20  # the base stands this far inside the ends of an edge where it can
_ASIDES_M = (0.0, 0.06, -0.06, 0.12, -0.12)  # and so far to the side, where it could not turn:
_ASIDE_COST = 4.0  # so much more drive a stand is worth for each metre less to the side,
_TIGHT_COST_M = 2.0  # and for room to turn


def run(arguments: OfObject, body: Body) -> Program:
    """Drive before the surface, look, and creep up until the thing is within the arm's best reach."""
    name = arguments.object
    hand = hand_of(body.settings)
    thing, surface = known_thing(body, name)
    words = name.replace("_", " ")
    if in_reach(body.senses.known_world(), thing) and _faces(body, surface, thing):
        return f"the {words} is already within reach"
    stands = _stands(body, hand, surface, (thing.position.x, thing.position.y), words)
    yield from stow(body, hand, "folding the arm")
    last: Failed | None = None
    for edge, stand in stands:
        try:
            yield from drive_to(body, Goal(stand), f"driving to the {words}")
        except Failed as failed:
            if failed.failure is not Failure.PATH_BLOCKED:
                raise
            last = failed
            continue
        seen = yield from sight(body, hand, name, surface, f"looking at the {words}")
        if seen is None:
            yield from stow(body, hand, "folding the arm")
            there = surface.name.replace("_", " ")
            raise Failed(Failure.PERCEPTION_MISS, f"the {words} is not to be seen on the {there} any more")
        return (yield from _close_in(body, hand, edge, seen, words))
    raise last or Failed(Failure.PATH_BLOCKED, f"no free way to where the {words} could be reached")


def known_thing(body: Body, name: str) -> tuple[ObjectState, Surface]:
    """What is known of the thing, and the surface that it lies on; raises `Failed` (precondition_unmet) otherwise."""
    thing = find_object(body.senses.known_world(), name)
    if thing is None or thing.status == "absent":
        raise Failed(Failure.PRECONDITION_UNMET, f"nobody knows where {name} is: look for it first")
    for surface in body.places.surfaces:
        if thing.place in (surface.name, surface.holder):
            return thing, surface
    raise Failed(Failure.PRECONDITION_UNMET, f"{name} lies on no surface that the arm reaches")


def stow(body: Body, hand: Hand, phase: str, around: Sequence[Box] | None = None) -> Steps[None]:
    """Fold the arm for driving: tucked when the hand is empty, in the carrying posture when it holds something.

    `around` are boxes in base_link to keep clear of; without them what the map has there, which needs a known pose.
    """
    goal = hand.poses.joints("tuck")
    if holds_something(body, hand):
        goal = hand.poses.joints("carry")
        goal[4] = body.senses.joint("wrist_roll")
    yield from move_arm(body, hand, goal, obstacles(body) if around is None else around, phase)


def _close_in(body: Body, hand: Hand, edge: Edge, seen: Sighting, words: str) -> Steps[str]:
    depth, _ = edge.frame.seen(seen.x, seen.y)
    shoulder = float(hand.planner.arm.shoulder[0])
    yield from stow(body, hand, "folding the arm")
    yield from creep(body, edge, stop_distance(depth, shoulder), f"closing in on the {words}")
    forward, left = body.senses.located().seen(seen.x, seen.y)
    radius = math.hypot(forward - shoulder, left)
    if not REACH_M[0] <= radius <= REACH_M[1]:
        yield from back_off(body, edge, "backing off")
        raise Failed(Failure.PRECONDITION_UNMET, f"the {words} stays {radius:.2f} m from the shoulder, out of reach")
    return f"the {words} is {radius:.2f} m from the shoulder, within reach"


def _stands(
    body: Body, hand: Hand, surface: Surface, at: tuple[float, float], words: str
) -> list[tuple[Edge, Pose2D]]:
    """The edges from which the arm reaches, and where to stand before each, quickest and easiest first."""
    shoulder = float(hand.planner.arm.shoulder[0])
    found: list[tuple[Edge, Pose2D]] = []
    costs: list[float] = []
    least = math.inf
    for edge in edges(surface):
        depth, left = edge.frame.seen(*at)
        inside = max(0.0, edge.length_m / 2 - _CORNER_M)
        clamped = min(max(left, -inside), inside)
        for stand_left in sorted({left, *(clamped + aside for aside in _ASIDES_M)}, key=abs):
            radius = math.hypot(stop_distance(depth, shoulder) - shoulder + depth, stand_left - left)
            least = min(least, radius)
            if radius <= _FARTHEST_M:
                found.append((edge, edge.base_at(STANDOFF_M, stand_left)))
                aside = 0.0 if stand_left == left else abs(stand_left - clamped)
                costs.append(_STRETCH_COST * max(0.0, radius - _EASY_M) + _ASIDE_COST * aside)
    if not found:
        far = f"the {words} lies {least:.2f} m from the nearest place for the shoulder, out of the arm's reach"
        raise Failed(Failure.PRECONDITION_UNMET, far)
    places = [stand for _, stand in found]
    lengths = body.navigator.path_lengths(body.senses.located(), places)
    tight = [0.0 if roomy else _TIGHT_COST_M for roomy in body.navigator.can_turn_at(places)]
    order = sorted(range(len(found)), key=lambda k: lengths[k] + tight[k] + costs[k])
    return [found[k] for k in order]


def _faces(body: Body, surface: Surface, thing: ObjectState) -> bool:
    """Whether the base stands square to an edge from which the thing can be reached."""
    base = body.senses.located()
    return any(
        abs(math.remainder(edge.frame.yaw - base.yaw, 2 * math.pi)) < 0.15
        and edge.base_distance(base) > CLOSEST_M - 0.03
        and edge.frame.seen(thing.position.x, thing.position.y)[0] > 0.0
        for edge in edges(surface)
    )
