"""The brainstem once more, written from its description and not from its code: what the C core is compared with.

It is told what the wheels' and the tilt's measurement found (both are tested on their own), and says what state, faults
and setpoints must follow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from anima.body.link.messages import (
    Arm,
    ArmFlag,
    Clear,
    Disarm,
    DisarmFlag,
    Drive,
    Fault,
    Joints,
    Message,
    Outcome,
    Stop,
)
from anima.body.link.messages import State as S
from anima.config import ROOT
from support.brainstem import Inputs

OWN = yaml.safe_load((ROOT / "firmware/brainstem.yaml").read_text(encoding="utf-8"))
BASE = yaml.safe_load((ROOT / "config/robots/anima.yaml").read_text(encoding="utf-8"))["base"]
NONE = Fault(0)
CONTACT = Fault.BUMPER | Fault.CLIFF
ARM_OFF = Fault.ESTOP | Fault.UNDER_VOLTAGE | Fault.ARM_CURRENT
URGENCY: tuple[type[Message], ...] = (Arm, Clear, Disarm, Stop)


@dataclass
class Lasting:
    """True once a condition has held for so many milliseconds in a row."""

    after_ms: int
    since: int = 0

    def __call__(self, holds: bool) -> bool:
        self.since = self.since + 1 if holds else 0
        return self.since >= self.after_ms


@dataclass
class Reference:
    """One brainstem. Feed it messages with `hear`, then `tick`."""

    state: S = S.DISARMED
    faults: Fault = NONE
    live: Fault = NONE
    linear: float = 0.0
    """m/s"""
    angular: float = 0.0
    target: tuple[float, float] = (0.0, 0.0)
    session: int = 0
    outcome: Outcome | None = None
    servos_on: bool = False
    escaping: frozenset[str] = frozenset()
    last_seq: int | None = None
    silent_ms: int = 0
    escape_ms: int = 0
    waiting: tuple[Message, bool] | None = None
    drive: Drive | None = None
    wheel_current: list[Lasting] = field(
        default_factory=lambda: [Lasting(OWN["wheel_current"]["after_ms"]) for _ in range(2)]
    )
    arm_current: Lasting = field(default_factory=lambda: Lasting(OWN["arm_current"]["after_ms"]))
    voltage_low: Lasting = field(default_factory=lambda: Lasting(OWN["voltage"]["after_ms"]))
    voltage_bad: Lasting = field(default_factory=lambda: Lasting(OWN["voltage"]["sense_after_ms"]))
    released: Lasting = field(default_factory=lambda: Lasting(OWN["escape"]["release_ms"]))

    def hear(self, message: Message, seq: int, challenge: int | None) -> bool:
        """A message arrives; `challenge` is what may be echoed now. True when that is used up."""
        if isinstance(message, Drive | Joints):
            ahead = None if self.last_seq is None else (seq - self.last_seq) % 256
            if self.state is S.ARMED and message.session == self.session and (ahead is None or 1 <= ahead <= 127):
                self.last_seq = seq
                if isinstance(message, Drive):
                    self.drive = message
        elif isinstance(message, URGENCY):
            taken = self.waiting is None or URGENCY.index(type(message)) > URGENCY.index(type(self.waiting[0]))
            if taken:
                right = isinstance(message, Arm | Clear) and challenge is not None and message.challenge == challenge
                self.waiting = (message, right)
                return right
        return False

    def contacts(self, inputs: Inputs) -> frozenset[str]:
        """The sides that touch something or see no floor."""
        nearest, farthest = OWN["cliff"]["nearest_mm"], OWN["cliff"]["farthest_mm"]
        edges = [not nearest <= mm <= farthest for mm in inputs.cliff_mm]
        front = bool(inputs.bumpers) or any(edges[:2])
        return frozenset(name for name, there in (("front", front), ("rear", any(edges[2:]))) if there)

    def sensed(self, inputs: Inputs) -> Fault:
        """The faults that hold, without tilt, wheels and inertial sensor."""
        volt = OWN["voltage"]
        bad = not volt["lowest_mv"] <= inputs.battery_mv <= volt["highest_mv"]
        edges = [not OWN["cliff"]["nearest_mm"] <= mm <= OWN["cliff"]["farthest_mm"] for mm in inputs.cliff_mm]
        current = [
            lasting(abs(ma) > OWN["wheel_current"]["limit_ma"])
            for lasting, ma in zip(self.wheel_current, inputs.wheel_ma, strict=True)
        ]
        found = {
            Fault.ESTOP: bool(inputs.estop),
            Fault.BUMPER: bool(inputs.bumpers),
            Fault.CLIFF: any(edges),
            Fault.WHEEL_CURRENT: any(current),
            Fault.ARM_CURRENT: self.arm_current(abs(inputs.arm_ma) > OWN["arm_current"]["limit_ma"]),
            Fault.UNDER_VOLTAGE: self.voltage_low(inputs.battery_mv < volt["cut_mv"]),
            Fault.VOLTAGE_SENSOR: self.voltage_bad(bad),
        }
        return Fault(sum(fault for fault, holds in found.items() if holds))

    def tick(self, inputs: Inputs, measured: Fault) -> None:
        """A millisecond; `measured` are the faults of tilt, wheels and inertial sensor."""
        contact = self.contacts(inputs)
        self.live = self.sensed(inputs) | measured
        counts = self.escape(self.live, contact)
        before, request = self.state, self.waiting
        kind = type(request[0]) if request else None
        self.silent_ms = 0 if self.drive else self.silent_ms + 1
        standing = self.linear == 0 and self.angular == 0
        silent = self.silent_ms >= OWN["host"]["silence_ms"]

        if kind is Stop:
            counts |= Fault.HOST_STOP
        if kind is Stop or (counts and before in (S.ARMED, S.STOPPING)):
            self.state, self.faults, self.escaping = S.FAULT, self.faults | counts, frozenset()
        elif before is S.FAULT:
            self.faults |= counts
        elif before is S.STOPPING and standing:
            self.state, self.escaping = S.DISARMED, frozenset()
        elif before is S.ARMED and (silent or kind is Disarm):
            self.state, self.faults = S.STOPPING, Fault.HOST_SILENT if silent else NONE

        self.outcome = self.answer(request, before, counts, contact) if request else None
        self.power(inputs, before, request)
        self.move(before)
        self.waiting, self.drive = None, None

    def escape(self, live: Fault, contact: frozenset[str]) -> Fault:
        """The live faults that count while it may be escaping."""
        if not self.escaping:
            return live
        self.escape_ms += 1
        if self.released(not contact):
            self.escaping = frozenset()
        elif self.escape_ms >= OWN["escape"]["longest_ms"]:
            return live | Fault.ESCAPE_OVER
        elif contact <= self.escaping:
            return live & ~CONTACT
        return live

    def answer(self, request: tuple[Message, bool], before: S, counts: Fault, contact: frozenset[str]) -> Outcome:
        message, right = request
        if not isinstance(message, Arm | Clear):
            return Outcome.DONE
        way_out = bool(message.flags & ArmFlag.ESCAPE) and len(contact) == 1
        hinders = counts & ~CONTACT if way_out else counts
        if before is not (S.DISARMED if isinstance(message, Arm) else S.FAULT):
            return Outcome.WRONG_STATE
        if not right:
            return Outcome.STALE_CHALLENGE
        if hinders:
            return Outcome.UNSAFE
        self.faults = NONE
        if isinstance(message, Clear):
            self.state = S.DISARMED
        else:
            self.state, self.session, self.last_seq, self.silent_ms = S.ARMED, message.challenge & 0xFF, None, 0
            self.escaping, self.escape_ms = (contact if way_out else frozenset()), 0
            self.released.since = 0
        return Outcome.DONE

    def power(self, inputs: Inputs, before: S, request: tuple[Message, bool] | None) -> None:
        """Torque on the arm."""
        if self.state is S.ARMED and before is not S.ARMED:
            self.servos_on = True
        release = request and isinstance(request[0], Disarm) and request[0].flags & DisarmFlag.RELEASE_ARM
        if self.live & ARM_OFF or release:
            self.servos_on = False

    def move(self, before: S) -> None:
        """The ramps, in m/s and rad/s."""
        if self.state not in (S.ARMED, S.STOPPING):
            self.linear = self.angular = 0.0
            self.target = (0.0, 0.0)
            return
        if self.state is S.STOPPING:
            self.target = (0.0, 0.0)
        elif self.drive:
            most, turn = BASE["max_linear_mps"], BASE["max_angular_radps"]
            self.target = (
                min(max(self.drive.linear_mmps / 1000, -most), most),
                min(max(self.drive.angular_mradps / 1000, -turn), turn),
            )
        self.linear = toward(
            self.linear, self.target[0], BASE["max_linear_accel_mps2"] / 1000, BASE["max_linear_decel_mps2"] / 1000
        )
        self.angular = toward(
            self.angular,
            self.target[1],
            BASE["max_angular_accel_radps2"] / 1000,
            BASE["max_angular_decel_radps2"] / 1000,
        )
        if self.escaping:
            slow = OWN["escape"]["speed_mmps"] / 1000
            low, high = (-slow, 0.0) if self.escaping == {"front"} else (0.0, slow)
            self.linear, self.angular = min(max(self.linear, low), high), 0.0


def toward(now: float, target: float, accel: float, decel: float) -> float:
    """One millisecond of a ramp that brakes to zero before it goes the other way; rounded, so that zero is reached."""
    if now * target < 0 or abs(target) < abs(now):
        goal = 0.0 if now * target < 0 else target
        return round(max(now - decel, goal) if now > 0 else min(now + decel, goal), 9)
    return round(min(now + accel, target) if target > now else max(now - accel, target), 9)
