"""The whole graph, as `anima up` starts it: on the wire there is what the brain table says, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from support.running_graph import NAMESPACE, Graph, at, running_graph

from anima import topics as t
from anima.body.teleop.tuning import load_teleop
from anima.brain import TABLE, AnyTopic, publishers
from anima.runtime.processes import Process
from anima.types.base import Header
from anima.types.operator import Joy
from anima_nodes.region_node import PROFILES

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]

TOPICS = sorted(
    {topic.name: topic for row in TABLE for topic in (*row.takes, *row.gives)}.values(), key=lambda topic: topic.name
)
EVERY_TOPIC = pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with running_graph(tmp_path_factory.mktemp("graph")) as graph:
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


def test_a_gamepad_moves_the_wheels_everybody_is_told_and_letting_go_stops_them(graph: Graph) -> None:
    speeds, stops = graph.bench.listen(t.CMD_VEL), graph.bench.listen(t.STOP_STATE)
    push = graph.bench.publisher(t.JOY)
    base = load_teleop().base
    axes, buttons = np.zeros(8, np.float32), np.zeros(11, np.int32)
    axes[base.drive_axis], buttons[base.hold_button] = 0.5, 1

    def drives() -> bool:
        push(Joy(header=Header.at(0.0), axes=axes, buttons=buttons))
        return any(speed.twist.linear.x > 0.25 * base.drive_mps for speed in speeds)

    assert graph.bench.until(drives, 30.0)
    assert graph.bench.until(lambda: stops and "teleop" in stops[-1].active)
    assert graph.bench.until(lambda: "teleop" not in stops[-1].active and speeds[-1].twist.linear.x == 0.0, 20.0)


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
