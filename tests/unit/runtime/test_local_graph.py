"""The graph in lock-step: rates, wake-ups and the table's order hold, and the same run comes out twice."""

from __future__ import annotations

from typing import Any

import pytest

from anima import topics as t
from anima.brain import Process, Row
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.runtime.local_graph import LocalGraph
from anima.topics import Sent
from anima.types.std import String

PING = t.Topic("ping", String, t.Qos.EVENT)
PONG = t.Topic("pong", String, t.Qos.EVENT)
NOISE = t.Topic("noise", String, t.Qos.SENSOR)


class Echo:
    """Notes when it steps and what is new, and says something each time."""

    def __init__(self, hears: t.Topic[Any], says: t.Topic[Any]) -> None:
        self.hears, self.says = hears, says
        self.steps: list[tuple[float, list[str]]] = []

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        heard = [value.data for value in inbox.new(self.hears)]
        self.steps.append((now, heard))
        return [self.says.of(String(data=f"{self.says.name} {len(self.steps)}"))]

    def why(self) -> str:
        return "it echoes"


def row(node: str, rate_hz: float, takes: t.Topic[Any], gives: t.Topic[Any], wakes: bool = False) -> Row:
    woken = (takes,) if wakes else ()
    return Row(node, "", Process.BRAIN, rate_hz, "nowhere:Nothing", (takes,), (gives,), "a test", wakes=woken)


def graph(first_hz: float = 50.0, second_hz: float = 10.0, wakes: bool = False) -> tuple[LocalGraph, Echo, Echo]:
    first, second = Echo(PONG, PING), Echo(PING, PONG)
    rows = [row("first", first_hz, PONG, PING), row("second", second_hz, PING, PONG, wakes)]
    return LocalGraph(Settings(), rows, {"first": first, "second": second}), first, second


def test_rows_step_at_their_own_rates() -> None:
    local, first, second = graph()
    local.run_for(2.0)
    assert len(first.steps) == 100
    assert len(second.steps) == 20


def test_a_wake_topic_steps_a_slow_row_at_once() -> None:
    local, first, second = graph(first_hz=50.0, second_hz=1.0, wakes=True)
    local.run_for(1.0)
    assert len(second.steps) == len(first.steps)


def test_what_an_earlier_row_sends_arrives_in_the_same_tick_and_backwards_in_the_next() -> None:
    local, first, second = graph(second_hz=50.0)
    local.tick()
    assert second.steps[0][1] == ["ping 1"]
    assert first.steps[0][1] == []
    local.tick()
    assert first.steps[1][1] == ["pong 1"]


def test_nothing_is_new_twice() -> None:
    local, _, second = graph()
    local.run_for(1.0)
    heard = [text for _, new in second.steps for text in new]
    assert heard == [f"ping {k + 1}" for k in range(len(heard))]


def test_the_same_run_comes_out_twice() -> None:
    one, two = graph()[0], graph()[0]
    one.run_for(1.0)
    two.run_for(1.0)
    assert one.log == two.log


def test_sensor_data_is_kept_only_when_asked_for() -> None:
    noisy = Echo(PING, NOISE)
    rows = [row("noisy", 10.0, PING, NOISE)]
    silent = LocalGraph(Settings(), rows, {"noisy": noisy})
    silent.run_for(1.0)
    assert not silent.sent(NOISE) and silent.last(NOISE) is not None
    kept = LocalGraph(Settings(), rows, {"noisy": noisy}, record=[NOISE])
    kept.run_for(1.0)
    assert len(kept.sent(NOISE)) == 10


def test_waiting_for_something_ends_with_it_or_with_the_time() -> None:
    local, first, _ = graph()
    assert local.run_until(lambda: len(first.steps) >= 10, 5.0)
    assert local.now == pytest.approx(0.2)
    assert not local.run_until(lambda: False, 0.5)
    assert local.now == pytest.approx(0.7)


def test_a_replacement_for_a_row_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="third"):
        LocalGraph(Settings(), [], {"third": Echo(PING, PONG)})
