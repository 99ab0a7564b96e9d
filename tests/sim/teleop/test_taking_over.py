"""A person takes the wheel in the middle of an errand: body, reflexes and all of the glue, with physics."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.whole_life import Life

from anima import topics as t
from anima.body.teleop.tuning import load_teleop
from anima.runtime.local_graph import TICK_S
from anima.types.base import Header
from anima.types.operator import Joy

pytestmark = pytest.mark.sim

BASE = load_teleop().base


def hold(life: Life, forward: float, seconds: float) -> None:
    """Hold the dead-man button and the stick."""
    axes, buttons = np.zeros(8, np.float32), np.zeros(11, np.int32)
    axes[BASE.drive_axis], buttons[BASE.hold_button] = forward, 1
    for tick in range(round(seconds / TICK_S)):
        if tick % 2 == 0:
            life.graph.send(t.JOY.of(Joy(header=Header.at(life.graph.now), axes=axes, buttons=buttons)))
        life.graph.tick()


def test_the_wheels_follow_the_hand_within_100_ms_and_the_errand_waits_and_then_is_done() -> None:
    life = Life()
    assert life.graph.run_until(life.driving, 60.0)
    before = life.wheels_mps
    hold(life, -1.0, 0.1)
    assert life.wheels_mps < before - 0.05, "the base does what the hand asks for, not what the skill wants"
    hold(life, -1.0, 1.4)
    assert life.wheels_mps == pytest.approx(-BASE.drive_mps, abs=0.03)
    state, reason = life.objective()
    assert state == "parked" and "a person drives by hand" in reason
    assert not [lease for lease in life.graph.sent(t.LEASE)[-1:] if lease.granted]
    assert life.operator_events() == ["teleop"]
    assert life.graph.run_until(life.is_done, 90.0), life.objective()
    assert life.operator_events() == ["teleop", "teleop_over"]
