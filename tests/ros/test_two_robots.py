"""Two robots in one simulated world and one ROS domain, each in a namespace of its own, don't hear each other."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import rclpy
from anima_msgs.action import ExecuteSkill
from anima_msgs.srv import Say
from rclpy.action import ActionClient
from std_srvs.srv import Trigger
from support.ros_domain import own_domain
from support.ros_rig import Bench, start_ros
from support.running_graph import SETTINGS

from anima import topics as t
from anima.brain import TABLE, AnyTopic
from anima.console.company import company
from anima.runtime.processes import Process
from anima.runtime.supervisor import Supervisor

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]

PATIENCE_S = 120.0


class Robot:
    """One of the two, seen from outside of its namespace."""

    def __init__(self, name: str, bench: Bench, running: Supervisor, bodies: Supervisor) -> None:
        self.name, self.running, self.bodies, self._bench = name, running, bodies, bench
        self.beats = {process.value: self.listen(t.HEARTBEATS[process.value]) for process in Process}
        self.truth, self.heard = self.listen(t.GROUND_TRUTH), self.listen(t.UTTERANCE)
        self.velocities, self.stops = self.listen(t.CMD_VEL), self.listen(t.STOP_STATE)
        self.worlds = self.listen(t.WORLD_STATE)

    def listen(self, topic: AnyTopic) -> list[Any]:
        return self._bench.listen(dataclasses.replace(topic, name=f"/{self.name}/{topic.name}"))

    def ask(self, kind: Any, service: str, request: Any) -> Any:
        client = self._bench.node.create_client(kind, f"/{self.name}/{service}")
        assert self._bench.until(client.service_is_ready, PATIENCE_S)
        return self._bench.wait(client.call_async(request), 30.0)

    def logs(self) -> str:
        minds = [self.running.log(name) for name in self.running.processes]
        return "\n".join(log.read_text() for log in (*minds, self.bodies.log(Process.BODY.value)))


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with own_domain() as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        start_ros(domain)
        bench = Bench()
        yield bench
        bench.close()
        rclpy.try_shutdown()


@pytest.fixture(scope="module")
def robots(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Robot, Robot]]:
    everything = company(("ada", "bob"), SETTINGS, tmp_path_factory.mktemp("logs"))
    for running in everything.values():
        running.__enter__()
    bodies = everything.pop("")
    found = [Robot(name, bench, running, bodies) for name, running in everything.items()]
    ada, bob = found
    try:
        up = bench.until(lambda: all(all(robot.beats.values()) for robot in found), PATIENCE_S)
        assert up, ada.logs() + bob.logs()
        yield ada, bob
    finally:
        for robot in found:
            robot.running.stop()
        bodies.stop()


def test_every_topic_is_in_one_of_the_namespaces(robots: tuple[Robot, Robot], bench: Bench) -> None:
    names = {topic.name for row in TABLE for topic in (*row.takes, *row.gives)}
    expected = {f"/{robot.name}/{name}" for robot in robots for name in names}
    assert bench.until(lambda: expected <= {name for name, _ in bench.node.get_topic_names_and_types()}, PATIENCE_S)
    found = {name for name, _ in bench.node.get_topic_names_and_types()}
    assert {name for name in found if not name.startswith(("/ada/", "/bob/"))} == {"/rosout", "/parameter_events"}


def test_each_has_its_own_time_and_its_own_transforms(robots: tuple[Robot, Robot], bench: Bench) -> None:
    for robot in robots:
        for topic, givers in ((t.CLOCK, {"body"}), (t.TF, {"state_publisher", "localization"})):
            infos = bench.node.get_publishers_info_by_topic(f"/{robot.name}/{topic.name}")
            assert {(info.node_namespace, info.node_name) for info in infos} == {(f"/{robot.name}", g) for g in givers}


def test_what_is_said_to_one_the_other_does_not_hear(robots: tuple[Robot, Robot], bench: Bench) -> None:
    ada, bob = robots
    answer = bob.ask(Say, "say", Say.Request(text="good morning, bob", speaker="ana", id="u1"))
    assert answer.success
    assert bench.until(lambda: bob.heard, 30.0)
    bench.pass_time(0.5)
    assert [said.text for said in bob.heard] == ["good morning, bob"]
    assert ada.heard == []


def test_a_skill_of_one_does_not_move_the_other(robots: tuple[Robot, Robot], bench: Bench) -> None:
    ada, bob = robots
    assert bench.until(lambda: ada.worlds and ada.worlds[-1].localized, PATIENCE_S), ada.logs()
    where = bob.truth[-1].robot.position
    client = ActionClient(bench.node, ExecuteSkill, "/ada/execute_skill")
    assert bench.until(client.server_is_ready, 30.0)
    goal = ExecuteSkill.Goal(skill="undock", arguments=json.dumps({}))
    leaving = bench.wait(client.send_goal_async(goal), 30.0).get_result_async()
    assert bench.until(leaving.done, PATIENCE_S), ada.logs()
    client.destroy()
    assert leaving.result().result.error_code == 0, leaving.result().result.error_msg
    assert not ada.truth[-1].docked
    moved = np.hypot(bob.truth[-1].robot.position.x - where.x, bob.truth[-1].robot.position.y - where.y)
    assert moved < 0.005
    assert all(sent.twist.linear.x == sent.twist.angular.z == 0.0 for sent in bob.velocities)


def test_the_stop_of_one_does_not_stop_the_other(robots: tuple[Robot, Robot], bench: Bench) -> None:
    ada, bob = robots
    assert bob.ask(Trigger, "software_stop/stop", Trigger.Request()).success
    assert bench.until(lambda: bob.stops and bob.stops[-1].latched, 30.0)
    bench.pass_time(0.5)
    assert not any(state.latched for state in ada.stops)


def test_both_end_cleanly(robots: tuple[Robot, Robot]) -> None:
    """Runs last: it takes the graphs down."""
    for robot in robots:
        assert set(robot.running.stop().values()) == {0}, robot.logs()
    assert set(robots[0].bodies.stop().values()) == {0}, robots[0].logs()
