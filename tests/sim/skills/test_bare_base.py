"""A TurtleBot on simulated time: it drives by the mind's own skills, and stands when its lidar falls silent.

The base is a scripted one, for the wiring; what its drivers say passes through `body.wires` as it does in ROS.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from support.scripted_base import BEAMS, RANGE_MAX_M, RANGE_MIN_M, ScriptedBase, Walls

from anima import topics as t
from anima.body.places import load_places
from anima.body.wires import plain, wires
from anima.brain import TABLE, Row
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.runtime.local_graph import LocalGraph
from anima.runtime.processes import Process
from anima.topics import Sent, Topic
from anima.types.base import Header, Msg
from anima.types.mind import Outcome, SkillCall, WorldState
from anima.types.std import (
    BatteryState,
    Imu,
    JointState,
    LaserScan,
    Odometry,
    Pose,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Quaternion,
    Twist,
    TwistWithCovariance,
    Vector3,
)

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]

SETTINGS = Settings(robot="turtlebot3_burger", sim="none", cmd_vel="Twist")
START = (4.6, 1.7, 1.2)
NODES = (
    "reflex_kernel", "localization", "parietal_affordance", "basal_ganglia_gate", "hypothalamus_arbiter",
    "motor_cortex",
)
NOTHING = np.zeros(0)


class Drivers:
    """The base's drivers as a row: what they send is what a TurtleBot sends, made the mind's by the wires."""

    def __init__(self, settings: Settings) -> None:
        self.base = ScriptedBase(Walls(settings.map_folder), START)
        self.muted = False
        self._wires = wires(settings)
        self._ticks = 0

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """50 Hz; the scan comes at 5 Hz, the battery at 1 Hz."""
        for command in inbox.new(t.CMD_VEL):
            out = self._wires[t.CMD_VEL.name].outward(command)
            assert isinstance(out, Twist)
            self.base.tell(now, out.linear.x, out.angular.z)
        self.base.move(now, 0.02)
        self._ticks += 1
        sent = [self._sent(t.ODOM, self._odometry(now), now), self._sent(t.JOINT_STATES, self._joints(now), now)]
        sent.append(self._sent(t.IMU, self._imu(now), now))
        if self._ticks % 10 == 0 and not self.muted:
            sent.append(self._sent(t.SCAN, self._scan(now), now))
        if self._ticks % 50 == 0:
            sent.append(self._sent(t.BATTERY, self._battery(now), now))
        return sent

    def why(self) -> str:
        return "it does as it is told"

    def _sent(self, topic: Topic[Any], value: Msg, now: float) -> Sent:
        return topic.of(self._wires.get(topic.name, plain(topic)).inward(value, now))

    def _odometry(self, now: float) -> Odometry:
        twist = Twist(linear=Vector3(x=self.base.linear), angular=Vector3(z=self.base.angular))
        return Odometry(
            header=Header.at(now, "odom"), child_frame_id="base_footprint",
            pose=PoseWithCovariance(
                pose=Pose.planar(self.base.x, self.base.y, self.base.yaw), covariance=np.zeros(36)
            ),
            twist=TwistWithCovariance(twist=twist, covariance=np.zeros(36)),
        )

    def _joints(self, now: float) -> JointState:
        return JointState(
            header=Header.at(now), name=["wheel_left_joint", "wheel_right_joint"], position=np.zeros(2),
            velocity=np.array(self.base.wheels), effort=NOTHING,
        )

    def _imu(self, now: float) -> Imu:
        return Imu(
            header=Header.at(now), orientation=Quaternion.from_yaw(self.base.yaw), orientation_covariance=np.zeros(9),
            angular_velocity=Vector3(z=self.base.angular), angular_velocity_covariance=np.zeros(9),
            linear_acceleration=Vector3(z=9.81), linear_acceleration_covariance=np.zeros(9),
        )

    def _battery(self, now: float) -> BatteryState:
        return BatteryState(
            header=Header.at(now), voltage=12.0, temperature=0.0, current=0.0, charge=0.0, capacity=0.0,
            design_capacity=1.8, percentage=80.0, power_supply_status=0, power_supply_health=0,
            power_supply_technology=0, present=True, cell_voltage=np.zeros(0, np.float32),
            cell_temperature=np.zeros(0, np.float32), location="", serial_number="",
        )

    def _scan(self, now: float) -> LaserScan:
        return LaserScan(
            header=Header.at(now, "base_scan"), angle_min=0.0, angle_max=math.tau * (BEAMS - 1) / BEAMS,
            angle_increment=math.tau / BEAMS, time_increment=0.0, scan_time=0.2, range_min=RANGE_MIN_M,
            range_max=RANGE_MAX_M, ranges=self.base.look().astype(np.float32), intensities=np.zeros(0, np.float32),
        )


BASE = Row(
    "bare_base", "", Process.BODY, 50, "test_bare_base:Drivers", takes=(t.CMD_VEL,),
    gives=(t.ODOM, t.SCAN, t.IMU, t.JOINT_STATES, t.BATTERY), doc="a scripted base",
)


class Robot:
    """The base under the mind; a person asks for skills by hand."""

    def __init__(self) -> None:
        self.drivers = Drivers(SETTINGS)
        rows = (BASE, *(row for row in TABLE if row.node in NODES))
        self.graph = LocalGraph(SETTINGS, rows, replace={"bare_base": self.drivers}, record=(t.CMD_VEL,))
        self.graph.run_for(0.5)
        told = PoseWithCovarianceStamped.about(self.graph.now, Pose.planar(*START), 0.1, 0.1)
        self.graph.send(t.INITIAL_POSE.of(told))
        self.graph.run_until(lambda: self.world.localized and self.world.battery > 0.0, 10.0)

    @property
    def world(self) -> WorldState:
        world = self.graph.last(t.WORLD_STATE)
        assert world is not None
        return world

    def ask(self, skill: str, **arguments: str) -> None:
        self.graph.send(
            t.OPERATOR_CALL.of(
                SkillCall(
                    header=Header.at(self.graph.now), id=f"by-hand-{self.graph.now}", skill=skill,
                    arguments=json.dumps(arguments), objective="", source="operator", because=[],
                )
            )
        )

    def outcome(self, patience_s: float = 90.0) -> Outcome:
        before = len(self.graph.sent(t.OUTCOME))
        assert self.graph.run_until(lambda: len(self.graph.sent(t.OUTCOME)) > before, patience_s), "it never ended"
        return self.graph.sent(t.OUTCOME)[-1]


def test_it_drives_to_a_place_within_its_own_limits_and_knows_what_it_can_t_do() -> None:
    robot = Robot()
    assert robot.world.localized
    assert {"lacks(arm)", "lacks(camera)", "lacks(dock)"} <= set(robot.world.facts)
    assert robot.world.battery == pytest.approx(0.8) and not robot.world.docked

    robot.ask("pick", object="red_cube")
    robot.graph.run_for(0.5)
    verdict = robot.graph.sent(t.OPERATOR_VERDICT)[-1]
    assert not verdict.accepted and "no arm" in verdict.reason

    robot.ask("go_to", place="corridor")
    outcome = robot.outcome()
    assert outcome.success, outcome.detail
    x, y, _ = robot.drivers.base.at
    entry = load_places(SETTINGS.map_folder).poses("corridor")[0]
    assert math.dist((x, y), (entry.x, entry.y)) < 0.3
    assert max(abs(sent.twist.linear.x) for sent in robot.graph.sent(t.CMD_VEL)) <= 0.22 + 1e-9


def test_it_stands_when_its_lidar_falls_silent_and_says_so() -> None:
    robot = Robot()
    robot.ask("go_to", place="living_room")
    assert robot.graph.run_until(lambda: robot.drivers.base.linear > 0.15, 30.0), "it does not set out"
    robot.drivers.muted = True
    at = robot.graph.now
    assert robot.graph.run_until(lambda: robot.drivers.base.linear == 0.0, 5.0), "it drives on without a lidar"
    assert robot.graph.now - at < 1.0
    outcome = robot.outcome()
    assert not outcome.success and "lidar" in outcome.detail


def test_it_stops_by_hand_without_an_arm_to_hold() -> None:
    robot = Robot()
    robot.ask("stop")
    outcome = robot.outcome()
    assert outcome.success, outcome.detail
