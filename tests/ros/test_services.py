"""What people and tools may ask of a running graph by service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anima_msgs.srv import InjectFault, Say
from std_srvs.srv import Trigger
from support.ros_rig import Bench

from anima import topics as t
from anima.audit.journal import Journal
from anima.brain import TABLE, WORLD
from anima.config import load_settings
from anima_nodes.services import NODES, EarsNode, GateNode, ReflexNode, SimulatedBodyNode

pytestmark = pytest.mark.ros

ROWS = {row.node: row for row in TABLE}


def test_nodes_with_services_are_rows_of_the_table() -> None:
    assert NODES.keys() <= {*ROWS, WORLD.node}
    assert set(NODES.values()) == {ReflexNode, SimulatedBodyNode, EarsNode, GateNode}


class Reflex:
    """A reflex kernel in ROS, and its two services."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.node = bench.add(ReflexNode(ROWS["reflex_kernel"], load_settings()))
        self.states = bench.listen(t.STOP_STATE)
        self.velocities = bench.listen(t.CMD_VEL)
        self.node.advance(1.0)

    def call(self, name: str) -> Trigger.Response:
        client = self.bench.node.create_client(Trigger, f"software_stop/{name}")
        assert self.bench.until(client.service_is_ready)
        return self.bench.wait(client.call_async(Trigger.Request()))

    def latched(self) -> bool:
        return bool(self.states) and self.states[-1].latched


@pytest.fixture
def reflex(bench: Bench) -> Iterator[Reflex]:
    yield Reflex(bench)


def test_the_stop_service_latches_at_once_without_waiting_for_the_clock(bench: Bench, reflex: Reflex) -> None:
    answer = reflex.call("stop")
    assert answer.success
    assert "reset" in answer.message
    assert bench.until(reflex.latched)
    assert reflex.states[-1].source == "service"
    assert bench.until(lambda: reflex.velocities)
    assert reflex.velocities[-1].twist.linear.x == 0.0


def test_a_latched_stop_stays_until_the_reset_service_is_called(bench: Bench, reflex: Reflex) -> None:
    reflex.call("stop")
    assert bench.until(reflex.latched)
    for i in range(1, 50):
        reflex.node.advance(1.0 + 0.02 * i)
    bench.pass_time(0.1)
    assert reflex.latched()

    answer = reflex.call("reset")
    assert answer.success
    reflex.node.advance(2.5)
    assert bench.until(lambda: not reflex.latched())
    assert all(velocity.twist.linear.x == 0.0 for velocity in reflex.velocities)


def test_who_comes_after_the_stop_sees_that_it_is_latched(bench: Bench, reflex: Reflex) -> None:
    reflex.call("stop")
    late = bench.listen(t.STOP_STATE)
    assert bench.until(lambda: late)
    assert late[-1].latched


def say(bench: Bench, **request: str) -> Say.Response:
    client = bench.node.create_client(Say, "say")
    assert bench.until(client.service_is_ready)
    return bench.wait(client.call_async(Say.Request(**request)))


@pytest.mark.parametrize("recorded", [False, True], ids=["plain", "recorded"])
def test_what_is_said_is_published_once_however_often_a_tool_asks(bench: Bench, recorded: bool) -> None:
    journal = Journal("brain", load_settings(), print) if recorded else None
    bench.add(EarsNode(ROWS["ears"], load_settings(), journal)).advance(3.0)
    heard = bench.listen(t.UTTERANCE)
    for _ in range(3):
        assert say(bench, text="come to me", speaker="ana", id="u7").success
    answer = say(bench, text="stop")
    assert answer.id, "who gives no id gets one"
    assert bench.until(lambda: len(heard) >= 2)
    assert [(u.id, u.text, u.speaker) for u in heard] == [("u7", "come to me", "ana"), (answer.id, "stop", "person")]


def test_words_that_can_not_be_taken_in_are_refused_with_a_reason(bench: Bench) -> None:
    bench.add(EarsNode(ROWS["ears"], load_settings())).advance(3.0)
    answer = say(bench, text="   ")
    assert not answer.success
    assert "no words" in answer.message


@pytest.fixture
def body(bench: Bench) -> SimulatedBodyNode:
    node = bench.add(SimulatedBodyNode(ROWS["body"], load_settings({"cameras": False})))
    assert isinstance(node, SimulatedBodyNode)
    return node


def inject(bench: Bench, kind: str, target: str = "", duration_s: float = 0.0) -> InjectFault.Response:
    client = bench.node.create_client(InjectFault, "sim/inject_fault")
    assert bench.until(client.service_is_ready)
    return bench.wait(client.call_async(InjectFault.Request(kind=kind, target=target, duration_s=duration_s)))


def test_a_fault_is_injected_and_cleared_by_service(bench: Bench, body: SimulatedBodyNode) -> None:
    answer = inject(bench, "stalled_wheel", "left_wheel")
    assert answer.success, answer.message
    body.advance(0.1)
    assert "stalled_wheel" in body.component.why()
    assert inject(bench, "").success
    body.advance(0.2)
    assert "stalled_wheel" not in body.component.why()


def test_a_fault_that_does_not_exist_is_refused_with_the_reason(bench: Bench, body: SimulatedBodyNode) -> None:
    answer = inject(bench, "gremlins")
    assert not answer.success
    assert "gremlins" in answer.message
