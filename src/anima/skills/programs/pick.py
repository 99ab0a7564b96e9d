"""`pick`: grasp a thing within reach, and make sure of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anima.body.arm.grasp import Reach
from anima.failure import Failure
from anima.skills.arguments import OfObject
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
from anima.skills.programs.approach import known_thing, stow
from anima.skills.tabletop import SURE, Sighting, back_off, facing_edge, is_of, obstacles, sight, watch
from anima.skills.words import AGAIN

_TRIES = 2
_CHECK_S = 0.6
_IN_HAND_M = 0.08
_SAME_SPOT_M = 0.06


@dataclass(frozen=True)
class Check:
    """What gripper (rad) and camera say about a grasp: in how many pictures it was in the hand, or on its old spot."""

    angle_rad: float
    closed_on_it: bool
    in_hand: int
    on_spot: int

    @property
    def held(self) -> bool:
        """The gripper decides, unless the camera sees the thing where it was and not in the hand."""
        return self.closed_on_it and not (self.on_spot > self.in_hand)

    def __str__(self) -> str:
        return (
            f"gripper at {self.angle_rad:.2f} rad, seen {self.in_hand} times in the hand and {self.on_spot} times "
            "where it was"
        )


def run(arguments: OfObject, body: Body) -> Program:
    """Look, grasp, lift, swing aside, check; once more with a new look if it did not hold; then back off."""
    name = arguments.object
    words = name.replace("_", " ")
    hand = hand_of(body.settings)
    _, surface = known_thing(body, name)
    yield from come_to_rest(body)
    edge = facing_edge(surface, body.senses.located())
    if holds_something(body, hand):
        yield from _make_sure_it_is_empty(body, hand, words)
    missed = ""
    for _ in range(_TRIES):
        seen = yield from sight(body, hand, name, surface, f"looking at the {words}")
        if seen is None:
            yield from stow(body, hand, "folding the arm")
            after = f", after a grasp that failed ({missed})" if missed else ""
            raise Failed(Failure.PERCEPTION_MISS, f"the {words} is not to be seen where it should be{after}")
        planning = hand.planner.grasp(seen.seen_from(body.senses.located()), obstacles(body, but=name))
        reach = yield from think(planning, f"thinking how to grasp the {words}")
        if reach is None:
            yield from stow(body, hand, "folding the arm")
            raise _out_of_reach(body, hand, seen, words)
        check = yield from _grasp(body, hand, reach, seen, name)
        if check.held:
            yield from back_off(body, edge, "backing off with it")
            first = f"; {AGAIN}, the first one slipped" if missed else ""
            return f"holding the {words}: {check}{first}"
        missed = str(check)
    yield from stow(body, hand, "folding the arm")
    raise Failed(Failure.GRASP_FAILED, f"the {words} slipped out of {_TRIES} grasps: {missed}")


def _make_sure_it_is_empty(body: Body, hand: Hand, words: str) -> Steps[None]:
    """An open gripper is not a full one: close it, and see whether something keeps it open."""
    yield from move_gripper(body, hand.poses.gripper.close_rad, "closing the empty hand")
    if holds_something(body, hand):
        raise Failed(
            Failure.PRECONDITION_UNMET, f"the hand already holds something, so it can't take the {words}: put it down"
        )


def _grasp(body: Body, hand: Hand, reach: Reach, seen: Sighting, name: str) -> Steps[Check]:
    words = name.replace("_", " ")
    grips = hand.poses.gripper
    yield from move_arm(body, hand, reach.above, obstacles(body), f"reaching over the {words}")
    yield from move_gripper(body, reach.gripper, "opening the hand")
    yield from go_down(body, reach, f"going down to the {words}")
    yield from move_gripper(body, grips.close_rad, f"closing on the {words}")
    yield from come_up(body, reach, f"lifting the {words}")
    if not holds_something(body, hand):
        return Check(gripper(body), False, 0, 0)
    goal = hand.poses.joints("carry")
    # The wrist keeps its roll: rolled back for putting down, the thing would stand askew.
    goal[4] = reach.waypoints[-1][4]
    yield from move_arm(body, hand, goal, obstacles(body, but=name), "swinging aside", LADEN_RADPS)
    return (yield from check_hand(body, hand, name, (seen.x, seen.y)))


def check_hand(body: Body, hand: Hand, name: str, spot: tuple[float, float]) -> Steps[Check]:
    """Feel and look whether the thing is in the hand, or still at its spot in the map."""
    tool = hand.planner.arm.tool(arm_joints(body)).position
    x, y = body.senses.located().point(float(tool[0]), float(tool[1]))
    pictures = yield from watch(body, is_of(name), _CHECK_S, "checking the grasp")
    in_hand = on_spot = 0
    for seen in pictures:
        at = seen.position
        if float(np.linalg.norm([at.x - x, at.y - y, at.z - tool[2]])) < _IN_HAND_M:
            in_hand += 1
        elif seen.confidence >= SURE and math.hypot(at.x - spot[0], at.y - spot[1]) < _SAME_SPOT_M:
            on_spot += 1
    return Check(gripper(body), holds_something(body, hand), in_hand, on_spot)


def _out_of_reach(body: Body, hand: Hand, seen: Sighting, words: str) -> Failed:
    thing = seen.seen_from(body.senses.located())
    radius = float(np.linalg.norm(thing.centre[:2] - hand.planner.arm.shoulder[:2]))
    return Failed(
        Failure.PRECONDITION_UNMET,
        f"no way to grasp the {words}, {radius:.2f} m from the shoulder, without touching something: approach it",
    )
