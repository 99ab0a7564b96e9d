"""The stand-in for a localizer keeps to REP 105 and says what a real one would."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anima import topics as t
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import GroundTruth
from anima.types.std import (
    OccupancyGrid,
    Odometry,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    TFMessage,
    Twist,
    TwistWithCovariance,
)
from anima_sim.localization import SimulatorLocalization

SETTINGS = Settings()


def truth(stamp: float, pose: Pose2D) -> Sent:
    return t.GROUND_TRUTH.of(
        GroundTruth(
            header=Header.at(stamp, "map"), robot=pose.to_msg(), linear_speed=0.0, angular_speed=0.0,
            wheel_speeds=np.zeros(2), objects=[], collisions=0, worst_collision_speed=0.0, docked=False,
        )
    )  # fmt: skip


def odometry(stamp: float, pose: Pose2D) -> Sent:
    measured = PoseWithCovariance(pose=pose.to_msg(), covariance=np.zeros(36))
    twist = TwistWithCovariance(twist=Twist(), covariance=np.zeros(36))
    return t.ODOM.of(Odometry(header=Header.at(stamp, "odom"), child_frame_id="base_link", pose=measured, twist=twist))


def values(sent: list[Sent], name: str) -> list[object]:
    return [item.value for item in sent if item.topic.name == name]


def test_map_to_odom_carries_odometry_to_the_true_pose() -> None:
    true, drifted = Pose2D(3.0, 2.0, 1.0), Pose2D(1.0, -0.5, 0.8)
    given = [odometry(0.98, Pose2D(0.9, -0.5, 0.7)), odometry(1.0, drifted), truth(1.0, true)]
    sent = SimulatorLocalization(SETTINGS).step(1.0, Inbox.of(given))
    (message,) = values(sent, t.TF.name)
    assert isinstance(message, TFMessage)
    (transform,) = message.transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ("map", "odom")
    offset, turn = transform.transform.translation, transform.transform.rotation
    where = Pose2D(offset.x, offset.y, turn.yaw)
    reached = where @ drifted
    assert (reached.x, reached.y) == pytest.approx((true.x, true.y))
    assert math.isclose(reached.yaw, true.yaw)


def test_the_pose_is_in_the_map_and_stamped_when_it_held() -> None:
    sent = SimulatorLocalization(SETTINGS).step(1.3, Inbox.of([truth(1.25, Pose2D(3.0, 2.0, 1.0))]))
    (pose,) = values(sent, t.POSE.name)
    assert isinstance(pose, PoseWithCovarianceStamped)
    assert pose.header.frame_id == "map" and pose.header.stamp.seconds == pytest.approx(1.25)
    assert Pose2D.of(pose.pose.pose).x == pytest.approx(3.0)


def test_without_odometry_of_the_same_time_no_transform_is_invented() -> None:
    stale = SimulatorLocalization(SETTINGS)
    sent = stale.step(2.0, Inbox.of([odometry(1.0, Pose2D(0, 0, 0)), truth(2.0, Pose2D(1, 1, 0))]))
    assert values(sent, t.TF.name) == [] and len(values(sent, t.POSE.name)) == 1


def test_the_map_is_said_once_and_has_walls() -> None:
    localizer = SimulatorLocalization(SETTINGS)
    (grid,) = values(localizer.step(0.0, Inbox()), t.MAP.name)
    assert isinstance(grid, OccupancyGrid)
    assert grid.data.size == grid.info.width * grid.info.height
    assert 0 < int((grid.data == 100).sum()) < grid.data.size
    assert localizer.step(0.05, Inbox()) == []
