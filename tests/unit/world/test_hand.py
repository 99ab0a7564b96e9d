"""When something is in the hand, told by gripper, eyes and outcomes."""

from __future__ import annotations

import json

import pytest

from anima.world.hand import Hand
from anima.world.tuning import load_world_tuning

TUNING = load_world_tuning().hand
HELD_ABOVE, OPEN = 0.15, 0.95
CLOSED, ON_CUBE = -0.17, 0.58


def hand() -> Hand:
    return Hand(TUNING, HELD_ABOVE, OPEN)


def test_a_pick_that_the_gripper_confirms_is_held() -> None:
    it = hand()
    assert it.picked("red_cube", ON_CUBE)
    assert it.holding == "red_cube"


def test_a_pick_that_closed_on_nothing_is_not_believed() -> None:
    it = hand()
    assert not it.picked("red_cube", CLOSED)
    assert it.holding == ""


def test_a_gripper_that_closes_fully_has_lost_it_but_a_short_dip_has_not() -> None:
    it = hand()
    it.picked("red_cube", ON_CUBE)
    assert it.feel(1.0, CLOSED) == ""
    assert it.feel(1.0 + TUNING.dropped_after_s / 2, ON_CUBE) == ""
    assert it.feel(2.0, CLOSED) == ""
    assert it.feel(2.01 + TUNING.dropped_after_s, CLOSED) == "closed"
    assert it.holding == ""


@pytest.mark.parametrize("opening", [0.2, ON_CUBE, 0.75])
def test_opening_the_gripper_lets_go_of_thin_and_thick_things(opening: float) -> None:
    it = hand()
    it.picked("red_cube", opening)
    assert it.feel(1.0, opening + 0.02) == ""
    assert it.feel(1.1, OPEN) == "opened"
    assert it.holding == ""


def test_seeing_it_in_a_closed_lifted_hand_several_times_is_enough_without_any_outcome() -> None:
    it = hand()
    results = [it.looked(0.1 * i, "red_cube", ON_CUBE, lifted=True) for i in range(TUNING.seen_in_hand_looks)]
    assert results == [False] * (TUNING.seen_in_hand_looks - 1) + [True]
    assert it.holding == "red_cube"


@pytest.mark.parametrize(("opening", "lifted"), [(OPEN, True), (CLOSED, True), (ON_CUBE, False)])
def test_seeing_it_near_an_open_a_closed_or_a_low_hand_is_not_holding(opening: float, lifted: bool) -> None:
    it = hand()
    assert not any(it.looked(0.1 * i, "red_cube", opening, lifted) for i in range(20))


def test_glimpses_of_different_things_or_long_apart_do_not_add_up() -> None:
    it = hand()
    assert not any(it.looked(0.1 * i, f"{'red' if i % 2 else 'blue'}_cube", ON_CUBE, lifted=True) for i in range(20))
    assert not any(it.looked(5.0 * i, "red_cube", ON_CUBE, lifted=True) for i in range(1, 20))


def test_what_is_held_outlives_a_restart() -> None:
    it, twin = hand(), hand()
    it.picked("red_cube", ON_CUBE)
    twin.restore(json.loads(json.dumps(it.dump())))
    assert twin.holding == "red_cube"
    assert twin.feel(1.0, OPEN) == "opened"
