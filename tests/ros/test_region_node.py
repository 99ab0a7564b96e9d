"""A row of the brain table as a node: what comes in, when it steps, what goes out."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from support.ros_rig import PROBE, Bench, Probe, start_ros, utterance

from anima import topics as t
from anima.config import Settings
from anima.topics import Qos
from anima.types.base import Header, Msg
from anima.types.mind import Speech
from anima.types.std import BatteryState, String
from anima_nodes.region_node import PROFILES, RegionNode

pytestmark = pytest.mark.ros

TICK_S = 0.02


@pytest.fixture
def node(bench: Bench) -> RegionNode:
    return cast(RegionNode, bench.add(RegionNode(PROBE, Settings())))


@pytest.fixture
def probe(node: RegionNode) -> Probe:
    return cast(Probe, node.component)


def battery(percentage: float) -> BatteryState:
    empty = np.empty(0, np.float32)
    return BatteryState(
        header=Header.at(0.0), voltage=12.0, temperature=20.0, current=0.0, charge=1.0, capacity=1.0,
        design_capacity=1.0, percentage=percentage, power_supply_status=0, power_supply_health=0,
        power_supply_technology=0, present=True, cell_voltage=empty, cell_temperature=empty, location="",
        serial_number="",
    )


def test_it_steps_at_the_rate_of_its_row_whatever_the_ticks(node: RegionNode, probe: Probe) -> None:
    for i in range(1, 501):
        node.advance(i * TICK_S)
    assert len(probe.steps) == pytest.approx(10.0 * PROBE.rate_hz, abs=2)
    assert [now for now, _ in probe.steps] == sorted(now for now, _ in probe.steps)


def test_it_makes_no_burst_of_steps_after_time_leapt_ahead(node: RegionNode, probe: Probe) -> None:
    node.advance(1.0)
    node.advance(100.0)
    before = len(probe.steps)
    for i in range(1, 11):
        node.advance(100.0 + i * TICK_S)
    assert len(probe.steps) - before <= 0.2 * PROBE.rate_hz + 1


def test_it_goes_on_stepping_after_the_clock_jumped_back(node: RegionNode, probe: Probe) -> None:
    for i in range(100):
        node.advance(1000.0 + i * TICK_S)
    probe.steps.clear()
    for i in range(100):
        node.advance(5.0 + i * TICK_S)
    assert probe.steps[0][0] == 5.0
    assert len(probe.steps) == pytest.approx(2.0 * PROBE.rate_hz, abs=2)


def test_a_wake_topic_steps_it_at_once(bench: Bench, node: RegionNode, probe: Probe) -> None:
    node.advance(1.0)
    say = bench.publisher(t.UTTERANCE)
    before = len(probe.steps)
    say(utterance("hello"))
    assert bench.until(lambda: len(probe.steps) > before)
    assert probe.steps[-1] == (1.0, ["hello"])


def test_what_wakes_nobody_waits_for_the_next_step(bench: Bench, node: RegionNode, probe: Probe) -> None:
    node.advance(1.0)
    before = len(probe.steps)
    bench.publisher(t.BATTERY)(battery(0.5))
    assert bench.until(lambda: node.inbox.last(t.BATTERY))
    assert len(probe.steps) == before
    node.advance(2.0)
    assert probe.last_battery == pytest.approx(0.5)


def test_before_time_began_nothing_is_done_and_nothing_is_lost(bench: Bench, node: RegionNode, probe: Probe) -> None:
    bench.publisher(t.UTTERANCE)(utterance("early"))
    assert bench.until(lambda: node.inbox.last(t.UTTERANCE))
    assert probe.steps == []
    node.advance(0.5)
    assert probe.steps == [(0.5, ["early"])]


def test_each_value_is_new_in_exactly_one_step_and_in_order(bench: Bench, node: RegionNode, probe: Probe) -> None:
    say = bench.publisher(t.UTTERANCE)
    for i in range(30):
        say(utterance(str(i)))
    assert bench.until(lambda: len(node.inbox.new(t.UTTERANCE)) == 30)
    node.advance(1.0)
    node.advance(2.0)
    assert [text for _, texts in probe.steps for text in texts] == [str(i) for i in range(30)]


def test_what_the_component_sends_is_published(bench: Bench, node: RegionNode, probe: Probe) -> None:
    heard = bench.listen(t.SPEECH)
    assert bench.until(lambda: bench.node.count_publishers(t.SPEECH.name) == 1)
    speech = Speech(header=Header.at(3.0), text="good morning", cause="u1")
    bench.until(lambda: node.count_subscribers(t.SPEECH.name) == 1)
    probe.to_send = [t.SPEECH.of(speech)]
    node.advance(3.0)
    assert bench.until(lambda: heard)
    assert heard == [speech]


def test_who_joins_late_gets_the_latched_state_but_not_old_events(
    bench: Bench, node: RegionNode, probe: Probe
) -> None:
    speech = Speech(header=Header.at(1.0), text="before you came", cause="")
    probe.to_send = [t.ROBOT_DESCRIPTION.of(String(data="<old/>")), t.ROBOT_DESCRIPTION.of(String(data="<robot/>"))]
    probe.to_send.append(t.SPEECH.of(speech))
    node.advance(1.0)
    description, heard = bench.listen(t.ROBOT_DESCRIPTION), bench.listen(t.SPEECH)
    assert bench.until(lambda: description)
    bench.pass_time(0.2)
    assert [value.data for value in description] == ["<robot/>"]
    assert heard == []


@pytest.mark.parametrize("topic", [*PROBE.takes, *PROBE.gives], ids=lambda topic: topic.name)
def test_topics_have_the_type_and_quality_of_service_of_the_list(
    bench: Bench, node: RegionNode, topic: t.Topic[Msg]
) -> None:
    gives = topic in PROBE.gives
    ask = bench.node.get_publishers_info_by_topic if gives else bench.node.get_subscriptions_info_by_topic
    assert bench.until(lambda: ask(topic.name))
    (info,) = ask(topic.name)
    profile = PROFILES[topic.qos]
    assert info.node_name == PROBE.node
    assert info.topic_type == topic.type.ros
    assert (info.qos_profile.reliability, info.qos_profile.durability) == (profile.reliability, profile.durability)


@pytest.mark.parametrize("qos", Qos)
def test_a_profile_is_what_its_name_says(qos: Qos) -> None:
    reliability, durability, depth = qos.value.split(", ")
    profile = PROFILES[qos]
    assert (profile.reliability is ReliabilityPolicy.RELIABLE) == (reliability == "reliable")
    assert (profile.durability is DurabilityPolicy.TRANSIENT_LOCAL) == (durability == "transient local")
    assert depth == f"depth {profile.depth}"


def test_a_step_after_shutdown_is_no_crash(bench: Bench, node: RegionNode, probe: Probe) -> None:
    rclpy.shutdown()
    probe.to_send = [t.SPEECH.of(Speech(header=Header.at(1.0), text="too late", cause=""))]
    node.advance(1.0)
    assert len(probe.steps) == 1


def test_a_namespace_moves_all_topics_of_a_robot_but_those_that_ros_shares(domain: int) -> None:
    start_ros(domain, "-r", "__ns:=/robot2")
    bench = Bench()
    node = bench.add(RegionNode(PROBE, Settings()))
    try:
        assert node.get_fully_qualified_name() == "/robot2/probe"
        assert bench.until(lambda: node.count_publishers("/robot2/speech") == 1)
    finally:
        bench.close()
        rclpy.try_shutdown()
