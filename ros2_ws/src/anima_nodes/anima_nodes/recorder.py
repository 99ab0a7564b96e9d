"""The flight recorder: every topic of the graph, as it was on the wire, into an MCAP recording.

It runs beside the graph in a process of its own that nothing waits for: when it dies, the robot runs on unrecorded.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from anima import topics as t
from anima.audit.codec import known_topics
from anima.audit.recording import MEBIBYTE, Recording
from anima.body.wires import Wire, plain, wires
from anima.config import ConfigError, RecordSettings, Settings, load_settings
from anima.console.folders import state_folder
from anima.runtime.processes import processes
from anima.topics import Topic
from anima.types.std import Image

from .convert import ros_class
from .process import overrides, spin
from .region_node import PROFILES


class Recorder(Node):
    """Writes what arrives on every topic, images only now and then. Times are those of the wall clock at arrival."""

    def __init__(self, recording: Recording, settings: RecordSettings, topics: Iterable[Wire]) -> None:
        super().__init__("flight_recorder")
        self._recording = recording
        self.fault: OSError | None = None
        for topic in topics:
            pictures = topic.type is Image
            if pictures and not settings.image_every_s:
                continue
            every_ns = round(settings.image_every_s * 1e9) if pictures else 0
            name = self.resolve_topic_name(topic.name)
            write = self._writer(name, topic, every_ns)
            self.create_subscription(ros_class(topic.type.ros), topic.name, write, PROFILES[topic.qos], raw=True)

    def _writer(self, name: str, topic: Wire, every_ns: int) -> Callable[[bytes], None]:
        due = 0

        def write(data: bytes) -> None:
            nonlocal due
            now = time.time_ns()
            if now < due or self.fault is not None:
                return
            due = now + every_ns
            try:
                self._recording.write(name, topic.type.ros, topic.qos, bytes(data), now)
            except OSError as error:  # a full disk ends the recording, not the robot
                self.fault = error
                self.get_logger().error(f"recording ended: {error}")
                rclpy.try_shutdown()

        return write


def topics_of(settings: Settings) -> list[Topic[Any]]:
    """Every topic of the graph; of those that each process has, the ones of the processes that there are."""
    there = processes(settings.composed, settings.sim)
    absent = {
        topic.name
        for kind in (t.HEARTBEATS, t.BRAIN_STATUS, t.JOURNALS)
        for process, topic in kind.items()
        if process not in there
    }
    return [topic for name, topic in known_topics().items() if name not in absent]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line of the recorder."""
    parser = argparse.ArgumentParser(prog="recorder", description=__doc__)
    parser.add_argument("--settings", default="", metavar="FILE", help="the settings file; empty: config/anima.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override a setting")
    parser.add_argument("--folder", default="", help="where recordings go; empty: ~/.local/state/anima/recordings")
    return parser.parse_args(arguments)


def main(argv: list[str] | None = None) -> int:
    """Record until told to stop."""
    arguments = parse(remove_ros_args(argv if argv is not None else sys.argv)[1:])
    try:
        settings = load_settings(overrides(arguments.set), Path(arguments.settings) if arguments.settings else None)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    root = Path(arguments.folder) if arguments.folder else state_folder() / "recordings"
    limits = settings.record
    try:
        recording = Recording(
            root / time.strftime("%Y-%m-%d_%H-%M-%S"), limits.file_mib * MEBIBYTE, limits.total_mib * MEBIBYTE
        )
    except OSError as error:
        print(f"no recording can be made in {root}: {error}", file=sys.stderr)
        return 2
    rclpy.init(args=argv)
    with recording:
        outside = wires(settings)
        heard = [outside.get(topic.name) or plain(topic) for topic in topics_of(settings)]
        node = Recorder(recording, limits, heard)
        node.get_logger().info(f"recording into {recording.folder}")
        executor = EventsExecutor()
        executor.add_node(node)
        try:
            spin(executor)
        finally:
            node.destroy_node()
            executor.shutdown()
            rclpy.try_shutdown()
    return 1 if node.fault is not None else 0


if __name__ == "__main__":
    sys.exit(main())
