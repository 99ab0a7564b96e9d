"""A live view for Foxglove: the graph's topics over a WebSocket, as they are on the wire.

It only looks: whatever a viewer sends is not taken, so that no way to the robot leads through it.
"""

from __future__ import annotations

import queue
from typing import Any

import foxglove
import rclpy
from foxglove import Channel, Context, Schema
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from anima.audit.codec import known_topics
from anima.audit.interfaces import definition
from anima.runtime.supervisor import own_namespace
from anima.topics import Topic

from .convert import ros_class
from .region_node import PROFILES

LOOPBACK = "127.0.0.1"
POLL_S = 0.1


class FoxgloveServer(Node):
    """Listens to a topic only while a viewer shows it, so that nobody draws pictures that nobody sees.

    The topics' names are told without the robot's namespace: one layout fits every robot. Raises `RuntimeError`
    when the port can't be had.
    """

    def __init__(self, port: int, host: str = LOOPBACK) -> None:
        self._room = Context()
        self._topics: dict[str, Topic[Any]] = {f"/{topic.name}": topic for topic in known_topics().values()}
        self._channels = {name: self._channel(name, topic) for name, topic in self._topics.items()}
        self._viewers: dict[str, int] = {}
        self._listening: dict[str, Any] = {}
        self._wishes: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
        self._server = foxglove.start_server(
            name="Anima", host=host, port=port, server_listener=_Listener(self._wishes), context=self._room
        )
        # Only now, as a node that was never finished can't be destroyed.
        super().__init__("foxglove_server", namespace=own_namespace())
        self.create_timer(POLL_S, self._attend, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def _channel(self, name: str, topic: Topic[Any]) -> Channel:
        schema = Schema(name=topic.type.ros, encoding="ros2msg", data=definition(topic.type.ros)[0].encode())
        return Channel(name, message_encoding="cdr", schema=schema, context=self._room)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.port)

    def _attend(self) -> None:
        """Follow what viewers began and ceased to show. They say so in threads of their own."""
        while not self._wishes.empty():
            name, change = self._wishes.get()
            if name not in self._topics:
                continue
            self._viewers[name] = max(0, self._viewers.get(name, 0) + change)
            if change > 0:
                # Anew for each viewer: that brings the latched value once more.
                self._leave(name)
                self._listen(name)
            elif not self._viewers[name]:
                self._leave(name)

    def _listen(self, name: str) -> None:
        topic, channel = self._topics[name], self._channels[name]

        def show(data: bytes) -> None:
            channel.log(bytes(data))

        self._listening[name] = self.create_subscription(
            ros_class(topic.type.ros), topic.name, show, PROFILES[topic.qos], raw=True
        )

    def _leave(self, name: str) -> None:
        if name in self._listening:
            self.destroy_subscription(self._listening.pop(name))

    def destroy_node(self) -> None:
        """Send the viewers away too."""
        self._server.stop()
        super().destroy_node()


class _Listener:
    """Notes what viewers want to see; called in the server's threads."""

    def __init__(self, wishes: queue.SimpleQueue[tuple[str, int]]) -> None:
        self._wishes = wishes

    def on_subscribe(self, client: Any, channel: Any) -> None:
        self._wishes.put((channel.topic, 1))

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        self._wishes.put((channel.topic, -1))


def serve(port: int, host: str = LOOPBACK) -> None:
    """Serve until interrupted."""
    rclpy.init(args=["--ros-args", "--log-level", "WARN"], signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = FoxgloveServer(port, host)
        executor = EventsExecutor()
        executor.add_node(node)
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.5)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
