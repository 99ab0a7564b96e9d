"""The robot is carried off in the middle of an errand: it notices, stops, finds itself, and does the errand."""

from __future__ import annotations

import math

import pytest
from tests.support.whole_life import Life

from anima import topics as t
from anima.body.pose import Pose2D

pytestmark = pytest.mark.sim


def test_carried_off_under_way_it_stops_finds_itself_and_still_does_the_errand() -> None:
    life = Life()
    assert life.graph.run_until(life.driving, 60.0)
    life.world.place_robot(6.3, 4.4, math.pi / 2)
    lost = life.graph.run_until(lambda: not life.graph.last(t.WORLD_STATE).localized, 10.0)  # type: ignore[union-attr]
    assert lost, "it noticed"
    assert life.graph.run_until(lambda: abs(life.wheels_mps) < 0.01, 2.0), "what drove has stopped"
    assert life.graph.run_until(life.is_done, 180.0), life.objective()
    calls = [lease.call for lease in life.graph.sent(t.LEASE) if lease.granted]
    assert [call.source for call in calls if call.skill == "relocalize"] == ["playbook"]
    said = life.graph.last(t.POSE)
    assert said is not None and Pose2D.of(said.pose.pose).distance(life.where) < 0.10
    assert life.where.x < 3.4 and life.where.y < 2.8, "it is in the office"
