"""The scripted base as a program: a TurtleBot 3's topics over plain ROS 2."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import rclpy
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import BatteryState, Imu, JointState, LaserScan

from support.scripted_base import BEAMS, RANGE_MAX_M, RANGE_MIN_M, ScriptedBase, Walls

RATE_HZ, SCAN_EVERY, BATTERY_EVERY = 20.0, 4, 20


class BareBase(Node):
    """Drives by `cmd_vel` and tells what it senses."""

    def __init__(self, kind: type, base: ScriptedBase) -> None:
        super().__init__("bare_base")
        self._base = base
        self._tick = 0
        self.create_subscription(kind, "cmd_vel", self._on_velocity, 10)
        self._odom = self.create_publisher(Odometry, "odom", 10)
        self._imu = self.create_publisher(Imu, "imu", 10)
        self._joints = self.create_publisher(JointState, "joint_states", 10)
        self._battery = self.create_publisher(BatteryState, "battery_state", 10)
        self._scan = self.create_publisher(LaserScan, "scan", qos_profile_sensor_data)
        self.create_timer(1.0 / RATE_HZ, self._step)

    def _on_velocity(self, message: Twist | TwistStamped) -> None:
        twist = message.twist if isinstance(message, TwistStamped) else message
        self._base.tell(self._seconds(), twist.linear.x, twist.angular.z)

    def _seconds(self) -> float:
        return float(self.get_clock().now().nanoseconds * 1e-9)

    def _step(self) -> None:
        base = self._base
        base.move(self._seconds(), 1.0 / RATE_HZ)
        stamp = self.get_clock().now().to_msg()
        odom = Odometry(child_frame_id="base_footprint")
        odom.header.stamp, odom.header.frame_id = stamp, "odom"
        odom.pose.pose.position.x, odom.pose.pose.position.y = base.x, base.y
        odom.pose.pose.orientation.z = math.sin(base.yaw / 2)
        odom.pose.pose.orientation.w = math.cos(base.yaw / 2)
        odom.twist.twist.linear.x, odom.twist.twist.angular.z = base.linear, base.angular
        self._odom.publish(odom)
        imu = Imu(orientation=odom.pose.pose.orientation)
        imu.header.stamp, imu.header.frame_id = stamp, "imu_link"
        self._imu.publish(imu)
        joints = JointState(name=["wheel_left_joint", "wheel_right_joint"], position=[0.0, 0.0])
        joints.header.stamp, joints.velocity = stamp, list(base.wheels)
        self._joints.publish(joints)
        self._tick += 1
        if self._tick % SCAN_EVERY == 0:
            scan = LaserScan(range_min=RANGE_MIN_M, range_max=RANGE_MAX_M, angle_increment=math.tau / BEAMS)
            scan.header.stamp, scan.header.frame_id = stamp, "base_scan"
            scan.angle_max = math.tau - scan.angle_increment
            scan.ranges = base.look().tolist()
            self._scan.publish(scan)
        if self._tick % BATTERY_EVERY == 0:
            battery = BatteryState(voltage=12.0, percentage=80.0, present=True)
            battery.header.stamp = stamp
            self._battery.publish(battery)


def main() -> None:
    """Be a base until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", type=Path, required=True)
    parser.add_argument("--pose", type=float, nargs=3, required=True, metavar=("X", "Y", "YAW"))
    parser.add_argument("--stamped", action="store_true", help="listen to TwistStamped")
    arguments = parser.parse_args(remove_ros_args(sys.argv)[1:])
    rclpy.init(args=sys.argv)
    x, y, yaw = arguments.pose
    node = BareBase(TwistStamped if arguments.stamped else Twist, ScriptedBase(Walls(arguments.map), (x, y, yaw)))

    executor = EventsExecutor()
    executor.add_node(node)
    try:
        while rclpy.ok():
            executor.spin_once(timeout_sec=1.0)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
