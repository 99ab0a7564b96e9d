"""The robot model against what the description says, and against Pinocchio as a second opinion."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from anima.body.robot_model import RobotModel, RobotModelError, load_robot_file, load_robot_model
from anima.config import ConfigError, Settings

MODEL = load_robot_model(Settings())


def test_the_mast_camera_looks_forward_and_down_from_where_the_description_has_it() -> None:
    pose = MODEL.pose("camera_optical_frame")
    assert pose[:3, 3] == pytest.approx([-0.07, 0.0, 0.95])
    assert pose[:3, 2] == pytest.approx([math.cos(math.radians(42)), 0.0, -math.sin(math.radians(42))])
    assert pose[:3, 0] == pytest.approx([0.0, -1.0, 0.0]), "x of an optical frame is to the right"


@pytest.mark.parametrize("seed", range(5))
def test_links_are_where_pinocchio_has_them(seed: int) -> None:
    other = pinocchio.buildModelFromXML(MODEL.urdf)
    data = other.createData()
    rng = np.random.default_rng(seed)
    arm = {joint.name: rng.uniform(joint.lower, joint.upper) for joint in MODEL.moving() if math.isfinite(joint.upper)}
    q = pinocchio.neutral(other)
    for name, angle in arm.items():
        q[other.joints[other.getJointId(name)].idx_q] = angle
    pinocchio.framesForwardKinematics(other, data, q)
    for link in ("tool_link", "jaw_link", "wrist_camera_optical_frame", "laser_link"):
        assert MODEL.pose(link, arm) == pytest.approx(data.oMf[other.getFrameId(link)].homogeneous, abs=1e-9)


def test_limits_come_from_the_description() -> None:
    assert MODEL.joints["gripper"].lower == pytest.approx(-0.174533)
    assert MODEL.joints["left_wheel_joint"].upper == math.inf
    assert MODEL.joints["camera_link_joint"].fixed


def test_an_unknown_link_is_named_with_those_there_are() -> None:
    with pytest.raises(RobotModelError, match=r"no link 'tail'.*base_footprint"):
        MODEL.pose("tail")


def test_a_text_that_is_no_urdf_is_refused() -> None:
    with pytest.raises(RobotModelError, match="not a URDF"):
        RobotModel("<robot name='x'><joint/></robot>")


def test_a_joint_kind_that_is_not_understood_is_refused_and_not_treated_as_fixed() -> None:
    text = "<robot name='x'><link name='a'/><link name='b'/><joint name='j' type='prismatic'>"
    text += "<parent link='a'/><child link='b'/><limit lower='0' upper='1' effort='1' velocity='1'/></joint></robot>"
    with pytest.raises(RobotModelError, match="'j' is prismatic"):
        RobotModel(text)


def test_a_robot_file_without_camera_says_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("arm: {joints: [a], gripper: g}\nsensors: {}\n")
    with pytest.raises(ConfigError, match=r"r\.yaml:\n  sensors\.mast_camera"):
        load_robot_file(file)
