"""Transforms of the robot: complete, in time, one tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from anima import topics as t
from anima.body.robot_model import load_robot_model
from anima.body.state_publisher import StatePublisher, quaternion
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.std import (
    JointState,
    Odometry,
    Pose,
    PoseWithCovariance,
    TFMessage,
    TransformStamped,
    Twist,
    TwistWithCovariance,
)

SETTINGS = Settings()
MODEL = load_robot_model(SETTINGS)
NAMES = [joint.name for joint in MODEL.moving()]


def joints(stamp: float, angle: float) -> Sent:
    zeros = np.zeros(len(NAMES))
    state = JointState(
        header=Header.at(stamp), name=NAMES, position=np.full(len(NAMES), angle), velocity=zeros, effort=zeros
    )
    return t.JOINT_STATES.of(state)


def odometry(stamp: float) -> Sent:
    pose = PoseWithCovariance(pose=Pose.planar(1.0, 2.0, 0.5), covariance=np.zeros(36))
    twist = TwistWithCovariance(twist=Twist(), covariance=np.zeros(36))
    return t.ODOM.of(Odometry(header=Header.at(stamp, "odom"), child_frame_id="base_link", pose=pose, twist=twist))


def transforms(sent: list[Sent], name: str) -> list[TransformStamped]:
    found = [item.value for item in sent if item.topic.name == name]
    out: list[TransformStamped] = []
    for value in found:
        assert isinstance(value, TFMessage)
        out += value.transforms
    return out


def test_description_and_fixed_transforms_are_said_once() -> None:
    publisher = StatePublisher(SETTINGS)
    first, second = publisher.step(0.0, Inbox()), publisher.step(0.05, Inbox())
    assert {item.topic.name for item in first} == {t.ROBOT_DESCRIPTION.name, t.TF_STATIC.name}
    assert second == []


def test_the_transforms_make_one_tree_from_odom_to_every_link() -> None:
    publisher = StatePublisher(SETTINGS)
    sent = publisher.step(1.0, Inbox.of([joints(1.0, 0.1), odometry(1.0)]))
    parents = {}
    for transform in transforms(sent, t.TF_STATIC.name) + transforms(sent, t.TF.name):
        assert transform.child_frame_id not in parents, "a frame has one parent"
        parents[transform.child_frame_id] = transform.header.frame_id
    assert {joint.child for joint in MODEL.joints.values()} | {"base_link"} == set(parents)
    for frame in parents:
        while frame in parents:
            frame = parents[frame]
        assert frame == "odom"


def test_transforms_carry_the_stamps_of_what_was_measured() -> None:
    publisher = StatePublisher(SETTINGS)
    publisher.step(0.0, Inbox())
    moved = transforms(publisher.step(3.0, Inbox.of([joints(2.9, 0.0), odometry(2.8)])), t.TF.name)
    stamps = {m.child_frame_id: m.header.stamp.seconds for m in moved}
    assert stamps["base_link"] == pytest.approx(2.8) and stamps["jaw_link"] == pytest.approx(2.9)


def test_without_news_nothing_is_repeated() -> None:
    publisher = StatePublisher(SETTINGS)
    inbox = Inbox.of([joints(1.0, 0.0)])
    publisher.step(1.0, inbox)
    inbox.clear()
    assert publisher.step(1.1, inbox) == []


def test_a_joint_reading_that_is_not_a_number_moves_nothing() -> None:
    publisher = StatePublisher(SETTINGS)
    publisher.step(0.0, Inbox())
    assert publisher.step(1.0, Inbox.of([joints(1.0, float("nan"))])) == []


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1))
def test_a_rotation_keeps_its_meaning_as_a_quaternion(q: list[float]) -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(q).as_matrix()
    out = quaternion(matrix)
    assert Rotation.from_quat([out.x, out.y, out.z, out.w]).as_matrix() == pytest.approx(matrix[:3, :3], abs=1e-9)
