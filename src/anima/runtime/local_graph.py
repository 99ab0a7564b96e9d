"""The graph, or a part of it, in one process: rows in lock-step on simulated time, without ROS and without a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from anima.brain import TABLE, Row
from anima.config import Settings
from anima.runtime.component import Component, Inbox
from anima.topics import HEARTBEATS, Qos, Sent, Topic
from anima.types.base import Header, Msg
from anima.types.mind import Heartbeat

M = TypeVar("M", bound=Msg)

TICK_S = 0.02
HEARTBEAT_S = 0.1
# A row is due when its time comes within this of a tick: ticks are multiples of a binary fraction's neighbour.
_SLACK_S = 1e-6


@dataclass(frozen=True)
class Logged:
    """One value that was sent: when, and by which node (empty: from outside)."""

    at: float
    node: str
    sent: Sent


@dataclass
class _Seat:
    """A row at work."""

    row: Row
    component: Component
    inbox: Inbox
    due: float
    woken: bool = False


class LocalGraph:
    """Runs rows of the brain table deterministically, as fast as they compute.

    Each tick moves time on by 20 ms and steps, in the table's order, every row whose rate says so or that a topic
    woke. The body is the first row, so its physics advance first. What a row sends is seen by its receivers in their
    next step: in the same tick where they stand later in the table. The processes' heartbeats are sent for them.

    `replace` puts a component in the place of a node's own; `rows` may be any part of the table. Everything sent is
    kept in `log` except high-rate sensor data, which is kept for the topics in `record`. With a longer `tick_s` time
    moves on in coarser steps, and rows that are faster than that step once in each.
    """

    def __init__(
        self,
        settings: Settings,
        rows: Iterable[Row] = TABLE,
        replace: Mapping[str, Component] | None = None,
        record: Iterable[Topic[Msg]] = (),
        tick_s: float = TICK_S,
    ) -> None:
        self._tick_s = tick_s
        self._ticks_per_beat = max(1, round(HEARTBEAT_S / tick_s))
        given = replace or {}
        self._seats = [
            _Seat(row, given.get(row.node) or row.build(settings), Inbox(), due=tick_s) for row in rows
        ]
        if unknown := set(given) - {seat.row.node for seat in self._seats}:
            raise ValueError(f"replace names no row: {', '.join(sorted(unknown))}")
        self._processes = sorted({seat.row.process.value for seat in self._seats})
        self._takers: dict[str, list[_Seat]] = {}
        self._wakes: dict[str, list[_Seat]] = {}
        for seat in self._seats:
            for topic in seat.row.takes:
                self._takers.setdefault(topic.name, []).append(seat)
            for topic in seat.row.wakes:
                self._wakes.setdefault(topic.name, []).append(seat)
        self._record = {topic.name for topic in record}
        self._taps: list[Callable[[Logged], None]] = []
        self._last: dict[str, Msg] = {}
        self._sent: dict[str, list[Msg]] = {}
        self._ticks = 0
        self.log: list[Logged] = []

    @property
    def now(self) -> float:
        """Simulated time, seconds."""
        return self._ticks * self._tick_s

    def component(self, node: str) -> Component:
        """The component of a row; raises LookupError naming the rows that run."""
        for seat in self._seats:
            if seat.row.node == node:
                return seat.component
        raise LookupError(f"no row {node!r} runs here; there are {', '.join(seat.row.node for seat in self._seats)}")

    def send(self, sent: Sent, node: str = "") -> None:
        """Deliver a value from outside, or one of a node's."""
        logged = Logged(self.now, node, sent)
        name = sent.topic.name
        self._last[name] = sent.value
        if sent.topic.qos is not Qos.SENSOR or name in self._record:
            self.log.append(logged)
            self._sent.setdefault(name, []).append(sent.value)
        for seat in self._takers.get(name, ()):
            seat.inbox.deliver(sent)
        for seat in self._wakes.get(name, ()):
            seat.woken = True
        for tap in self._taps:
            tap(logged)

    def tap(self, listener: Callable[[Logged], None]) -> None:
        """Call `listener` with everything that is sent from now on, sensor data too."""
        self._taps.append(listener)

    def tick(self) -> None:
        """Move time on by a tick and step what is due."""
        self._ticks += 1
        now = self.now
        if self._ticks % self._ticks_per_beat == 1 % self._ticks_per_beat:
            self._beat(now)
        for seat in self._seats:
            timed = now >= seat.due - _SLACK_S
            if not (timed or seat.woken):
                continue
            if timed:
                seat.due = max(seat.due + 1.0 / seat.row.rate_hz, now - 1.0 / seat.row.rate_hz + self._tick_s)
            seat.woken = False
            sent = seat.component.step(now, seat.inbox)
            seat.inbox.clear()
            for item in sent:
                self.send(item, seat.row.node)

    def run_for(self, seconds: float) -> None:
        """Move time on."""
        for _ in range(round(seconds / self._tick_s)):
            self.tick()

    def run_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Tick until `condition` holds; False if it does not within `timeout_s` of simulated time."""
        until = self.now + timeout_s
        while not condition():
            if self.now >= until:
                return False
            self.tick()
        return True

    def last(self, topic: Topic[M]) -> M | None:
        """The newest value of a topic, or None."""
        return cast("M | None", self._last.get(topic.name))

    def sent(self, topic: Topic[M]) -> Sequence[M]:
        """All values of a topic in the log, oldest first."""
        return cast("Sequence[M]", self._sent.get(topic.name, ()))

    def _beat(self, now: float) -> None:
        header = Header.at(now)
        for process in self._processes:
            self.send(HEARTBEATS[process].of(Heartbeat.model_construct(header=header, process=process)))
