"""What hypothalamus, striatum and prospection change in what the robot does: the gate with and without each."""

from __future__ import annotations

from typing import Any

import pytest
from support.drives_rig import DOCK, KITCHEN, battery, condition, pose, resources
from support.gate_rig import accepted, call, objective, objectives, world

from anima import topics as t
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.local_graph import LocalGraph
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Lease, Outcome
from anima.types.std import Pose

GATE = "basal_ganglia_gate"
HYPOTHALAMUS, STRIATUM, PROSPECTION = "hypothalamus_arbiter", "striatum_tension", "prospection"
WITH = pytest.mark.parametrize("present", [True, False], ids=["with", "without"])


class Mind:
    """The gate and some of its advisers, in a robot whose battery and whereabouts are as told."""

    def __init__(self, *nodes: str) -> None:
        self.graph = LocalGraph(Settings(), [row for row in TABLE if row.node in (GATE, *nodes)])
        self.body: dict[str, Any] = {"battery": 0.9, "docked": False}
        self.at = KITCHEN

    def run(self, seconds: float, *sent: Sent) -> None:
        """Time passes; body and eyes say how it is five times a second."""
        for _ in range(round(seconds * 5)):
            now = self.graph.now
            self.graph.send(battery(now, self.body["battery"], docked=self.body["docked"]))
            self.graph.send(pose(now, self.at))
            self.graph.send(world(now, robot=Pose.planar(*self.at, 0.0), **self.body))
            for item in sent:
                self.graph.send(item)
            sent = ()
            self.graph.run_for(0.2)

    def states(self) -> dict[str, str]:
        """Each objective's condition and state."""
        backlog = self.graph.last(t.BACKLOG)
        assert backlog is not None
        return {o.condition: o.state for o in backlog.objectives}

    def leases(self) -> list[Lease]:
        """The leases that were granted."""
        return [lease for lease in self.graph.sent(t.LEASE) if lease.granted]


def ended(now: float, lease: Lease) -> Sent:
    """The motor cortex says that it worked."""
    return t.OUTCOME.of(
        Outcome(
            header=Header.at(now), lease=lease.id, call=lease.call, success=True, failure=0, detail="", duration_s=1.0
        )
    )


ERRAND = objectives(0.0, objective("o1", "at(robot, office_table)", created=0.0))


@WITH
def test_at_15_percent_a_far_errand_waits_for_the_dock_and_is_taken_up_again_when_it_is_charged(present: bool) -> None:
    mind = Mind(*([HYPOTHALAMUS] if present else []))
    mind.body["battery"] = 0.15
    mind.run(3.0)
    mind.run(5.0, ERRAND)
    if not present:
        assert mind.states() == {"at(robot, office_table)": "focused"}
        return
    assert mind.states()["at(robot, office_table)"] == "parked"
    assert [lease.call.skill for lease in mind.leases()] == ["dock"]
    mind.body |= {"docked": True, "battery": 0.65}
    mind.at = DOCK
    mind.run(20.0)
    lease = mind.leases()[0]
    mind.run(10.0, ended(mind.graph.now, lease))
    assert mind.states()["at(robot, office_table)"] == "focused"


@WITH
def test_an_idle_robot_takes_up_by_itself_what_a_restart_left_unfinished(present: bool) -> None:
    mind = Mind(*([STRIATUM] if present else []))
    left = objective("o1", "at(robot, office_table)", created=0.0, state="parked", reason="interrupted by a restart")
    mind.run(1.0, objectives(0.0, left))
    assert mind.states() == {"at(robot, office_table)": "parked"}
    mind.run(180.0)
    assert mind.states() == {"at(robot, office_table)": "focused" if present else "parked"}


@WITH
def test_an_idle_rested_robot_goes_to_look_around(present: bool) -> None:
    mind = Mind(HYPOTHALAMUS, *([STRIATUM] if present else []))
    mind.run(120.0)
    trips = [condition for condition, state in mind.states().items() if state == "focused"]
    assert len(trips) == present


@pytest.mark.parametrize("share", [0.9, 0.5])
def test_only_a_charged_robot_goes_to_look_around(share: float) -> None:
    mind = Mind(HYPOTHALAMUS, STRIATUM)
    mind.body["battery"] = share
    mind.run(120.0)
    assert bool(mind.states()) == (share == 0.9)


@WITH
def test_a_drive_that_the_robot_could_not_come_back_from_does_not_begin(present: bool) -> None:
    mind = Mind(*([PROSPECTION] if present else []))
    mind.graph.send(resources(0.0, battery=0.3, share_per_m=0.03))
    mind.run(2.0, ERRAND)
    mind.run(2.0, accepted(mind.graph.now, call("c1", "go_to", place="office_table")))
    assert len(mind.leases()) == (0 if present else 1)
    if present:
        backlog = mind.graph.last(t.BACKLOG)
        assert backlog is not None
        assert any("come back to the dock" in line for line in backlog.failures)


# --- the mode alone: label, strain and budgets are those of a rested robot ------------------------------


@pytest.mark.parametrize("mode", ["FOCUSED", "CAUTIOUS", "RECOVERY", "RUMINATING"])
def test_only_a_focused_robot_begins_a_familiar_drive_without_imagining_what_comes_of_it(mode: str) -> None:
    mind = Mind(PROSPECTION)
    mind.graph.send(resources(0.0, share_per_m=0.5))  # so much that it would not come back
    mind.graph.send(condition(0.0, "STABLE", mode))
    mind.body["place"] = "kitchen"
    mind.run(1.0)
    mind.body["place"] = ""
    mind.at = (5.5, 4.0)
    mind.run(2.0, objectives(0.0, objective("o1", "at(robot, kitchen)", created=0.0)))
    mind.run(2.0, accepted(mind.graph.now, call("c1", "go_to", place="kitchen")))
    forecast = mind.graph.last(t.FORECAST)
    assert forecast is not None
    assert (forecast.rollouts == 0, len(mind.leases())) == ((True, 1) if mode == "FOCUSED" else (False, 0))


@pytest.mark.parametrize("mode", ["IDLE_SOCIAL", "RECOVERY", "RUMINATING"])
def test_a_robot_that_gets_over_something_does_not_go_to_look_around(mode: str) -> None:
    mind = Mind(HYPOTHALAMUS, STRIATUM)
    mind.run(120.0, condition(0.0, "STABLE", mode))
    assert bool(mind.states()) == (mode == "IDLE_SOCIAL")
