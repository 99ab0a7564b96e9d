"""Readings of the simulated body as the values that cross topics: units and frames of the ROS conventions."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anima.types import mind, std
from anima.types.base import Header, Time
from anima_sim.battery import BatteryState
from anima_sim.config import BatteryConfig, CliffConfig, ImuConfig, LidarConfig
from anima_sim.devices import Floats, Imu, Intrinsics
from anima_sim.robot_world import RobotWorld

_POSE_COVARIANCE = np.diag([0.002, 0.002, 1e6, 1e6, 1e6, 0.005]).ravel()
_TWIST_COVARIANCE = np.diag([0.0005, 1e-6, 1e6, 1e6, 1e6, 0.0005]).ravel()
_NONE = np.zeros(0, np.float32)
# sensor_msgs/BatteryState
_CHARGING, _DISCHARGING, _FULL, _GOOD, _LION = 1, 2, 4, 1, 2
_INFRARED = 1


def clock(now: float) -> std.Clock:
    """Simulated time."""
    return std.Clock(clock=Time.at(now))


def odometry(now: float, reading: tuple[float, float, float, float, float]) -> std.Odometry:
    """Dead reckoning: pose of base_link in odom, velocity in base_link."""
    x, y, yaw, linear, angular = reading
    twist = std.Twist(linear=std.Vector3(x=linear), angular=std.Vector3(z=angular))
    return std.Odometry(
        header=Header.at(now, "odom"),
        child_frame_id="base_link",
        pose=std.PoseWithCovariance(pose=std.Pose.planar(x, y, yaw), covariance=_POSE_COVARIANCE),
        twist=std.TwistWithCovariance(twist=twist, covariance=_TWIST_COVARIANCE),
    )


def joint_states(now: float, reading: dict[str, tuple[float, float, float]]) -> std.JointState:
    """Positions, velocities and efforts of all moving joints."""
    # Each quantity in one piece, as serializers want it.
    position, velocity, effort = (np.array(values, np.float64) for values in zip(*reading.values(), strict=True))
    return std.JointState(
        header=Header.at(now), name=list(reading), position=position, velocity=velocity, effort=effort
    )


def imu(now: float, reading: Imu, config: ImuConfig) -> std.Imu:
    """The inertial unit's sample (REP 145)."""
    x, y, z, w = reading.orientation
    return std.Imu(
        header=Header.at(now, config.frame),
        orientation=std.Quaternion(x=x, y=y, z=z, w=w),
        orientation_covariance=np.diag([1e-4, 1e-4, 1e-2]).ravel(),
        angular_velocity=_vector(reading.angular_velocity),
        angular_velocity_covariance=(np.eye(3) * config.gyro_noise_radps**2).ravel(),
        linear_acceleration=_vector(reading.linear_acceleration),
        linear_acceleration_covariance=(np.eye(3) * config.accel_noise_mps2**2).ravel(),
    )


def bumpers(now: float, pressed: tuple[bool, bool]) -> mind.Bumpers:
    """Left and right bumper."""
    return mind.Bumpers(header=Header.at(now, "base_link"), front_left=pressed[0], front_right=pressed[1])


def cliffs(now: float, ranges: Floats, config: CliffConfig) -> mind.Cliffs:
    """Distances to the floor, each in its sensor's frame."""
    return mind.Cliffs(
        header=Header.at(now, "base_link"),
        ranges=[
            std.Range(
                header=Header.at(now, frame),
                radiation_type=_INFRARED,
                field_of_view=0.05,
                min_range=config.range_min_m,
                max_range=config.range_max_m,
                range=float(value),
                variance=config.noise_m**2,
            )
            for frame, value in zip(config.frames, ranges, strict=True)
        ],
    )


def battery(now: float, state: BatteryState, config: BatteryConfig) -> std.BatteryState:
    """Charge and current; what this battery can't know is NaN."""
    status = _DISCHARGING
    if state.plugged:
        status = _CHARGING if state.charging else _FULL
    full_ah = config.capacity_wh / config.full_voltage_v
    return std.BatteryState(
        header=Header.at(now, "base_link"),
        voltage=state.voltage_v,
        temperature=math.nan,
        current=state.current_a,
        charge=state.percentage * full_ah,
        capacity=full_ah,
        design_capacity=full_ah,
        percentage=state.percentage,
        power_supply_status=status,
        power_supply_health=_GOOD,
        power_supply_technology=_LION,
        present=True,
        cell_voltage=_NONE,
        cell_temperature=_NONE,
        location="base",
        serial_number="simulated",
    )


def scan(now: float, ranges: Floats, config: LidarConfig) -> std.LaserScan:
    """One turn of the lidar, counter-clockwise from straight ahead."""
    step = 2 * math.pi / config.beams
    return std.LaserScan(
        header=Header.at(now, config.frame),
        angle_min=0.0,
        angle_max=step * (config.beams - 1),
        angle_increment=step,
        time_increment=0.0,
        scan_time=1.0 / config.rate_hz,
        range_min=config.range_min_m,
        range_max=config.range_max_m,
        ranges=ranges,
        intensities=_NONE,
    )


def colour(now: float, image: npt.NDArray[np.uint8], frame: str) -> std.Image:
    """A colour picture, shape (height, width, 3), as rgb8."""
    height, width, _ = image.shape
    return _image(now, frame, height, width, "rgb8", 3 * width, np.ascontiguousarray(image).reshape(-1))


def depth(now: float, image: Floats, frame: str) -> std.Image:
    """A depth picture, shape (height, width), metres, NaN invalid, as 32FC1."""
    height, width = image.shape
    return _image(now, frame, height, width, "32FC1", 4 * width, np.ascontiguousarray(image).view(np.uint8).reshape(-1))


def camera_info(now: float, lens: Intrinsics, frame: str) -> std.CameraInfo:
    """The camera's geometry."""
    k = np.array([lens.fx, 0.0, lens.cx, 0.0, lens.fy, lens.cy, 0.0, 0.0, 1.0])
    p = np.array([lens.fx, 0.0, lens.cx, 0.0, 0.0, lens.fy, lens.cy, 0.0, 0.0, 0.0, 1.0, 0.0])
    return std.CameraInfo(
        header=Header.at(now, frame),
        height=lens.height,
        width=lens.width,
        distortion_model="plumb_bob",
        d=np.zeros(5),
        k=k,
        r=np.eye(3).ravel(),
        p=p,
    )


def truth(now: float, world: RobotWorld) -> mind.GroundTruth:
    """What really is, for the judge alone."""
    judge = world.truth
    linear, angular = judge.robot_velocity()
    objects = []
    for thing in world.scene.objects:
        (x, y, z), (qw, qx, qy, qz) = (values.tolist() for values in judge.object_pose(thing.name))
        pose = std.Pose(position=std.Point(x=x, y=y, z=z), orientation=std.Quaternion(x=qx, y=qy, z=qz, w=qw))
        objects.append(mind.ObjectTruth(name=thing.name, pose=pose, support=judge.on_surface(thing.name) or ""))
    return mind.GroundTruth(
        header=Header.at(now, "map"),
        robot=std.Pose.planar(*judge.robot_pose()),
        linear_speed=linear,
        angular_speed=angular,
        wheel_speeds=np.array(judge.wheel_speeds()),
        objects=objects,
        collisions=len(judge.collisions),
        worst_collision_speed=judge.max_collision_speed_mps(),
        docked=world.on_dock(),
    )


def _image(
    now: float, frame: str, height: int, width: int, encoding: str, step: int, data: npt.NDArray[np.uint8]
) -> std.Image:
    head = Header.at(now, frame)
    return std.Image(
        header=head, height=height, width=width, encoding=encoding, is_bigendian=0, step=step, data=data
    )


def _vector(values: tuple[float, float, float]) -> std.Vector3:
    return std.Vector3(x=values[0], y=values[1], z=values[2])
