"""The brainstem's core, one millisecond at a time: what stops the robot, what latches, what arms it again."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from support.brainstem import Brainstem, Inputs, library, outputs_of

from anima.body.link.codec import Decoder, encode
from anima.body.link.messages import (
    SCHEMA,
    Arm,
    ArmFlag,
    Bumper,
    Clear,
    Contacts,
    Disarm,
    DisarmFlag,
    Drive,
    Fault,
    Hello,
    HelloAck,
    Imu,
    Joints,
    JointStates,
    Odometry,
    Outcome,
    Ping,
    Pong,
    Power,
    Quality,
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


def state(robot: Brainstem) -> State:
    return State(robot.peek().state)


# ---- starting ----


def test_it_starts_disarmed_with_everything_off(robot: Brainstem) -> None:
    out = robot.tick()
    assert out.all_off and not out.servos_on
    assert state(robot) == State.DISARMED


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
    assert state(robot) == State.DISARMED
    robot.say(Arm(challenge, 0))
    robot.tick()
    assert robot.heard(Result).outcome == Outcome.STALE_CHALLENGE
    assert state(robot) == State.DISARMED
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
    assert state(robot) == State.DISARMED
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
    assert state(robot) == State.DISARMED


def test_the_most_pressing_request_of_a_tick_wins(robot: Brainstem) -> None:
    robot.tick(30)
    challenge = robot.challenge()
    robot.say(Stop(0))
    robot.say(Arm(challenge, 0))
    robot.say(Disarm(0))
    robot.tick()
    assert robot.heard(Result).request == Stop.id
    assert state(robot) == State.FAULT


# ---- faults ----

STANDING = Inputs()
AT_ONCE: dict[Fault, Callable[[Inputs], Inputs]] = {
    Fault.ESTOP: lambda i: replace(i, estop=1),
    Fault.BUMPER: lambda i: replace(i, bumpers=int(Bumper.FRONT_LEFT)),
    Fault.CLIFF: lambda i: replace(i, cliff_mm=(115, 115, 65535, 115)),
}
LASTING: dict[Fault, tuple[int, Callable[[Inputs], Inputs]]] = {
    Fault.WHEEL_CURRENT: (50, lambda i: replace(i, wheel_ma=(100, -5001))),
    Fault.ARM_CURRENT: (200, lambda i: replace(i, arm_ma=6001)),
    Fault.UNDER_VOLTAGE: (500, lambda i: replace(i, battery_mv=9599)),
    Fault.VOLTAGE_SENSOR: (100, lambda i: replace(i, battery_mv=0)),
    Fault.IMU_SENSOR: (100, lambda i: replace(i, accel_mg=(0, 0, 100))),
}


@pytest.mark.parametrize("fault", AT_ONCE)
def test_it_cuts_the_motors_in_the_same_tick_and_latches(robot: Brainstem, fault: Fault) -> None:
    robot.armed().drive(300, ms=200)
    calm = robot.inputs
    robot.inputs = AT_ONCE[fault](calm)
    assert robot.tick().all_off
    assert Fault(robot.peek().faults) == fault
    assert robot.request(Clear).outcome == Outcome.UNSAFE
    robot.inputs = calm
    robot.tick(500)
    assert state(robot) == State.FAULT, "it doesn't go away on its own"
    assert robot.request(Arm).outcome == Outcome.WRONG_STATE
    assert robot.request(Clear).outcome == Outcome.DONE
    assert robot.tick().all_off
    assert robot.request(Arm).outcome == Outcome.DONE


@pytest.mark.parametrize("fault", LASTING)
def test_it_cuts_the_motors_when_it_has_lasted(robot: Brainstem, fault: Fault) -> None:
    after_ms, spoil = LASTING[fault]
    robot.armed()
    robot.drive(0, ms=40)
    robot.inputs = spoil(robot.inputs)
    robot.drive(0, ms=after_ms - 1)
    assert state(robot) == State.ARMED
    robot.drive(0)
    assert state(robot) == State.FAULT
    assert fault in Fault(robot.peek().faults)


@pytest.mark.parametrize("axis", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_leaning_too_far_cuts_the_motors(robot: Brainstem, axis: tuple[int, int]) -> None:
    robot.armed()
    robot.drive(0, ms=20)
    lean = 390  # mg across of 1000: 0.40 rad
    robot.inputs.accel_mg = (axis[0] * lean, axis[1] * lean, 920)
    robot.drive(0, ms=3000)
    assert Fault(robot.peek().faults) == Fault.TILT


def test_the_gyroscope_notices_a_fall_before_the_accelerometer(robot: Brainstem) -> None:
    robot.armed()
    robot.drive(0, ms=20)
    robot.inputs.gyro_mradps = (0, 3000, 0)  # tips over forwards
    noticed = next(ms for ms in range(200) if not robot.drive(0).motors_on)
    assert 100 < noticed < 140, "0.35 rad at 3 rad/s"


def test_braking_hard_is_no_tilt(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(5):
        robot.inputs.accel_mg = (-300, 0, 1000)
        robot.drive(0, ms=160)
        robot.inputs.accel_mg = (100, 0, 1000)
        robot.drive(0, ms=400)
    assert state(robot) == State.ARMED


def test_lying_upside_down_is_a_tilt(robot: Brainstem) -> None:
    robot.inputs.accel_mg = (0, 0, -1000)
    robot.tick()
    assert Fault.TILT in Fault(robot.peek().live)
    assert robot.request(Arm).outcome == Outcome.UNSAFE


def test_a_stuck_wheel_is_a_stall(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(70):
        robot.say(Drive(robot.peek().session, 200, 0))
        for _ in range(20):
            robot.tick()
    assert Fault(robot.peek().faults) == Fault.STALL


def test_a_wheel_that_turns_the_other_way_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    for _ in range(40):
        robot.say(Drive(robot.peek().session, -200, 0))
        for _ in range(20):
            robot.roll(robot.tick(), share=-1.0)
    assert Fault(robot.peek().faults) == Fault.ENCODER_SENSOR


def test_a_wheel_that_runs_away_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    for step in range(300):
        robot.inputs.wheel_count = (step * 4, 0)
        robot.drive(0)
        robot.inputs.wheel_count = (step * 4, 0)
    assert Fault(robot.peek().faults) == Fault.ENCODER_SENSOR


def test_a_wheel_that_is_pushed_while_disarmed_is_none(robot: Brainstem) -> None:
    for step in range(400):
        robot.inputs.wheel_count = (step * 4, -step * 4)
        robot.tick()
    assert robot.peek().live == 0


def test_a_frozen_inertial_sensor_is_noticed(robot: Brainstem) -> None:
    robot.lively = False
    robot.tick(1100)
    assert Fault(robot.peek().live) == Fault.IMU_SENSOR


def test_a_loop_that_fell_behind_is_a_fault(robot: Brainstem) -> None:
    robot.armed()
    robot.tick(late_ms=19)
    assert state(robot) == State.ARMED
    assert robot.tick(late_ms=20).all_off
    assert Fault(robot.peek().faults) == Fault.TIMING


@pytest.mark.parametrize("damaged", [4, 77, 255])
def test_a_damaged_state_is_a_fault(robot: Brainstem, damaged: int) -> None:
    robot.armed().drive(300, ms=100)
    robot.damage_state(damaged)
    assert robot.tick().all_off
    assert Fault(robot.peek().faults) == Fault.MEMORY


def test_the_pressed_stop_takes_the_power_off_the_arm(robot: Brainstem) -> None:
    assert robot.armed().tick().servos_on
    robot.inputs.estop = 1
    assert not robot.tick().servos_on


def test_a_second_fault_adds_to_the_first(robot: Brainstem) -> None:
    robot.armed()
    robot.inputs.bumpers = 1
    robot.tick()
    robot.inputs = replace(STANDING, estop=1)
    robot.tick()
    assert Fault(robot.peek().faults) == Fault.BUMPER | Fault.ESTOP


def test_a_fault_while_ramping_down_cuts(robot: Brainstem) -> None:
    robot.armed().drive(400, ms=450)
    robot.say(Disarm(0))
    assert robot.tick().motors_on
    robot.inputs.estop = 1
    assert robot.tick().all_off
    assert state(robot) == State.FAULT


# ---- getting away from a contact ----


def in_contact(robot: Brainstem, **contact: object) -> Brainstem:
    robot.armed().drive(200, ms=200)
    robot.inputs = replace(robot.inputs, **contact)  # type: ignore[arg-type]
    robot.tick()
    assert state(robot) == State.FAULT
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
    assert state(robot) == State.ARMED
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
    assert state(robot) == State.DISARMED and not robot.peek().escape_from


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


# ---- the link ----


def test_it_tells_everything_it_senses(robot: Brainstem) -> None:
    robot.inputs = Inputs(
        bumpers=2, cliff_mm=(111, 112, 113, 114), accel_mg=(5, 6, 1007), gyro_mradps=(8, 9, 10), wheel_count=(-11, 12),
        wheel_ma=(13, -14), arm_ma=15, battery_mv=11_600, battery_ma=-17, joint_mrad=(18, 19, 20, 21, 22, 23),
        joint_load_mnm=(24, 25, 26, 27, 28, -29),
    )  # fmt: skip
    robot.lively = False
    for _ in range(500):
        robot.tick(rx_lost=5)
        robot.listen()
    last = {type(frame.message): frame.message for frame in robot.sent}
    counts = {kind: sum(isinstance(f.message, kind) for f in robot.sent) for kind in last}
    assert counts == {Status: 25, Odometry: 25, Imu: 25, Contacts: 25, JointStates: 25, Power: 5, Quality: 1}
    contacts, power, joints = last[Contacts], last[Power], last[JointStates]
    assert (contacts.bumpers, contacts.cliff_mm) == (2, (111, 112, 113, 114))
    assert (power.battery_mv, power.battery_ma, power.wheel_ma, power.arm_ma) == (11_600, -17, (13, -14), 15)
    assert (joints.position_mrad, joints.load_mnm) == ((18, 19, 20, 21, 22, 23), (24, 25, 26, 27, 28, -29))
    assert (last[Imu].accel_mg, last[Imu].gyro_mradps) == ((5, 6, 1007), (8, 9, 10))
    assert last[Odometry].count == (-11, 12)
    assert last[Quality].rx_lost == 5
    sequence = [frame.seq for frame in robot.sent]
    assert sequence == [n % 256 for n in range(len(sequence))]


def test_measured_speed_is_what_the_encoders_say(robot: Brainstem) -> None:
    robot.armed().drive(300, ms=500)
    assert robot.heard(Odometry).speed_mmps == pytest.approx((300, 300), abs=8)


def test_a_change_of_state_is_told_at_once(robot: Brainstem) -> None:
    robot.tick(35)
    robot.listen()
    robot.request(Arm)
    robot.inputs.estop = 1
    robot.tick()
    assert robot.heard(Status).state == State.FAULT


def test_a_ping_is_answered_and_is_no_sign_of_life(robot: Brainstem) -> None:
    robot.armed()
    for nonce in range(40):
        robot.say(Ping(nonce))
        assert robot.heard(Pong).nonce == nonce
        robot.tick(10)
    assert state(robot) == State.DISARMED


def test_what_makes_no_sense_is_counted_and_ignored(robot: Brainstem) -> None:
    robot.armed()
    before = robot.peek()
    robot.say(Status(0, 0, 0, 0, 0, 0, 0, 0, 0))  # of the other direction, and too long
    robot.hear(b"\x05\x01\x02\x00")  # cut short
    robot.hear(b"\x02\x01\x00")  # too short
    robot.hear(bytes(range(1, 200)) * 3 + b"\0")
    good = bytearray(encode(Ping(1), 1))
    good[3] ^= 0x55
    robot.hear(bytes(good))
    robot.hear(b"\0\0\0")
    other = raw_frame(0x22, 1, b"\1\2\3")  # a ping of three bytes
    robot.hear(other)
    robot.hear(raw_frame(0x7E, 1, b""))
    after = robot.peek()
    assert after.unknown - before.unknown == 2
    assert after.bad_crc - before.bad_crc == 1
    assert after.bad_frame - before.bad_frame == 4
    assert state(robot) == State.ARMED


def raw_frame(kind: int, seq: int, payload: bytes) -> bytes:
    """A frame as the firmware itself encodes it."""
    out = ctypes.create_string_buffer(64)
    length = library().native_encode(kind, seq, payload, len(payload), out)
    return out.raw[:length]


def test_every_known_message_of_the_wrong_length_is_refused(robot: Brainstem) -> None:
    for kind in (0x01, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21, 0x22):
        robot.hear(raw_frame(kind, 1, b"\1\2"))
    assert robot.peek().unknown == 8


def test_a_payload_too_long_is_not_encoded() -> None:
    out = ctypes.create_string_buffer(64)
    assert library().native_encode(1, 1, bytes(40), 40, out) == 0


def test_when_nobody_listens_whole_frames_are_lost_and_counted(robot: Brainstem) -> None:
    robot.listening = False
    robot.tick(300)
    frames = robot.listen(room=7)
    assert robot.peek().tx_lost > 0
    assert frames and robot._decoder.counts.bad_crc == robot._decoder.counts.bad_frame == 0
    robot.tick(25)
    assert robot.listen()[0].seq > len(frames), "the gap shows in the sequence numbers"


# ---- the loop over a port ----


def run_loop(received: bytes, ticks: list[int], room: int = 255) -> tuple[bytes, list[int], object]:
    values = Inputs().flat()
    sent = ctypes.create_string_buffer(4096)
    counts = (ctypes.c_uint32 * 3)()
    outputs = (ctypes.c_int32 * 12)(*([1] * 12))
    count = library().native_run(
        received, len(received), bytes(ticks), len(ticks), room, (ctypes.c_int32 * len(values))(*values), sent, counts,
        outputs,
    )  # fmt: skip
    return sent.raw[:count], list(counts), outputs_of(list(outputs))


def test_the_loop_ticks_kicks_the_watchdog_and_sleeps_when_there_is_nothing_to_do() -> None:
    sent, (drives, kicks, idles), out = run_loop(encode(Ping(9), 1), [1, 0, 0, 1, 0])
    assert (drives, kicks, idles) == (3, 2, 3), "everything off once at the start, then once a tick"
    assert out.all_off
    assert Pong(9, 0) in [frame.message for frame in Decoder().feed(sent)]


def test_a_flood_does_not_delay_the_ticks() -> None:
    _, (_, kicks, idles), _ = run_loop(b"\x37" * 1000, [1] * 20 + [0] * 10)
    assert kicks == 20
    assert idles == 0


def test_missed_ticks_are_made_up_for_and_told_as_a_fault() -> None:
    sent, (_, kicks, _), _ = run_loop(b"", [200, 255] + [0] * 300)
    assert kicks == 255 + 1
    status = [frame.message for frame in Decoder().feed(sent) if isinstance(frame.message, Status)]
    assert Fault.TIMING in Fault(status[0].live)


def test_the_loop_sends_no_more_than_there_is_room_for() -> None:
    sent, _, _ = run_loop(encode(Ping(9), 1), [0] * 3, room=4)
    assert len(sent) == 12
