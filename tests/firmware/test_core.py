"""The brainstem's core, one millisecond at a time: what arms it, how it moves, how it leaves a contact."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.brainstem import Brainstem, Inputs

from anima.body.link.messages import (
    SCHEMA,
    Arm,
    ArmFlag,
    Clear,
    Disarm,
    DisarmFlag,
    Drive,
    Fault,
    Hello,
    HelloAck,
    Joints,
    Outcome,
    Reset,
    Result,
    State,
    Status,
    StatusFlag,
    Stop,
)


@pytest.fixture
def robot() -> Iterator[Brainstem]:
    core = Brainstem()
    yield core
    core.close()


# ---- starting ----


def test_it_starts_disarmed_with_everything_off(robot: Brainstem) -> None:
    out = robot.tick()
    assert out.all_off and not out.servos_on
    assert robot.state == State.DISARMED


def test_a_drive_command_alone_moves_nothing(robot: Brainstem) -> None:
    robot.tick(30)
    for seq in range(100):
        robot.say(Drive(session=seq, linear_mmps=300, angular_mradps=0))
        assert robot.tick().all_off
    assert robot.peek().stale == 100


def test_the_handshake_says_who_it_is(robot: Brainstem) -> None:
    robot.tick(5)
    robot.listen()
    robot.say(Hello(nonce=42, schema=SCHEMA))
    assert robot.heard(HelloAck) == HelloAck(42, SCHEMA, robot.peek().challenge, 1, Reset.POWER_ON, State.DISARMED)


def test_two_starts_give_different_challenges() -> None:
    first, second = Brainstem(boot=1), Brainstem(boot=2)
    assert first.challenge() != second.challenge()
    first.close()
    second.close()


def test_arming_needs_the_challenge_and_each_serves_once(robot: Brainstem) -> None:
    robot.tick(30)
    challenge = robot.challenge()
    robot.say(Arm(challenge ^ 1, 0))
    robot.tick()
    assert robot.heard(Result).outcome == Outcome.STALE_CHALLENGE
    assert robot.request(Arm).outcome == Outcome.DONE
    used = robot.peek().session
    robot.say(Disarm(0))
    robot.tick(3)
    assert robot.state == State.DISARMED
    robot.say(Arm(challenge, 0))
    robot.tick()
    assert robot.heard(Result).outcome == Outcome.STALE_CHALLENGE
    assert robot.state == State.DISARMED
    assert used == robot.peek().session


def test_a_challenge_grows_too_old(robot: Brainstem) -> None:
    challenge = robot.challenge()
    robot.tick(2001)
    robot.say(Arm(challenge, 0))
    robot.tick()
    assert robot.heard(Result).outcome == Outcome.STALE_CHALLENGE


def test_arming_twice_is_the_wrong_state(robot: Brainstem) -> None:
    assert robot.armed().request(Arm).outcome == Outcome.WRONG_STATE
    assert robot.request(Clear).outcome == Outcome.WRONG_STATE


# ---- moving ----


def test_speed_ramps_up_to_the_limit_and_no_farther(robot: Brainstem) -> None:
    robot.armed()
    speeds = [robot.drive(5000).wheel_mmps[0] for _ in range(450)]
    assert max(b - a for a, b in itertools.pairwise(speeds)) == 1
    assert speeds[-1] == 400
    robot.drive(-5000, ms=600)
    assert robot.peek().linear_umps == -400_000


def test_turning_mixes_the_wheels(robot: Brainstem) -> None:
    out = robot.armed().drive(0, 1000, ms=400)
    assert out.wheel_mmps == (-160, 160)
    assert out.duty_permille[0] < 0 < out.duty_permille[1]


def test_a_held_back_wheel_gets_more_duty(robot: Brainstem) -> None:
    free = robot.armed().drive(200, ms=400).duty_permille[0]
    robot.say(Drive(robot.peek().session, 200, 0))
    for _ in range(60):
        out = robot.tick()
        robot.roll(out, share=0.5)
    assert out.duty_permille[0] > free + 40


def test_standing_still_gives_no_duty(robot: Brainstem) -> None:
    robot.armed().drive(200, ms=300)
    out = robot.drive(0, ms=300)
    assert out.motors_on and out.duty_permille == (0, 0)


def test_the_silent_host_is_noticed_and_the_robot_stands_within_300_ms(robot: Brainstem) -> None:
    robot.armed().drive(400, ms=500)
    stopped = None
    for ms in range(1, 400):
        out = robot.tick()
        robot.roll(out)
        if stopped is None and out.all_off:
            stopped = ms
    assert stopped is not None and stopped <= 300
    assert robot.state == State.DISARMED
    assert Fault(robot.peek().faults) == Fault.HOST_SILENT


def test_after_a_gap_the_old_session_is_over(robot: Brainstem) -> None:
    robot.armed().drive(300, ms=200)
    old = robot.peek().session
    robot.inputs = Inputs()
    robot.tick(400)
    robot.say(Drive(old, 300, 0))
    assert robot.tick().all_off
    assert robot.request(Arm).outcome == Outcome.DONE
    robot.say(Drive(old, 300, 0))
    robot.tick(20)
    assert robot.peek().linear_umps == 0


def test_duplicated_and_reordered_commands_are_not_obeyed(robot: Brainstem) -> None:
    robot.armed()
    session = robot.peek().session
    for seq, speed in ((10, 100), (12, 200)):
        robot.say(Drive(session, speed, 0), seq)
    for seq in (10, 11, 12):
        robot.say(Drive(session, -300, 0), seq)
    robot.drive(0)  # lets the counts be read below; its own number is older still
    assert robot.peek().stale >= 3
    assert robot.peek().linear_umps > 0


def test_sequence_numbers_wrap_around(robot: Brainstem) -> None:
    robot.armed()
    session = robot.peek().session
    for seq in (250, 255, 3, 100):
        robot.say(Drive(session, 100, 0), seq)
        robot.tick()
    assert robot.peek().stale == 0


def test_disarming_ramps_down_and_can_release_the_arm(robot: Brainstem) -> None:
    robot.armed().drive(300, ms=400)
    robot.say(Disarm(0))
    out = robot.tick()
    assert out.motors_on and 0 < out.wheel_mmps[0] < 300
    robot.tick(130)
    out = robot.tick()
    assert out.all_off and out.servos_on
    robot.say(Disarm(DisarmFlag.RELEASE_ARM))
    assert not robot.tick().servos_on


def test_the_hosts_stop_latches(robot: Brainstem) -> None:
    robot.armed().drive(300, ms=200)
    robot.say(Stop(reason=1))
    assert robot.tick().all_off
    assert Fault.HOST_STOP in Fault(robot.peek().faults)
    assert robot.request(Arm).outcome == Outcome.WRONG_STATE
    assert robot.request(Clear).outcome == Outcome.DONE
    assert robot.state == State.DISARMED


def test_the_most_pressing_request_of_a_tick_wins(robot: Brainstem) -> None:
    robot.tick(30)
    challenge = robot.challenge()
    robot.say(Stop(0))
    robot.say(Arm(challenge, 0))
    robot.say(Disarm(0))
    robot.tick()
    assert robot.heard(Result).request == Stop.id
    assert robot.state == State.FAULT


# ---- getting away from a contact ----


def in_contact(robot: Brainstem, **contact: object) -> Brainstem:
    robot.armed().drive(200, ms=200)
    robot.inputs = replace(robot.inputs, **contact)  # type: ignore[arg-type]
    robot.tick()
    assert robot.state == State.FAULT
    return robot


def test_after_a_bump_it_may_back_off_slowly_when_asked_to(robot: Brainstem) -> None:
    in_contact(robot, bumpers=2)
    assert robot.request(Clear).outcome == Outcome.UNSAFE
    assert robot.request(Clear, ArmFlag.ESCAPE).outcome == Outcome.DONE
    assert robot.request(Arm).outcome == Outcome.UNSAFE
    assert robot.request(Arm, ArmFlag.ESCAPE).outcome == Outcome.DONE
    assert robot.drive(300, 500, ms=100).wheel_mmps == (0, 0), "not on into it"
    assert robot.drive(-300, 500, ms=200).wheel_mmps == (-100, -100)
    assert StatusFlag.ESCAPING in StatusFlag(robot.heard(Status).flags)
    robot.inputs.bumpers = 0
    robot.drive(-300, ms=49)
    assert robot.peek().escape_from
    robot.drive(-300, ms=200)
    assert not robot.peek().escape_from
    assert robot.peek().linear_umps < -200_000
    robot.inputs.bumpers = 1
    assert robot.tick().all_off, "the next bump counts again"


def test_from_an_edge_behind_it_only_drives_on(robot: Brainstem) -> None:
    in_contact(robot, cliff_mm=(115, 115, 115, 400))
    robot.request(Clear, ArmFlag.ESCAPE)
    robot.request(Arm, ArmFlag.ESCAPE)
    assert robot.drive(-300, ms=100).wheel_mmps == (0, 0)
    assert robot.drive(300, ms=200).wheel_mmps == (100, 100)


def test_escaping_into_something_else_stops(robot: Brainstem) -> None:
    in_contact(robot, bumpers=1)
    robot.request(Clear, ArmFlag.ESCAPE)
    robot.request(Arm, ArmFlag.ESCAPE)
    robot.drive(-100, ms=100)
    robot.inputs.cliff_mm = (115, 115, 10, 115)
    assert robot.tick().all_off
    assert Fault.CLIFF in Fault(robot.peek().faults)


def test_an_escape_takes_three_seconds_at_most(robot: Brainstem) -> None:
    in_contact(robot, bumpers=1)
    robot.request(Clear, ArmFlag.ESCAPE)
    robot.request(Arm, ArmFlag.ESCAPE)
    robot.drive(-50, ms=2990)
    assert robot.state == State.ARMED
    robot.drive(-50, ms=20)
    assert Fault.ESCAPE_OVER in Fault(robot.peek().faults)


def test_between_two_contacts_there_is_no_way_out(robot: Brainstem) -> None:
    in_contact(robot, bumpers=1, cliff_mm=(115, 115, 115, 400))
    assert robot.request(Clear, ArmFlag.ESCAPE).outcome == Outcome.UNSAFE


def test_disarming_ends_an_escape(robot: Brainstem) -> None:
    in_contact(robot, bumpers=1)
    robot.request(Clear, ArmFlag.ESCAPE)
    robot.request(Arm, ArmFlag.ESCAPE)
    robot.drive(-100, ms=50)
    robot.say(Disarm(0))
    robot.tick(100)
    assert robot.state == State.DISARMED and not robot.peek().escape_from


# ---- the arm ----


def test_arming_holds_the_arm_where_it_is(robot: Brainstem) -> None:
    robot.inputs.joint_mrad = (1500, -1600, 1500, 900, 0, 3000)
    assert not robot.tick().servos_on
    robot.armed()
    out = robot.tick()
    assert out.servos_on
    assert out.joint_mrad == (1500, -1600, 1500, 900, 0, 1745), "a reading beyond the gripper's limit is cut to it"


def test_the_arm_moves_no_faster_than_its_limit_and_stops_at_the_joints_ends(robot: Brainstem) -> None:
    robot.armed()
    session = robot.peek().session
    robot.say(Joints(session, (3000, -3000, 100, 0, 0, 0)))
    robot.drive(0, ms=20)
    assert robot.tick().joint_mrad == (42, -42, 42, 0, 0, 0)
    assert robot.drive(0, ms=1200).joint_mrad == (1919, -1745, 100, 0, 0, 0)


def test_the_arm_freezes_when_the_host_falls_silent_and_doesnt_go_on_later(robot: Brainstem) -> None:
    robot.armed()
    robot.say(Joints(robot.peek().session, (1000, 0, 0, 0, 0, 0)))
    out = robot.drive(0, ms=100)
    out = robot.tick(130)
    frozen = out.joint_mrad
    assert frozen[0] < 500
    assert robot.tick(300).joint_mrad == frozen
    robot.request(Arm)
    assert robot.drive(0, ms=200).joint_mrad == frozen
