"""On its topics the simulated body looks like any robot."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from anima import topics as t
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import mind, std
from anima.types.base import Duration, Header
from anima_sim.body import SimulatedBody

pytestmark = pytest.mark.sim


def _run(body: SimulatedBody, start: int, ticks: int, *commands: Sent) -> list[Sent]:
    out: list[Sent] = []
    for tick in range(start, start + ticks):
        out += body.step((tick + 1) * 0.02, Inbox.of(commands))
    return out


def _of(sent: Sequence[Sent], topic: t.Topic) -> list:  # type: ignore[type-arg]
    return [item.value for item in sent if item.topic.name == topic.name]


def _go(linear: float, angular: float = 0.0) -> Sent:
    return t.CMD_VEL.of(std.TwistStamped.planar(0.0, linear, angular))


@pytest.fixture
def body() -> SimulatedBody:
    return SimulatedBody(Settings(cameras=False))


def test_it_sends_what_its_row_of_the_table_promises_and_nothing_else() -> None:
    row = next(r for r in TABLE if r.node == "body")
    body = SimulatedBody(Settings(cameras=True))
    body.watched = frozenset(topic.name for topic in row.gives)
    assert {s.topic.name for s in _run(body, 0, 6)} == body.watched


def test_pictures_that_nobody_watches_are_not_drawn() -> None:
    sent = _run(SimulatedBody(Settings(cameras=True)), 0, 6)
    assert not _of(sent, t.OVERVIEW) and not _of(sent, t.WRIST_IMAGE)
    assert _of(sent, t.CAMERA_COLOUR)


def test_each_sensor_keeps_its_rate(body: SimulatedBody) -> None:
    sent = _run(body, 0, 100)
    assert len(_of(sent, t.ODOM)) == len(_of(sent, t.CLOCK)) == 100
    assert len(_of(sent, t.SCAN)) == pytest.approx(20, abs=1)
    assert len(_of(sent, t.GROUND_TRUTH)) == pytest.approx(50, abs=1)


def test_the_clock_comes_last_so_that_its_moments_readings_are_there(body: SimulatedBody) -> None:
    assert body.step(0.02, Inbox())[-1].topic is t.CLOCK


def test_frames_stamps_and_sizes_are_the_ros_conventions() -> None:
    sent = _run(SimulatedBody(Settings(cameras=True)), 0, 6)
    odom = _of(sent, t.ODOM)[-1]
    assert (odom.header.frame_id, odom.child_frame_id) == ("odom", "base_link")
    scan = _of(sent, t.SCAN)[-1]
    assert scan.header.frame_id == "laser_link" and len(scan.ranges) == 360
    assert scan.angle_min + scan.angle_increment * 359 == pytest.approx(scan.angle_max)
    colour, depth, info = (_of(sent, topic)[-1] for topic in (t.CAMERA_COLOUR, t.CAMERA_DEPTH, t.CAMERA_INFO))
    assert colour.header == depth.header == info.header
    assert colour.header.frame_id == "camera_optical_frame"
    assert (colour.encoding, len(colour.data)) == ("rgb8", 320 * 240 * 3)
    assert (depth.encoding, len(depth.data)) == ("32FC1", 320 * 240 * 4)
    cliffs = _of(sent, t.CLIFFS)[-1]
    assert cliffs.ranges[0].header.frame_id == "cliff_front_left_link"
    states = _of(sent, t.JOINT_STATES)[-1]
    assert set(states.name) >= {"left_wheel_joint", "right_wheel_joint", "shoulder_pan", "gripper"}


@pytest.mark.parametrize("start", [0.02, 1.7e9])
def test_its_world_begins_when_the_clock_does_whatever_that_clock_says(body: SimulatedBody, start: float) -> None:
    body.step(start, Inbox())
    assert body.world.time == pytest.approx(0.02)
    body.step(start + 0.1, Inbox())
    assert body.world.time == pytest.approx(0.12, abs=0.003)
    body.step(start - 0.5, Inbox())  # set back
    body.step(start + 3600.0, Inbox())  # slept for an hour
    assert body.world.time == pytest.approx(0.16, abs=0.003)


def test_it_drives_as_commanded_and_stops_when_commands_stay_away(body: SimulatedBody) -> None:
    sent = _run(body, 0, 100, _go(0.2))
    assert _of(sent, t.ODOM)[-1].twist.twist.linear.x == pytest.approx(0.2, abs=0.03)
    sent = _run(body, 100, 50)
    truth = _of(sent, t.GROUND_TRUTH)[-1]
    assert truth.linear_speed < 0.01
    assert np.abs(truth.wheel_speeds).max() < 0.05


def test_the_arm_follows_the_trajectorys_last_point(body: SimulatedBody) -> None:
    none = np.zeros(0)
    goal, soon = np.array([0.2, 0.8]), Duration.of(0.1)
    point = std.JointTrajectoryPoint(
        positions=goal, velocities=none, accelerations=none, effort=none, time_from_start=soon
    )
    command = std.JointTrajectory(header=Header.at(0.0), joint_names=["shoulder_pan", "gripper"], points=[point])
    states = _of(_run(body, 0, 100, t.ARM_COMMAND.of(command)), t.JOINT_STATES)[-1]
    at = dict(zip(states.name, states.position, strict=True))
    assert at["shoulder_pan"] == pytest.approx(0.2, abs=0.03)
    assert at["gripper"] == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_nonsense_on_the_command_topic_neither_moves_it_nor_kills_it(body: SimulatedBody, wrong: float) -> None:
    sent = _run(body, 0, 25, _go(wrong))
    assert _of(sent, t.GROUND_TRUTH)[-1].linear_speed < 0.01
    assert "refused" in body.why()


def test_a_lost_sensor_falls_silent_and_the_rest_goes_on(body: SimulatedBody) -> None:
    body.inject(mind.Fault(kind="lost_sensor", target="lidar"))
    sent = _run(body, 0, 25)
    assert _of(sent, t.SCAN) == []
    assert len(_of(sent, t.ODOM)) == 25
    assert "lost_sensor lidar" in body.why()
    body.inject(mind.Fault(kind=""))
    assert _of(_run(body, 25, 25), t.SCAN)


def test_a_fault_by_topic_acts_and_a_senseless_one_is_refused_in_words(body: SimulatedBody) -> None:
    _run(body, 0, 1, t.FAULT.of(mind.Fault(kind="low_battery", target="0.1")))
    assert _of(_run(body, 1, 50), t.BATTERY)[-1].percentage == pytest.approx(0.1, abs=0.01)
    with pytest.raises(ValueError, match="no fault 'earthquake'"):
        body.inject(mind.Fault(kind="earthquake"))


def test_the_battery_says_whether_it_is_on_the_dock(body: SimulatedBody) -> None:
    full, discharging = 4, 2
    assert _of(_run(body, 0, 5), t.BATTERY)[-1].power_supply_status == full
    assert _of(_run(body, 5, 100, _go(0.2)), t.BATTERY)[-1].power_supply_status == discharging
