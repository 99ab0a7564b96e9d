"""A scripted base, for the wiring: a TurtleBot 3's topics over plain ROS 2, without any of the mind's own code.

It drives as it is told at once (no masses, no slip), sees the map's walls with a lidar of 3.5 m that reports 0 where it
meets nothing, and knows its battery in percent. Run as a program; SIGUSR1 silences the lidar.
"""

from __future__ import annotations

import argparse
import math
import re
import signal
import sys
from pathlib import Path

import numpy as np
import rclpy
import yaml
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import BatteryState, Imu, JointState, LaserScan

RATE_HZ, SCAN_EVERY, BATTERY_EVERY = 20.0, 4, 20
RANGE_MIN_M, RANGE_MAX_M, LASER_X_M = 0.12, 3.5, -0.032
TIMEOUT_S = 0.5  # as the OpenCR board stops without commands


class Walls:
    """The occupied cells of a map as `map_server` reads it, and the distance to them along a beam."""

    def __init__(self, folder: Path) -> None:
        about = yaml.safe_load((folder / "map.yaml").read_text(encoding="utf-8"))
        data = (folder / about["image"]).read_bytes()
        head = re.match(rb"P5\s(?:#[^\n]*\s)*(\d+)\s(\d+)\s(\d+)\s", data)
        assert head is not None
        width, height = int(head[1]), int(head[2])
        picture = np.frombuffer(data, np.uint8, width * height, head.end()).reshape(height, width)[::-1]
        self._occupied = (255 - picture) / 255.0 > about["occupied_thresh"]
        self._cell_m, self._origin = about["resolution"], about["origin"][:2]

    def ranges(self, x: float, y: float, headings: np.ndarray) -> np.ndarray:
        """Metres to the first wall in each direction, 0 where there is none within reach."""
        along = np.arange(0.0, RANGE_MAX_M, 0.5 * self._cell_m)
        columns = ((x + np.outer(np.cos(headings), along) - self._origin[0]) / self._cell_m).astype(int)
        rows = ((y + np.outer(np.sin(headings), along) - self._origin[1]) / self._cell_m).astype(int)
        height, width = self._occupied.shape
        hit = self._occupied[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
        first = hit.argmax(axis=1)
        return np.where(hit.any(axis=1), along[first], 0.0)


class BareBase(Node):
    """Integrates `cmd_vel` and tells what it senses."""

    def __init__(self, kind: type, walls: Walls, pose: tuple[float, float, float]) -> None:
        super().__init__("bare_base")
        self.muted = False
        self._walls, self._start = walls, pose
        self._x = self._y = self._yaw = 0.0  # of odometry, which begins at zero wherever it is
        self._wish, self._heard = (0.0, 0.0), -math.inf
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
        self._wish, self._heard = (twist.linear.x, twist.angular.z), self._seconds()

    def _seconds(self) -> float:
        return self.get_clock().now().nanoseconds * 1e-9

    def _step(self) -> None:
        linear, angular = self._wish if self._seconds() - self._heard <= TIMEOUT_S else (0.0, 0.0)
        self._yaw += angular / RATE_HZ
        self._x += linear / RATE_HZ * math.cos(self._yaw)
        self._y += linear / RATE_HZ * math.sin(self._yaw)
        stamp = self.get_clock().now().to_msg()
        odom = Odometry()
        odom.header.stamp, odom.header.frame_id, odom.child_frame_id = stamp, "odom", "base_footprint"
        odom.pose.pose.position.x, odom.pose.pose.position.y = self._x, self._y
        odom.pose.pose.orientation.z = math.sin(self._yaw / 2)
        odom.pose.pose.orientation.w = math.cos(self._yaw / 2)
        odom.twist.twist.linear.x, odom.twist.twist.angular.z = linear, angular
        self._odom.publish(odom)
        imu = Imu()
        imu.header.stamp, imu.header.frame_id, imu.orientation = stamp, "imu_link", odom.pose.pose.orientation
        self._imu.publish(imu)
        joints = JointState(name=["wheel_left_joint", "wheel_right_joint"], position=[0.0, 0.0])
        joints.velocity = [(linear - angular * 0.08) / 0.033, (linear + angular * 0.08) / 0.033]
        joints.header.stamp = stamp
        self._joints.publish(joints)
        self._tick += 1
        if self._tick % SCAN_EVERY == 0 and not self.muted:
            self._scan.publish(self._look(stamp))
        if self._tick % BATTERY_EVERY == 0:
            battery = BatteryState(voltage=12.0, percentage=80.0, present=True)
            battery.header.stamp = stamp
            self._battery.publish(battery)

    def _look(self, stamp: object) -> LaserScan:
        x0, y0, yaw0 = self._start
        yaw = yaw0 + self._yaw
        x = x0 + math.cos(yaw0) * self._x - math.sin(yaw0) * self._y + LASER_X_M * math.cos(yaw)
        y = y0 + math.sin(yaw0) * self._x + math.cos(yaw0) * self._y + LASER_X_M * math.sin(yaw)
        angles = np.arange(360) * math.tau / 360
        scan = LaserScan(angle_min=0.0, angle_max=math.tau * 359 / 360, angle_increment=math.tau / 360)
        scan.header.stamp, scan.header.frame_id = stamp, "base_scan"
        scan.range_min, scan.range_max = RANGE_MIN_M, RANGE_MAX_M
        scan.ranges = self._walls.ranges(x, y, yaw + angles).tolist()
        return scan


def main() -> None:
    """Be a base until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--map", type=Path, required=True)
    parser.add_argument("--pose", type=float, nargs=3, required=True, metavar=("X", "Y", "YAW"))
    parser.add_argument("--stamped", action="store_true", help="listen to TwistStamped")
    arguments = parser.parse_args(rclpy.utilities.remove_ros_args(sys.argv)[1:])
    rclpy.init(args=sys.argv)
    kind = TwistStamped if arguments.stamped else Twist
    base = BareBase(kind, Walls(arguments.map), tuple(arguments.pose))

    def mute(*_: object) -> None:
        base.muted = True

    signal.signal(signal.SIGUSR1, mute)
    executor = EventsExecutor()
    executor.add_node(base)
    try:
        while rclpy.ok():
            executor.spin_once(timeout_sec=1.0)
    except KeyboardInterrupt:
        pass
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
