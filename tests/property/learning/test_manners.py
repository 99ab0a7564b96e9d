"""Manners only ever slow the body down, and only near people."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from anima.learning.manners import Manners
from anima.learning.tuning import load_learning_tuning
from anima.types.base import Header
from anima.types.learning import Guidance

TUNING = load_learning_tuning().manners
SPEED = st.floats(-3, 3)
PLACE = st.tuples(st.floats(-10, 10), st.floats(-10, 10))


def guidance(speed: str) -> Guidance:
    return Guidance(
        header=Header.at(0.0), encounter="e", person="ana", text="", portrait="", report_length="",
        speed_near_people=speed, search_order=[], address="", because=[],
    )


@given(SPEED, SPEED, st.none() | PLACE, st.lists(PLACE, max_size=3), st.sampled_from(["", "slow", "normal"]))
def test_manners_never_make_the_body_faster_or_turn_it_elsewhere(
    linear: float, angular: float, at: tuple[float, float] | None, people: list[tuple[float, float]], speed: str
) -> None:
    v, w = Manners(TUNING, people, guidance(speed)).slowed((linear, angular), at)
    assert abs(v) <= abs(linear)
    assert abs(w) <= abs(angular)
    assert math.isclose(v * angular, w * linear, abs_tol=1e-9)
    near = at is not None and any(math.dist(at, person) <= TUNING.near_m for person in people)
    if speed == "slow" and near:
        assert abs(v) <= TUNING.slow_mps + 1e-9
        assert abs(w) <= TUNING.slow_radps + 1e-9
    else:
        assert (v, w) == (linear, angular)
