"""The whole graph, started as `anima up` does it, in a namespace and a ROS domain of its own."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy

from anima import topics as t
from anima.brain import AnyTopic
from anima.runtime.supervisor import Supervisor, commands, started_again
from anima.types.mind import Heartbeat
from support.ros_domain import own_domain
from support.ros_rig import Bench, start_ros

NAMESPACE = "/robot2"
PATIENCE_S = 90.0
# No pictures, and a language model that doesn't answer: neither changes what is connected to what.
SETTINGS = {"cameras": "false", "llm.server": "http://127.0.0.1:9", "seed": "5", "memory_url": "none"}


def at(name: str) -> str:
    """A topic's or node's name on the wire."""
    return name if name.startswith("/") else f"{NAMESPACE}/{name}"


class Graph:
    """A running graph in a namespace, and a bench beside it that only listens."""

    def __init__(self, domain: int, logs: Path, more: Mapping[str, str], revived: bool, only: Collection[str]) -> None:
        words_of = {name: words for name, words in commands({**SETTINGS, **more}).items() if not only or name in only}
        namespaced = {name: [*words, "-r", f"__ns:={NAMESPACE}"] for name, words in words_of.items()}
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        self.supervisor = Supervisor(namespaced, logs, started_again(namespaced, "mujoco") if revived else None)
        self.supervisor.__enter__()
        start_ros(domain, "-r", f"__ns:={NAMESPACE}")
        self.bench = Bench()
        self.beats: dict[str, list[Heartbeat]] = {
            name: self.bench.listen(t.HEARTBEATS[name]) for name in self.supervisor.processes if name in t.HEARTBEATS
        }

    def logs(self) -> str:
        return "\n".join(self.supervisor.log(name).read_text() for name in self.supervisor.processes)

    def wait_up(self) -> None:
        up = self.bench.until(lambda: all(self.beats.values()) or self.supervisor.deaths(), PATIENCE_S)
        assert up and all(self.beats.values()), self.logs()

    def close(self) -> None:
        self.supervisor.stop()
        self.bench.close()
        rclpy.try_shutdown()

    def publishers_of(self, topic: AnyTopic) -> list[Any]:
        return list(self.bench.node.get_publishers_info_by_topic(at(topic.name)))

    def takers_of(self, topic: AnyTopic) -> list[Any]:
        found = self.bench.node.get_subscriptions_info_by_topic(at(topic.name))
        return [info for info in found if info.node_name != "bench"]


@contextmanager
def running_graph(
    logs: Path, more: Mapping[str, str] | None = None, revived: bool = False, only: Collection[str] = ()
) -> Iterator[Graph]:
    """A graph that is up, with `more` settings; it is stopped in the end. `revived`: the dead may be started again.

    `only`: no more than these processes of it.
    """
    before = os.environ.get("ROS_DOMAIN_ID")
    with own_domain() as domain:
        graph = Graph(domain, logs, more or {}, revived, only)
        try:
            graph.wait_up()
            yield graph
        finally:
            graph.close()
            if before is None:
                del os.environ["ROS_DOMAIN_ID"]
            else:
                os.environ["ROS_DOMAIN_ID"] = before
