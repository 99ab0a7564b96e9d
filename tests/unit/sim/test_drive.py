"""The base's driver brakes when it isn't told to go on, and never does what isn't a number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anima_sim.config import load_robot
from anima_sim.drive import BaseDriver, Odometer
from anima_sim.errors import CommandError

ROBOT = load_robot()
BASE = ROBOT.base


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_is_refused(wrong: float) -> None:
    driver = BaseDriver(BASE)
    with pytest.raises(CommandError, match="finite"):
        driver.command(0.0, wrong, 0.0)
    with pytest.raises(CommandError, match="finite"):
        driver.command(0.0, 0.0, wrong)
    assert driver.wheel_speeds(0.02, 0.02) == (0.0, 0.0)


@settings(deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_no_command_moves_the_wheels_beyond_the_drivers_limits(linear: float, angular: float) -> None:
    driver, time_s = BaseDriver(BASE), 0.0
    top = (BASE.max_linear_mps + BASE.max_angular_radps * BASE.track_m / 2) / BASE.wheel_radius_m
    step = BASE.max_linear_decel_mps2 + BASE.max_angular_decel_radps2 * BASE.track_m / 2
    before = (0.0, 0.0)
    for _ in range(60):
        driver.command(time_s, linear, angular)
        now = driver.wheel_speeds(time_s, 0.02)
        assert max(map(abs, now)) <= top + 1e-9
        assert max(abs(a - b) for a, b in zip(now, before, strict=True)) <= step * 0.02 / BASE.wheel_radius_m + 1e-9
        before, time_s = now, time_s + 0.02


def test_without_a_new_command_the_driver_brakes_to_a_stop() -> None:
    driver = BaseDriver(BASE)
    speeds = []
    for tick in range(100):
        if tick < 25:
            driver.command(tick * 0.02, 0.3, 0.0)
        speeds.append(driver.wheel_speeds(tick * 0.02, 0.02)[0])
    assert speeds[24] > 3.0
    assert speeds[36] == speeds[35] > 3.0  # still within the time-out
    assert speeds[-1] == 0.0


def test_from_full_speed_the_driver_stands_within_a_quarter_of_a_second() -> None:
    driver = BaseDriver(BASE)
    for tick in range(50):
        driver.command(tick * 0.02, 1.0, 0.0)
        before = driver.wheel_speeds(tick * 0.02, 0.02)[0]
    assert before == pytest.approx(BASE.max_linear_mps / BASE.wheel_radius_m)
    speeds = []
    for tick in range(50, 63):
        driver.command(tick * 0.02, 0.0, 0.0)
        speeds.append(driver.wheel_speeds(tick * 0.02, 0.02)[0])
    assert speeds[-1] == 0.0
    assert speeds == sorted(speeds, reverse=True)


def test_it_turns_round_by_way_of_standing() -> None:
    driver = BaseDriver(BASE)
    speeds = []
    for tick in range(150):
        driver.command(tick * 0.02, 0.3 if tick < 50 else -0.3, 0.0)
        speeds.append(driver.wheel_speeds(tick * 0.02, 0.02)[0])
    assert 0.0 in speeds[50:]
    assert speeds[-1] == pytest.approx(-0.3 / BASE.wheel_radius_m)


def test_odometry_follows_an_arc() -> None:
    exact = ROBOT.sensors.odometry.model_copy(update={"encoder_scale_error": 0.0})
    odometer = Odometer(BASE, exact, np.random.default_rng(0))
    odometer.update(0.0, 0.0, 0.0, 0.02)
    linear, angular = 0.3, 0.6
    for tick in range(1, 101):
        travelled, turned = linear * tick * 0.02, angular * tick * 0.02
        left, right = (travelled + s * turned * BASE.track_m / 2 for s in (-1, 1))
        odometer.update(left / BASE.wheel_radius_m, right / BASE.wheel_radius_m, angular, 0.02)
    radius = linear / angular
    assert odometer.pose == pytest.approx((radius * math.sin(1.2), radius * (1 - math.cos(1.2)), 1.2), abs=2e-3)


def test_without_a_gyro_the_heading_comes_from_the_wheels() -> None:
    odometer = Odometer(BASE, ROBOT.sensors.odometry, np.random.default_rng(0))
    odometer.update(0.0, 0.0, None, 0.02)
    odometer.update(-1.0, 1.0, None, 0.02)
    assert odometer.pose[2] == pytest.approx(2 * BASE.wheel_radius_m / BASE.track_m, rel=0.02)
