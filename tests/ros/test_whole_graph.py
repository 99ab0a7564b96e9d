"""The whole graph, as `anima up` starts it: on the wire there is what the brain table says, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from anima_msgs.srv import Say
from support.running_graph import NAMESPACE, Graph, at, running_graph

from anima import topics as t
from anima.body.teleop.tuning import load_teleop
from anima.brain import TABLE, AnyTopic, publishers
from anima.runtime.processes import Process
from anima.types.base import Header
from anima.types.operator import Joy
from anima_nodes.region_node import PROFILES
from anima_sim.bench.first_choice import FirstChoice

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]

TOPICS = sorted(
    {topic.name: topic for row in TABLE for topic in (*row.takes, *row.gives)}.values(), key=lambda topic: topic.name
)
DRIVES_RADPS, BACKS_RADPS = 3.0, 2.0
FOLLOWS_WITHIN_S = 0.1  # of simulated time,
BEHIND_S = 0.1  # and so far the reflexes' process may be behind the simulator when the machine is busy
FELT_RADPS = 0.6
EVERY_TOPIC = pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    logs = tmp_path_factory.mktemp("graph")
    with FirstChoice() as model, running_graph(logs, {"llm.server": model.address}) as graph:
        yield graph


def owners(topic: AnyTopic) -> list[str]:
    """The nodes that publish a topic: rows of the table, or the heart of a process."""
    for process, own in (*t.HEARTBEATS.items(), *t.BRAIN_STATUS.items()):
        if own is topic:
            return [f"process_{process}"]
    return sorted(publishers().get(topic.name, []))


def names(infos: Sequence[Any]) -> list[str]:
    return sorted(info.node_name for info in infos)


def test_every_node_of_the_table_is_up_and_no_other(graph: Graph) -> None:
    expected = {row.node for row in TABLE} | {f"process_{process.value}" for process in Process} | {"bench"}
    assert graph.bench.until(lambda: expected <= set(graph.bench.node.get_node_names()))
    found = graph.bench.node.get_node_names_and_namespaces()
    assert sorted(found) == sorted((name, NAMESPACE) for name in expected)


@EVERY_TOPIC
def test_a_topic_is_published_by_whom_the_table_names_and_by_nobody_else(graph: Graph, topic: AnyTopic) -> None:
    expected = owners(topic)
    assert graph.bench.until(lambda: names(graph.publishers_of(topic)) == expected), names(graph.publishers_of(topic))


@EVERY_TOPIC
def test_a_topic_is_heard_by_every_node_that_takes_it(graph: Graph, topic: AnyTopic) -> None:
    takers = {row.node for row in TABLE if topic in row.takes}
    assert graph.bench.until(lambda: takers <= set(names(graph.takers_of(topic)))), names(graph.takers_of(topic))


@EVERY_TOPIC
def test_a_topic_has_its_type_and_quality_of_service_on_the_wire(graph: Graph, topic: AnyTopic) -> None:
    profile = PROFILES[topic.qos]
    own = {row.node for row in TABLE}
    for info in [*graph.publishers_of(topic), *graph.takers_of(topic)]:
        assert info.topic_type == topic.type.ros, info.node_name
        if info.node_name in own:
            assert info.qos_profile.reliability == profile.reliability, info.node_name
            assert info.qos_profile.durability == profile.durability, info.node_name


def test_beside_the_topics_of_the_table_there_are_only_those_of_ros_itself(graph: Graph) -> None:
    of_processes = [topic for kind in (t.HEARTBEATS, t.BRAIN_STATUS, t.JOURNALS) for topic in kind.values()]
    known = {at(topic.name) for topic in (*TOPICS, *of_processes)}
    found = {name for name, _ in graph.bench.node.get_topic_names_and_types()}
    of_ros = {name for name in found if "/_action/" in name or name in ("/rosout", "/parameter_events")}
    assert found - of_ros <= known


def test_services_and_the_action_are_offered_once(graph: Graph) -> None:
    offered = {name for name, _ in graph.bench.node.get_service_names_and_types()}
    for name in ("software_stop/stop", "software_stop/reset", "sim/inject_fault", "execute_skill/_action/send_goal"):
        assert at(name) in offered


def test_time_goes_on_and_all_processes_keep_up(graph: Graph) -> None:
    for process, beats in graph.beats.items():
        first = beats[-1].header.stamp.seconds
        assert graph.bench.until(lambda b=beats, f=first: b[-1].header.stamp.seconds > f + 1.0, 30.0), process


def test_in_the_middle_of_an_errand_the_wheels_follow_the_hand_and_then_the_errand_goes_on(graph: Graph) -> None:
    truth, backlogs = graph.bench.listen(t.GROUND_TRUTH), graph.bench.listen(t.BACKLOG)
    hands, speeds, stops = (graph.bench.listen(topic) for topic in (t.CMD_VEL_TELEOP, t.CMD_VEL, t.STOP_STATE))
    push = graph.bench.publisher(t.JOY)
    base = load_teleop().base
    axes, buttons = np.zeros(8, np.float32), np.zeros(11, np.int32)
    axes[base.drive_axis], buttons[base.hold_button] = -1.0, 1

    def errand() -> tuple[str, str]:
        found = [one for one in backlogs[-1].objectives if one.condition == "at(robot, kitchen)"] if backlogs else []
        return (found[-1].state, found[-1].reason) if found else ("", "")

    def drives() -> bool:
        assert errand()[0] in ("", "pending", "focused", "parked"), errand()
        return bool(truth) and truth[-1].wheel_speeds.mean() > DRIVES_RADPS

    def backs() -> bool:
        push(Joy(header=Header.at(0.0), axes=axes, buttons=buttons))
        return truth[-1].wheel_speeds.mean() < -BACKS_RADPS and errand()[0] == "parked"

    say = graph.bench.node.create_client(Say, "say")
    assert graph.bench.until(say.service_is_ready, 30.0)
    assert graph.bench.wait(say.call_async(Say.Request(text="go to the kitchen", speaker="ana")), 30.0).success
    assert graph.bench.until(drives, 90.0), f"{errand()}\n{graph.logs()}"
    before = truth[-1].wheel_speeds.mean()
    assert graph.bench.until(backs, 60.0), f"{errand()} at {truth[-1].wheel_speeds} rad/s, {stops[-1:]}"
    took = hands[0].header.stamp.seconds
    followed = [one.header.stamp.seconds for one in truth if one.wheel_speeds.mean() < before - FELT_RADPS]
    assert min(at for at in followed if at >= took) - took <= FOLLOWS_WITHIN_S + BEHIND_S
    assert "a person drives by hand" in errand()[1]
    assert "teleop" in stops[-1].active
    assert graph.bench.until(lambda: "teleop" not in stops[-1].active and speeds[-1].twist.linear.x >= 0.0, 20.0)
    assert graph.bench.until(drives, 60.0), f"it did not go on: {errand()}"


def test_the_particles_and_diagnostics_come_by_for_who_looks(graph: Graph) -> None:
    particles, arrays = graph.bench.listen(t.PARTICLES), graph.bench.listen(t.DIAGNOSTICS)
    assert graph.bench.until(lambda: particles and arrays, 20.0)
    names_told = {status.name.removeprefix("anima: ") for status in arrays[-1].status}
    assert {row.node for row in TABLE} <= names_told


def test_a_killed_process_is_named_and_the_rest_of_the_graph_ends_cleanly(graph: Graph) -> None:
    """Runs last: it takes the graph down."""
    states = graph.bench.listen(t.STOP_STATE)
    velocities = graph.bench.listen(t.CMD_VEL)
    os.kill(graph.supervisor.pid("brain"), signal.SIGKILL)

    deaths: list[Any] = []
    assert graph.bench.until(lambda: deaths.extend(graph.supervisor.deaths()) or deaths)
    assert "the brain process was killed by SIGKILL" in str(deaths[0])
    assert graph.bench.until(lambda: states and "process_silent" in states[-1].active, 20.0)
    assert graph.bench.until(lambda: velocities)
    assert velocities[-1].twist.linear.x == 0.0

    started = time.monotonic()
    codes = graph.supervisor.stop()
    assert codes == {**{process.value: 0 for process in Process}, "brain": -signal.SIGKILL}, graph.logs()
    assert time.monotonic() - started < 60, "they were asked, not forced"
