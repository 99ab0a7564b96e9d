"""The process of the world, where the body is a board behind a line: it owns the time, and outlives the robot."""

from __future__ import annotations

import sys

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.utilities import remove_ros_args

from anima.brain import WORLD
from anima.config import ConfigError, Settings
from anima_sim.board.avr import BoardError

from .process import arguments_of_settings, join_ros, settings_of, spin
from .services import NODES
from .simulation import WorldNode, drive_time


def main(argv: list[str] | None = None) -> int:
    """Run the world until it is told to stop."""
    words = sys.argv if argv is None else argv
    arguments = arguments_of_settings("world", __doc__).parse_args(remove_ros_args(words)[1:])
    join_ros(argv)
    try:
        run(settings_of(arguments, words))
    except (ConfigError, BoardError) as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()
    return 0


def run(settings: Settings) -> None:
    """Build the world and spin it until shutdown. Raises `BoardError` when the firmware isn't built."""
    node = NODES[WORLD.node](WORLD, settings)
    heart = WorldNode(node)
    executor = EventsExecutor()
    for each in (node, heart):
        executor.add_node(each)
    drive_time(heart, settings)
    try:
        spin(executor)
    finally:
        node.component.close()  # type: ignore[attr-defined]  # this row builds a FirmwareWorld
        for each in (node, heart):
            each.destroy_node()
        executor.shutdown()


if __name__ == "__main__":
    sys.exit(main())
