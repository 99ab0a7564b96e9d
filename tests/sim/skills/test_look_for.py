"""Searching with the real camera picture: surface after surface, until the object is seen or all were gone to."""

from __future__ import annotations

import pytest
from support.skill_rig import SEEING, SkillRig, failure_of

from anima import topics as t
from anima.body.pose import Pose2D
from anima.failure import Failure
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


def test_what_is_seen_nowhere_is_missed_and_it_says_where_it_looked() -> None:
    """With the camera off nothing is ever seen: the longest search there is, at a fraction of the rendering's cost."""
    rig = SkillRig(0, at=BEFORE_DOCK)
    outcome = rig.run("look_for", object="red_cube")
    assert failure_of(outcome) is Failure.PERCEPTION_MISS
    for surface in rig.places.surfaces:
        assert surface.name.replace("_", " ") in outcome.detail
    phases = {feedback.phase for feedback in rig.graph.sent(t.SKILL_FEEDBACK)}
    assert any("shelf" in phase for phase in phases)
    assert rig.truth.collisions == 0
