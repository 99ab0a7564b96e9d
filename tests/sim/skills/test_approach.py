"""Going close to a thing with real physics and the real camera picture."""

from __future__ import annotations

import pytest
from support.skill_rig import SEEING, SkillRig

from anima import topics as t
from anima.body.pose import Pose2D

pytestmark = [pytest.mark.sim, pytest.mark.timeout(600)]

BESIDE_OFFICE_TABLE = Pose2D(1.63, 1.48, -3.03)


def test_before_a_table_in_a_corner_it_stands_where_it_can_turn() -> None:
    rig = SkillRig(3, rows=SEEING, at=BESIDE_OFFICE_TABLE)
    ball = next(thing for thing in rig.truth.objects if thing.name == "orange_ball")
    assert ball.support == "office_table" and ball.pose.position.x < 0.28, "nobody can turn right before it"
    assert rig.run("look_for", object="orange_ball").success
    outcome = rig.run("approach", object="orange_ball")
    assert outcome.success, outcome.detail
    assert not [event for event in rig.graph.sent(t.REFLEX_EVENT) if "turn" in event.detail]
