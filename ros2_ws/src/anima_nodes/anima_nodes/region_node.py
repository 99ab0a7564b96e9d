"""One row of the brain table as a node: subscriptions fill the inbox, a step empties it, what it sends is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rclpy
from rclpy._rclpy_pybind11 import RCLError
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from anima.audit.journal import Journal
from anima.body.wires import Wire, plain, wires
from anima.brain import Row
from anima.config import Settings
from anima.runtime.component import Component, Inbox
from anima.topics import Qos, Sent, Topic
from anima.types.audit import RegionStatus

from .convert import from_ros, ros_class, to_ros

PROFILES = {
    Qos.SENSOR: QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT),
    Qos.STATE: QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
    Qos.COMMAND: QoSProfile(depth=1),
    Qos.EVENT: QoSProfile(depth=50),
    Qos.EVENT_LATCHED: QoSProfile(depth=50, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}


class RegionNode(Node):
    """Runs the component of a row. Whoever owns the clock calls `advance`; wake topics step it at once."""

    def __init__(
        self,
        row: Row,
        settings: Settings,
        journal: Journal | None = None,
        namespace: str = "",
        component: Component | None = None,
    ) -> None:
        """With a `journal` every step is written down, so that it can be replayed.

        `namespace` is for a process with nodes of several robots, else the command line says it; a `component` that is
        given is not built.
        """
        super().__init__(row.node, namespace=namespace)
        self.row = row
        self.inbox = Inbox()
        self.component: Component = component or (row.build(settings) if journal is None else journal.build(row))
        self._steps = 0
        self._counted_since = 0.0
        self._last_sent = ("", 0.0)
        self.now = 0.0
        self._period = 1.0 / row.rate_hz
        self._due = 0.0
        self._wakes = {topic.name for topic in row.wakes}
        self._wires = wires(settings)
        self._outlets: dict[str, Any] = {}
        for topic in row.gives:
            wire = self._wire(topic)
            self._outlets[topic.name] = self.create_publisher(ros_class(wire.type.ros), wire.name, PROFILES[wire.qos])
        for topic in row.takes:
            wire = self._wire(topic)
            self.create_subscription(ros_class(wire.type.ros), wire.name, self._receiver(topic), PROFILES[wire.qos])

    def _wire(self, topic: Topic[Any]) -> Wire:
        return self._wires.get(topic.name) or plain(topic)

    def _receiver(self, topic: Topic[Any]) -> Callable[[Any], None]:
        wire = self._wire(topic)

        def receive(message: Any) -> None:
            self.put(topic.of(wire.inward(from_ros(wire.type, message), self.now)))

        return receive

    def put(self, sent: Sent) -> None:
        """Put a value into the inbox; a wake topic steps the component at once."""
        self.inbox.deliver(sent)
        if sent.topic.name in self._wakes and self.now > 0.0:
            self.step()

    def advance(self, now: float) -> bool:
        """Time is `now`: step if the row's period is over. A clock that jumped back starts the period anew."""
        if now < self.now:
            self._due = now
        self.now = now
        if now + 1e-9 < self._due:
            return False
        self._due = max(self._due + self._period, now)
        self.step()
        return True

    def step(self) -> None:
        """One step of the component."""
        self._steps += 1
        sent = self.component.step(self.now, self.inbox)
        self.inbox.clear()
        for item in sent:
            self._last_sent = (item.topic.name, self.now)
            self.publish(item)

    def status(self) -> RegionStatus:
        """How it works since the last call: steps per second, what it sent last, and why."""
        spent = self.now - self._counted_since
        rate = self._steps / spent if spent > 0.0 else 0.0
        self._steps, self._counted_since = 0, self.now
        topic, at = self._last_sent
        return RegionStatus(
            node=self.row.node, steps_per_s=rate, last_topic=topic, last_sent_s=at, why=self.component.why()
        )

    def publishes_to_someone(self, topic: Topic[Any]) -> bool:
        """Whether anybody listens to a topic of this node."""
        return self._outlets[topic.name].get_subscription_count() > 0

    def publish(self, sent: Sent) -> None:
        """Publish one value; a context that is shutting down swallows it."""
        try:
            self._outlets[sent.topic.name].publish(to_ros(self._wire(sent.topic).outward(sent.value)))
        except RCLError:
            if rclpy.ok():
                raise
