"""The robot picks things up and puts them down, on real physics and from what its camera sees."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from tests.support.skill_rig import SEEING, SkillRig, failure_of

from anima import topics as t
from anima.body.pose import Pose2D
from anima.failure import Failure

pytestmark = [pytest.mark.sim, pytest.mark.timeout(600)]

BEFORE_SHELF = Pose2D(2.6, 5.0, math.pi / 2)
LIFTED_M = 0.5
TOP_M = 0.40


def _rig(seed: int, things: dict[str, tuple[float, float, float]]) -> SkillRig:
    """A robot before the shelf, on which only `things` lie: x along the shelf from its middle, depth, heading."""
    rig = SkillRig(seed, SEEING, BEFORE_SHELF)
    for index, name in enumerate(rig.world.truth.object_poses()):
        height = rig.world.scene.object(name).size_m[2]
        if name in things:
            along, depth, heading = things[name]
            rig.world.place_object(name, 2.6 + along, 5.55 + depth, TOP_M + height / 2 + 0.001, heading)
        else:
            rig.world.place_object(name, 0.2 + 0.07 * index, 1.0, TOP_M + height / 2 + 0.001)
    rig.graph.run_for(1.5)
    return rig


@pytest.fixture
def close() -> Iterator[list[SkillRig]]:
    rigs: list[SkillRig] = []
    yield rigs
    for rig in rigs:
        rig.world.close()


def _height(rig: SkillRig, name: str) -> float:
    return float(rig.world.truth.object_pose(name)[0][2])


def test_a_long_block_and_a_ball_are_picked_up_and_put_back_upright(close: list[SkillRig]) -> None:
    things = {
        "purple_block": (-0.08, 0.12, 2.0),
        "orange_ball": (0.06, 0.08, 0.0),
    }
    rig = _rig(3, things)
    close.append(rig)
    for name in things:
        for skill, arguments in (("approach", {}), ("pick", {}), ("place", {"surface": "shelf"})):
            outcome = rig.run(skill, object=name, **arguments)
            assert outcome.success, f"{skill}({name}): {outcome.detail}"
            if skill == "pick":
                assert _height(rig, name) > LIFTED_M, name
                assert rig.graph.last(t.WORLD_STATE).holding == name  # type: ignore[union-attr]
        assert rig.world.truth.on_surface(name) == "shelf"
        assert _height(rig, name) == pytest.approx(TOP_M + rig.world.scene.object(name).size_m[2] / 2, abs=0.006)
    assert rig.world.truth.max_collision_speed_mps() == 0.0
    # Backed off far enough to turn on the spot.
    assert 5.55 - rig.pose.y > 0.45


def test_a_thing_that_is_gone_is_a_perception_miss_and_leaves_the_arm_folded(close: list[SkillRig]) -> None:
    rig = _rig(4, {"red_cube": (0.0, 0.09, 0.3)})
    close.append(rig)
    assert rig.run("approach", object="red_cube").success
    rig.world.place_object("red_cube", 0.4, 1.4, TOP_M + 0.02)
    outcome = rig.run("pick", object="red_cube")
    assert failure_of(outcome) is Failure.PERCEPTION_MISS
    assert "red cube" in outcome.detail


def test_after_a_cancel_over_the_table_the_next_pick_starts_safely(close: list[SkillRig]) -> None:
    rig = _rig(5, {"green_cube": (0.05, 0.08, 0.8), "cyan_cube": (0.16, 0.08, 0.0)})
    close.append(rig)
    assert rig.run("approach", object="green_cube").success
    lease = rig.lease("pick", object="green_cube")

    def going_down() -> bool:
        feedback = rig.graph.last(t.SKILL_FEEDBACK)
        return feedback is not None and "going down" in feedback.phase

    assert rig.graph.run_until(going_down, 30.0)
    rig.graph.run_for(1.0)
    rig.revoke(lease)
    assert failure_of(rig.wait_for(lease)) is Failure.INTERRUPTED
    before = rig.world.truth.object_pose("cyan_cube")[0]
    outcome = rig.run("pick", object="green_cube")
    assert outcome.success, outcome.detail
    assert _height(rig, "green_cube") > LIFTED_M
    assert math.dist(before, rig.world.truth.object_pose("cyan_cube")[0]) < 0.01


def test_something_dropped_on_the_way_is_a_slip_when_it_is_to_be_put_down(close: list[SkillRig]) -> None:
    rig = _rig(6, {"red_cube": (0.0, 0.09, 0.0)})
    close.append(rig)
    assert rig.run("approach", object="red_cube").success
    assert rig.run("pick", object="red_cube").success
    rig.fault("dropped_object", duration_s=1.0)
    rig.graph.run_for(2.0)
    outcome = rig.run("place", object="red_cube", surface="shelf")
    assert failure_of(outcome) is Failure.SLIP
    assert "red cube" in outcome.detail


def test_a_thing_is_handed_to_the_person_on_the_tray_and_announced(close: list[SkillRig]) -> None:
    rig = _rig(7, {"yellow_cylinder": (0.0, 0.08, 0.0)})
    close.append(rig)
    for skill, arguments in (
        ("approach", {"object": "yellow_cylinder"}),
        ("pick", {"object": "yellow_cylinder"}),
        ("go_to", {"place": "person"}),
        ("hand_over", {"object": "yellow_cylinder"}),
    ):
        outcome = rig.run(skill, **arguments)
        assert outcome.success, f"{skill}: {outcome.detail}"
    assert rig.world.truth.on_surface("yellow_cylinder") == "person_tray"
    assert [speech.text for speech in rig.graph.sent(t.SPEECH)] == ["Here is the yellow cylinder."]
