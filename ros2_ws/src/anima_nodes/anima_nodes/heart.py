"""The heart of a process: steps its nodes as time goes on, beats, and tells how they work."""

from __future__ import annotations

from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from anima import topics as t
from anima.audit.journal import Journal
from anima.config import Settings
from anima.types.audit import BrainStatus, JournalChunk
from anima.types.base import Header, Msg
from anima.types.mind import Heartbeat

from .convert import ros_class, to_ros
from .region_node import PROFILES, RegionNode

HEARTBEAT_S = 0.05
STATUS_S = 1.0
JOURNAL_S = 0.2
TICK_S = 0.02


class ProcessNode(Node):
    """Steps the nodes of a process as time goes on, and says that the process lives.

    Under `use_sim_time` the clock topic is the time: each message steps what is due, so that simulated time may
    run at any speed. Otherwise a timer does, every `TICK_S`. The heartbeat carries the time up to which all
    nodes of the process have worked; it isn't sent while they are behind. Once a second it says how each node works,
    and it passes the journal of their steps on to the recorder.
    """

    def __init__(
        self, process: str, nodes: list[RegionNode], journal: ProcessJournal | None = None, namespace: str = ""
    ) -> None:
        # Nobody asks it for parameters or types, and with a process per node every endpoint is told to every other.
        super().__init__(
            f"process_{process}", namespace=namespace, start_parameter_services=False,
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
        )
        self._process = process
        self.nodes = nodes
        self._next_beat = 0.0
        self._next_status = self._next_flush = 0.0
        self._journal = journal
        self._beat = self._publisher(t.HEARTBEATS[process])
        self._status = self._publisher(t.BRAIN_STATUS[process])
        self._chunks = self._publisher(t.JOURNALS[process]) if journal is not None else None

    def _publisher(self, topic: t.Topic[Any]) -> Any:
        return self.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])

    def follow_clock(self) -> None:
        """Let the clock topic, or a timer of our own, drive the nodes."""
        if self.get_parameter("use_sim_time").value:
            self.create_subscription(Clock, t.CLOCK.name, self._on_clock, PROFILES[t.CLOCK.qos])
        else:
            self.create_timer(TICK_S, self._on_timer)

    def _on_clock(self, message: Clock) -> None:
        self.advance(message.clock.sec + message.clock.nanosec * 1e-9)

    def _on_timer(self) -> None:
        self.advance(self.get_clock().now().nanoseconds * 1e-9)

    def advance(self, now: float) -> None:
        """Step every node that is due at `now`, then beat."""
        for node in self.nodes:
            node.advance(now)
        if now >= self._next_beat or now < self._next_beat - 2 * HEARTBEAT_S:
            self._next_beat = now + HEARTBEAT_S
            self._send(self._beat, Heartbeat(header=Header.at(now), process=self._process))
        if now >= self._next_status or now < self._next_status - 2 * STATUS_S:
            self._next_status = now + STATUS_S
            regions = [node.status() for node in self.nodes]
            self._send(self._status, BrainStatus(header=Header.at(now), process=self._process, regions=regions))
        if self._journal is not None and (now >= self._next_flush or now < self._next_flush - 2 * JOURNAL_S):
            self._next_flush = now + JOURNAL_S
            for chunk in self._journal.take(now):
                self._send(self._chunks, chunk)

    @staticmethod
    def _send(publisher: Any, value: Msg) -> None:
        try:
            publisher.publish(to_ros(value))
        except Exception:
            if rclpy.ok():
                raise


class ProcessJournal(Journal):
    """The journal of a process as numbered chunks for its topic."""

    def __init__(self, process: str, settings: Settings) -> None:
        self._texts: list[str] = []
        self._name, self._chunks = process, 0
        super().__init__(process, settings, self._texts.append)

    def take(self, now: float) -> list[JournalChunk]:
        """What was written since the last call."""
        self.flush()
        taken, self._texts[:] = list(self._texts), []
        first, self._chunks = self._chunks, self._chunks + len(taken)
        return [
            JournalChunk(header=Header.at(now), process=self._name, sequence=first + number, lines=text)
            for number, text in enumerate(taken)
        ]
