"""The Mega's wiring seen from outside: physical quantities to pins and voltages, registers to what motors do.

The mirror image of firmware/port/mega2560/board.h; a test holds both equal through the running image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from anima_sim.board.avr import HERTZ, Change, Kind, Step, pin

ESTOP, BUMPERS = pin("PL0"), (pin("PL1"), pin("PL2"))
MOTORS_ON, SERVOS_ON = pin("PA2"), pin("PA3")
_ENCODERS = ((pin("PB0"), pin("PB1")), (pin("PB2"), pin("PB3")))
_GREY = ((0, 0), (1, 0), (1, 1), (0, 1))  # A leads forwards

_BATTERY_V, _BATTERY_I, _WHEEL_I, _ARM_I, _CLIFF = 6, 7, 8, 10, 11
_JOINT_CENTRE_RAD = (0.0, 0.0, 0.0, 0.0, 0.0, 0.75)
_JOINT_SWING_RAD = (2.2, 2.2, 2.2, 2.2, 3.0, 1.25)
_PWM_TOP = 799
_SERVO_CENTRE, _SERVO_SWING = 3000, 2000
# Data addresses of the ATmega2560's registers.
_PORTA, _TCCR1A, _OCR1A, _OCR1B = 0x22, 0x80, 0x88, 0x8A
_TCCR3A, _TCCR4A = 0x90, 0xA0
_SERVO_OCR = (0x98, 0x9A, 0x9C, 0xA8, 0xAA, 0xAC)
_IMU_FIRST = 0x3B
_STANDARD_GRAVITY = 9.80665
_LIMIT = 32767


@dataclass
class Surroundings:
    """What the board's sensors are exposed to. Angles rad, lengths m, currents A; left before right."""

    estop: bool = False
    bumpers: tuple[bool, bool] = (False, False)
    cliffs_m: tuple[float, float, float, float] = (0.1155, 0.1155, 0.1155, 0.1155)
    acceleration_mps2: tuple[float, float, float] = (0.0, 0.0, _STANDARD_GRAVITY)
    turning_radps: tuple[float, float, float] = (0.0, 0.0, 0.0)
    wheel_counts: tuple[int, int] = (0, 0)
    battery_v: float = 12.0
    battery_a: float = 1.0
    """drawn"""
    wheel_a: tuple[float, float] = (0.0, 0.0)
    arm_a: float = 0.3
    joints_rad: tuple[float, ...] = field(default_factory=lambda: _JOINT_CENTRE_RAD)
    imu_connected: bool = True
    """otherwise the two-wire bus is dead"""
    analogue_connected: bool = True
    """otherwise every analogue input reads zero"""


@dataclass(frozen=True)
class Drives:
    """What the board's outputs make of the motors: duty -1 to 1 or None for a shorted motor; servo targets rad."""

    duty: tuple[float, float] | None
    joints_rad: tuple[float, ...] | None
    """None: the servos have no power, or no pulses come"""


class Wiring:
    """Turns changes of the surroundings into changes at the connectors. Remembers what the connectors are at."""

    def __init__(self) -> None:
        self._levels: dict[tuple[Kind, int], int] = {}
        self._counts = [0, 0]

    def changes(self, now: Surroundings, duration_s: float) -> list[Change]:
        """What changes at the connectors during a step of `duration_s` that ends in `now`.

        Encoders turn evenly over the step; all else changes at its begin.
        """
        found = []
        for kind, index, value in self._targets(now):
            if self._levels.get((kind, index)) != value:
                self._levels[(kind, index)] = value
                found.append(Change(kind, index, value))
        for side, goal in enumerate(now.wheel_counts):
            found += self._turn(side, goal, round(duration_s * HERTZ))
        return found

    def _targets(self, now: Surroundings) -> Iterator[tuple[Kind, int, int]]:
        yield Kind.PIN, ESTOP, int(now.estop)
        for number, pressed in zip(BUMPERS, now.bumpers, strict=True):
            yield Kind.PIN, number, int(pressed)
        yield Kind.IMU_ON_BUS, 0, int(now.imu_connected)
        for channel, volts in self._volts(now):
            millivolts = round(1000 * volts) if now.analogue_connected and math.isfinite(volts) else 0
            yield Kind.ADC, channel, min(max(millivolts, 0), 5000)
        words = [round(a / _STANDARD_GRAVITY * 16384) for a in now.acceleration_mps2] + [0]
        words += [round(math.degrees(w) * 65.5) for w in now.turning_radps]
        for number, word in enumerate(words):
            clipped = min(max(word, -_LIMIT - 1), _LIMIT) & 0xFFFF
            yield Kind.IMU, _IMU_FIRST + 2 * number, clipped >> 8
            yield Kind.IMU, _IMU_FIRST + 2 * number + 1, clipped & 0xFF

    @staticmethod
    def _volts(now: Surroundings) -> Iterator[tuple[int, float]]:
        for number, (angle, centre, swing) in enumerate(
            zip(now.joints_rad, _JOINT_CENTRE_RAD, _JOINT_SWING_RAD, strict=True)
        ):
            yield number, 2.5 + 2.25 * (angle - centre) / swing
        yield _BATTERY_V, now.battery_v / 3.4
        yield _BATTERY_I, 2.5 + 0.1 * now.battery_a
        for side, amperes in enumerate(now.wheel_a):
            yield _WHEEL_I + side, 2.5 + 0.1 * amperes
        yield _ARM_I, 2.5 + 0.1 * now.arm_a
        for number, metres in enumerate(now.cliffs_m):
            # The sensor's answer saturates before the range where it would fold back.
            yield _CLIFF + number, 0.042 / max(metres, 0.022) if metres < math.inf else 0.0

    def _turn(self, side: int, goal: int, cycles: int) -> list[Change]:
        was, way = self._counts[side], goal - self._counts[side]
        direction = 1 if way > 0 else -1
        self._counts[side] = goal
        found = []
        for number in range(1, abs(way) + 1):
            before, after = (_GREY[(was + n * direction) % 4] for n in (number - 1, number))
            at = cycles * number // (abs(way) + 1)
            for channel in (0, 1):
                if before[channel] != after[channel]:
                    found.append(Change(Kind.PIN, _ENCODERS[side][channel], after[channel], at))
        return found


def drives(step: Step) -> Drives:
    """What the outputs are after a step."""
    port = step.io[_PORTA]
    return Drives(_duty(step, port), _servos(step, port))


def _duty(step: Step, port: int) -> tuple[float, float] | None:
    if not port & 1 << (MOTORS_ON % 8):
        return None
    mode = step.io[_TCCR1A]
    duty = []
    for reverse, compare, connected in ((0, _OCR1A, 0x80), (1, _OCR1B, 0x20)):
        size = (_word(step, compare) + 1) / (_PWM_TOP + 1) if mode & connected else 0.0
        duty.append(-size if port & 1 << reverse else size)
    return duty[0], duty[1]


def _servos(step: Step, port: int) -> tuple[float, ...] | None:
    if not port & 1 << (SERVOS_ON % 8) or step.io[_TCCR3A] & 0xA8 != 0xA8 or step.io[_TCCR4A] & 0xA8 != 0xA8:
        return None
    return tuple(
        centre + (_word(step, address) - _SERVO_CENTRE) / _SERVO_SWING * swing
        for address, centre, swing in zip(_SERVO_OCR, _JOINT_CENTRE_RAD, _JOINT_SWING_RAD, strict=True)
    )


def _word(step: Step, address: int) -> int:
    return step.io[address] | step.io[address + 1] << 8
