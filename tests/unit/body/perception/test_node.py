"""Perception at work on topics: which pose a picture is placed with, and what it does with bad pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.raycast import CAMERA, Picture, eye_at

from anima import topics as t
from anima.body.perception.node import Perception
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Detections
from anima.types.std import (
    CameraInfo,
    Image,
    Odometry,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Twist,
    TwistWithCovariance,
    Vector3,
)

SETTINGS = Settings()
TABLE = load_places(SETTINGS.map_folder).surface("kitchen_table")
STAND = Pose2D(*TABLE.approaches[0].pose)
CUBE = (TABLE.centre[0] - 0.2, TABLE.centre[1] + 0.1, TABLE.height_m + 0.0175)
EMPTY = np.zeros(36)


def odometry(stamp: float, pose: Pose2D, turning: float = 0.0) -> Sent:
    twist = TwistWithCovariance(twist=Twist(angular=Vector3(z=turning)), covariance=EMPTY)
    return t.ODOM.of(
        Odometry(
            header=Header.at(stamp, "odom"), child_frame_id="base_link",
            pose=PoseWithCovariance(pose=pose.to_msg(), covariance=EMPTY), twist=twist,
        )
    )


def localization(stamp: float, pose: Pose2D) -> Sent:
    estimate = PoseWithCovariance(pose=pose.to_msg(), covariance=EMPTY)
    return t.POSE.of(PoseWithCovarianceStamped(header=Header.at(stamp, "map"), pose=estimate))


def pictures(stamp: float, pose: Pose2D = STAND, depth_stamp: float | None = None) -> list[Sent]:
    """A red cube on the kitchen table, as the camera of a robot at `pose` sees it."""
    picture = Picture(eye_at(pose)).top(*TABLE.centre, *TABLE.size_m, TABLE.height_m)
    picture.box("red", CUBE, (0.035,) * 3, 0.4)
    height, width = picture.metres.shape
    pin = picture.eye.pinhole
    k = np.array([pin.fx, 0, pin.cx, 0, pin.fy, pin.cy, 0, 0, 1.0])
    info = CameraInfo(
        header=Header.at(stamp, CAMERA.frame), height=height, width=width, distortion_model="plumb_bob", d=np.zeros(5),
        k=k, r=np.eye(3).ravel(), p=np.zeros(12),
    )
    colour = image(stamp, "rgb8", 3, picture.rgb)
    depth = image(stamp if depth_stamp is None else depth_stamp, "32FC1", 4, picture.metres.view(np.uint8))
    return [t.CAMERA_INFO.of(info), t.CAMERA_COLOUR.of(colour), t.CAMERA_DEPTH.of(depth)]


def image(stamp: float, encoding: str, pixel_bytes: int, data: np.ndarray) -> Image:
    return Image(
        header=Header.at(stamp, CAMERA.frame), height=240, width=320, encoding=encoding, is_bigendian=0,
        step=320 * pixel_bytes, data=data.reshape(-1),
    )


def detected(sent: list[Sent]) -> Detections | None:
    found = [item.value for item in sent if item.topic.name == t.DETECTIONS.name]
    assert len(found) <= 1
    value = found[0] if found else None
    assert value is None or isinstance(value, Detections)
    return value


def distance_to_cube(seen: Detections) -> float:
    at = seen.detections[0].position
    return math.hypot(at.x - CUBE[0], at.y - CUBE[1])


def test_an_object_is_placed_in_the_map() -> None:
    given = [odometry(1.0, Pose2D(0, 0, 0)), localization(1.0, STAND), *pictures(1.0)]
    seen = detected(Perception(SETTINGS).step(1.05, Inbox.of(given)))
    assert seen is not None and seen.header.frame_id == "map" and seen.header.stamp.seconds == 1.0
    assert [d.colour for d in seen.detections] == ["red"]
    assert distance_to_cube(seen) < 0.006
    assert {view.surface for view in seen.views} == {"kitchen_table"}


def test_a_picture_is_placed_where_the_robot_stood_when_it_was_taken() -> None:
    """The robot drives and turns; the picture is half-way between two odometry samples and older than the pose."""
    odom = [Pose2D(0.0, 0.0, 0.0), Pose2D(0.04, 0.0, 0.02), Pose2D(0.08, 0.002, 0.04)]
    taken_at = STAND @ Pose2D(0.02, 0.0, 0.01)
    given = [
        *(odometry(1.0 + 0.1 * i, pose, turning=0.2) for i, pose in enumerate(odom)),
        localization(1.2, STAND @ odom[2]),
        *pictures(1.05, taken_at),
    ]
    seen = detected(Perception(SETTINGS).step(1.2, Inbox.of(given)))
    assert seen is not None and distance_to_cube(seen) < 0.006


def test_a_picture_waits_for_the_odometry_of_its_moment() -> None:
    eyes = Perception(SETTINGS)
    given = [odometry(0.9, Pose2D(0, 0, 0)), localization(0.9, STAND), *pictures(1.0)]
    assert detected(eyes.step(1.0, Inbox.of(given))) is None
    later = [odometry(1.02, Pose2D(0, 0, 0))]
    inbox = Inbox.of(given)
    inbox.clear()
    inbox.deliver(later[0])
    assert detected(eyes.step(1.1, inbox)) is not None


def test_a_body_whose_odometry_always_comes_a_moment_after_the_picture_is_not_blind() -> None:
    eyes = Perception(SETTINGS)
    inbox = Inbox.of([odometry(0.98, Pose2D(0, 0, 0)), localization(0.98, STAND)])
    seen = []
    for tick in range(10, 16):
        for sent in pictures(0.1 * tick):
            inbox.deliver(sent)
        seen.append(detected(eyes.step(0.1 * tick, inbox)))
        inbox.clear()
        inbox.deliver(odometry(0.1 * tick, Pose2D(0, 0, 0)))
    assert seen[0] is None
    assert [round(one.header.stamp.seconds, 3) for one in seen[1:] if one] == [1.0, 1.1, 1.2, 1.3, 1.4]


def test_without_a_pose_nothing_is_claimed() -> None:
    eyes = Perception(SETTINGS)
    assert eyes.step(1.0, Inbox.of(pictures(1.0))) == []
    assert "where the robot stood" in eyes.why()


@pytest.mark.parametrize(("turning", "sees"), [(0.1, True), (-0.5, True), (1.1, False), (-1.1, False)])
def test_a_fast_turn_blinds_and_a_slow_one_makes_doubtful(turning: float, sees: bool) -> None:
    given = [odometry(1.0, Pose2D(0, 0, 0), turning), localization(1.0, STAND), *pictures(1.0)]
    seen = detected(Perception(SETTINGS).step(1.0, Inbox.of(given)))
    assert (seen is not None) == sees
    if seen is not None and abs(turning) > 0.3:
        still = [odometry(1.0, Pose2D(0, 0, 0)), localization(1.0, STAND), *pictures(1.0)]
        sure = detected(Perception(SETTINGS).step(1.0, Inbox.of(still)))
        assert sure is not None and seen.detections[0].confidence < sure.detections[0].confidence


def test_colour_and_depth_of_different_moments_are_no_picture() -> None:
    given = [odometry(1.0, Pose2D(0, 0, 0)), localization(1.0, STAND), *pictures(1.0, depth_stamp=0.9)]
    assert detected(Perception(SETTINGS).step(1.0, Inbox.of(given))) is None


@pytest.mark.parametrize("fault", ["encoding", "short"])
def test_an_unreadable_picture_is_said_and_survived(fault: str) -> None:
    eyes = Perception(SETTINGS)
    start = [odometry(1.0, Pose2D(0, 0, 0)), localization(1.0, STAND)]
    info, colour, depth = (item.value for item in pictures(1.0))
    change = {"encoding": "bgr8"} if fault == "encoding" else {"data": np.zeros(10, np.uint8)}
    bad = [t.CAMERA_INFO.of(info), t.CAMERA_COLOUR.of(colour.model_copy(update=change)), t.CAMERA_DEPTH.of(depth)]
    assert detected(eyes.step(1.0, Inbox.of([*start, *bad]))) is None
    assert "can't read the picture" in eyes.why()
    assert detected(eyes.step(1.1, Inbox.of([odometry(1.1, Pose2D(0, 0, 0)), *pictures(1.1)]))) is not None
