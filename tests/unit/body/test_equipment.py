"""Robots by configuration: what each has, what it lacks, and that the whole mind can be built for it."""

from __future__ import annotations

import importlib
import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from anima import topics as t
from anima.body.equipment import load_equipment
from anima.body.navigation.tuning import load_tuning
from anima.body.robot_model import lidar_pose
from anima.body.wires import plain, wires
from anima.brain import table
from anima.config import CONFIG, ConfigError, Settings
from anima.regions.reflex.config import load_reflex
from anima.topics import Qos
from anima.types.base import Header
from anima.types.std import BatteryState, LaserScan, Twist, TwistStamped, Vector3

OURS = Settings()
BURGER = Settings(robot="turtlebot3_burger", sim="none")
ROBOTS = sorted(file.stem for file in (CONFIG / "robots").glob("*.yaml"))
BARE = [name for name in ROBOTS if name != "anima"]


def test_our_own_body_lacks_nothing_and_every_node_has_work() -> None:
    assert load_equipment(OURS).lacks == ()
    assert all(load_equipment(OURS).takes_part(row.node) for row in table())
    assert wires(OURS) == {}


@pytest.mark.parametrize("name", BARE)
def test_the_mind_can_be_built_for_every_robot_that_has_a_file(name: str) -> None:
    settings = Settings(robot=name, sim="none", memory_url="none", llm={"server": "http://127.0.0.1:9"})
    equipment = load_equipment(settings)
    assert equipment.lacks == ("arm", "camera", "dock")
    rows = [row for row in table("none") if equipment.takes_part(row.node)]
    assert {"reflex_kernel", "motor_cortex", "prefrontal_planner"} <= {row.node for row in rows}
    assert not {"driver", "perception"} & {row.node for row in rows}
    for row in rows:
        row.build(settings)


@pytest.mark.parametrize("name", BARE)
def test_a_robot_has_room_to_turn_and_brakes_within_its_limits(name: str) -> None:
    settings = Settings(robot=name)
    body, tuning = load_reflex(settings).body, load_tuning(settings)
    feet = body.base.footprint_m
    assert tuning.turning_clearance_m >= math.hypot(max(feet.front, feet.rear), feet.half_width)
    assert tuning.tight_clearance_m >= feet.half_width
    assert tuning.cruise_mps <= body.base.max_linear_mps and tuning.turn_radps <= body.base.max_angular_radps


def test_the_reflexes_wait_for_no_sense_that_the_robot_has_not() -> None:
    assert load_reflex(BURGER).body.senses == ("scan", "imu", "odom", "joint_states")
    assert {"bumpers", "cliffs"} < set(load_reflex(OURS).body.senses)


def test_the_lidar_sits_where_the_robot_s_file_says() -> None:
    assert lidar_pose(BURGER).x == pytest.approx(-0.032)
    assert lidar_pose(Settings(robot="turtlebot4")).yaw == pytest.approx(math.pi / 2, abs=1e-3)
    assert load_reflex(BURGER).tuning.obstacle.laser_x_m == pytest.approx(-0.032)
    assert load_reflex(BURGER).tuning.stall.left_wheel == "wheel_left_joint"


def test_a_base_that_takes_twist_gets_twist_and_one_that_takes_it_stamped_gets_that() -> None:
    sent = TwistStamped.planar(3.0, 0.2, -0.5)
    plain_twist = wires(BURGER.model_copy(update={"cmd_vel": "Twist"}))[t.CMD_VEL.name]
    assert plain_twist.type is Twist
    out = plain_twist.outward(sent)
    assert isinstance(out, Twist) and (out.linear.x, out.angular.z) == (0.2, -0.5)
    back = plain_twist.inward(Twist(linear=Vector3(x=0.2)), 7.0)
    assert isinstance(back, TwistStamped) and back.header.stamp.seconds == 7.0 and back.twist.linear.x == 0.2
    stamped = wires(BURGER)[t.CMD_VEL.name]
    assert stamped.type is TwistStamped and stamped.outward(sent) is sent


def test_topics_of_other_names_are_found_and_heard_whatever_quality_they_are_sent_with() -> None:
    found = wires(BURGER)
    assert found["imu/data"].name == "imu" and found["odom"].name == "odom"
    # A reliable or a lasting subscription doesn't hear a best-effort or a volatile publisher.
    assert found["battery_state"].qos is Qos.SENSOR and plain(t.BATTERY).qos is Qos.STATE


def test_a_beam_of_zero_is_free_only_where_the_lidar_is_known_to_mean_that() -> None:
    scan = LaserScan(
        header=Header.at(0.0), angle_min=0.0, angle_max=1.0, angle_increment=0.5, time_increment=0.0, scan_time=0.2,
        range_min=0.12, range_max=3.5, ranges=np.array([0.0, 1.0, np.nan], np.float32),
        intensities=np.zeros(0, np.float32),
    )
    heard = wires(BURGER)["scan"].inward(scan, 0.0)
    assert isinstance(heard, LaserScan) and heard.ranges.dtype == np.float32
    assert heard.ranges[0] == np.inf and heard.ranges[1] == 1.0 and np.isnan(heard.ranges[2])
    assert wires(Settings(robot="turtlebot4"))["scan"].inward(scan, 0.0) is scan


def test_a_charge_in_percent_becomes_a_share() -> None:
    battery = BatteryState.model_construct(percentage=80.0)
    heard = wires(BURGER)["battery_state"].inward(battery, 0.0)
    assert isinstance(heard, BatteryState) and heard.percentage == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"drivers": {"cmd_vel": "twist"}}, "drivers.cmd_vel"),
        ({"drivers": {"cmd_vel": "Twist", "names": {"imu": "imu"}}}, "imu: not one of"),
        ({"drivers": {"cmd_vel": "Twist", "names": {"scan": "/scan"}}}, "without a leading /"),
        ({"drivers": {"cmd_vel": "Twist"}, "dock": True}, "only battery_state tells"),
        ({"sensors": {"lidar": {"x_m": 9.0}}}, "lidar.x_m"),
    ],
)
def test_a_wrong_robot_file_says_which_key_and_what_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], fault: str
) -> None:
    config = importlib.import_module("anima.config")
    (tmp_path / "robots").mkdir()
    robot = yaml.safe_load((CONFIG / "robots" / "base.yaml").read_text(encoding="utf-8")) | change
    (tmp_path / "robots" / "mine.yaml").write_text(yaml.safe_dump(robot), encoding="utf-8")
    monkeypatch.setattr(config, "CONFIG", tmp_path)
    with pytest.raises(ConfigError, match=fault):
        load_equipment(Settings(robot="mine"))


def test_a_robot_without_a_file_is_told_which_there_are() -> None:
    with pytest.raises(ConfigError, match="turtlebot3_burger"):
        load_equipment(Settings(robot="nobody"))
