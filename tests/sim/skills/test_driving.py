"""Driving skills in the real physics: they arrive, touch nothing, and rest before they say that they have ended."""

from __future__ import annotations

import numpy as np
import pytest
from support.skill_rig import SkillRig, failure_of

from anima import topics as t
from anima.body.pose import Pose2D
from anima.failure import Failure

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]

BEFORE_DOCK = Pose2D(5.2, 2.14, 1.5708)
KITCHEN = Pose2D(6.2, 3.6, 1.5708)


@pytest.mark.parametrize("seed", [0, 1])
def test_it_drives_to_rooms_and_surfaces_and_stands_where_the_arm_needs_it(seed: int) -> None:
    rig = SkillRig(seed, at=BEFORE_DOCK)
    places = [name for name in rig.places.names if name != "person_tray"]
    here = ""
    for place in np.random.default_rng(seed).permutation(places)[:4]:
        outcome = rig.run("go_to", place=str(place))
        assert outcome.success, f"from {here} to {place}: {outcome.detail}"
        off_m, off_rad = rig.off(str(place))
        if rig.places.is_room(str(place)):
            assert off_m <= 0.15
        else:
            assert off_m <= 0.03 and off_rad <= 0.03
        here = place
    assert rig.truth.collisions == 0


def test_a_way_that_is_shut_is_left_for_another() -> None:
    rig = SkillRig(0, at=BEFORE_DOCK)
    rig.fault("blocked_path", "living_room_door")
    outcome = rig.run("go_to", place="shelf")
    assert outcome.success, outcome.detail
    assert rig.truth.collisions == 0


def test_with_every_way_shut_it_says_that_the_path_is_blocked() -> None:
    rig = SkillRig(0, at=BEFORE_DOCK)
    rig.fault("blocked_path", "living_room_door")
    rig.fault("blocked_path", "kitchen_door")
    outcome = rig.run("go_to", place="shelf")
    assert failure_of(outcome) is Failure.PATH_BLOCKED
    assert rig.truth.collisions == 0


def test_from_close_to_a_table_it_backs_out_before_it_turns() -> None:
    rig = SkillRig(0, at=Pose2D(6.99, 4.4, 0.0))
    outcome = rig.run("go_to", place="kitchen")
    assert outcome.success, outcome.detail
    assert rig.truth.collisions == 0


def test_something_put_right_before_it_is_not_touched() -> None:
    rig = SkillRig(0, at=BEFORE_DOCK)
    lease = rig.lease("go_to", place="office")
    rig.graph.run_for(3.0)
    rig.fault("blocked_path")
    outcome = rig.wait_for(lease)
    assert outcome.success or failure_of(outcome) is Failure.PATH_BLOCKED
    assert rig.truth.collisions == 0


def test_a_lost_lidar_is_a_hardware_fault_and_the_robot_stands() -> None:
    rig = SkillRig(0, at=KITCHEN)
    lease = rig.lease("go_to", place="shelf")
    rig.graph.run_for(4.0)
    rig.fault("lost_sensor", "lidar")
    outcome = rig.wait_for(lease)
    assert failure_of(outcome) is Failure.HARDWARE_FAULT
    assert "lidar" in outcome.detail
    assert rig.speed_mps < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_cancelled_at_any_moment_it_has_stopped_before_it_says_so(seed: int) -> None:
    rig = SkillRig(seed, at=KITCHEN)
    lease = rig.lease("go_to", place="living_room")
    rig.graph.run_for(float(np.random.default_rng(seed).uniform(0.5, 8.0)))
    rig.revoke(lease)
    outcome = rig.wait_for(lease)
    assert failure_of(outcome) is Failure.INTERRUPTED
    assert rig.speed_mps < 0.01
    where = rig.pose
    rig.graph.run_for(1.0)
    assert rig.pose.distance(where) < 0.003


def test_a_software_stop_ends_the_drive_and_a_reset_does_not_resume_it() -> None:
    rig = SkillRig(0, at=KITCHEN)
    lease = rig.lease("go_to", place="living_room")
    rig.graph.run_for(3.0)
    rig.stop()
    outcome = rig.wait_for(lease)
    assert failure_of(outcome) is Failure.INTERRUPTED
    where = rig.pose
    rig.reset_stop()
    rig.graph.run_for(2.0)
    assert rig.pose.distance(where) < 0.003
    assert rig.run("go_to", place="kitchen").success


def test_it_leaves_the_dock_comes_back_and_charges() -> None:
    rig = SkillRig(0)
    assert rig.truth.docked
    assert rig.run("undock").success
    assert not rig.truth.docked
    assert rig.off("dock")[0] < 0.05
    assert rig.run("go_to", place="living_room").success
    outcome = rig.run("dock")
    assert outcome.success, outcome.detail
    rig.graph.run_for(1.0)
    state = rig.graph.last(t.WORLD_STATE)
    assert rig.truth.docked and state is not None and state.docked
    assert rig.truth.collisions == 0


def test_off_the_dock_there_is_nothing_to_undock_from() -> None:
    rig = SkillRig(0, at=KITCHEN)
    assert failure_of(rig.run("undock")) is Failure.PRECONDITION_UNMET


def test_waiting_takes_its_time_and_does_not_move() -> None:
    rig = SkillRig(0, at=KITCHEN)
    where = rig.pose
    outcome = rig.run("wait", seconds=2.0)
    assert outcome.success and 2.0 <= outcome.duration_s < 2.5
    assert rig.pose.distance(where) < 0.003


def test_a_drive_that_begins_at_once_after_a_reset_is_driven() -> None:
    """The reflexes let no stream in that moved before the reset; a new drive is none, however soon it comes."""
    rig = SkillRig(0)
    rig.stop()
    rig.graph.run_for(1.0)
    rig.reset_stop()
    rig.graph.run_for(0.1)
    outcome = rig.run("undock")
    assert outcome.success, outcome.detail
