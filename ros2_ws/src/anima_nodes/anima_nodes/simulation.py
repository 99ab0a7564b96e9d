"""The simulator as the source of time: it advances the body's process as fast as wished and as the others follow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from anima import topics as t
from anima.config import Settings
from anima.runtime.pacing import Pacer
from anima.runtime.processes import processes

from .heart import TICK_S, ProcessNode
from .region_node import PROFILES, RegionNode, ros_class

POLL_S = 0.002


class WorldNode(Node):
    """The heart of the world's process: it has no sign of life, as nobody could do anything about its end."""

    def __init__(self, node: RegionNode) -> None:
        super().__init__("process_world")
        self._node = node

    def advance(self, now: float) -> None:
        """Step the world to `now`, and tell when the board switched its motors."""
        self._node.advance(now)
        for at, on in self._node.component.take_switches():  # type: ignore[attr-defined]  # this row builds a FirmwareWorld
            self.get_logger().info(f"motors {'on' if on else 'off'} at {at:.4f} s")


# A board gives up on a host that is silent for 120 ms: no process may fall behind it by that much.
_BOARD_LAG_S = 0.065


def drive_time(
    heart: ProcessNode | WorldNode,
    settings: Settings,
    company: Sequence[ProcessNode] = (),
    before: Callable[[], None] = lambda: None,
) -> None:
    """Make `heart` step through simulated time; `Pacer` says when the next tick may be.

    `company` are the hearts of further robots in the same world: they step after it, and time waits for their minds,
    too. `before` is called before each tick.
    """
    others = processes(settings.composed, settings.sim)
    if isinstance(heart, WorldNode):
        pacer = Pacer(TICK_S, settings.speed, lag_s=_BOARD_LAG_S)
    else:
        others = tuple(name for name in others if name != "body")
        pacer = Pacer(TICK_S, settings.speed)

    def listen(name: str) -> Any:
        def beat(message: Any) -> None:
            stamp = message.header.stamp
            pacer.beat(name, stamp.sec + stamp.nanosec * 1e-9, time.monotonic())

        return beat

    def moving(message: Any) -> None:
        twist = message.twist
        pacer.moving(abs(twist.linear.x) + abs(twist.angular.z) > 1e-6)

    def arm_moving(message: Any) -> None:
        pacer.moving(True)

    hearts = (heart, *company)
    for one in hearts:
        heard = [(t.HEARTBEATS[process], listen(f"{one.get_namespace()}/{process}")) for process in others]
        for topic, take in (*heard, (t.CMD_VEL, moving), (t.ARM_COMMAND, arm_moving)):
            one.create_subscription(ros_class(topic.type.ros), topic.name, take, PROFILES[topic.qos])

    def tick() -> None:
        if pacer.ready(time.monotonic()):
            before()
            now = pacer.advance()
            for one in hearts:
                one.advance(now)

    heart.create_timer(POLL_S, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))
