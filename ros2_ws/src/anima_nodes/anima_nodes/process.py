"""One operating-system process of the graph: the nodes of its rows on one EventsExecutor, and its heartbeat."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.utilities import remove_ros_args

from anima import topics as t
from anima.body.equipment import load_equipment
from anima.brain import rows_of
from anima.config import ConfigError, Settings, load_settings
from anima.runtime.processes import REFLEXES, processes
from anima.runtime.supervisor import NAMESPACE_VARIABLE

from .heart import ProcessJournal, ProcessNode
from .region_node import RegionNode
from .services import NODES, ReflexNode


def join_ros(argv: list[str] | None) -> None:
    """Begin with ROS. A namespace has its own time, for which the clocks of rclpy would otherwise look in `/clock`."""
    rclpy.init(args=[*(sys.argv if argv is None else argv), "--ros-args", "-r", f"/clock:={t.CLOCK.name}"])


def spin(executor: EventsExecutor) -> None:
    """Spin until shutdown. `spin()` itself busy-loops in some releases; a long `spin_once` does not."""
    # What start-up made stays. Else the collector looks through all of it at some moment of the first drive, and the
    # whole process stands still for it: 30 to 60 ms of a fast processor, longer than the reflexes' period.
    gc.collect()
    gc.freeze()
    try:
        while rclpy.ok():
            executor.spin_once(timeout_sec=1.0)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


def arguments_of_settings(name: str, doc: str | None) -> argparse.ArgumentParser:
    """The part of a process's command line that says what it is configured by."""
    parser = argparse.ArgumentParser(prog=name, description=doc)
    parser.add_argument(
        "--settings", default="", metavar="FILE", help="the settings file; empty or absent: config/anima.yaml"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="override a setting, e.g. --set seed=3 --set llm.threads=1 (values are JSON or text; empty: no override)",
    )
    return parser


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line of a process."""
    parser = arguments_of_settings("process", __doc__)
    parser.add_argument("--process", required=True, choices=list(t.HEARTBEATS))
    parser.add_argument(
        "--stopped", action="store_true", help="begin with the software stop latched, as after a death of the reflexes"
    )
    return parser.parse_args(arguments)


def overrides(pairs: list[str]) -> dict[str, Any]:
    """`key=value` texts as settings; a value that is JSON counts as such, an empty one overrides nothing."""
    result: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise ConfigError(f"--set {pair}: write it as KEY=VALUE, e.g. --set seed=3")
        if not value:
            continue
        try:
            result[key] = json.loads(value)
        except ValueError:
            result[key] = value
    return result


def namespace_of(argv: list[str]) -> str:
    """The ROS namespace on a command line, or empty."""
    return next((word.partition(":=")[2] for word in reversed(argv) if word.startswith("__ns:=")), "")


def settings_of(arguments: argparse.Namespace, argv: list[str]) -> Settings:
    """What the command line says; the namespace in it tells the emulated boards of several robots apart.

    Raises `ConfigError`.
    """
    board = {"link.board": namespace_of(argv)} if namespace_of(argv) else {}
    path = Path(arguments.settings) if arguments.settings else None
    return load_settings({**board, **overrides(arguments.set)}, path)


def main(argv: list[str] | None = None) -> int:
    """Run one process of the graph until it is told to stop."""
    words = sys.argv if argv is None else argv
    arguments = parse(remove_ros_args(words)[1:])
    process = arguments.process
    if namespace := namespace_of(words):
        os.environ[NAMESPACE_VARIABLE] = namespace  # by it the memories of several robots are told apart
    try:
        settings = settings_of(arguments, words)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    if process in REFLEXES and hasattr(os, "nice"):
        # Without the right to be first it still runs, and the body's own time-out stands behind it.
        with contextlib.suppress(PermissionError):
            os.nice(-10)
    join_ros(argv)
    try:
        run(process, settings, arguments.stopped)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except Exception:
        if rclpy.ok():
            raise
        # Told to stop while it was starting: its context was gone before its nodes were there.
    finally:
        rclpy.try_shutdown()
    return 0


def run(process: str, settings: Settings, stopped: bool = False) -> None:
    """Build the nodes of a process and spin them until shutdown. Raises `ConfigError` when they can't be built."""
    started = time.monotonic()
    rows = rows_of(process, settings.sim, settings.composed, settings.pose)
    if not rows:
        there = ", ".join(processes(settings.composed, settings.sim))
        raise ConfigError(f"--process {process}: with composed: {str(settings.composed).lower()} there are {there}")
    journal = ProcessJournal(process, settings) if settings.record.on and process in t.JOURNALS else None
    equipment = load_equipment(settings)
    present = [row for row in rows if equipment.takes_part(row.node)]
    nodes = [NODES.get(row.node, RegionNode)(row, settings, journal) for row in present]
    if stopped:
        for node in nodes:
            if isinstance(node, ReflexNode):
                node.begin_stopped()
    heart = ProcessNode(process, nodes, journal)
    executor = EventsExecutor()
    for node in (*nodes, heart):
        executor.add_node(node)
    if rows[0].node == "body":
        from .simulation import drive_time

        drive_time(heart, settings)
    else:
        heart.follow_clock()
    heart.get_logger().info(f"{', '.join(node.get_name() for node in nodes)} up ({time.monotonic() - started:.1f} s)")
    try:
        spin(executor)
    finally:
        for node in (*nodes, heart):
            node.destroy_node()
        executor.shutdown()


if __name__ == "__main__":
    sys.exit(main())
