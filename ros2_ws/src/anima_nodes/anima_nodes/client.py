"""What a person's tools use to talk to a running graph: speak, drive a skill, stop, listen."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import rclpy
from anima_msgs.action import ExecuteSkill
from anima_msgs.srv import InjectFault, Say
from rclpy.action import ActionClient
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import Trigger

from anima import topics as t
from anima.failure import Failure
from anima.runtime.processes import processes
from anima.runtime.supervisor import own_namespace
from anima.topics import Sent, Topic
from anima.types.base import Header
from anima.types.learning import EncounterEnd

from .convert import from_ros, ros_class, to_ros
from .region_node import PROFILES


class NotReady(RuntimeError):
    """The graph, or a part of it, does not answer; the message says which part and what to do."""


class Client:
    """A short-lived node beside the graph. Values that arrive are handed out by `receive` in the caller's thread."""

    def __init__(self, topics: Iterable[Topic[Any]] = (), namespace: str | None = None) -> None:
        """In `namespace`, or in that of `anima --namespace`."""
        # The signals stay with the program that this client is part of: a SIGTERM ends it, as people expect.
        rclpy.init(args=["--ros-args", "--log-level", "WARN"], signal_handler_options=SignalHandlerOptions.NO)
        self._node = Node(f"anima_client_{os.getpid()}", namespace=own_namespace() if namespace is None else namespace)
        self._received: queue.SimpleQueue[Sent] = queue.SimpleQueue()
        self._alive: set[str] = set()
        self._subscriptions: dict[str, Any] = {}
        self._publishers: dict[str, Any] = {}
        self.subscribe(*topics)
        self._hearts: set[str] = set()
        self._say = self._node.create_client(Say, "say")
        self._skills = ActionClient(self._node, ExecuteSkill, "execute_skill")
        self._stop = self._node.create_client(Trigger, "software_stop/stop")
        self._reset = self._node.create_client(Trigger, "software_stop/reset")
        self._faults = self._node.create_client(InjectFault, "sim/inject_fault")
        self._executor = EventsExecutor()
        self._executor.add_node(self._node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="client", daemon=True)
        self._thread.start()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph."""
        self._closing.set()
        self._thread.join(timeout=3.0)
        self._node.destroy_node()
        rclpy.try_shutdown()

    def receive(self, timeout_s: float) -> Sent | None:
        """The next value, or None after `timeout_s` of the wall clock."""
        try:
            return self._received.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def subscribe(self, *topics: Topic[Any]) -> None:
        """Also hand out what these topics bring."""
        for topic in topics:
            self._subscriptions[topic.name] = self._subscribe(topic, self._received.put)

    def publish(self, sent: Sent) -> None:
        """Say something on a topic that is for people to say: a gamepad's state, where the robot is."""
        topic = sent.topic
        if topic.name not in self._publishers:
            kind = ros_class(topic.type.ros)
            self._publishers[topic.name] = self._node.create_publisher(kind, topic.name, PROFILES[topic.qos])
        self._publishers[topic.name].publish(to_ros(sent.value))

    def unsubscribe(self, *topics: Topic[Any]) -> None:
        """Listen to these topics no more."""
        for topic in topics:
            self._node.destroy_subscription(self._subscriptions.pop(topic.name))

    def wait_ready(self, timeout_s: float, alive: Callable[[], None] = lambda: None) -> None:
        """Wait until every process beats and the ears are open; `alive` may raise when waiting is pointless."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            alive()
            expected = set(self._processes())
            for process in expected - self._hearts:
                self._hearts.add(process)
                self._subscribe(t.HEARTBEATS[process], self._note_beat)
            missing = sorted(expected - self._alive)
            if not missing and self._say.service_is_ready():
                return
            time.sleep(0.05)
        if len(missing) == len(expected):
            where = self._node.get_namespace().strip("/")
            here = f"in the namespace {where} of this ROS domain" if where else "in this ROS domain"
            raise NotReady(f"no robot is up {here}; start one with: anima {f'--namespace {where} ' if where else ''}up")
        raise NotReady(f"nothing from {', '.join(missing) or 'the service say'} within {timeout_s:.0f} s")

    def _processes(self) -> tuple[str, ...]:
        """The processes of the graph that is there, by the heartbeats that somebody gives."""

        def beats(process: str) -> bool:
            return self._node.count_publishers(t.HEARTBEATS[process].name) > 0

        return processes(not beats("reflex_kernel"), "none" if beats("driver") else "mujoco")

    def say(self, text: str, speaker: str = "person") -> str:
        """Say `text` to the robot; returns the utterance's id once it was heard.

        Raises `NotReady` when nobody hears, `ValueError` with the reason when the words can't be taken in.
        """
        request = Say.Request(text=text, speaker=speaker, id=f"u{time.time_ns() // 1_000_000}")
        for last_try in (False, False, True):
            try:
                answer = self._call(self._say, request)
                break
            except NotReady:  # the answer may have been lost on its way: the same id is heard once
                if last_try:
                    raise
        if not answer.success:
            raise ValueError(answer.message)
        return str(answer.id)

    def execute(
        self, skill: str, arguments: str, on_feedback: Callable[[str, float], None], timeout_s: float = 600.0
    ) -> tuple[Failure, str]:
        """Run a skill by hand and wait for its end. On an interrupt the skill is cancelled and the body stops."""
        if not self._skills.wait_for_server(timeout_sec=5.0):
            raise NotReady("nobody offers execute_skill; is the robot up? Start it with: anima up")
        goal = ExecuteSkill.Goal(skill=skill, arguments=arguments)
        sent = self._skills.send_goal_async(
            goal, feedback_callback=lambda m: on_feedback(m.feedback.phase, m.feedback.progress)
        )
        handle = self._wait(sent, 10.0)
        result = handle.get_result_async()
        try:
            answer = self._wait(result, timeout_s).result
        except KeyboardInterrupt:
            self._wait(handle.cancel_goal_async(), 5.0)
            answer = self._wait(result, 15.0).result
        return Failure(answer.error_code), answer.error_msg

    def end_encounter(self, person: str = "") -> str:
        """Tell the learner that the encounter with `person` (empty: with everybody) is over."""
        topic = t.ENCOUNTER_END
        publisher = self._node.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])
        until = time.monotonic() + 5.0
        while publisher.get_subscription_count() == 0:
            if time.monotonic() > until:
                raise NotReady("nobody listens for the end of an encounter; is the robot up? Start it with: anima up")
            time.sleep(0.02)
        now = Header.at(time.time())
        publisher.publish(to_ros(EncounterEnd(header=now, person=person, why="ended by hand")))
        publisher.wait_for_all_acked()
        return f"the encounter{' with ' + person if person else ''} is over"

    def stop(self) -> str:
        """Latch the software stop."""
        return str(self._call(self._stop, Trigger.Request()).message)

    def reset(self) -> str:
        """Reset the software stop; nothing moves by that."""
        return str(self._call(self._reset, Trigger.Request()).message)

    def inject(self, kind: str, target: str, duration_s: float) -> str:
        """Inject a fault into a simulated body; raises `ValueError` with the body's reason when it refuses."""
        answer = self._call(self._faults, InjectFault.Request(kind=kind, target=target, duration_s=duration_s))
        if not answer.success:
            raise ValueError(answer.message)
        return str(answer.message)

    def _call(self, service: Any, request: Any) -> Any:
        if not service.wait_for_service(timeout_sec=5.0):
            raise NotReady(f"nobody offers {service.srv_name}; is the robot up? Start it with: anima up")
        return self._wait(service.call_async(request), 5.0)

    @staticmethod
    def _wait(future: Any, timeout_s: float) -> Any:
        until = time.monotonic() + timeout_s
        while not future.done():
            if time.monotonic() > until:
                raise NotReady(f"no answer within {timeout_s:.0f} s")
            time.sleep(0.01)
        return future.result()

    def _subscribe(self, topic: Topic[Any], receive: Callable[[Sent], None]) -> Any:
        def convert(message: Any) -> None:
            receive(topic.of(from_ros(topic.type, message)))

        return self._node.create_subscription(ros_class(topic.type.ros), topic.name, convert, PROFILES[topic.qos])

    def _note_beat(self, sent: Sent) -> None:
        self._alive.add(sent.topic.name.removeprefix("heartbeat/"))

    def _spin(self) -> None:
        while not self._closing.is_set() and rclpy.ok():
            self._executor.spin_once(timeout_sec=0.2)
