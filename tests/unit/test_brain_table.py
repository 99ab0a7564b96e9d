"""The brain table is a graph without loose ends."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

import pytest

from anima import topics as t
from anima.brain import SERIAL_BODY, TABLE, WORLD, AnyTopic, Row, publishers, rows_of, steering, table
from anima.runtime.processes import NODES, Process, processes

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


EVERY_GRAPH = pytest.mark.parametrize(
    ("sim", "composed"), [(sim, composed) for sim in ("mujoco", "firmware", "none") for composed in (True, False)]
)


@EVERY_GRAPH
def test_every_node_lives_in_one_process_that_beats_and_tells_how_it_is(sim: str, composed: bool) -> None:
    names = processes(composed, sim)
    seated = [row.node for name in names for row in rows_of(name, sim, composed)]
    assert all(rows_of(name, sim, composed) for name in names)
    assert sorted(seated) == sorted(row.node for row in table(sim, composed))
    assert set(names) <= t.HEARTBEATS.keys() & t.BRAIN_STATUS.keys()


def test_one_process_per_node_starts_them_in_the_order_of_the_table() -> None:
    assert {row.node: row.process for row in (*TABLE, SERIAL_BODY)} == NODES
    for sim in ("mujoco", "none"):
        assert [row.node for row in table(sim)] == list(processes(False, sim))


def test_only_the_reflex_kernel_reaches_the_motors() -> None:
    found = publishers()
    assert found[t.CMD_VEL.name] == found[t.ARM_COMMAND.name] == ["reflex_kernel"]
    assert [row.node for row in rows_of("reflex")] == ["reflex_kernel"]


@EVERY_GRAPH
def test_the_reflex_kernel_hears_the_heart_of_what_steers_and_of_nothing_else(sim: str, composed: bool) -> None:
    (kernel,) = rows_of("reflex" if composed else "reflex_kernel", sim, composed)
    heard = {topic for topic in kernel.takes if topic in t.HEARTBEATS.values()}
    assert heard == {t.HEARTBEATS[name] for name in steering(sim, composed)}


def test_the_way_from_a_decision_to_the_wheels_steers_and_so_does_what_hears_the_word_stop() -> None:
    chain = {"ears", "prefrontal_planner", "basal_ganglia_gate", "motor_cortex", "localization", "parietal_affordance"}
    assert chain <= set(steering(composed=False))
    assert set(steering()) == {process.value for process in Process} - {"reflex"}


@EVERY_GRAPH
def test_diagnostics_hear_of_every_process(sim: str, composed: bool) -> None:
    (row,) = [row for row in table(sim, composed) if row.node == "diagnostics"]
    heard = {topic for topic in row.takes if topic in t.BRAIN_STATUS.values()}
    assert heard == {t.BRAIN_STATUS[name] for name in processes(composed, sim)}


def test_no_node_knows_the_truth_of_the_simulator() -> None:
    assert [row.node for row in TABLE if t.GROUND_TRUTH in row.takes] == []


def test_names_are_relative_so_that_a_namespace_isolates_a_robot() -> None:
    assert [topic.name for topic in all_topics() if topic.name.startswith("/")] == []
