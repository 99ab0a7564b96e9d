"""The same flat for the Gazebo of today (gz sim) and its bridge to ROS 2: written from the same scene and robot.

`python -m anima_sim.gazebo.modern FOLDER` writes `flat.sdf` and `ros_gz_bridge.yaml`. Checked of them are their form
and their topics' names and types; they were not run where they were written, because no gz sim was to be had there.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from anima import topics as t
from anima_sim.config import RobotConfig, load_robot
from anima_sim.gazebo import frames
from anima_sim.gazebo.sdf import ROBOT, links_of, world_sdf
from anima_sim.mjcf_scene import world_mjcf
from anima_sim.robot import urdf
from anima_sim.robot_world import WHEEL_JOINTS
from anima_sim.scene import load_scene, pose_rad


@dataclass(frozen=True)
class Bridged:
    """A topic on both sides: its row of `anima.topics`, gz's name and type for it, and which way it goes."""

    topic: t.Topic[Any]
    gz_topic: str
    gz_type: str
    direction: str = "GZ_TO_ROS"


BRIDGE = (
    Bridged(t.CLOCK, "clock", "gz.msgs.Clock"),
    Bridged(t.ODOM, "odom", "gz.msgs.OdometryWithCovariance"),
    Bridged(t.JOINT_STATES, "joint_states", "gz.msgs.Model"),
    Bridged(t.IMU, "imu/data", "gz.msgs.IMU"),
    Bridged(t.SCAN, "scan", "gz.msgs.LaserScan"),
    Bridged(t.BATTERY, f"model/{ROBOT}/battery/cells/state", "gz.msgs.BatteryState"),
    Bridged(t.CAMERA_COLOUR, "camera/image", "gz.msgs.Image"),
    Bridged(t.CAMERA_DEPTH, "camera/depth_image", "gz.msgs.Image"),
    Bridged(t.CAMERA_INFO, "camera/camera_info", "gz.msgs.CameraInfo"),
    Bridged(t.WRIST_IMAGE, "wrist_camera/image", "gz.msgs.Image"),
    Bridged(t.OVERVIEW, "overview", "gz.msgs.Image"),
    Bridged(t.CMD_VEL, "cmd_vel", "gz.msgs.Twist", "ROS_TO_GZ"),
    Bridged(t.ARM_COMMAND, "arm_controller/joint_trajectory", "gz.msgs.JointTrajectory", "ROS_TO_GZ"),
)
NOT_BRIDGED = (t.BUMPERS, t.CLIFFS, t.GROUND_TRUTH)
"""No message of gz sim has their form. The reflex kernel needs the first two: a node of a few lines must make them, of
the touches on `bumpers` (gz.msgs.Contacts) and the four short scans on `cliff_…` (gz.msgs.LaserScan)."""

_WORLD_SYSTEMS = {
    "physics": "Physics", "sensors": "Sensors", "imu": "Imu", "contact": "Contact", "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
}


def bridge_yaml() -> str:
    """The configuration of ros_gz_bridge's parameter_bridge."""
    rows = [
        {
            "ros_topic_name": row.topic.name, "gz_topic_name": row.gz_topic, "ros_type_name": row.topic.type.ros,
            "gz_type_name": row.gz_type, "direction": row.direction,
        }
        for row in BRIDGE
    ]
    head = (
        "# ros_gz_bridge between gz sim and Anima, written by anima_sim.gazebo.modern from the table of topics.\n"
        "# Checked for form, names and types against that table; not run where it was written.\n"
    )
    return head + yaml.safe_dump(rows, sort_keys=False)


def modern_sdf(scene: str = "flat", config: RobotConfig | None = None) -> str:
    """The world for gz sim as SDF text: Gazebo 11's, with the systems and sensors that gz sim has instead."""
    robot = config or load_robot()
    mjcf = world_mjcf(load_scene(scene), robot, urdf())
    root = ET.fromstring(world_sdf(mjcf, robot, robot.simulation.gazebo))
    root.set("version", "1.9")
    world = root.find("world")
    assert world is not None
    for file, name in _WORLD_SYSTEMS.items():
        _system(world, file, name)
    model = world.find(f"model[@name='{ROBOT}']")
    assert model is not None
    pose = model.find("pose")
    assert pose is not None
    x, y, yaw = pose_rad(load_scene(scene).dock.docked)
    pose.text = f"{x:g} {y:g} 0.001 0 0 {yaw:.9g}"
    _cameras(world)
    _senses(model, robot, mjcf)
    _motors(model, robot)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


def _system(parent: ET.Element, file: str, name: str, **settings: object) -> ET.Element:
    plugin = ET.SubElement(parent, "plugin", filename=f"gz-sim-{file}-system", name=f"gz::sim::systems::{name}")
    for key, value in settings.items():
        ET.SubElement(plugin, key).text = str(value)
    return plugin


def _cameras(world: ET.Element) -> None:
    names = {"mast": "camera", "wrist": "wrist_camera", "overview": "overview"}
    for link in world.iter("link"):
        for sensor in link.findall("sensor"):
            name = sensor.attrib["name"]
            if name not in names:
                link.remove(sensor)  # colour and depth are one sensor there
                continue
            sensor.set("type", "camera" if name == "overview" else "rgbd_camera")
            ET.SubElement(sensor, "topic").text = names[name]
            for tag, value in (("always_on", "true"), ("update_rate", "5" if name == "overview" else "10")):
                element = sensor.find(tag)
                assert element is not None
                element.text = value


def _sensor(link: ET.Element, kind: str, name: str, topic: str, rate_hz: float, at: str, frame: str) -> ET.Element:
    sensor = ET.SubElement(link, "sensor", name=name, type=kind)
    for key, value in (("pose", at), ("topic", topic), ("update_rate", f"{rate_hz:g}"), ("always_on", "true"),
                       ("gz_frame_id", frame)):
        ET.SubElement(sensor, key).text = value
    return sensor


def _senses(model: ET.Element, config: RobotConfig, mjcf: str) -> None:
    base = model.find("link[@name='base_link']")
    assert base is not None
    links = links_of(mjcf)
    lidar, cliffs, imu = config.sensors.lidar, config.sensors.cliffs, config.sensors.imu
    _sensor(base, "imu", "imu", "imu/data", imu.rate_hz, frames.pose(links[imu.frame][1]), imu.frame)
    scan = _sensor(base, "gpu_lidar", "lidar", "scan", lidar.rate_hz, frames.pose(links[lidar.frame][1]), lidar.frame)
    _beams(scan, lidar.beams, 6.283185307 * (lidar.beams - 1) / lidar.beams, lidar.range_min_m, lidar.range_max_m)
    for frame in cliffs.frames:
        beam = _sensor(base, "gpu_lidar", frame, frame.removesuffix("_link"), 50.0, frames.pose(links[frame][1]), frame)
        _beams(beam, 1, 0.0, cliffs.range_min_m, cliffs.range_max_m)
    for side in ("left", "right"):
        touch = _sensor(base, "contact", f"bumper_{side}", "bumpers", 50.0, "0 0 0 0 0 0", f"bumper_{side}_link")
        ET.SubElement(ET.SubElement(touch, "contact"), "collision").text = f"bumper_{side}"


def _beams(sensor: ET.Element, count: int, span_rad: float, near_m: float, far_m: float) -> None:
    lidar = ET.SubElement(sensor, "lidar")
    across = ET.SubElement(ET.SubElement(lidar, "scan"), "horizontal")
    for key, value in (("samples", count), ("resolution", 1), ("min_angle", 0.0), ("max_angle", f"{span_rad:.9g}")):
        ET.SubElement(across, key).text = str(value)
    reach = ET.SubElement(lidar, "range")
    for key, value in (("min", near_m), ("max", far_m), ("resolution", 0.001)):
        ET.SubElement(reach, key).text = str(value)


def _motors(model: ET.Element, config: RobotConfig) -> None:
    base, cells = config.base, config.battery
    left, right = WHEEL_JOINTS
    _system(
        model, "diff-drive", "DiffDrive", left_joint=left, right_joint=right, wheel_separation=base.track_m,
        wheel_radius=base.wheel_radius_m, topic="cmd_vel", odom_topic="odom", odom_publish_frequency=50,
        frame_id="odom", child_frame_id="base_link", max_linear_acceleration=base.max_linear_accel_mps2,
        min_linear_acceleration=-base.max_linear_decel_mps2, max_angular_acceleration=base.max_angular_accel_radps2,
    )
    _system(model, "joint-state-publisher", "JointStatePublisher", topic="joint_states")
    arm = _system(
        model, "joint-trajectory-controller", "JointTrajectoryController", topic="arm_controller/joint_trajectory"
    )
    servo = config.simulation.servo
    for joint in config.joints:
        for key, value in (("joint_name", joint), ("initial_position", config.arm.stow[joint]),
                           ("position_p_gain", servo.kp), ("position_d_gain", servo.kv)):
            ET.SubElement(arm, key).text = str(value)
    _system(
        model, "linearbatteryplugin", "LinearBatteryPlugin", battery_name="cells", voltage=cells.full_voltage_v,
        open_circuit_voltage_constant_coef=cells.full_voltage_v, capacity=cells.capacity_wh / cells.full_voltage_v,
        initial_charge=cells.capacity_wh / cells.full_voltage_v, resistance=cells.internal_resistance_ohm,
        smooth_current_tau=1.0, power_load=cells.electronics_w,
    )


def main() -> None:
    """Write both files."""
    parser = argparse.ArgumentParser(prog="python -m anima_sim.gazebo.modern", description=__doc__)
    parser.add_argument("folder", type=Path, help="where flat.sdf and ros_gz_bridge.yaml go")
    parser.add_argument("--scene", default="flat", help="a scene of sim/scenes")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / f"{options.scene}.sdf").write_text(modern_sdf(options.scene), encoding="utf-8")
    (options.folder / "ros_gz_bridge.yaml").write_text(bridge_yaml(), encoding="utf-8")


if __name__ == "__main__":
    main()
