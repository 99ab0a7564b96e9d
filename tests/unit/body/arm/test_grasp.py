"""The arm finds a way to take hold of things on a table, whichever way they lie, and keeps off everything else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anima.body.arm.clearance import Box
from anima.body.arm.grasp import ArmPlanner, Thing, at_once
from anima.body.arm.poses import ArmPoses

TABLE = Box((0.56, 0.0, 0.385), (0.60, 1.0, 0.03))
THINGS = {
    "cube": (0.035, 0.035, 0.035),
    "cylinder": (0.034, 0.034, 0.042),
    "ball": (0.036, 0.036, 0.036),
    "block": (0.060, 0.030, 0.032),
}


def thing(shape: str, forward: float = 0.36, left: float = 0.0, yaw: float = 0.0) -> Thing:
    size = THINGS[shape]
    return Thing(np.array([forward, left, 0.40 + size[2] / 2]), yaw, size, shape)


@pytest.mark.parametrize("shape", list(THINGS))
@pytest.mark.parametrize("degrees", range(-90, 91, 15))
def test_every_shape_is_grasped_whichever_way_it_is_turned(planner: ArmPlanner, shape: str, degrees: int) -> None:
    found = at_once(planner.grasp(thing(shape, yaw=math.radians(degrees)), [TABLE]))
    assert found is not None
    tool = planner.arm.tool(found.waypoints[-1])
    assert np.linalg.norm(tool.position[:2] - [0.36, 0.0]) < 0.015
    assert 0.0 <= tool.position[2] - 0.40 - THINGS[shape][2] / 2 < 0.012


@pytest.mark.parametrize("degrees", range(-90, 91, 15))
def test_a_block_is_taken_across_its_narrow_side(planner: ArmPlanner, degrees: int) -> None:
    yaw = math.radians(degrees)
    found = at_once(planner.grasp(thing("block", yaw=yaw), [TABLE]))
    assert found is not None
    assert found.target.heading is not None
    assert abs(math.sin(found.target.heading - yaw)) == pytest.approx(1.0, abs=1e-6)


def test_the_whole_way_down_keeps_off_the_table_and_a_neighbour(planner: ArmPlanner) -> None:
    neighbour = thing("cube", forward=0.36, left=0.075).box()
    found = at_once(planner.grasp(thing("cube"), [TABLE, neighbour]))
    assert found is not None
    assert planner.clearance.path_clear(found.waypoints, found.gripper, [TABLE, neighbour])


def test_what_is_too_far_or_too_wide_is_not_grasped(planner: ArmPlanner) -> None:
    assert at_once(planner.grasp(thing("cube", forward=0.62), [TABLE])) is None
    wide = Thing(np.array([0.36, 0.0, 0.44]), 0.0, (0.08, 0.08, 0.08), "cube")
    assert at_once(planner.grasp(wide, [TABLE])) is None


def test_the_named_postures_keep_clear_of_the_body_and_of_a_table(planner: ArmPlanner, poses: ArmPoses) -> None:
    for name in ("tuck", "carry", "look_right", "look_left"):
        for gripper in (poses.gripper.close_rad, poses.gripper.open_rad):
            assert planner.clearance.why_not(poses.joints(name), gripper, [TABLE]) == ""


def test_a_hand_pushed_into_the_table_or_the_mast_is_noticed(planner: ArmPlanner) -> None:
    low = planner.arm.solve(at_once(planner.grasp(thing("cube"), [TABLE])).target.raised(-0.03))  # type: ignore[union-attr]
    assert low is not None
    assert "would touch what stands at" in planner.clearance.why_not(low, 0.3, [TABLE])
    folded_back = np.array([0.05, -1.58, -1.36, -0.73, 1.99])
    assert "base_link" in planner.clearance.why_not(folded_back, 0.3)


def test_from_above_a_thing_the_arm_finds_its_way_to_every_posture_and_back(
    planner: ArmPlanner, poses: ArmPoses
) -> None:
    for left in (-0.12, 0.0, 0.12):
        reach = at_once(planner.grasp(thing("cube", left=left), [TABLE]))
        assert reach is not None
        for name in ("tuck", "carry", "look_right", "look_left"):
            there = at_once(planner.route(reach.above, poses.joints(name), 0.3, [TABLE]))
            back = at_once(planner.route(poses.joints(name), reach.above, reach.gripper, [TABLE]))
            assert there is not None and back is not None, (left, name)
            assert planner.clearance.path_clear(there, 0.3, [TABLE])
            assert planner.clearance.path_clear(back, reach.gripper, [TABLE])


def test_lifting_raises_the_hand_straight_up(planner: ArmPlanner) -> None:
    reach = at_once(planner.grasp(thing("cube"), [TABLE]))
    assert reach is not None
    lifted = planner.lift(reach.waypoints[-1], 0.10)
    tools = [planner.arm.tool(joints).position for joints in lifted]
    assert tools[-1][2] - tools[0][2] == pytest.approx(0.10, abs=2e-3)
    assert max(float(np.linalg.norm(tool[:2] - tools[0][:2])) for tool in tools) < 2e-3


def test_a_thing_is_put_down_with_the_roll_and_pitch_that_it_was_taken_with(planner: ArmPlanner) -> None:
    for yaw in (0.0, 0.5, 1.0, -0.7):
        taken = at_once(planner.grasp(thing("cube", yaw=yaw), [TABLE]))
        assert taken is not None
        roll = float(taken.waypoints[-1][4])
        put = at_once(planner.release(np.array([0.37, 0.06, 0.422]), roll, 0.35, [TABLE]))
        assert put is not None
        assert put.waypoints[-1][4] == pytest.approx(roll, abs=0.01)
        assert put.target.pitch == pytest.approx(taken.target.pitch)
