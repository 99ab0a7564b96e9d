"""The robot picks things up and puts them down in Gazebo, from what its camera sees and with friction alone."""

from __future__ import annotations

import math

import pytest
from support.skill_rig import SEEING, SkillRig

from anima.body.pose import Pose2D

pytestmark = [pytest.mark.gazebo, pytest.mark.timeout(900)]

BEFORE_SHELF = Pose2D(2.6, 5.0, math.pi / 2)
TOP_M, LIFTED_M = 0.40, 0.5


def test_a_cube_is_picked_up_carried_without_slipping_and_put_back(gazebo_installed: None) -> None:
    rig = SkillRig(3, SEEING, BEFORE_SHELF, sim="gazebo")
    try:
        for index, thing in enumerate(rig.world.scene.objects):
            rig.world.place_object(thing.name, 0.2 + 0.07 * index, 1.0, TOP_M + thing.size_m[2] / 2)
        rig.world.place_object("red_cube", 2.6, 5.64, TOP_M + 0.018, 0.3)
        rig.graph.run_for(1.5)
        for skill, arguments in (("approach", {}), ("pick", {}), ("place", {"surface": "shelf"})):
            outcome = rig.run(skill, object="red_cube", **arguments)
            assert outcome.success, f"{skill}: {outcome.detail}"
            if skill == "pick":
                before = rig.world.truth.object_pose("red_cube")[0]
                assert before[2] > LIFTED_M
                assert rig.world.truth.on_surface("red_cube") == "gripper"
                rig.graph.run_for(3.0)
                assert rig.world.truth.object_pose("red_cube")[0] == pytest.approx(before, abs=0.004)
        assert rig.world.truth.on_surface("red_cube") == "shelf"
        assert not rig.world.truth.collisions
    finally:
        rig.world.close()
