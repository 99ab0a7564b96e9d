"""Nodes of the brain table in a real ROS context, driven by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.node import Node

from anima import topics as t
from anima.brain import Row
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.runtime.processes import Process
from anima.topics import Sent, Topic
from anima.types.base import Header, Msg
from anima.types.mind import Utterance
from anima_nodes.convert import from_ros, ros_class, to_ros
from anima_nodes.region_node import PROFILES

M = TypeVar("M", bound=Msg)


class Probe:
    """A component that notes its steps and sends what it is told to send next."""

    def __init__(self, settings: Settings) -> None:
        self.steps: list[tuple[float, list[str]]] = []
        self.last_battery: float | None = None
        self.to_send: list[Sent] = []

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Note the time and the words that came."""
        self.steps.append((now, [utterance.text for utterance in inbox.new(t.UTTERANCE)]))
        if battery := inbox.last(t.BATTERY):
            self.last_battery = battery.percentage
        sent, self.to_send = self.to_send, []
        return sent

    def why(self) -> str:
        """What it does."""
        return "listens for a test"


PROBE = Row(
    "probe", "", Process.BRAIN, 10, "support.ros_rig:Probe",
    takes=(t.UTTERANCE, t.BATTERY, t.OBJECTIVES), gives=(t.SPEECH, t.ROBOT_DESCRIPTION, t.SCAN),
    doc="stands in for any row", wakes=(t.UTTERANCE,),
)


def utterance(text: str) -> Utterance:
    """Somebody says something."""
    return Utterance(header=Header.at(0.0), id=text, speaker="ana", text=text)


class Bench:
    """Spins nodes on one EventsExecutor, and a node of its own to publish and listen with."""

    def __init__(self) -> None:
        self.node = Node("bench")
        self.executor = EventsExecutor()
        self._nodes = [self.node]
        self.executor.add_node(self.node)

    def add(self, node: Node) -> Any:
        """Spin a node too."""
        self._nodes.append(node)
        self.executor.add_node(node)
        return node

    def close(self) -> None:
        """Take everything down."""
        for node in self._nodes:
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()

    def publisher(self, topic: Topic[M]) -> Callable[[M], None]:
        """Publishes values on a topic, once somebody listens."""
        outlet = self.node.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])

        def publish(value: M) -> None:
            assert self.until(lambda: outlet.get_subscription_count() > 0), f"nobody listens to {topic.name}"
            outlet.publish(to_ros(value))

        return publish

    def listen(self, topic: Topic[M]) -> list[M]:
        """A list that fills with what the topic brings."""
        received: list[M] = []
        self.node.create_subscription(
            ros_class(topic.type.ros), topic.name,
            lambda message: received.append(from_ros(topic.type, message)), PROFILES[topic.qos],
        )
        return received

    def until(self, true: Callable[[], Any], patience_s: float = 10.0) -> bool:
        """Spin until it is true; False when patience ends before."""
        end = time.monotonic() + patience_s
        while not true():
            if time.monotonic() > end:
                return False
            self.executor.spin_once(timeout_sec=0.02)
        return True

    def pass_time(self, duration_s: float) -> None:
        """Spin for a while, to see that something does not happen."""
        self.until(lambda: False, duration_s)

    def wait(self, future: Any, patience_s: float = 10.0) -> Any:
        """The result of a future."""
        assert self.until(future.done, patience_s), "no answer"
        return future.result()


def start_ros(domain: int, *arguments: str) -> None:
    """A ROS context in a domain, with command-line arguments for all its nodes."""
    rclpy.init(args=["--ros-args", "--log-level", "warn", *arguments] if arguments else None, domain_id=domain)
