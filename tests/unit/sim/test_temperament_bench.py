"""Temperament is mechanism: in the same flat with the same luck the bold and the cautious decide otherwise."""

from __future__ import annotations

from anima_sim.bench.temperament import live


def test_before_a_way_that_stays_blocked_and_left_alone_with_something_unfinished_temperament_decides() -> None:
    bold, cautious = live("driven", seed=1, alone_s=1.0), live("skittish", seed=1, alone_s=1.0)
    assert bold.tries > cautious.tries
    assert bold.held_on_s > cautious.held_on_s
    assert 2.0 * bold.resumed_s < cautious.resumed_s
    assert bold.rollouts < cautious.rollouts


def test_the_same_temperament_lives_the_same_life_again() -> None:
    assert live("driven", seed=2, alone_s=1.0) == live("driven", seed=2, alone_s=1.0)
