"""Whatever sensors and people say, localization says a finite pose with a covariance, or nothing."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anima import topics as t
from anima.body.localization.node import Localization
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.std import (
    LaserScan,
    Odometry,
    Pose,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    TFMessage,
    Twist,
    TwistWithCovariance,
)

LOCALIZATION = Localization(Settings())
WILD = st.floats(width=32)
TAME = st.floats(-10, 10)
ZEROS = np.zeros(36)

ranges = arrays(np.float32, st.integers(0, 120), elements=st.one_of(st.floats(0.0625, 8, width=32), WILD))


@st.composite
def scans(draw: st.DrawFn) -> LaserScan:
    values = draw(ranges)
    step = draw(st.one_of(st.just(2 * math.pi / max(1, values.size)), WILD))
    return LaserScan(
        header=Header.at(0.0, "laser_link"), angle_min=draw(st.one_of(TAME, WILD)), angle_max=3.0, angle_increment=step,
        time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=10.0, ranges=values,
        intensities=np.zeros(0, np.float32),
    )


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    return Pose.planar(*(draw(st.one_of(TAME, TAME, WILD)) for _ in range(2)), draw(st.floats(-7, 7)))


moments = st.lists(
    st.tuples(
        st.sampled_from([0.05, 0.05, 0.1, 2.0, -1.0]), st.none() | poses(), st.none() | scans(),
        st.none() | st.tuples(poses(), st.floats(0, 3) | WILD),
    ),
    min_size=1, max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(moments)
def test_it_never_falls_over_and_never_says_nonsense(
    life: list[tuple[float, Pose | None, LaserScan | None, tuple[Pose, float] | None]],
) -> None:
    now, node = 10.0, LOCALIZATION
    for dt, odometry, scan, told in life:
        now = max(0.1, now + dt)
        given: list[Sent] = []
        if odometry is not None:
            moved = PoseWithCovariance(pose=odometry, covariance=ZEROS)
            twist = TwistWithCovariance(twist=Twist(), covariance=ZEROS)
            header = Header.at(now, "odom")
            given.append(t.ODOM.of(Odometry(header=header, child_frame_id="base_link", pose=moved, twist=twist)))
        if scan is not None:
            given.append(t.SCAN.of(scan.model_copy(update={"header": Header.at(now, "laser_link")})))
        if told is not None:
            where = PoseWithCovarianceStamped.about(now, told[0], told[1], 0.3)
            given.append(t.INITIAL_POSE.of(where))
        for sent in node.step(now, Inbox.of(given)):
            if isinstance(sent.value, PoseWithCovarianceStamped):
                at, spread = sent.value.pose.pose.position, sent.value.pose.covariance.reshape(6, 6)
                assert math.isfinite(at.x) and math.isfinite(at.y)
                assert np.all(np.isfinite(spread)) and np.allclose(spread, spread.T)
                assert np.all(np.linalg.eigvalsh(spread) >= -1e-9)
            elif isinstance(sent.value, TFMessage):
                shift = sent.value.transforms[0].transform.translation
                assert math.isfinite(shift.x) and math.isfinite(shift.y)
        assert node.why()
