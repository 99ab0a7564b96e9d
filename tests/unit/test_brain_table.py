"""The brain table is a graph without loose ends."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from anima import topics as t
from anima.brain import SERIAL_BODY, TABLE, WORLD, AnyTopic, Row, publishers, rows_of, table
from anima.runtime.processes import Process

OPERATOR_INPUTS = {
    "operator_call": "people drive a skill by hand (the action execute_skill)",
    "software_stop/request": "people stop the robot from any tool",
    "joy": "people drive base and arm by hand, with a gamepad or a keyboard (anima teleop)",
    "initialpose": "people say where the robot is (rviz: 2D Pose Estimate)",
    "encounter_end": "people say that an encounter is over (anima end)",
    "sim/fault": "people break something in the simulated body",
}
PROCESS_TOPICS = {topic.name for kind in (t.HEARTBEATS, t.BRAIN_STATUS, t.JOURNALS) for topic in kind.values()}
SHARED_BY_CONVENTION = {"tf": "every ROS node with a transform to tell publishes on /tf"}

ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.node)


def all_topics() -> Iterator[AnyTopic]:
    for value in vars(t).values():
        if isinstance(value, t.Topic):
            yield value
    for kind in (t.HEARTBEATS, t.BRAIN_STATUS, t.JOURNALS):
        yield from kind.values()


def test_topics_have_one_definition_each() -> None:
    names = [topic.name for topic in all_topics()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("rows", [TABLE, (WORLD, *table("firmware"))], ids=["mujoco", "firmware"])
def test_every_topic_has_exactly_one_publisher(rows: tuple[Row, ...]) -> None:
    found = publishers(rows)
    for topic in all_topics():
        nodes = found.get(topic.name, [])
        if topic is t.LINK_STATE and rows is TABLE:
            assert nodes == [], "a simulated body has no serial link"
            continue
        if topic.name in SHARED_BY_CONVENTION:
            assert nodes
        elif topic is t.STOP_REQUEST:
            assert set(nodes) <= {"driver"}, "besides people only what drives the body may stop it"
        elif topic.name in PROCESS_TOPICS or topic.name in OPERATOR_INPUTS:
            assert nodes == [], f"{topic.name} comes from outside of the nodes"
        else:
            assert len(nodes) == 1, f"{topic.name} is published by {nodes}"


def test_topics_of_the_table_are_those_of_the_list() -> None:
    listed = set(all_topics())
    assert {topic for row in TABLE for topic in (*row.takes, *row.gives)} <= listed


@ROWS
def test_what_a_node_takes_comes_from_somewhere(row: Row) -> None:
    there = publishers((*TABLE, SERIAL_BODY)).keys() | PROCESS_TOPICS | OPERATOR_INPUTS.keys()
    assert {topic.name for topic in row.takes} <= there


def test_every_operator_input_is_heard() -> None:
    heard = {topic.name for row in TABLE for topic in row.takes}
    assert OPERATOR_INPUTS.keys() <= heard


@ROWS
def test_a_node_is_woken_only_by_what_it_takes(row: Row) -> None:
    assert set(row.wakes) <= set(row.takes)


@ROWS
def test_a_node_names_each_topic_once(row: Row) -> None:
    assert len(set(row.takes)) == len(row.takes)
    assert len(set(row.gives)) == len(row.gives)


@ROWS
def test_a_rate_is_one_that_the_process_can_keep(row: Row) -> None:
    assert 0 < row.rate_hz <= 50, "processes step their nodes every 20 ms"


@ROWS
def test_a_component_is_a_class_that_says_what_it_does(row: Row) -> None:
    module, _, name = row.component.partition(":")
    component = getattr(importlib.import_module(module), name)
    assert callable(component.step)
    assert callable(component.why)
    first, *others = inspect.signature(component).parameters.values()
    assert first.name == "settings"
    assert all(other.default is not other.empty for other in others)
    assert inspect.getdoc(component)


def test_nodes_have_names_of_their_own() -> None:
    names = [row.node for row in TABLE]
    assert len(names) == len(set(names))


def test_every_process_has_nodes_and_a_heartbeat() -> None:
    assert all(rows_of(process) for process in Process)
    assert t.HEARTBEATS.keys() == {process.value for process in Process}


def test_only_the_reflex_kernel_reaches_the_motors() -> None:
    found = publishers()
    assert found[t.CMD_VEL.name] == found[t.ARM_COMMAND.name] == ["reflex_kernel"]
    assert [row.node for row in rows_of(Process.REFLEX)] == ["reflex_kernel"]


def test_the_reflex_kernel_hears_the_heart_of_every_process() -> None:
    (kernel,) = rows_of(Process.REFLEX)
    assert set(t.HEARTBEATS.values()) <= set(kernel.takes)


def test_no_node_knows_the_truth_of_the_simulator() -> None:
    assert [row.node for row in TABLE if t.GROUND_TRUTH in row.takes] == []


def test_names_are_relative_so_that_a_namespace_isolates_a_robot() -> None:
    assert [topic.name for topic in all_topics() if topic.name.startswith("/")] == []
