"""The parts of programs that move the arm and the gripper: through postures, to a named posture, out of harm's way."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from anima.body.arm.clearance import Box
from anima.body.arm.grasp import ArmPlanner, Planning, Reach
from anima.body.arm.kinematics import ArmKinematics
from anima.body.arm.poses import ARM_JOINTS, GRIPPER_JOINT, ArmPoses, Joints, load_poses
from anima.body.arm.trajectory import Trajectory
from anima.body.robot_model import load_robot_model
from anima.config import Settings
from anima.failure import Failure
from anima.skills.program import Body, Command, Failed, Steps

T = TypeVar("T")

FREE_RADPS = 1.6     # peak joint speed where nothing is near,
LADEN_RADPS = 1.2    # with something in the hand,
NEAR_RADPS = 0.6     # close to a table
_STEP_S = 0.05       # the motor cortex resumes a program this often
_REACHED_RAD = 0.03
_HELD_OFF_RAD = 0.15
_SETTLE_S = 2.0
# A hand lower than this may be among things on a table, so it goes straight up before it goes anywhere else.
_LOW_M = 0.54
_LIFT_M = 0.12
_SMALL_M = 0.15
_GRIP_S = 0.7
_GRIP_PATIENCE_S = 1.5


@dataclass(frozen=True)
class Hand:
    """The arm of the configured robot: its planner and its named postures."""

    planner: ArmPlanner
    poses: ArmPoses


@functools.lru_cache(maxsize=4)
def hand_of(settings: Settings) -> Hand:
    """The arm of the configured robot. Raises `ConfigError` or `ArmError` when its description can't be used."""
    poses = load_poses()
    arm = ArmKinematics(load_robot_model(settings).urdf)
    return Hand(ArmPlanner(arm, poses.gripper.open_rad), poses)


def arm_joints(body: Body) -> Joints:
    """Where the five arm joints are, shape (5,), rad."""
    return np.array([body.senses.joint(name) for name in ARM_JOINTS])


def gripper(body: Body) -> float:
    """Where the gripper is, rad."""
    return body.senses.joint(GRIPPER_JOINT)


def holds_something(body: Body, hand: Hand) -> bool:
    """Whether the closed gripper is kept open by something between its pads."""
    return gripper(body) > hand.poses.gripper.held_above_rad


def think(planning: Planning[T], phase: str) -> Steps[T]:
    """Plan piece by piece, one each step, so that nobody waits for the motor cortex meanwhile."""
    while True:
        try:
            next(planning)
        except StopIteration as done:
            found: T = done.value
            return found
        yield Command(velocity=(0.0, 0.0), phase=phase)


def move_through(body: Body, waypoints: Sequence[Joints], speed_radps: float, phase: str) -> Steps[None]:
    """Move the arm smoothly through postures and wait until it is there.

    Raises `Failed` (stalled) when something holds it off its way.
    """
    motion = Trajectory(waypoints, speed_radps)
    start = body.senses.now
    while (elapsed := body.senses.now - start) < motion.duration_s:
        yield _arm(motion.at(elapsed + _STEP_S), phase)
    until = body.senses.now + _SETTLE_S
    yield _arm(motion.goal, phase)
    while True:
        off = float(np.abs(arm_joints(body) - motion.goal).max())
        if off < _REACHED_RAD and body.senses.arm_at_rest:
            return
        if body.senses.now > until:
            break
        yield Command(phase=phase)
    if off > _HELD_OFF_RAD:
        raise Failed(Failure.STALLED, f"{phase}: something holds the arm {math.degrees(off):.0f} degrees off its way")


def go_down(body: Body, reach: Reach, phase: str) -> Steps[None]:
    """From above a thing or a spot down to it, slowly. Raises `Failed` as `move_through` does."""
    yield from move_through(body, [arm_joints(body), *reach.waypoints[1:]], NEAR_RADPS, phase)


def come_up(body: Body, reach: Reach, phase: str, first: Sequence[Joints] = ()) -> Steps[None]:
    """The same way up again, by way of `first`. Raises `Failed` as `move_through` does."""
    yield from move_through(body, [arm_joints(body), *first, *reversed(reach.waypoints[:-1])], NEAR_RADPS, phase)


def move_arm(
    body: Body, hand: Hand, goal: Joints, obstacles: Sequence[Box], phase: str, speed_radps: float = FREE_RADPS
) -> Steps[None]:
    """Bring the arm to a posture past the obstacles, which are boxes in base_link; a low hand goes up first.

    Raises `Failed`: constraint_prevented when no clear way is known, stalled when something holds the arm.
    """
    if float(np.abs(arm_joints(body) - goal).max()) < _REACHED_RAD:
        return
    yield from retract(body, hand, phase)
    here = arm_joints(body)
    route = yield from think(hand.planner.route(here, goal, gripper(body), obstacles), phase)
    if route is None:
        # Things on a top are small and may be remembered where they no longer are; the top itself is not to be touched.
        tops = [box for box in obstacles if min(box.size[:2]) > _SMALL_M]
        route = yield from think(hand.planner.route(here, goal, gripper(body), tops), phase)
    if route is None:
        raise Failed(Failure.CONSTRAINT_PREVENTED, f"{phase}: no way for the arm that keeps clear of what is around")
    yield from move_through(body, route, speed_radps, phase)


def retract(body: Body, hand: Hand, phase: str) -> Steps[None]:
    """Raise the hand straight up when it is low, from whatever posture an earlier skill was stopped in."""
    here = arm_joints(body)
    tool = hand.planner.arm.tool(here).position
    ahead_of_chassis = tool[0] > hand.planner.arm.shoulder[0]
    if tool[2] > _LOW_M or not ahead_of_chassis:
        return
    lifted = hand.planner.lift(here, min(_LIFT_M, _LOW_M + 0.02 - float(tool[2])))
    if len(lifted) > 1:
        yield from move_through(body, lifted, NEAR_RADPS, phase)


def move_gripper(body: Body, target_rad: float, phase: str) -> Steps[None]:
    """Open or close the gripper and wait until it moves no more, wherever that is."""
    start = body.senses.now
    if abs(gripper(body) - target_rad) < _REACHED_RAD:
        yield Command(joints={GRIPPER_JOINT: target_rad}, phase=phase)
        return
    yield Command(joints={GRIPPER_JOINT: target_rad}, joint_time_s=_GRIP_S, phase=phase)
    while (elapsed := body.senses.now - start) < _GRIP_S + _GRIP_PATIENCE_S:
        if elapsed > _GRIP_S + 0.1 and body.senses.arm_at_rest:
            return
        yield Command(phase=phase)


def _arm(joints: Joints, phase: str) -> Command:
    targets = {name: float(angle) for name, angle in zip(ARM_JOINTS, joints, strict=True)}
    return Command(joints=targets, joint_time_s=_STEP_S, phase=phase)
