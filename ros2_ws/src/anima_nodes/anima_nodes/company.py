"""The bodies of several robots in one simulated world: one process for all, each robot in a namespace of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import rclpy
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.experimental import EventsExecutor
from rclpy.utilities import remove_ros_args

from anima import topics as t
from anima.body.pose import Pose2D
from anima.brain import rows_of
from anima.config import ConfigError, Settings, load_settings
from anima.runtime.processes import Process
from anima.types.std import PoseWithCovarianceStamped
from anima_sim.company import Company, Member

from .heart import ProcessNode
from .process import arguments_of_settings, join_ros, overrides, spin
from .region_node import PROFILES, RegionNode, ros_class, to_ros
from .services import NODES
from .simulation import drive_time


def main(argv: list[str] | None = None) -> int:
    """Run the bodies until they are told to stop."""
    parser = arguments_of_settings("company", __doc__)
    parser.add_argument("--robots", required=True, metavar="NAMES", help="their namespaces, e.g. ada,bob")
    arguments = parser.parse_args(remove_ros_args(argv or sys.argv)[1:])
    join_ros(argv)
    try:
        path = Path(arguments.settings) if arguments.settings else None
        run(load_settings(overrides(arguments.set), path), arguments.robots.split(","))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()
    return 0


def run(settings: Settings, names: list[str]) -> None:
    """Build the bodies and spin them until shutdown. Raises `ConfigError` when they can't be built."""
    if settings.sim != "mujoco" or not settings.composed:
        raise ConfigError("several robots in one world: with sim: mujoco and composed: true")
    company = Company(settings, names)
    hearts, bodies = [], []
    for name, member in company.bodies.items():
        nodes = [
            NODES.get(row.node, RegionNode)(
                row, settings, namespace=name, component=member if row.node == "body" else None
            )
            for row in rows_of(Process.BODY.value, settings.sim)
        ]
        bodies.append((nodes[0].inbox, member))
        hearts.append(ProcessNode(Process.BODY.value, nodes, namespace=name))
    everything = [node for heart in hearts for node in (*heart.nodes, heart)]
    for heart, (_, member) in zip(hearts[1:], bodies[1:], strict=True):
        _show_where(heart, member)

    def obey() -> None:
        for inbox, member in bodies:
            member.obey(inbox)
            inbox.clear()

    executor = EventsExecutor()
    for node in everything:
        executor.add_node(node)
    drive_time(hearts[0], settings, hearts[1:], obey)
    try:
        spin(executor)
    finally:
        company.close()
        for node in everything:
            node.destroy_node()
        executor.shutdown()


def _show_where(heart: ProcessNode, member: Member) -> None:
    """Whoever puts a robot down away from its dock shows it the place on the map, as with the button in rviz."""
    topic = t.INITIAL_POSE
    outlet = heart.create_publisher(ros_class(topic.type.ros), topic.name, PROFILES[topic.qos])
    x, y, yaw = member.world.truth.robot_pose()
    shown = PoseWithCovarianceStamped.about(0.0, Pose2D(x, y, yaw).to_msg(), 0.05, 0.05)

    def show() -> None:
        if outlet.get_subscription_count() > 0:
            outlet.publish(to_ros(shown))
            timer.cancel()

    timer = heart.create_timer(0.5, show, clock=Clock(clock_type=ClockType.STEADY_TIME))


if __name__ == "__main__":
    sys.exit(main())
