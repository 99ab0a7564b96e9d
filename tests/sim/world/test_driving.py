"""The base goes where it is told, reports about where it went, and stops when it is told nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim.world.motion import MakeWorld, drive, wait

from anima_sim import World
from anima_sim.errors import CommandError

pytestmark = pytest.mark.sim


def _run(world: World) -> list[float]:
    track: list[float] = []
    for tick in range(200):
        if tick < 150:
            world.command_base(0.3, 0.4 if tick > 60 else 0.0)
        if tick == 20:
            world.command_joints({"shoulder_pan": 0.5, "gripper": 0.6})
        world.step()
        track += [*world.truth.robot_pose(), *world.odometry(), *world.joint_states()["shoulder_pan"]]
        track += [*map(float, world.cliffs()), world.battery().percentage]
    track += [v for v in map(float, world.lidar()) if math.isfinite(v)]
    return track


def test_the_same_seed_and_commands_give_the_same_run_bit_for_bit(make_world: MakeWorld) -> None:
    first, second = make_world(seed=7), make_world(seed=7)
    once = _run(first)
    assert once == _run(second)
    first.reset(7)
    assert once == _run(first), "a reset world is a new world"
    assert once != _run(make_world(seed=8))


def test_reading_a_sensor_more_often_does_not_change_what_happens(make_world: MakeWorld) -> None:
    quiet, curious = make_world(seed=3), make_world(seed=3)
    for _ in range(100):
        for world in (quiet, curious):
            world.command_base(0.2, 0.2)
            world.step()
        curious.lidar()
        curious.imu()
    assert quiet.truth.robot_pose() == curious.truth.robot_pose()
    assert quiet.odometry() == curious.odometry()


def test_it_starts_docked_with_odometry_at_zero(world: World) -> None:
    assert world.on_dock()
    assert world.odometry()[:3] == (0.0, 0.0, 0.0)
    assert world.time == 0.0


def test_a_metre_straight_ahead_is_a_metre(world: World) -> None:
    world.place_robot(3.9, 2.1, 0.0)
    drive(world, 0.25, 0.0, 4.0)
    wait(world, 1.0)
    x, y, heading = world.truth.robot_pose()
    # 4 s at 0.25 m/s, plus what the driver rolls on until its time-out; it brakes harder than it speeds up
    base = world.config.base
    ramps = 0.25**2 / 2 * (1 / base.max_linear_decel_mps2 - 1 / base.max_linear_accel_mps2)
    assert x - 3.9 == pytest.approx(1.0 + 0.25 * 0.25 + ramps, abs=0.02)
    assert y == pytest.approx(2.1, abs=0.02)
    assert heading == pytest.approx(0.0, abs=0.02)
    assert world.odometry()[0] == pytest.approx(x - 3.9, rel=0.02)


def test_a_turn_on_the_spot_stays_on_the_spot(world: World) -> None:
    world.place_robot(4.6, 2.0, 0.0)
    drive(world, 0.0, 1.0, 1.5)
    wait(world, 1.0)
    x, y, heading = world.truth.robot_pose()
    assert math.hypot(x - 4.6, y - 2.0) < 0.02
    base = world.config.base
    ramps = 1.0**2 / 2 * (1 / base.max_angular_decel_radps2 - 1 / base.max_angular_accel_radps2)
    assert heading == pytest.approx(1.5 + 0.25 + ramps, abs=0.08)
    assert world.odometry()[2] == pytest.approx(heading, abs=0.02)


def test_without_new_commands_the_wheels_stop(world: World) -> None:
    world.place_robot(3.9, 2.1, 0.0)
    drive(world, 0.3, 0.0, 1.5)
    assert world.truth.robot_velocity()[0] > 0.25
    wait(world, 0.25 + 0.3 + 0.2)
    assert world.truth.robot_velocity()[0] < 0.005
    assert max(map(abs, world.truth.wheel_speeds())) < 0.05


def test_commands_that_are_no_numbers_are_refused_and_change_nothing(world: World) -> None:
    with pytest.raises(CommandError):
        world.command_base(math.nan, 0.0)
    with pytest.raises(CommandError, match="no joint 'tail'"):
        world.command_joints({"shoulder_pan": 1.0, "tail": 0.0})
    with pytest.raises(CommandError):
        world.command_joints({"shoulder_pan": math.inf})
    wait(world, 0.5)
    assert world.joint_states()["shoulder_pan"][0] == pytest.approx(1.75, abs=0.02)


def test_the_arm_reaches_what_it_is_told(world: World) -> None:
    goal = {"shoulder_pan": -0.6, "shoulder_lift": -0.4, "elbow_flex": 0.6, "wrist_flex": 0.9, "wrist_roll": 1.2}
    world.command_joints({**goal, "gripper": 0.9})
    wait(world, 3.0)
    states = world.joint_states()
    for name, angle in goal.items():
        assert states[name][0] == pytest.approx(angle, abs=0.03), name
        assert abs(states[name][1]) < 0.02
    assert states["gripper"][0] == pytest.approx(0.9, abs=0.05)


def test_a_joint_stops_at_its_limit(world: World) -> None:
    world.command_joints({"shoulder_pan": 9.0})
    wait(world, 2.0)
    assert world.joint_states()["shoulder_pan"][0] == pytest.approx(1.92, abs=0.03)


def test_the_imu_feels_gravity_and_turning(world: World) -> None:
    world.place_robot(4.6, 2.0, 0.0)
    wait(world, 0.3)
    assert np.array(world.imu().linear_acceleration) == pytest.approx([0.0, 0.0, 9.81], abs=0.25)
    drive(world, 0.0, 0.8, 1.0)
    assert world.imu().angular_velocity[2] == pytest.approx(0.8, abs=0.05)


def test_the_battery_drains_faster_in_motion_and_fills_on_the_dock(make_world: MakeWorld) -> None:
    still, busy = make_world(battery_scale=50.0), make_world(battery_scale=50.0)
    for world in (still, busy):
        world.place_robot(4.2, 2.0, 0.0)
    wait(still, 6.0)
    for turn in range(6):
        drive(busy, 0.3 if turn % 2 else -0.3, 0.0, 1.0)
    assert busy.battery().percentage < still.battery().percentage < 1.0
    assert busy.battery().current_a < 0.0
    low = still.battery().percentage
    still.place_robot(*_docked(still))
    wait(still, 4.0)
    assert still.battery().charging and still.battery().percentage > low


def test_an_empty_battery_leaves_the_motors_without_power(make_world: MakeWorld) -> None:
    world = make_world(battery_scale=2000.0)
    world.place_robot(3.9, 2.1, 0.0)
    drive(world, 0.0, 0.0, 16.0)
    assert world.battery().percentage == 0.0
    drive(world, 0.3, 0.0, 1.0)
    assert world.truth.robot_velocity()[0] < 0.01


def test_backing_onto_the_dock_starts_the_charger_and_is_no_collision(world: World) -> None:
    drive(world, 0.2, 0.0, 2.0)
    wait(world, 1.0)
    assert not world.battery().plugged
    drive(world, -0.1, 0.0, 6.0)
    assert world.battery().plugged
    assert world.truth.collisions == []


def _docked(world: World) -> tuple[float, float, float]:
    x, y, degrees = world.scene.dock.docked
    return x, y, math.radians(degrees)
