"""The flat in Gazebo is the flat in MuJoCo: the same place, the same body, the same senses."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from anima_sim import World
from anima_sim.gazebo.world import GazeboWorld

pytestmark = [pytest.mark.gazebo, pytest.mark.timeout(900)]
Worlds = Callable[..., GazeboWorld]


def drive(world: GazeboWorld | World, linear: float, angular: float, seconds: float) -> None:
    for _ in range(round(seconds / 0.02)):
        world.command_base(linear, angular)
        world.step(0.02)


def run(world: GazeboWorld) -> list[object]:
    """A short drive with the arm moving; everything that the robot and the judge learn."""
    world.command_joints({"shoulder_pan": 0.4, "shoulder_lift": -0.6, "gripper": 0.8})
    drive(world, 0.3, 0.2, 2.0)
    drive(world, 0.1, -0.6, 1.0)
    return [
        world.odometry(), world.joint_states(), world.imu(), world.lidar().tolist(), world.cliffs().tolist(),
        world.truth.robot_pose(), world.truth.object_poses(),
    ]


def test_the_same_seed_and_commands_give_the_same_run_bit_for_bit(gazebo: Worlds) -> None:
    first, again, other = run(gazebo(4)), run(gazebo(4)), run(gazebo(5))
    assert repr(first) == repr(again)
    assert repr(first) != repr(other)


@pytest.mark.parametrize(("x", "y", "heading"), [(2.6, 5.0, 1.57), (6.3, 3.9, 0.0), (1.6, 1.5, 3.0), (4.6, 2.0, 0.6)])
def test_the_lidar_sees_the_same_walls_and_furniture_in_both_simulators(
    gazebo: Worlds, mujoco: Callable[..., World], x: float, y: float, heading: float
) -> None:
    scans = []
    for world in (gazebo(2), mujoco(2)):
        world.place_robot(x, y, heading)
        scans.append(world.lidar())
    ours, theirs = scans
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    both = np.isfinite(ours) & np.isfinite(theirs)
    assert np.mean(np.isfinite(ours) == np.isfinite(theirs)) > 0.98
    # Edges, and the person's limbs of other shapes, may differ on a few beams.
    assert np.percentile(np.abs(ours - theirs)[both], 93) < 0.02


def test_the_mast_camera_sees_the_same_colours_and_distances_in_both_simulators(
    gazebo: Worlds, mujoco: Callable[..., World]
) -> None:
    pictures = []
    for world in (gazebo(3, cameras=True), mujoco(3, cameras=True)):
        world.place_robot(2.6, 5.0, math.pi / 2)
        for index, thing in enumerate(world.scene.objects):
            world.place_object(thing.name, 2.2 + 0.1 * index, 5.65, 0.4 + thing.size_m[2] / 2 + 0.0005)
        world.step(0.4)
        pictures.append(world.camera("mast"))
    (ours, our_depth), (theirs, their_depth) = pictures
    assert np.nanmedian(np.abs(our_depth - their_depth)) < 0.01
    assert np.nanpercentile(np.abs(our_depth - their_depth), 90) < 0.05
    vivid = theirs.max(axis=2).astype(int) - theirs.min(axis=2) > 90
    assert vivid.sum() > 200, "the things to grasp are in the picture"
    assert np.abs(ours.astype(int) - theirs)[vivid].mean() < 40


def test_it_drives_as_told_and_stops_when_nobody_tells_it_anything(gazebo: Worlds) -> None:
    world = gazebo()
    start = world.truth.robot_pose()
    drive(world, 0.3, 0.0, 2.5)
    ahead = world.truth.robot_pose()[1] - start[1]
    assert ahead == pytest.approx(world.odometry()[0], abs=0.03)
    assert ahead == pytest.approx(0.7, abs=0.06)
    world.step(0.8)
    assert world.truth.robot_velocity()[0] < 0.005
    assert world.battery().percentage < 1.0


def test_a_wall_presses_the_bumper_and_the_truth_counts_it(gazebo: Worlds) -> None:
    world = gazebo()
    world.place_robot(6.3, 2.45, math.pi / 2 - 0.9)
    pressed = False
    for _ in range(100):
        drive(world, 0.1, 0.0, 0.04)
        pressed = pressed or any(world.bumpers())
    assert pressed
    assert any(hit.part.startswith("bumper") and hit.against.startswith("wall") for hit in world.truth.collisions)


def test_the_cliff_sensors_miss_the_floor_at_the_stairs(gazebo: Worlds) -> None:
    world = gazebo()
    level = world.config.sensors.cliffs.nominal_range_m
    world.place_robot(6.5, 2.0, 0.0)
    assert world.cliffs() == pytest.approx([level] * 4, abs=0.02)
    world.place_robot(6.95, 2.0, 0.0)
    front_left, front_right, rear_left, rear_right = world.cliffs()
    assert min(front_left, front_right) > level + 0.1
    assert [rear_left, rear_right] == pytest.approx([level] * 2, abs=0.02)
