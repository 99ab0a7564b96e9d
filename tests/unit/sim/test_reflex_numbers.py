"""Hand-made drives: what the four numbers are, and that a reflex which does its work badly is told so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from anima_sim.acceptance.numbers import Acceptance, Hazard, Kind, Limits, Sample, Summary, judge
from anima_sim.acceptance.reading import gap

LIMITS = Limits(to_stop_s=0.3, to_resume_s=0.5)
TICK_S = 0.02


def drive(*parts: tuple[float, float, float], wished: float = 0.3) -> list[Sample]:
    """Ticks of `(seconds, allowed, moved)`, m/s ahead, one part after the other."""
    speeds = [(allowed, moved) for seconds, allowed, moved in parts for _ in range(round(seconds / TICK_S))]
    return [
        Sample(number * TICK_S, (wished, 0.0), (allowed, 0.0), (moved, 0.0))
        for number, (allowed, moved) in enumerate(speeds)
    ]


def judged(samples: list[Sample], began_s: float = 1.0, ended_s: float = 3.0, kind: Kind = "bumper") -> Acceptance:
    return judge(samples, [Hazard(kind, began_s, ended_s)])


GOOD = drive((1.04, 0.3, 0.3), (0.16, 0.0, 0.2), (2.0, 0.0, 0.0), (3.0, 0.3, 0.3))


def test_a_good_reflex_is_accepted_with_its_four_numbers() -> None:
    found = judged(GOOD)
    (answer,) = found.answers
    assert answer.to_zero_s == pytest.approx(0.04)
    assert answer.to_stop_s == pytest.approx(0.20)
    assert answer.held == 1.0
    assert answer.to_resume_s == pytest.approx(0.20)
    assert answer.faults(LIMITS) == [] and found.false_stops_s == []
    assert found.driven_m == pytest.approx(0.3 * (1.0 + 1.2), abs=0.02)


def test_one_that_stops_too_late_is_not() -> None:
    (answer,) = judged(drive((1.5, 0.3, 0.3), (1.7, 0.0, 0.0), (1.0, 0.3, 0.3))).answers
    assert answer.to_stop_s == pytest.approx(0.5)
    assert "to stop" in answer.faults(LIMITS)[0]


def test_one_that_never_stops_is_not() -> None:
    (answer,) = judged(drive((5.0, 0.3, 0.3))).answers
    assert math.isinf(answer.to_stop_s) and answer.held == 0.0
    assert len(answer.faults(LIMITS)) == 2


def test_a_zero_command_to_wheels_that_turn_on_is_no_stop() -> None:
    (answer,) = judged(drive((1.0, 0.3, 0.3), (4.0, 0.0, 0.3))).answers
    assert answer.to_zero_s == pytest.approx(0.0) and math.isinf(answer.to_stop_s)


def test_one_that_creeps_on_during_the_hazard_is_not() -> None:
    (answer,) = judged(drive((1.0, 0.3, 0.3), (1.0, 0.0, 0.0), (0.2, 0.05, 0.05), (2.0, 0.0, 0.0))).answers
    assert answer.held == pytest.approx(0.9)
    assert "held" in answer.faults(LIMITS)[0]


def test_creeping_is_forgiven_before_an_obstacle_alone() -> None:
    creeping = drive((1.0, 0.3, 0.3), (0.5, 0.0, 0.0), (1.5, 0.02, 0.02), (1.0, 0.3, 0.3))
    assert judged(creeping, kind="obstacle").answers[0].held == 1.0
    assert judged(creeping, kind="cliff").answers[0].held == pytest.approx(0.25)


def test_one_that_never_goes_on_is_not_unless_nobody_wishes_to() -> None:
    stuck = drive((1.0, 0.3, 0.3), (4.0, 0.0, 0.0))
    (answer,) = judged(stuck).answers
    assert math.isinf(answer.to_resume_s) and "to resume" in answer.faults(LIMITS)[0]
    parked = [replace(sample, wished=(0.0, 0.0)) if sample.at_s > 2.0 else sample for sample in stuck]
    (answer,) = judged(parked).answers
    assert math.isnan(answer.to_resume_s) and answer.faults(LIMITS) == []


def test_a_touch_of_what_it_should_keep_from_is_a_fault() -> None:
    (answer,) = judge(GOOD, [Hazard("obstacle", 1.0, 3.0, touches=1)]).answers
    assert answer.faults(LIMITS) == ["touched it 1 time(s)"]


def test_a_stop_for_nothing_is_counted_once_however_long_it_is() -> None:
    samples = drive((1.0, 0.3, 0.3), (0.5, 0.0, 0.0), (1.0, 0.3, 0.3), (0.02, 0.0, 0.0), (1.0, 0.3, 0.3))
    assert judge(samples, []).false_stops_s == pytest.approx([1.0, 2.5])


def test_slowing_down_and_standing_because_nobody_wishes_are_no_stops() -> None:
    slow = drive((1.0, 0.3, 0.3), (1.0, 0.05, 0.05), (1.0, 0.3, 0.3))
    assert judge(slow, []).false_stops_s == []
    assert judge(drive((3.0, 0.0, 0.0), wished=0.0), []).false_stops_s == []


def test_a_stop_that_outlasts_its_hazard_by_far_is_false() -> None:
    samples = drive((1.0, 0.3, 0.3), (5.0, 0.0, 0.0), (1.0, 0.3, 0.3))
    assert judged(samples).false_stops_s == pytest.approx([5.02])


def test_when_the_next_hazard_comes_at_once_nothing_was_to_be_resumed() -> None:
    samples = drive((1.0, 0.3, 0.3), (4.0, 0.0, 0.0), (1.0, 0.3, 0.3))
    first, second = judge(samples, [Hazard("bumper", 1.0, 2.0), Hazard("bumper", 2.2, 4.8)]).answers
    assert math.isnan(first.to_resume_s) and second.to_resume_s == pytest.approx(0.2)


def test_the_summary_shows_the_worst_of_each_number() -> None:
    late = drive((1.2, 0.3, 0.3), (2.0, 0.0, 0.0), (1.0, 0.3, 0.3))
    figures = Summary([judged(GOOD), judged(late)]).figures("bumper")
    assert figures["hazards"] == 2
    assert figures["worst_to_stop_s"] == pytest.approx(0.2) and figures["median_to_stop_s"] == pytest.approx(0.2)
    assert Summary([judged(GOOD)]).figures("cliff") == {}


def test_the_gap_between_two_outlines() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert gap(square, square + np.array([1.25, 0.3])) == pytest.approx(0.25)
    assert gap(square, square + np.array([1.3, 1.4])) == pytest.approx(0.5)
    assert gap(square, square + np.array([0.5, 0.5])) == 0.0
    assert gap(square, 0.2 * square + 0.3) == 0.0, "one inside of the other"
