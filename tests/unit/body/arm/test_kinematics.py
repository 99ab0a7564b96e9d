"""The arm finds joints for every place that it can reach, and says so when it can't."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anima.body.arm.kinematics import ArmError, ArmKinematics, ToolTarget


def _reachable(arm: ArmKinematics, count: int) -> list[ToolTarget]:
    """Poses that random joints really have, in front of the robot near the height of a table, looking down."""
    rng = np.random.default_rng(0)
    targets: list[ToolTarget] = []
    while len(targets) < count:
        joints = rng.uniform(arm.lower, arm.upper)
        tool, pitch = arm.tool(joints), arm.pitch(joints)
        forward, left, up = tool.position - [arm.shoulder[0], 0.0, 0.40]
        if 0.06 < forward < 0.38 and abs(left) < 0.25 and 0.0 < up < 0.2 and 0.8 < pitch < 1.65:
            targets.append(ToolTarget(tool.position, pitch, tool.heading))
    return targets


def test_at_least_195_of_200_reachable_targets_are_solved_to_two_millimetres(arm: ArmKinematics) -> None:
    solved = 0
    for target in _reachable(arm, 200):
        joints = arm.solve(target)
        if joints is None:
            continue
        tool = arm.tool(joints)
        turned = math.remainder(tool.heading - (target.heading or 0.0), 2 * math.pi)
        inside = bool((joints >= arm.lower).all() and (joints <= arm.upper).all())
        near = float(np.linalg.norm(tool.position - target.position)) < 2e-3
        solved += inside and near and abs(turned) < 0.035 and abs(arm.pitch(joints) - target.pitch) < 0.02
    assert solved >= 195


def test_a_place_out_of_reach_has_no_joints(arm: ArmKinematics) -> None:
    assert arm.solve(ToolTarget(np.array([0.9, 0.0, 0.42]), math.radians(78), 0.0)) is None


def test_the_wrist_keeps_its_roll_when_a_target_asks_for_that(arm: ArmKinematics) -> None:
    joints = arm.solve(ToolTarget(np.array([0.35, 0.05, 0.43]), math.radians(78), roll=0.7))
    assert joints is not None
    assert joints[4] == pytest.approx(0.7, abs=0.01)
    assert arm.tool(joints).position == pytest.approx([0.35, 0.05, 0.43], abs=2e-3)


def test_turning_the_shoulder_to_positive_angles_moves_the_hand_to_the_right(arm: ArmKinematics) -> None:
    assert arm.tool(np.array([0.5, 0.0, 0.0, 1.2, 0.0])).position[1] < -0.05


def test_a_description_without_an_arm_is_refused_by_name() -> None:
    with pytest.raises(ArmError, match="shoulder_pan"):
        ArmKinematics('<robot name="box"><link name="base_link"/></robot>')
