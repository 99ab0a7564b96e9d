"""What the brainstem says, what it does with bytes that make no sense, and its main loop."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest
from support.brainstem import Brainstem, Inputs, library, outputs_of

from anima.body.link.codec import Decoder, encode
from anima.body.link.messages import (
    Arm,
    Contacts,
    Fault,
    Imu,
    JointStates,
    Odometry,
    Ping,
    Pong,
    Power,
    Quality,
    State,
    Status,
)


@pytest.fixture
def robot() -> Iterator[Brainstem]:
    core = Brainstem()
    yield core
    core.close()


# ---- the link ----


def test_it_tells_everything_it_senses(robot: Brainstem) -> None:
    robot.inputs = Inputs(
        bumpers=2, cliff_mm=(111, 112, 113, 114), accel_mg=(5, 6, 1007), gyro_mradps=(8, 9, 10), wheel_count=(-11, 12),
        wheel_ma=(13, -14), arm_ma=15, battery_mv=11_600, battery_ma=-17, joint_mrad=(18, 19, 20, 21, 22, 23),
        joint_load_mnm=(24, 25, 26, 27, 28, -29),
    )
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
    assert robot.state == State.DISARMED


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
    assert robot.state == State.ARMED


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
    )
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
