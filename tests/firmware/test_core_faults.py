"""Faults cut the motors in the same millisecond, latch, and go only when asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from support.brainstem import Brainstem, Inputs

from anima.body.link.messages import (
    Arm,
    Bumper,
    Clear,
    Disarm,
    Drive,
    Fault,
    Outcome,
    State,
)


@pytest.fixture
def robot() -> Iterator[Brainstem]:
    core = Brainstem()
    yield core
    core.close()


# ---- faults ----

STANDING = Inputs()
AT_ONCE: dict[Fault, Callable[[Inputs], Inputs]] = {
    Fault.ESTOP: lambda i: replace(i, estop=1),
    Fault.BUMPER: lambda i: replace(i, bumpers=int(Bumper.FRONT_LEFT)),
    Fault.CLIFF: lambda i: replace(i, cliff_mm=(115, 115, 65535, 115)),
}
LASTING: dict[Fault, tuple[int, Callable[[Inputs], Inputs]]] = {
    Fault.WHEEL_CURRENT: (50, lambda i: replace(i, wheel_ma=(100, -5001))),
    Fault.ARM_CURRENT: (200, lambda i: replace(i, arm_ma=6001)),
    Fault.UNDER_VOLTAGE: (500, lambda i: replace(i, battery_mv=9599)),
    Fault.VOLTAGE_SENSOR: (100, lambda i: replace(i, battery_mv=0)),
    Fault.IMU_SENSOR: (100, lambda i: replace(i, accel_mg=(0, 0, 100))),
}


@pytest.mark.parametrize("fault", AT_ONCE)
def test_it_cuts_the_motors_in_the_same_tick_and_latches(robot: Brainstem, fault: Fault) -> None:
    robot.armed().drive(300, ms=200)
    calm = robot.inputs
    robot.inputs = AT_ONCE[fault](calm)
    assert robot.tick().all_off
    assert Fault(robot.peek().faults) == fault
    assert robot.request(Clear).outcome == Outcome.UNSAFE
    robot.inputs = calm
    robot.tick(500)
    assert robot.state == State.FAULT, "it doesn't go away on its own"
    assert robot.request(Arm).outcome == Outcome.WRONG_STATE
    assert robot.request(Clear).outcome == Outcome.DONE
    assert robot.tick().all_off
    assert robot.request(Arm).outcome == Outcome.DONE


@pytest.mark.parametrize("fault", LASTING)
def test_it_cuts_the_motors_when_it_has_lasted(robot: Brainstem, fault: Fault) -> None:
    after_ms, spoil = LASTING[fault]
    robot.armed()
    robot.drive(0, ms=40)
    robot.inputs = spoil(robot.inputs)
    robot.drive(0, ms=after_ms - 1)
    assert robot.state == State.ARMED
    robot.drive(0)
    assert robot.state == State.FAULT
    assert fault in Fault(robot.peek().faults)


@pytest.mark.parametrize("axis", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_leaning_too_far_cuts_the_motors(robot: Brainstem, axis: tuple[int, int]) -> None:
    robot.armed()
    robot.drive(0, ms=20)
    lean = 390  # mg across of 1000: 0.40 rad
    robot.inputs.accel_mg = (axis[0] * lean, axis[1] * lean, 920)
    robot.drive(0, ms=3000)
    assert Fault(robot.peek().faults) == Fault.TILT


def test_the_gyroscope_notices_a_fall_before_the_accelerometer(robot: Brainstem) -> None:
    robot.armed()
    robot.drive(0, ms=20)
    robot.inputs.gyro_mradps = (0, 3000, 0)  # tips over forwards
    noticed = next(ms for ms in range(200) if not robot.drive(0).motors_on)
    assert 100 < noticed < 140, "0.35 rad at 3 rad/s"


def test_braking_hard_is_no_tilt(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(5):
        robot.inputs.accel_mg = (-300, 0, 1000)
        robot.drive(0, ms=160)
        robot.inputs.accel_mg = (100, 0, 1000)
        robot.drive(0, ms=400)
    assert robot.state == State.ARMED


def test_lying_upside_down_is_a_tilt(robot: Brainstem) -> None:
    robot.inputs.accel_mg = (0, 0, -1000)
    robot.tick()
    assert Fault.TILT in Fault(robot.peek().live)
    assert robot.request(Arm).outcome == Outcome.UNSAFE


def test_a_stuck_wheel_is_a_stall(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(70):
        robot.say(Drive(robot.peek().session, 200, 0))
        for _ in range(20):
            robot.tick()
    assert Fault(robot.peek().faults) == Fault.STALL


def test_a_wheel_that_turns_the_other_way_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(40):
        robot.say(Drive(robot.peek().session, -200, 0))
        for _ in range(20):
            robot.roll(robot.tick(), share=-1.0)
    assert Fault(robot.peek().faults) == Fault.ENCODER_SENSOR


def test_a_wheel_that_runs_away_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    for step in range(300):
        robot.inputs.wheel_count = (step * 4, 0)
        robot.drive(0)
        robot.inputs.wheel_count = (step * 4, 0)
    assert Fault(robot.peek().faults) == Fault.ENCODER_SENSOR


def test_a_wheel_that_is_pushed_while_disarmed_is_none(robot: Brainstem) -> None:
    for step in range(400):
        robot.inputs.wheel_count = (step * 4, -step * 4)
        robot.tick()
    assert robot.peek().live == 0


def test_a_frozen_inertial_sensor_is_noticed(robot: Brainstem) -> None:
    robot.lively = False
    robot.tick(1100)
    assert Fault(robot.peek().live) == Fault.IMU_SENSOR


def test_a_loop_that_fell_behind_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    robot.tick(late_ms=19)
    assert robot.state == State.ARMED
    assert robot.tick(late_ms=20).all_off
    assert Fault(robot.peek().faults) == Fault.TIMING


@pytest.mark.parametrize("damaged", [4, 77, 255])
def test_a_damaged_state_is_a_fault(robot: Brainstem, damaged: int) -> None:
    robot.armed().drive(300, ms=100)
    robot.damage_state(damaged)
    assert robot.tick().all_off
    assert Fault(robot.peek().faults) == Fault.MEMORY


def test_the_pressed_stop_takes_the_power_off_the_arm(robot: Brainstem) -> None:
    assert robot.armed().tick().servos_on
    robot.inputs.estop = 1
    assert not robot.tick().servos_on


def test_a_second_fault_adds_to_the_first(robot: Brainstem) -> None:
    robot.armed()
    robot.inputs.bumpers = 1
    robot.tick()
    robot.inputs = replace(STANDING, estop=1)
    robot.tick()
    assert Fault(robot.peek().faults) == Fault.BUMPER | Fault.ESTOP


def test_a_fault_while_ramping_down_cuts(robot: Brainstem) -> None:
    robot.armed().drive(400, ms=450)
    robot.say(Disarm(0))
    assert robot.tick().motors_on
    robot.inputs.estop = 1
    assert robot.tick().all_off
    assert robot.state == State.FAULT
