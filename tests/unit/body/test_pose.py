"""Where the robot is: frames compose as REP 105 says, and odometry carries the pose on between localizations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anima.body.pose import Pose2D, PoseTracker, wrap
from anima.types.base import Header
from anima.types.std import Odometry, PoseWithCovariance, PoseWithCovarianceStamped, Twist, TwistWithCovariance

FLOATS = st.floats(-20, 20)
POSES = st.builds(Pose2D, FLOATS, FLOATS, st.floats(-math.pi, math.pi))


def odometry(at: float, pose: Pose2D) -> Odometry:
    return Odometry(
        header=Header.at(at, "odom"), child_frame_id="base_link",
        pose=PoseWithCovariance(pose=pose.to_msg(), covariance=np.zeros(36)),
        twist=TwistWithCovariance(twist=Twist(), covariance=np.zeros(36)),
    )


def localization(at: float, pose: Pose2D) -> PoseWithCovarianceStamped:
    located = PoseWithCovariance(pose=pose.to_msg(), covariance=np.zeros(36))
    return PoseWithCovarianceStamped(header=Header.at(at, "map"), pose=located)


def same(a: Pose2D, b: Pose2D) -> bool:
    return a.distance(b) < 1e-6 and abs(wrap(a.yaw - b.yaw)) < 1e-6


@given(POSES, POSES)
def test_going_into_a_frame_and_back_changes_nothing(outer: Pose2D, inner: Pose2D) -> None:
    assert same(outer.inverse() @ (outer @ inner), inner)
    assert np.allclose(outer.seen(*outer.point(inner.x, inner.y)), (inner.x, inner.y), atol=1e-6)


@given(st.floats(-50, 50))
def test_angles_wrap_to_the_half_open_turn(angle: float) -> None:
    assert -math.pi < wrap(angle) <= math.pi
    assert math.isclose(math.cos(wrap(angle)), math.cos(angle), abs_tol=1e-9)


@given(POSES, POSES, POSES)
def test_odometry_carries_the_pose_on_after_a_localization(true: Pose2D, start: Pose2D, moved: Pose2D) -> None:
    tracker = PoseTracker()
    tracker.add_odometry(odometry(1.0, start))
    tracker.add_localization(localization(1.0, true))
    tracker.add_odometry(odometry(1.02, start @ moved))
    assert tracker.pose is not None and same(tracker.pose, true @ moved)


def test_a_late_localization_is_matched_with_the_odometry_of_its_own_time() -> None:
    tracker = PoseTracker()
    for k in range(20):
        tracker.add_odometry(odometry(1.0 + 0.02 * k, Pose2D(0.01 * k, 0.0, 0.0)))
    tracker.add_localization(localization(1.1, Pose2D(5.05, 1.0, 0.0)))
    assert tracker.pose is not None
    assert tracker.pose.x == pytest.approx(5.0 + 0.19, abs=1e-6)


def test_a_localization_that_comes_before_its_odometry_waits_for_it() -> None:
    tracker = PoseTracker()
    tracker.add_odometry(odometry(1.0, Pose2D(0.0, 0.0, 0.0)))
    tracker.add_localization(localization(1.04, Pose2D(5.0, 1.0, 0.0)))
    tracker.add_odometry(odometry(1.04, Pose2D(0.2, 0.0, 0.0)))
    tracker.add_odometry(odometry(1.06, Pose2D(0.3, 0.0, 0.0)))
    assert tracker.pose is not None and tracker.pose.x == pytest.approx(5.1)


def test_before_any_localization_the_pose_is_unknown() -> None:
    tracker = PoseTracker()
    tracker.add_odometry(odometry(1.0, Pose2D(1.0, 1.0, 0.0)))
    assert tracker.pose is None


def test_time_that_jumps_back_voids_the_pose() -> None:
    tracker = PoseTracker()
    tracker.add_odometry(odometry(5.0, Pose2D(0.0, 0.0, 0.0)))
    tracker.add_localization(localization(5.0, Pose2D(1.0, 1.0, 0.0)))
    tracker.add_odometry(odometry(0.02, Pose2D(0.0, 0.0, 0.0)))
    assert tracker.pose is None
