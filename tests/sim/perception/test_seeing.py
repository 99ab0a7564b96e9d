"""The robot looks at the simulated flat with its own camera; the simulator's truth is the judge."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from anima import topics as t
from anima.body.arm.poses import load_poses
from anima.body.perception.camera import on_floor
from anima.body.pose import Pose2D
from anima.body.robot_model import TOOL_LINK, load_robot_model
from anima.config import Settings
from anima.types.mind import WorldState
from anima.world.state import diff, rebuild
from anima_sim.bench.perception import Lookout, score_perception

pytestmark = pytest.mark.sim


@pytest.fixture
def lookout() -> Iterator[Lookout]:
    robot = Lookout(seed=1)
    robot.arm("look_right")
    robot.run(1.5)
    yield robot
    robot.world.close()


def status(state: WorldState, name: str) -> tuple[str, str]:
    thing = next((thing for thing in state.objects if thing.name == name), None)
    return ("", "") if thing is None else (thing.status, thing.place)


def at_kitchen_table(robot: Lookout) -> Pose2D:
    return Pose2D(*robot.places.surface("kitchen_table").approaches[0].pose)


@pytest.mark.timeout(240)
def test_objects_in_good_view_are_found_named_and_placed_for_grasping() -> None:
    scores = score_perception(range(20, 23))
    wanted, found = (sum(getattr(s, key) for s in scores.values()) for key in ("wanted", "found"))
    assert wanted > 150
    assert found / wanted >= 0.95, {name: s.missed for name, s in scores.items() if s.missed}
    assert not [name for name, s in scores.items() if s.false_names]
    off = [e for s in scores.values() for e in s.known_off_m]
    assert np.median(off) <= 0.010
    assert max(off) <= 0.020
    turned = [e for name, s in scores.items() if name.endswith("cube") for e in s.turned_rad]
    assert np.median(turned) <= math.radians(10)


def test_an_object_that_was_taken_away_becomes_absent_and_one_that_was_put_there_is_known(lookout: Lookout) -> None:
    table = lookout.places.surface("kitchen_table")
    x, y, z = table.centre[0] - 0.15, table.centre[1] + 0.05, table.height_m
    lookout.world.place_object("red_cube", x, y, z + 0.018)
    lookout.look_from(at_kitchen_table(lookout))
    assert status(lookout.state, "red_cube") == ("confirmed", "kitchen_table")
    lookout.world.place_object("red_cube", 1.0, 3.4, 0.018)
    lookout.world.place_object("orange_ball", x, y + 0.15, z + 0.018)
    lookout.run(1.2)
    assert status(lookout.state, "red_cube")[0] == "absent"
    assert status(lookout.state, "orange_ball") == ("confirmed", "kitchen_table")


def test_an_empty_table_is_known_to_have_been_looked_at(lookout: Lookout) -> None:
    lookout.look_from(at_kitchen_table(lookout))
    coverage = {surface.name: surface.coverage for surface in lookout.state.surfaces}
    assert coverage["kitchen_table"] > 0.7
    assert coverage["office_table"] == 0.0


def put_in_hand(robot: Lookout, name: str) -> None:
    """Hold the object between the open jaws until they have closed on it."""
    model, close = load_robot_model(Settings()), load_poses().gripper.close_rad
    robot.joints({"gripper": close})
    for _ in range(60):
        joints = {joint: reading[0] for joint, reading in robot.world.joint_states().items()}
        tool = on_floor(Pose2D(*robot.world.truth.robot_pose())) @ model.pose(TOOL_LINK, joints)
        robot.world.place_object(name, *(float(v) for v in tool[:3, 3]))
        robot.graph.tick()
    assert robot.world.truth.on_surface(name) == "gripper"


def test_an_object_in_the_hand_is_held_and_not_on_the_table_and_is_lost_when_it_is_let_go(lookout: Lookout) -> None:
    lookout.look_from(at_kitchen_table(lookout))
    lookout.arm("carry", load_poses().gripper.open_rad)
    lookout.run(2.5)
    put_in_hand(lookout, "blue_cylinder")
    lookout.run(1.0)
    state = lookout.state
    assert state.holding == "blue_cylinder" and status(state, "blue_cylinder") == ("confirmed", "gripper")
    lookout.joints({"gripper": load_poses().gripper.open_rad})
    lookout.run(1.5)
    assert lookout.state.holding == ""
    assert status(lookout.state, "blue_cylinder")[1] != "gripper"


def test_driving_past_gives_no_false_object_and_misplaces_none(lookout: Lookout) -> None:
    """The base drives and turns in front of the table while the camera looks."""
    lookout.look_from(Pose2D(6.2, 4.0, 0.3), 0.3)
    for _ in range(120):
        lookout.world.command_base(0.15, 0.25 * math.sin(lookout.graph.now))
        lookout.graph.tick()
    lookout.run(0.4)
    real = lookout.world.truth.object_poses()
    confirmed = [thing for thing in lookout.state.objects if thing.status == "confirmed"]
    assert confirmed
    for thing in confirmed:
        assert thing.name in real
        assert math.dist((thing.position.x, thing.position.y), real[thing.name][:2]) < 0.025, thing.name


def test_the_life_of_the_robot_can_be_rebuilt_from_differences(lookout: Lookout) -> None:
    for surface in lookout.places.surfaces[:2]:
        lookout.look_from(Pose2D(*surface.approaches[0].pose), 0.8)
    states = lookout.graph.sent(t.WORLD_STATE)
    rebuilt = states[0]
    for old, new in itertools.pairwise(states):
        rebuilt = rebuild(rebuilt, diff(old, new))
    assert rebuilt == states[-1]
