"""Injected faults really happen, are listed, and can be taken back."""

from __future__ import annotations

import numpy as np
import pytest
from sim.world.motion import MakeWorld, bend, drive, wait

from anima_sim import Fault, World
from anima_sim.errors import FaultError, SensorLost

pytestmark = pytest.mark.sim


def test_a_stalled_wheel_pulls_its_motor_to_the_limit_and_turns_the_robot(world: World) -> None:
    world.place_robot(3.9, 2.0, 0.0)
    world.inject(Fault("stalled_wheel", "left_wheel"))
    drive(world, 0.3, 0.0, 1.5)
    assert abs(world.truth.wheel_speeds()[0]) < 0.3
    assert world.joint_states()["left_wheel_joint"][2] == pytest.approx(6.0, abs=0.1)
    assert world.truth.robot_pose()[2] > 0.5
    world.clear_faults()
    drive(world, 0.2, 0.0, 0.6)
    assert world.truth.wheel_speeds()[0] > 1.5


def test_on_ice_the_wheels_turn_and_the_robot_hardly_moves(world: World) -> None:
    world.place_robot(3.9, 2.0, 0.0)
    world.inject(Fault("slip", "both"))
    drive(world, 0.4, 0.0, 1.0)
    travelled = world.truth.robot_pose()[0] - 3.9
    assert travelled < 0.6 * world.odometry()[0]


def test_a_box_in_the_way_is_seen_and_goes_away_again(world: World) -> None:
    world.place_robot(4.2, 2.0, 0.0)
    free = world.lidar()[0]
    world.inject(Fault("blocked_path"))
    wait(world, 0.02)
    assert world.lidar()[0] == pytest.approx(0.7 - 0.17, abs=0.05)
    world.clear_faults()
    wait(world, 0.02)
    assert world.lidar()[0] == pytest.approx(free, abs=0.06)


def test_a_door_can_be_blocked_by_name(world: World) -> None:
    world.inject(Fault("blocked_path", "kitchen_door"))
    world.place_robot(6.2, 1.9, np.pi / 2)
    wait(world, 0.04)
    assert world.lidar()[0] == pytest.approx(2.8 - 0.17 - 1.9, abs=0.05)


def test_a_box_is_never_put_into_the_robot(world: World) -> None:
    x, y, _ = world.truth.robot_pose()
    with pytest.raises(FaultError, match="would stand in the robot"):
        world.inject(Fault("blocked_path", f"{x},{y}"))
    assert world.faults() == []


@pytest.mark.parametrize("sensor", ["lidar", "imu", "odometry", "joint_states", "bumpers", "cliffs", "battery"])
def test_a_lost_sensor_gives_no_data_until_the_fault_ends(world: World, sensor: str) -> None:
    world.inject(Fault("lost_sensor", sensor, duration_s=0.5))
    wait(world, 0.4)
    with pytest.raises(SensorLost, match=sensor):
        getattr(world, sensor)()
    wait(world, 0.2)
    getattr(world, sensor)()
    assert world.faults() == []


def test_a_lost_camera_is_both_cameras(make_world: MakeWorld) -> None:
    world = make_world(cameras=True)
    world.inject(Fault("lost_sensor", "camera"))
    for name in ("mast", "wrist"):
        with pytest.raises(SensorLost):
            world.camera(name)


def test_a_frozen_lidar_repeats_itself(world: World) -> None:
    world.place_robot(3.9, 2.0, 0.0)
    world.inject(Fault.named("lost_sensor", "lidar:frozen"))
    first = world.lidar()
    drive(world, 0.3, 0.0, 1.0)
    assert np.array_equal(first, world.lidar(), equal_nan=True)
    world.clear_faults()
    assert world.lidar()[0] < first[0] - 0.1


def test_without_the_imu_odometry_goes_on_by_the_wheels(world: World) -> None:
    world.place_robot(4.6, 2.0, 0.0)
    world.inject(Fault("lost_sensor", "imu"))
    drive(world, 0.0, 0.8, 1.5)
    assert world.odometry()[2] == pytest.approx(world.truth.robot_pose()[2], abs=0.15)


def test_a_low_battery_is_low_at_once_and_never_fuller_than_before(world: World) -> None:
    world.inject(Fault("low_battery", "0.08"))
    wait(world, 0.04)
    assert world.battery().percentage == pytest.approx(0.08, abs=0.001)
    world.inject(Fault("low_battery", "0.5"))
    wait(world, 0.04)
    assert world.battery().percentage < 0.09


def test_a_dropped_object_opens_the_gripper_and_the_command_returns(world: World) -> None:
    bend(world, 0.5, gripper=0.1)
    world.inject(Fault("dropped_object"))
    wait(world, 0.6)
    assert world.joint_states()["gripper"][0] > 0.7
    wait(world, 1.5)
    assert world.joint_states()["gripper"][0] == pytest.approx(0.1, abs=0.05)


def test_a_fault_that_makes_no_sense_is_refused_with_what_would(world: World) -> None:
    with pytest.raises(FaultError, match="left_wheel or right_wheel"):
        world.inject(Fault("stalled_wheel", "tail"))
    with pytest.raises(FaultError, match="there are: stalled_wheel"):
        world.inject(Fault.named("earthquake"))
    with pytest.raises(FaultError, match="kitchen_door"):
        world.inject(Fault("blocked_path", "nowhere"))
    with pytest.raises(FaultError, match="is not a number"):
        world.inject(Fault("low_battery", "empty"))


def test_faults_in_force_are_listed_and_a_reset_ends_them(world: World) -> None:
    world.inject(Fault("slip", "both"))
    world.inject(Fault("lost_sensor", "imu", duration_s=1.0))
    assert [f.kind for f in world.faults()] == ["slip", "lost_sensor"]
    wait(world, 1.1)
    assert [f.kind for f in world.faults()] == ["slip"]
    world.reset(0)
    assert world.faults() == []
