"""What the flashed image does when something goes wrong, on the emulated board, in simulated time."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from anima.body.link.codec import encode
from anima.body.link.messages import Drive, Fault, Reset, State
from anima.body.link.session import Wish
from anima_sim.board.avr import HERTZ, Change, Kind
from anima_sim.board.mega import ESTOP, MOTORS_ON
from anima_sim.board.rig import STEP_S, BoardRig
from anima_sim.board.wire import Noise

Figure = Callable[[str, float, float, str], None]
MID_STEP = round(0.4321 * STEP_S * HERTZ)


def test_it_boots_disarmed_and_no_drive_command_turns_the_motors_on(rig: BoardRig) -> None:
    rig.run(0.3)
    assert rig.status.state == State.DISARMED
    for session in range(256):
        rig.spoil = lambda sent, s=session: sent + encode(Drive(s, 300, 0), s)  # type: ignore[misc]
        rig.run(STEP_S * 4)
    assert not any(edge.pin == MOTORS_ON and edge.level for edge in rig.edges)
    assert rig.status.state == State.DISARMED


def test_the_stop_button_turns_the_driver_off_and_only_a_person_arms_again(rig: BoardRig, figure: Figure) -> None:
    rig.drive()
    pressed_at = rig.now + MID_STEP / HERTZ
    rig.run(STEP_S, [Change(Kind.PIN, ESTOP, 1, MID_STEP)])
    rig.around.estop = True
    figure("stop button to driver off", 1000 * rig.off_after(pressed_at), 2.0, "ms")
    rig.run(0.1)
    assert rig.status.state == State.FAULT and rig.lost == ["the brainstem stopped: estop"]
    rig.around.estop = False
    rig.run(1.0)
    assert rig.motors_off_at() is not None and rig.status.state == State.FAULT, "it came back by itself"
    rig.drive()


@pytest.mark.parametrize("speed", [0.4, -0.4, 0.05])
def test_a_silent_host_stops_the_robot(rig: BoardRig, figure: Figure, speed: float) -> None:
    rig.drive(speed)
    rig.host_lives = False
    since = rig.now
    figure(f"host silent at {speed:g} m/s to driver off", 1000 * rig.off_after(since), 300.0, "ms")
    rig.run(0.3)
    assert max(map(abs, rig.wheels_radps)) < 0.01
    rig.host_lives = True
    rig.run(0.5)
    assert "host_silent" in rig.lost[0] or "nothing from" in rig.lost[0]
    assert rig.motors_off_at() is not None, "it went on where it was"
    rig.drive(speed)


@pytest.mark.parametrize("noise", ["flipped", "dropped", "doubled"])
def test_with_one_byte_in_a_hundred_spoiled_it_obeys_and_is_never_in_a_wrong_state(
    rig: BoardRig, figure: Figure, noise: str
) -> None:
    rig.drive(0.2)
    before, sent = rig.heard_frames(), rig.session.quality.sent
    rig.to_board.noise = rig.to_host.noise = Noise(**{noise: 0.01})
    rig.run(12.0)
    rig.to_board.noise = rig.to_host.noise = Noise()
    spoiled_while = rig.session.quality.sent - sent
    heard = rig.heard_frames() - before - (rig.session.quality.sent - sent - spoiled_while)
    figure(f"commands accepted, 1 % of bytes {noise}", 100 * heard / spoiled_while, -85.0, "%")
    assert set(rig.speeds) == {(State.ARMED, 200)}
    assert rig.lost == []
    rig.drive(0.3)


def test_half_frames_are_silence_and_whole_ones_are_understood_again(rig: BoardRig, figure: Figure) -> None:
    rig.drive()
    since = rig.now
    rig.spoil = lambda sent: sent[: len(sent) // 2]
    figure("half frames only, to driver off", 1000 * rig.off_after(since), 300.0, "ms")
    rig.run(0.5)
    assert rig.disarmed
    rig.spoil = lambda sent: sent
    rig.drive()


def test_ten_kilobytes_of_junk_a_second_have_no_effect(rig: BoardRig) -> None:
    rig.drive(0.2)
    luck = random.Random(5)
    rig.spoil = lambda sent: luck.randbytes(200) + b"\0" + sent
    rig.run(2.0)
    assert set(rig.speeds) == {(State.ARMED, 200)}
    assert rig.lost == []


def test_a_flood_at_the_line_rate_may_stop_it_but_neither_moves_nor_blinds_it(rig: BoardRig, figure: Figure) -> None:
    rig.drive(0.2)
    luck = random.Random(5)
    rig.spoil = lambda sent: luck.randbytes(800) + b"\0" + sent
    rig.run(1.0)
    assert {speed for _, speed in rig.speeds} <= set(range(201)), "junk drove it"
    assert State.FAULT not in {state for state, _ in rig.speeds}, "the reflex loop fell behind"
    rig.spoil = lambda sent: sent
    rig.run(0.3)
    rig.drive(0.2)
    rig.spoil = lambda sent: luck.randbytes(800) + b"\0" + sent
    rig.run(0.06)
    assert rig.drives.duty is not None, "this flood must not have stopped it yet"
    pressed_at = rig.now + MID_STEP / HERTZ
    rig.run(STEP_S, [Change(Kind.PIN, ESTOP, 1, MID_STEP)])
    rig.around.estop = True
    figure("stop button to driver off, in a flood at the line rate", 1000 * rig.off_after(pressed_at), 2.0, "ms")
    rig.spoil = lambda sent: sent
    rig.run(0.05)
    rig.around.estop = False
    rig.run(0.2)
    rig.drive()


def test_junk_alone_is_no_host(rig: BoardRig) -> None:
    rig.drive(0.2)
    luck = random.Random(6)
    rig.spoil = lambda sent: luck.randbytes(800)
    since = rig.now
    assert rig.off_after(since) <= 0.3
    rig.run(1.0)
    assert rig.disarmed


def test_a_pulled_cable_stops_it_and_plugging_in_does_not_start_it(rig: BoardRig, figure: Figure) -> None:
    rig.drive(0.4)
    rig.to_board.cut = rig.to_host.cut = True
    since = rig.now
    figure("cable pulled at 0.4 m/s to driver off", 1000 * rig.off_after(since), 300.0, "ms")
    rig.run(0.7)
    assert rig.lost and not rig.session.armed
    rig.to_board.cut = rig.to_host.cut = False
    rig.run(1.5)
    assert rig.session.linked and rig.disarmed, "it re-armed without being told to"
    assert not any(edge.pin == MOTORS_ON and edge.level for edge in rig.edges)
    rig.drive(0.4)


def test_frames_of_an_older_session_move_nothing(rig: BoardRig) -> None:
    rig.drive(0.2)
    kept: list[bytes] = []
    rig.spoil = lambda sent: (kept.append(sent), sent)[1]
    rig.run(0.5)
    rig.wish = Wish(permitted=False)
    rig.spoil = lambda sent: sent
    rig.run(0.6)
    assert rig.status.state == State.DISARMED
    rig.arm()
    rig.run(0.2)
    rig.edges.clear()
    rig.spoil = lambda sent: sent + b"".join(kept)
    rig.run(0.5)
    assert rig.status.linear_mmps == 0, "it drives what was said in another session"


def test_a_hung_firmware_is_reset_by_its_watchdog_and_stays_off(rig: BoardRig, figure: Figure) -> None:
    rig.drive(0.3)
    since, resets = rig.now, rig.board.last.resets
    rig.run(STEP_S, [Change(Kind.HANG, 0, 0)])
    figure("hung firmware to driver off", 1000 * rig.off_after(since), 60.0, "ms")
    rig.run(0.5)
    assert rig.board.last.resets == resets + 1
    assert rig.session.reset_cause is Reset.WATCHDOG and rig.status.state == State.DISARMED
    assert rig.lost and not rig.session.armed
    rig.drive()


def test_a_brown_out_ends_disarmed(rig: BoardRig, figure: Figure) -> None:
    rig.drive(0.3)
    since = rig.now
    rig.run(0.02, [Change(Kind.POWER, 0, 0)])
    figure("supply gone to driver off", 1000 * rig.off_after(since), 1.0, "ms")
    rig.run(0.4, [Change(Kind.POWER, 0, 2)])
    assert rig.session.reset_cause is Reset.BROWN_OUT and rig.status.state == State.DISARMED
    rig.run(0.5)
    assert not any(edge.pin == MOTORS_ON and edge.level for edge in rig.edges)
    rig.drive()


SENSES: list[tuple[str, Fault, float]] = [
    ("bumper pressed", Fault.BUMPER, 2.0),
    ("cliff ahead", Fault.CLIFF, 20.0),
    ("cliff sensor's wire torn", Fault.CLIFF, 20.0),
    ("tilted by 30 degrees", Fault.TILT, 700.0),
    ("a wheel draws 8 A", Fault.WHEEL_CURRENT, 80.0),
    ("the arm draws 9 A", Fault.ARM_CURRENT, 250.0),
    ("battery at 9 V", Fault.UNDER_VOLTAGE, 600.0),
    ("battery wire torn", Fault.VOLTAGE_SENSOR, 130.0),
    ("wheels blocked", Fault.STALL, 1500.0),
    ("IMU frozen", Fault.IMU_SENSOR, 1100.0),
    ("IMU's bus dead", Fault.IMU_SENSOR, 1100.0),
]


@pytest.mark.parametrize(("what", "fault", "limit_ms"), SENSES, ids=[case[0] for case in SENSES])
def test_a_sensor_that_says_danger_or_nonsense_stops_and_latches(
    rig: BoardRig, figure: Figure, what: str, fault: Fault, limit_ms: float
) -> None:
    rig.drive(0.3)
    break_it(rig, what)
    since = rig.now
    figure(f"{what}, to driver off", 1000 * rig.off_after(since, 3.0), limit_ms, "ms")
    rig.run(0.1)
    assert rig.status.state == State.FAULT
    assert Fault(rig.status.faults) & fault, Fault(rig.status.faults)


def break_it(rig: BoardRig, what: str) -> None:
    around = rig.around
    match what:
        case "bumper pressed":
            around.bumpers = (True, False)
        case "cliff ahead":
            around.cliffs_m = (0.30, 0.1155, 0.1155, 0.1155)
        case "cliff sensor's wire torn":
            around.cliffs_m = (float("inf"), 0.1155, 0.1155, 0.1155)
        case "tilted by 30 degrees":
            rig.freeze_imu()
            around.acceleration_mps2, around.turning_radps = (4.9, 0.0, 8.5), (0.0, 0.0, 0.0)
        case "a wheel draws 8 A":
            around.wheel_a = (8.0, 0.5)
        case "the arm draws 9 A":
            around.arm_a = 9.0
        case "battery at 9 V":
            around.battery_v = 9.0
        case "battery wire torn":
            around.battery_v = 0.0
        case "wheels blocked":
            rig.wheels_turn = False
        case "IMU frozen":
            rig.freeze_imu()
        case "IMU's bus dead":
            around.imu_connected = False
        case _:
            raise ValueError(what)


def test_dead_encoders_stop_it_as_wheels_that_do_not_turn(rig: BoardRig) -> None:
    rig.drive(0.3)
    rig.encoders_work = False
    assert rig.off_after(rig.now, 3.0) < 1.5
    rig.run(0.1)
    assert Fault(rig.status.faults) & (Fault.STALL | Fault.ENCODER_SENSOR | Fault.WHEEL_CURRENT)


def test_memory_is_left_after_all_that(rig: BoardRig, figure: Figure) -> None:
    rig.drive(0.3)
    rig.spoil = lambda sent: bytes(range(1, 200)) + sent
    rig.run(1.0)
    figure("RAM never touched", rig.board.last.unused_ram_bytes, -2048.0, "bytes")
