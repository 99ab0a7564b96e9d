"""Gazebo's world file says what MuJoCo's says; no Gazebo is needed to see that."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anima_sim.config import load_robot
from anima_sim.errors import SimulationError
from anima_sim.gazebo import frames
from anima_sim.gazebo.sdf import links_of, world_sdf
from anima_sim.mjcf_scene import world_mjcf
from anima_sim.robot import urdf
from anima_sim.scene import load_scene

angles = st.floats(-math.pi, math.pi)


@pytest.fixture(scope="module")
def mjcf() -> str:
    return world_mjcf(load_scene("flat"), load_robot(), urdf())


def sdf_of(mjcf: str, cameras: bool = True) -> ET.Element:
    robot = load_robot()
    return ET.fromstring(world_sdf(mjcf, robot, robot.simulation.gazebo, cameras))


def test_everything_that_can_be_touched_in_one_simulator_can_be_touched_in_the_other(mjcf: str) -> None:
    solid = {
        geom.attrib["name"]
        for geom in ET.fromstring(mjcf).iter("geom")
        if geom.get("contype", "1") != "0" or geom.get("conaffinity", "1") != "0"
    }
    collisions = {collision.attrib["name"] for collision in sdf_of(mjcf).iter("collision")}
    assert solid <= collisions
    added = collisions - solid  # the round ends of the person's limbs
    assert all(name.startswith("person_") for name in added)


def test_the_robot_weighs_the_same_and_has_the_same_joints_and_limits(mjcf: str) -> None:
    source = ET.fromstring(mjcf)
    base = source.find("worldbody/body[@name='base_link']")
    robot = sdf_of(mjcf).find("world/model[@name='robot']")
    assert base is not None and robot is not None
    weight = sum(float(inertial.attrib["mass"]) for inertial in base.iter("inertial"))
    assert sum(float(mass.text or "") for mass in robot.iter("mass")) == pytest.approx(weight)
    wanted = {joint.attrib["name"]: joint.get("range") for joint in base.iter("joint")}
    joints = {joint.attrib["name"]: joint for joint in robot.findall("joint")}
    assert set(joints) == set(wanted)
    for name, span in wanted.items():
        if span is not None:
            low, high = (joints[name].findtext(f"axis/limit/{end}") for end in ("lower", "upper"))
            assert f"{low} {high}" == span


def test_tyres_meet_the_ground_alone_and_rims_all_but_the_ground(mjcf: str) -> None:
    masks = {
        collision.attrib["name"]: int(collision.findtext("surface/contact/collide_bitmask") or "")
        for collision in sdf_of(mjcf).iter("collision")
    }
    assert masks["left_tyre"] & masks["floor_0"] and masks["left_tyre"] & masks["rug"]
    assert not masks["left_tyre"] & masks["sofa_seat"] and not masks["left_tyre"] & masks["red_cube"]
    assert masks["left_rim"] & masks["sofa_seat"] and not masks["left_rim"] & masks["floor_0"]
    assert masks["chassis"] & masks["floor_0"] and masks["chassis"] & masks["wall_0_0"]


def test_a_world_without_cameras_has_no_camera(mjcf: str) -> None:
    assert sdf_of(mjcf, cameras=False).find(".//sensor") is None
    names = {sensor.attrib["name"] for sensor in sdf_of(mjcf).iter("sensor")}
    assert names == {"mast", "mast_depth", "wrist", "wrist_depth", "overview", "overview_film"}


def test_every_frame_of_the_robot_is_found_in_a_link(mjcf: str) -> None:
    links = links_of(mjcf)
    assert links["laser_link"][0] == "base_link"
    assert links["laser_link"][1][:3, 3] == pytest.approx([0.0, 0.0, 0.23])
    assert links["wrist_camera_optical_frame"][0] == "gripper_link"


def test_a_shape_that_gazebo_has_not_is_an_error_that_names_it(mjcf: str) -> None:
    odd = mjcf.replace("</worldbody>", '<geom name="hill" type="hfield" size="1 1 1" rgba="1 1 1 1"/></worldbody>')
    with pytest.raises(SimulationError, match="hill"):
        sdf_of(odd)


@given(angles, st.floats(-math.pi / 2, math.pi / 2), angles)
def test_a_pose_keeps_its_turn(roll: float, pitch: float, yaw: float) -> None:
    def about(axis: int, angle: float) -> frames.Matrix:
        vector = np.zeros(3)
        vector[axis] = math.sin(angle / 2)
        return frames.turn_of(math.cos(angle / 2), *vector)

    at = np.eye(4)
    at[:3, :3] = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    r, p, y = frames.numbers(frames.pose(at))[3:]
    assert about(2, y) @ about(1, p) @ about(0, r) == pytest.approx(at[:3, :3], abs=1e-6)
