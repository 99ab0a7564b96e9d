"""Arm motion is smooth and never faster than asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from anima.body.arm.trajectory import Trajectory

POSTURES = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(5)), elements=st.floats(-1.9, 1.9))


@settings(deadline=None)
@given(POSTURES, st.floats(0.5, 2.0))
def test_no_joint_is_ever_faster_than_the_limit(postures: np.ndarray, limit: float) -> None:
    motion = Trajectory(list(postures), limit)
    step = 0.02
    times = np.arange(0.0, motion.duration_s + step, step)
    samples = np.array([motion.at(time) for time in times])
    if len(samples) > 1:
        assert np.abs(np.diff(samples, axis=0)).max() / step <= limit * 1.001


@given(POSTURES, st.floats(0.1, 2.0))
def test_it_starts_at_the_first_posture_and_ends_at_the_last(postures: np.ndarray, limit: float) -> None:
    motion = Trajectory(list(postures), limit)
    if motion.duration_s > 0:
        assert motion.at(0.0) == pytest.approx(postures[0])
    assert motion.at(motion.duration_s) == pytest.approx(postures[-1])
    assert motion.at(motion.duration_s + 10) == pytest.approx(postures[-1])


def test_it_passes_through_the_postures_on_the_way() -> None:
    corner = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    motion = Trajectory([np.zeros(5), corner, np.array([1.0, 1.0, 0.0, 0.0, 0.0])], 1.0)
    nearest = min(float(np.abs(motion.at(time) - corner).max()) for time in np.arange(0.0, motion.duration_s, 0.005))
    assert nearest < 0.01


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_senseless_speed_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match="rad/s"):
        Trajectory([np.zeros(5), np.ones(5)], limit)
