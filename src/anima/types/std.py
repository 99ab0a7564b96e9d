"""Twins of the standard ROS messages: geometry, sensors, navigation, TF."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from .base import Bytes, Duration, Float32s, Float64s, Header, Int8s, Msg, Time


class Vector3(Msg):
    """A free vector."""

    ros: ClassVar[str] = "geometry_msgs/msg/Vector3"
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Point(Msg):
    """A point, metres."""

    ros: ClassVar[str] = "geometry_msgs/msg/Point"
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Quaternion(Msg):
    """A rotation; the identity by default."""

    ros: ClassVar[str] = "geometry_msgs/msg/Quaternion"
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 1.0

    @classmethod
    def from_yaw(cls, yaw: float) -> Quaternion:
        """The rotation by `yaw` radians about z."""
        return cls(z=math.sin(yaw / 2), w=math.cos(yaw / 2))

    @property
    def yaw(self) -> float:
        """The heading about z, radians in (-pi, pi]."""
        return math.atan2(
            2 * (self.w * self.z + self.x * self.y), 1 - 2 * (self.y * self.y + self.z * self.z)
        )


class Pose(Msg):
    """Position in metres and orientation."""

    ros: ClassVar[str] = "geometry_msgs/msg/Pose"
    position: Point = Point()
    orientation: Quaternion = Quaternion()

    @classmethod
    def planar(cls, x: float, y: float, yaw: float) -> Pose:
        """A pose on the floor."""
        return cls(position=Point(x=x, y=y), orientation=Quaternion.from_yaw(yaw))


class PoseStamped(Msg):
    """A pose in a frame at a time."""

    ros: ClassVar[str] = "geometry_msgs/msg/PoseStamped"
    header: Header
    pose: Pose


class PoseArray(Msg):
    """Poses in one frame at a time."""

    ros: ClassVar[str] = "geometry_msgs/msg/PoseArray"
    header: Header
    poses: list[Pose]


class PoseWithCovariance(Msg):
    """A pose with a 6x6 row-major covariance (x, y, z, roll, pitch, yaw)."""

    ros: ClassVar[str] = "geometry_msgs/msg/PoseWithCovariance"
    pose: Pose
    covariance: Float64s


class PoseWithCovarianceStamped(Msg):
    """An estimated pose in a frame at a time."""

    ros: ClassVar[str] = "geometry_msgs/msg/PoseWithCovarianceStamped"
    header: Header
    pose: PoseWithCovariance

    @classmethod
    def about(
        cls, now: float, pose: Pose, sigma_m: float, sigma_rad: float, frame_id: str = "map"
    ) -> PoseWithCovarianceStamped:
        """A pose on the floor, known that well in x and y, and in heading."""
        variances = np.diag([sigma_m**2, sigma_m**2, 0.0, 0.0, 0.0, sigma_rad**2])
        return cls(header=Header.at(now, frame_id), pose=PoseWithCovariance(pose=pose, covariance=variances.ravel()))


class Twist(Msg):
    """Velocity: metres and radians per second."""

    ros: ClassVar[str] = "geometry_msgs/msg/Twist"
    linear: Vector3 = Vector3()
    angular: Vector3 = Vector3()


class TwistStamped(Msg):
    """A velocity in a frame at a time."""

    ros: ClassVar[str] = "geometry_msgs/msg/TwistStamped"
    header: Header
    twist: Twist

    @classmethod
    def planar(cls, now: float, linear: float, angular: float, frame_id: str = "base_link") -> TwistStamped:
        """A command to a wheeled base: forward m/s and counter-clockwise rad/s."""
        return cls(
            header=Header.at(now, frame_id),
            twist=Twist(linear=Vector3(x=linear), angular=Vector3(z=angular)),
        )


class TwistWithCovariance(Msg):
    """A velocity with a 6x6 row-major covariance."""

    ros: ClassVar[str] = "geometry_msgs/msg/TwistWithCovariance"
    twist: Twist
    covariance: Float64s


class Transform(Msg):
    """A rigid transform."""

    ros: ClassVar[str] = "geometry_msgs/msg/Transform"
    translation: Vector3 = Vector3()
    rotation: Quaternion = Quaternion()


class TransformStamped(Msg):
    """The pose of `child_frame_id` in the header's frame."""

    ros: ClassVar[str] = "geometry_msgs/msg/TransformStamped"
    header: Header
    child_frame_id: str
    transform: Transform


class TFMessage(Msg):
    """Transforms for /tf and /tf_static."""

    ros: ClassVar[str] = "tf2_msgs/msg/TFMessage"
    transforms: list[TransformStamped]


class Odometry(Msg):
    """Pose in `header.frame_id` (odom) and velocity in `child_frame_id` (base_link)."""

    ros: ClassVar[str] = "nav_msgs/msg/Odometry"
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


class MapMetaData(Msg):
    """Geometry of an occupancy grid: metres a cell, cells, pose of cell (0, 0)."""

    ros: ClassVar[str] = "nav_msgs/msg/MapMetaData"
    map_load_time: Time
    resolution: float
    width: int
    height: int
    origin: Pose


class OccupancyGrid(Msg):
    """A map: row-major int8 of shape (height * width,), 0 free to 100 occupied, -1 unknown."""

    ros: ClassVar[str] = "nav_msgs/msg/OccupancyGrid"
    header: Header
    info: MapMetaData
    data: Int8s


class Path(Msg):
    """A planned path."""

    ros: ClassVar[str] = "nav_msgs/msg/Path"
    header: Header
    poses: list[PoseStamped]


class LaserScan(Msg):
    """A planar scan. REP 117: -inf too close, +inf nothing seen, NaN bad."""

    ros: ClassVar[str] = "sensor_msgs/msg/LaserScan"
    header: Header
    angle_min: float
    angle_max: float
    angle_increment: float
    time_increment: float
    scan_time: float
    range_min: float
    range_max: float
    ranges: Float32s
    intensities: Float32s


class Imu(Msg):
    """Inertial measurement in `imu_link`: orientation, rad/s, m/s^2; covariances 3x3 row-major (REP 145)."""

    ros: ClassVar[str] = "sensor_msgs/msg/Imu"
    header: Header
    orientation: Quaternion
    orientation_covariance: Float64s
    angular_velocity: Vector3
    angular_velocity_covariance: Float64s
    linear_acceleration: Vector3
    linear_acceleration_covariance: Float64s


class JointState(Msg):
    """Joint positions (rad), velocities (rad/s) and efforts (N m), in the order of `name`."""

    ros: ClassVar[str] = "sensor_msgs/msg/JointState"
    header: Header
    name: list[str]
    position: Float64s
    velocity: Float64s
    effort: Float64s


class BatteryState(Msg):
    """Battery: `percentage` 0..1, `current` negative when discharging, NaN where unknown."""

    ros: ClassVar[str] = "sensor_msgs/msg/BatteryState"
    header: Header
    voltage: float
    temperature: float
    current: float
    charge: float
    capacity: float
    design_capacity: float
    percentage: float
    power_supply_status: int
    power_supply_health: int
    power_supply_technology: int
    present: bool
    cell_voltage: Float32s
    cell_temperature: Float32s
    location: str
    serial_number: str


class Range(Msg):
    """One range reading, metres."""

    ros: ClassVar[str] = "sensor_msgs/msg/Range"
    header: Header
    radiation_type: int
    field_of_view: float
    min_range: float
    max_range: float
    range: float
    variance: float


class Image(Msg):
    """An image; `data` is flat uint8. Encodings in use: rgb8, 32FC1 (depth, metres; NaN invalid)."""

    ros: ClassVar[str] = "sensor_msgs/msg/Image"
    header: Header
    height: int
    width: int
    encoding: str
    is_bigendian: int
    step: int
    data: Bytes


class RegionOfInterest(Msg):
    """A part of an image."""

    ros: ClassVar[str] = "sensor_msgs/msg/RegionOfInterest"
    x_offset: int = 0
    y_offset: int = 0
    height: int = 0
    width: int = 0
    do_rectify: bool = False


class CameraInfo(Msg):
    """Intrinsics: `k` 3x3 row-major, `p` 3x4 row-major, `r` 3x3."""

    ros: ClassVar[str] = "sensor_msgs/msg/CameraInfo"
    header: Header
    height: int
    width: int
    distortion_model: str
    d: Float64s
    k: Float64s
    r: Float64s
    p: Float64s
    binning_x: int = 0
    binning_y: int = 0
    roi: RegionOfInterest = RegionOfInterest()


class JointTrajectoryPoint(Msg):
    """Targets of the joints named by the trajectory, `time_from_start` after its stamp."""

    ros: ClassVar[str] = "trajectory_msgs/msg/JointTrajectoryPoint"
    positions: Float64s
    velocities: Float64s
    accelerations: Float64s
    effort: Float64s
    time_from_start: Duration


class JointTrajectory(Msg):
    """A trajectory; the arm's command stream is a trajectory of one point."""

    ros: ClassVar[str] = "trajectory_msgs/msg/JointTrajectory"
    header: Header
    joint_names: list[str]
    points: list[JointTrajectoryPoint]


class Clock(Msg):
    """Simulated time."""

    ros: ClassVar[str] = "rosgraph_msgs/msg/Clock"
    clock: Time


class String(Msg):
    """A text."""

    ros: ClassVar[str] = "std_msgs/msg/String"
    data: str
