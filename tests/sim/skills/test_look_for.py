"""Searching with the real camera picture: surface after surface, until the object is seen or all were looked at."""

from __future__ import annotations

import pytest
from support.skill_rig import SEEING, SkillRig, failure_of

from anima import topics as t
from anima.body.pose import Pose2D
from anima.failure import Failure
from anima.types.mind import SkillFeedback
from anima.world.predicates import is_seen

pytestmark = [pytest.mark.sim, pytest.mark.timeout(600)]

BEFORE_DOCK = Pose2D(5.2, 2.14, 1.5708)


def test_an_object_on_another_surface_is_found() -> None:
    rig = SkillRig(0, rows=SEEING, at=BEFORE_DOCK)
    support = {thing.name: thing.support for thing in rig.truth.objects}
    assert support["red_cube"] == "shelf"
    outcome = rig.run("look_for", object="red_cube")
    assert outcome.success, outcome.detail
    state = rig.graph.last(t.WORLD_STATE)
    assert state is not None and is_seen(state, "red_cube")
    assert "shelf" in outcome.detail
    assert rig.truth.collisions == 0


def test_an_object_that_is_nowhere_is_missed_and_it_says_where_it_looked() -> None:
    rig = SkillRig(0, rows=SEEING, at=BEFORE_DOCK)
    rig.world.place_object("red_cube", 0.5, 0.5, 0.02)  # on the floor, behind a table
    outcome = rig.run("look_for", object="red_cube")
    assert failure_of(outcome) is Failure.PERCEPTION_MISS
    for surface in rig.places.surfaces:
        assert surface.name.replace("_", " ") in outcome.detail
    said = rig.run("say", object="red_cube")
    assert "did not find the red cube" in said.detail
    phases = {f.phase for f in rig.graph.sent(t.SKILL_FEEDBACK) if isinstance(f, SkillFeedback)}
    assert any("shelf" in phase for phase in phases)
