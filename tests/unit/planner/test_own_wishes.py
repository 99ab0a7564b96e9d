"""What is said of objectives that the robot has of itself."""

from __future__ import annotations

import pytest
from support.gate_rig import objective

from anima.planner import speech


@pytest.mark.parametrize("state", ["done", "failed", "parked", "cancelled"])
def test_nobody_is_told_how_a_look_around_ended(state: str) -> None:
    looked = objective("explore-1", "at(robot, shelf)", source="striatum", state=state, reason="any", said="")
    assert speech.ended(looked) == ""


def test_that_an_errand_is_postponed_for_the_dock_is_told() -> None:
    why = "postponed: battery at 15%, it goes to the dock first"
    assert why in speech.ended(objective("o1", "at(robot, kitchen)", state="parked", reason=why))
