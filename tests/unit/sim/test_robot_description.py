"""One robot description, the same for the simulator, for ROS and for the arm's kinematics."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from urdf_parser_py.urdf import URDF

from anima_sim.config import load_robot
from anima_sim.errors import RobotError
from anima_sim.mjcf_robot import robot_mjcf
from anima_sim.robot import urdf

FRAMES = {
    "base_link", "base_footprint", "laser_link", "imu_link", "camera_link", "camera_optical_frame", "tool_link",
    "wrist_camera_link", "wrist_camera_optical_frame", "bumper_left_link", "bumper_right_link",
}
SO_101_LIMITS = {
    "shoulder_pan": (-1.91986, 1.91986),
    "shoulder_lift": (-1.74533, 1.74533),
    "elbow_flex": (-1.69, 1.69),
    "wrist_flex": (-1.65806, 1.65806),
    "wrist_roll": (-2.74385, 2.84121),
    "gripper": (-0.174533, 1.74533),
}


def test_the_description_is_one_tree_below_base_link_with_the_usual_frames() -> None:
    robot = URDF.from_xml_string(urdf())
    assert robot.get_root() == "base_link"
    assert {link.name for link in robot.links} >= FRAMES


def test_the_arm_has_the_so_101s_joints_and_limits() -> None:
    joints = URDF.from_xml_string(urdf()).joint_map
    limits = {n: (joints[n].limit.lower, joints[n].limit.upper) for n in SO_101_LIMITS}
    assert limits == SO_101_LIMITS


def test_every_shape_is_a_primitive() -> None:
    assert "<mesh" not in urdf()


def test_a_namespace_goes_before_every_link_and_leaves_joints_alone() -> None:
    plain, named = URDF.from_xml_string(urdf()), URDF.from_xml_string(urdf("kitchen_bot"))
    assert {link.name for link in named.links} == {f"kitchen_bot/{link.name}" for link in plain.links}
    assert {j.name for j in named.joints} == {j.name for j in plain.joints}


def test_configuration_and_description_agree_about_the_wheels() -> None:
    base, joints = load_robot().base, URDF.from_xml_string(urdf()).joint_map
    left, right = joints["left_wheel_joint"].origin.xyz, joints["right_wheel_joint"].origin.xyz
    assert left[1] - right[1] == pytest.approx(base.track_m)
    assert left[2] == pytest.approx(base.wheel_radius_m)


def test_a_configuration_that_names_a_part_which_is_not_there_is_refused() -> None:
    config = load_robot()
    lidar = config.sensors.lidar.model_copy(update={"frame": "radar_link"})
    wrong = config.model_copy(update={"sensors": config.sensors.model_copy(update={"lidar": lidar})})
    with pytest.raises(RobotError, match="radar_link"):
        robot_mjcf(urdf(), wrong, (0.0, 0.0, 0.0))


def test_a_shape_that_the_simulator_cannot_take_is_refused() -> None:
    root = ET.fromstring(urdf())
    geometry = root.find("link/collision/geometry")
    assert geometry is not None
    geometry.clear()
    ET.SubElement(geometry, "mesh", filename="base.stl")
    with pytest.raises(RobotError, match="boxes, cylinders and spheres"):
        robot_mjcf(ET.tostring(root, encoding="unicode"), load_robot(), (0.0, 0.0, 0.0))
