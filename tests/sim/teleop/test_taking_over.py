"""A person takes the wheel in the middle of an errand: body, reflexes and all of the glue, with physics."""

from __future__ import annotations

import random

import numpy as np
import pytest

from anima import topics as t
from anima.body.teleop.tuning import load_teleop
from anima.brain import TABLE
from anima.config import Settings
from anima.planner.prefrontal import PrefrontalPlanner
from anima.runtime.local_graph import TICK_S, LocalGraph
from anima.types.base import Header
from anima.types.mind import Utterance
from anima.types.operator import Joy
from anima_sim.pure_mind import ChoosingModel

pytestmark = pytest.mark.sim

BASE = load_teleop().base


class Life:
    """A robot that is told to go to the office; a stand-in that always takes the first way open chooses its calls."""

    def __init__(self) -> None:
        settings = Settings(seed=2, cameras=False)
        planner = PrefrontalPlanner(settings, ChoosingModel(random.Random(1), strays=0.0))
        rows = [row for row in TABLE if row.node != "perception"]
        self.graph = LocalGraph(settings, rows, replace={"prefrontal_planner": planner})
        self.graph.run_for(1.0)
        heard = Utterance(header=Header.at(self.graph.now), id="u1", speaker="ana", text="go to the office")
        self.graph.send(t.UTTERANCE.of(heard))

    @property
    def wheels_mps(self) -> float:
        """How fast the wheels carry the base forward."""
        odometry = self.graph.last(t.ODOM)
        assert odometry is not None
        return odometry.twist.twist.linear.x

    def driving(self) -> bool:
        """Whether it is well under way."""
        lease = self.graph.last(t.LEASE)
        under_way = lease is not None and lease.granted and lease.call.skill == "go_to"
        return under_way and self.wheels_mps > 0.25

    def operator_events(self) -> list[str]:
        """What the mind noticed of hands on the robot."""
        return [event.kind for event in self.graph.sent(t.EVENTS) if event.source == "operator"]

    def hold(self, forward: float, seconds: float) -> None:
        """Hold the dead-man button and the stick."""
        axes, buttons = np.zeros(8, np.float32), [0] * 11
        axes[BASE.drive_axis], buttons[BASE.hold_button] = forward, 1
        for tick in range(round(seconds / TICK_S)):
            if tick % 2 == 0:
                self.graph.send(t.JOY.of(Joy(header=Header.at(self.graph.now), axes=axes, buttons=buttons)))
            self.graph.tick()

    def objective(self) -> tuple[str, str]:
        """State and reason of what it was told."""
        backlog = self.graph.last(t.BACKLOG)
        assert backlog is not None
        (found,) = [item for item in backlog.objectives if item.source == "u1"]
        return found.state, found.reason


def test_the_wheels_follow_the_hand_within_100_ms_and_the_errand_waits_and_then_is_done() -> None:
    life = Life()
    assert life.graph.run_until(life.driving, 60.0)
    before = life.wheels_mps
    life.hold(-1.0, 0.1)
    assert life.wheels_mps < before - 0.05, "the base does what the hand asks for, not what the skill wants"
    life.hold(-1.0, 1.4)
    assert life.wheels_mps == pytest.approx(-BASE.drive_mps, abs=0.03)
    state, reason = life.objective()
    assert state == "parked" and "a person drives by hand" in reason
    assert not [lease for lease in life.graph.sent(t.LEASE)[-1:] if lease.granted]
    assert life.operator_events() == ["teleop"]
    assert life.graph.run_until(lambda: life.objective()[0] == "done", 90.0), life.objective()
    assert life.operator_events() == ["teleop", "teleop_over"]
