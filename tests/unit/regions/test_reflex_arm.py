"""The arm's way through the reflex kernel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.reflex_rig import CONFIG, TICK_S, Rig, beat, imu, joints, reach, request

from anima import topics as t
from anima.topics import Sent

LIMITS = CONFIG.body.arm


def arm(targets: dict[str, float], time_s: float = 0.0, stamp: float = 0.0) -> Sent:
    return t.ARM_COMMAND_SKILL.of(reach(stamp, targets, time_s))


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.rest(0.1)
    return rig


def positions(rig: Rig) -> dict[str, float]:
    assert rig.arm is not None
    return dict(zip(rig.arm.joint_names, rig.arm.points[0].positions.tolist(), strict=True))


def follow(rig: Rig, seconds: float, *first: Sent) -> list[dict[str, float]]:
    """Everything that was let through in a while; `first` comes with the first step."""
    found = []
    for i in range(round(seconds / TICK_S)):
        rig.tick(*(first if i == 0 else ()))
        if rig.arm is not None:
            found.append(positions(rig))
    return found


def test_one_command_is_walked_to_its_target_at_the_joints_speed_and_then_nothing_more_is_sent(rig: Rig) -> None:
    path = [0.0, *(step["elbow_flex"] for step in follow(rig, 2.0, arm({"elbow_flex": 1.0})))]
    assert path[-1] == 1.0
    assert max(np.diff(path)) <= LIMITS.max_speed_radps * TICK_S + 1e-9
    assert len(path) == pytest.approx(1.0 / (LIMITS.max_speed_radps * TICK_S) + 1, abs=2)


def test_a_time_to_get_there_makes_it_slower_not_faster(rig: Rig) -> None:
    slow = follow(rig, 3.0, arm({"elbow_flex": 1.0}, time_s=2.0))
    assert len(slow) * TICK_S == pytest.approx(2.0, abs=2 * TICK_S)
    hasty = [1.0, *(step["elbow_flex"] for step in follow(rig, 3.0, arm({"elbow_flex": 0.0}, time_s=0.01)))]
    assert max(np.abs(np.diff(hasty))) <= LIMITS.max_speed_radps * TICK_S + 1e-9


@pytest.mark.parametrize("name", list(LIMITS.range_rad))
def test_no_joint_is_sent_beyond_its_range(rig: Rig, name: str) -> None:
    lower, upper = LIMITS.range_rad[name]
    assert follow(rig, 3.0, arm({name: 100.0}))[-1][name] == upper
    assert follow(rig, 4.0, arm({name: -100.0}))[-1][name] == lower


@pytest.mark.parametrize(
    "bad",
    [
        arm({"elbow_flex": math.nan}),
        arm({"elbow_flex": math.inf}),
        arm({"left_wheel_joint": 1.0}),
        arm({"tail": 1.0}),
        t.ARM_COMMAND_SKILL.of(reach(0.0, {"elbow_flex": 1.0}).model_copy(update={"points": []})),
        t.ARM_COMMAND_SKILL.of(reach(0.0, {"elbow_flex": 1.0}).model_copy(update={"joint_names": ["elbow_flex"] * 2})),
    ],
)
def test_a_command_that_makes_no_sense_is_refused_and_ends_the_motion_under_way(rig: Rig, bad: Sent) -> None:
    follow(rig, 0.1, arm({"elbow_flex": 1.0}))
    assert follow(rig, 0.5, bad) == []
    assert rig.told("invalid_command") == [True, False]


def test_an_old_command_is_refused(rig: Rig) -> None:
    assert follow(rig, 0.5, arm({"elbow_flex": 1.0}, stamp=rig.now - 1.0)) == []


def test_nothing_is_sent_while_nobody_knows_where_the_arm_is() -> None:
    rig = Rig()
    rig.mute.add(t.JOINT_STATES.name)
    assert follow(rig, 0.5, arm({"elbow_flex": 1.0})) == []


def test_the_stop_freezes_the_arm_where_it_was_sent_and_the_grip_stays(rig: Rig) -> None:
    follow(rig, 0.2, arm({"elbow_flex": 1.0, "gripper": 0.1}))
    assert follow(rig, 1.0, t.STOP_REQUEST.of(request(0.0, True)), arm({"elbow_flex": -1.0})) == []
    assert follow(rig, 1.0, arm({"elbow_flex": -1.0})) == []


def test_a_reset_does_not_set_the_arm_in_motion_again(rig: Rig) -> None:
    follow(rig, 0.2, arm({"elbow_flex": 1.0}))
    rig.tick(t.STOP_REQUEST.of(request(0.0, True)))
    rig.tick(t.STOP_REQUEST.of(request(0.0, False)))
    for _ in range(50):
        rig.tick(arm({"elbow_flex": 1.0}))
        assert rig.arm is None
    rig.rest(CONFIG.tuning.commands.arm_timeout_s + TICK_S)
    assert follow(rig, 1.0, arm({"elbow_flex": 1.0}))[-1]["elbow_flex"] == 1.0


@pytest.mark.parametrize("why", ["tilt", "process"])
def test_tilt_and_a_silent_process_end_the_motion_under_way(rig: Rig, why: str) -> None:
    rig.rest(3.0)
    rig.tick(beat(rig.now + TICK_S, "brain"))
    follow(rig, 0.1, arm({"elbow_flex": 1.0}, time_s=4.0), beat(rig.now + TICK_S, "brain"))
    if why == "tilt":
        follow(rig, 0.1, t.IMU.of(imu(0.0, 0.5)))
    else:
        follow(rig, 0.4)
    assert follow(rig, 2.0) == []


def test_an_arm_that_was_moved_by_hand_is_not_pulled_back_in_one_leap(rig: Rig) -> None:
    follow(rig, 1.0, arm({"elbow_flex": 1.0}))
    rig.arm_at = {"elbow_flex": -0.5}
    first = follow(rig, 0.5, arm({"elbow_flex": 1.0}))[0]["elbow_flex"]
    assert abs(first - -0.5) <= LIMITS.max_speed_radps * TICK_S + 1e-9


def test_a_gripper_kept_open_by_what_it_holds_keeps_its_grip(rig: Rig) -> None:
    rig.arm_at = {"gripper": 1.0}
    follow(rig, 2.0, arm({"gripper": 0.0}))
    rig.arm_at = {"gripper": 0.5}
    assert follow(rig, 0.5, arm({"gripper": -0.05}))[0]["gripper"] < 0.0


def test_a_joint_state_that_is_not_finite_is_not_believed(rig: Rig) -> None:
    rig.tick(t.JOINT_STATES.of(joints(0.0, arm={"elbow_flex": math.nan})))
    assert all(math.isfinite(step["elbow_flex"]) for step in follow(rig, 1.0, arm({"elbow_flex": 1.0})))


def by_hand(targets: dict[str, float]) -> Sent:
    return t.ARM_COMMAND_TELEOP.of(reach(0.0, targets, 0.0))


class TestByHand:
    def test_a_person_takes_the_arm_from_the_skill_in_the_middle_of_its_motion(self, rig: Rig) -> None:
        follow(rig, 0.1, arm({"elbow_flex": 1.0}))
        path = follow(rig, 1.0, by_hand({"shoulder_pan": 0.2}))
        assert path[-1]["shoulder_pan"] == pytest.approx(0.2)
        assert path[-1]["elbow_flex"] < 0.3, "the skill's motion has ended"

    def test_while_a_person_has_the_arm_a_skill_moves_no_joint_and_is_told_why(self, rig: Rig) -> None:
        rig.tick(by_hand({"shoulder_pan": 0.0}))
        assert follow(rig, 0.3, arm({"elbow_flex": 1.0})) == []
        assert "a person moves the arm by hand" in rig.events[-1].detail

    def test_when_the_person_falls_silent_the_skill_may_move_it_again(self, rig: Rig) -> None:
        rig.tick(by_hand({"shoulder_pan": 0.1}))
        rig.rest(1.0)
        assert follow(rig, 1.0, arm({"elbow_flex": 0.5}))[-1]["elbow_flex"] == pytest.approx(0.5)

    def test_that_a_person_moves_the_arm_is_told(self, rig: Rig) -> None:
        rig.tick(by_hand({"shoulder_pan": 0.1}))
        assert rig.active == ["teleop"]

    def test_the_software_stop_holds_the_arm_against_the_person_too(self, rig: Rig) -> None:
        rig.tick(t.STOP_REQUEST.of(request(rig.now, True)))
        assert follow(rig, 0.5, by_hand({"shoulder_pan": 0.2})) == []
