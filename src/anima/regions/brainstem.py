"""Brainstem: the reflex kernel, the one way to the motors.

Every step it publishes a velocity: exactly what it let through, zero when there is nothing to let through. In order
of priority: software stop, reflexes, teleop, skills. A fresh teleop stream takes the base even when it asks for zero;
it gives the base back by falling silent.

The software stop is a program among programs. It isn't a certified emergency stop: that is a switch that takes power
from the motors without any computer (ISO 13850). It latches until it is reset, and a reset never restarts motion:
each stream is let in again only after it has let go (`reflex.mux.Admission`).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from anima import topics as t
from anima.brain import steering
from anima.config import Settings
from anima.regions.reflex.arm import ArmGate
from anima.regions.reflex.config import load_reflex
from anima.regions.reflex.monitors import Contact, Hold, Silence, Stall, Tilt, tilt_of
from anima.regions.reflex.motion import Permit, clamp, guard, ramp
from anima.regions.reflex.mux import ZERO, Refusal, Stream, Velocity
from anima.regions.reflex.reports import Reports
from anima.regions.reflex.scan import ScanView, read_scan
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.mind import StopRequest
from anima.types.std import JointState, TwistStamped

TELEOP = "teleop"  # no reflex of the body's own: a person has it, and everybody is told
# A reset asked for longer ago than this belongs to another moment.
_RESET_COUNTS_FOR_S = 1.0


class ReflexKernel:
    """Muxes, limits and stops. `step` is pure in (state, now, inbox), and its state can be dumped and loaded."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/reflex.yaml`, the robot's file or its URDF can't be used."""
        config = load_reflex(settings)
        self._tuning, self._body = config.tuning, config.body
        commands = self._tuning.commands
        self._hearts = {name: t.HEARTBEATS[name] for name in steering(settings.sim, settings.composed)}
        self._teleop = Stream("teleop", commands.teleop_timeout_s, commands.future_tolerance_s)
        self._skill = Stream("skill", commands.skill_timeout_s, commands.future_tolerance_s)
        self._arm = ArmGate(self._body.arm, commands.arm_timeout_s, commands.future_tolerance_s)
        self._reports = Reports(self._tuning.report)
        self._latch_source: str | None = None
        self._latch_stamp = -math.inf
        self._now: float | None = None
        self._sent = ZERO
        self._driver = ""
        self._forget_senses()

    def _forget_senses(self) -> None:
        tuning, body = self._tuning, self._body
        self._contact = Contact(tuning.contact, body)
        self._tilt = Tilt(tuning.tilt)
        self._stall = Stall(tuning.stall, body.base)
        self._silence = Silence(tuning.silence, body.senses, tuning.commands.future_tolerance_s)
        self._scan: ScanView | None = None
        self._positions: dict[str, float] = {}

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Work through the inbox; returns always one velocity, and arm command, events and stop state as they come."""
        set_back = self._now is not None and now < self._now
        if set_back:
            self._start_over(now)
        dt = 0.0 if self._now is None else now - self._now
        self._now = now
        if self._silence.started is None:
            self._silence.started = now
        self._take_stop_requests(now, inbox)
        joints = self._sense(now, inbox)
        self._stall.step(now, self._sent, joints)
        self._take_commands(now, inbox)
        holds = self._holds(now)
        self._sent = ZERO if set_back else self._decide(now, dt, holds)
        arm = self._move_arm(now, dt, holds)
        for hold in holds:
            self._reports.note(now, hold.kind, hold.detail)
        sent = [t.CMD_VEL.of(TwistStamped.planar(now, self._sent.linear, self._sent.angular))]
        sent += arm
        sent += [t.REFLEX_EVENT.of(event) for event in self._reports.events(now)]
        state = self._reports.stop_state(now, self._latch_source is not None, self._latch_source or "")
        return sent if state is None else [*sent, t.STOP_STATE.of(state)]

    def _start_over(self, now: float) -> None:
        """The clock was set back (a simulator was reset): what was known is of another time. A latched stop stays."""
        self._forget_senses()
        self._arm.forget()
        self._disarm(now)
        self._reports.clock_set_back(now)
        self._latch_stamp = -math.inf
        self._now = None

    def _disarm(self, now: float) -> None:
        self._teleop.disarm(now)
        self._skill.disarm(now)
        self._arm.disarm(now)

    # --- the software stop -----------------------------------------------------------------------

    def _take_stop_requests(self, now: float, inbox: Inbox) -> None:
        requests = inbox.new(t.STOP_REQUEST)
        for request in requests:
            if not request.stop:
                self._reset(now, request)
        # A stop that comes together with a reset wins, in whichever order they came.
        for request in requests:
            if request.stop:
                self._latch_source = self._latch_source or request.source or "unknown"
                self._latch_stamp = max(self._latch_stamp, min(request.header.stamp.seconds, now))
        if self._latch_source is not None:
            self._reports.note(now, "software_stop", f"latched by {self._latch_source}")

    def _reset(self, now: float, request: StopRequest) -> None:
        if self._latch_source is None:
            return
        stamp = request.header.stamp.seconds
        tolerance = self._tuning.commands.future_tolerance_s
        if stamp < self._latch_stamp or not -tolerance <= now - stamp <= _RESET_COUNTS_FOR_S:
            self._reports.note(now, "stale_command", f"reset by {request.source}: stamped before the stop, or not now")
            return
        self._latch_source = None
        self._disarm(now)

    # --- senses and commands ---------------------------------------------------------------------

    def _sense(self, now: float, inbox: Inbox) -> JointState | None:
        """Take the sensors in; returns the newest fresh joint state that came."""
        fresh = self._silence.fresh
        for scan in inbox.new(t.SCAN):
            if fresh(now, "scan", scan.header.stamp.seconds):
                self._scan = read_scan(scan, self._tuning.obstacle)
        for bumpers in inbox.new(t.BUMPERS):
            if fresh(now, "bumpers", bumpers.header.stamp.seconds):
                self._contact.bumpers(now, bumpers)
        for cliffs in inbox.new(t.CLIFFS):
            if fresh(now, "cliffs", cliffs.header.stamp.seconds):
                self._contact.cliffs(now, cliffs)
        for imu in inbox.new(t.IMU):
            tilt = tilt_of(imu)
            if tilt is not None and fresh(now, "imu", imu.header.stamp.seconds):
                self._tilt.imu(now, tilt)
        for odom in inbox.new(t.ODOM):
            fresh(now, "odom", odom.header.stamp.seconds)
        newest = None
        for joints in inbox.new(t.JOINT_STATES):
            if fresh(now, "joint_states", joints.header.stamp.seconds):
                newest = joints
                self._positions |= {
                    name: float(position)
                    for name, position in zip(joints.name, joints.position, strict=False)
                    if math.isfinite(position)
                }
        for process, topic in self._hearts.items():
            for beat in inbox.new(topic):
                self._silence.heartbeat(now, process, beat)
        return newest

    def _take_commands(self, now: float, inbox: Inbox) -> None:
        for stream, topic in ((self._teleop, t.CMD_VEL_TELEOP), (self._skill, t.CMD_VEL_SKILL)):
            for velocity in inbox.new(topic):
                self._note_refusal(now, topic.name, stream.offer(now, velocity))
        if self._latch_source is not None:
            return  # the arm is frozen, and what is asked of it now is not for later
        known = {} if self._silence.is_silent(now, "joint_states") else self._positions
        for source, by_hand in ((t.ARM_COMMAND_TELEOP, True), (t.ARM_COMMAND_SKILL, False)):
            for targets in inbox.new(source):
                self._note_refusal(now, source.name, self._arm.offer(now, targets, known, by_hand))

    def _note_refusal(self, now: float, topic: str, refusal: Refusal | None) -> None:
        if refusal is not None and self._latch_source is None:
            self._reports.note(now, refusal.kind, f"{topic}: {refusal.why}")

    # --- decisions -------------------------------------------------------------------------------

    def _holds(self, now: float) -> list[Hold]:
        holds = [*self._contact.holds(now), *self._tilt.holds(now), *self._stall.holds(now), *self._silence.holds(now)]
        scan = self._scan
        if scan is None or self._silence.is_silent(now, "scan"):
            slowly = Permit(turn=self._tuning.obstacle.blind_turn_radps)
            holds.append(Hold("sensor_silent", slowly, self._silence.holds(now)[0].detail))
        elif scan.blind_front or scan.blind_rear:
            sides = [name for name, blind in (("front", scan.blind_front), ("rear", scan.blind_rear)) if blind]
            permit = Permit(
                0.0 if scan.blind_front else math.inf,
                0.0 if scan.blind_rear else math.inf,
                self._tuning.obstacle.blind_turn_radps,
            )
            holds.append(Hold("sensor_silent", permit, f"too many bad beams of the scan, {' and '.join(sides)}"))
        silent = self._silence.silent_processes(now)
        if silent:
            holds.append(Hold("process_silent", Permit(), f"no sign of life from {', '.join(silent)}"))
        return holds

    def _decide(self, now: float, dt: float, holds: Sequence[Hold]) -> Velocity:
        """The velocity to send. Zero from a stop or from silence comes at once; every other change is ramped."""
        teleop, skill = self._teleop.command(now), self._skill.command(now)
        if any(hold.kind == "process_silent" for hold in holds):
            skill = None
        was = self._driver
        self._driver = "teleop" if teleop is not None else "skill" if skill is not None else ""
        if teleop is not None or self._arm.in_hand(now):
            part = "base" if teleop is not None else "arm"
            self._reports.note(now, TELEOP, f"a person drives the {part} by hand")
        wish = teleop if teleop is not None else skill
        if self._latch_source is not None:
            return ZERO
        if wish is None:
            if not self._sent.is_zero and not any(hold.kind == "process_silent" for hold in holds):
                self._reports.note(now, "stale_command", f"{was} fell silent while driving")
            return ZERO
        permit = functools.reduce(operator.and_, (hold.permit for hold in holds), Permit())
        limits = self._body.base
        return self._keep_clear(
            now, permit.apply(ramp(self._sent, clamp(wish, limits), dt, limits, self._tuning.commands))
        )

    def _keep_clear(self, now: float, wish: Velocity) -> Velocity:
        scan = self._scan
        if scan is None or wish.is_zero:
            return wish
        if (scan.near_front and wish.linear > 0) or (scan.near_rear and wish.linear < 0):
            self._reports.note(now, "obstacle", f"too close to measure {'ahead' if wish.linear > 0 else 'behind'}")
            return guard(Velocity(0.0, wish.angular), scan.points, self._body.base.footprint_m, self._tuning.obstacle)
        allowed = guard(wish, scan.points, self._body.base.footprint_m, self._tuning.obstacle)
        if wish.linear and not allowed.linear:
            self._reports.note(now, "obstacle", f"no way on {'ahead' if wish.linear > 0 else 'behind'}")
        elif wish.angular and not allowed.angular:
            self._reports.note(now, "obstacle", "no room to turn")
        return allowed

    def _move_arm(self, now: float, dt: float, holds: Sequence[Hold]) -> list[Sent]:
        frozen = self._latch_source is not None or any(hold.kind in ("tilt", "process_silent") for hold in holds)
        if frozen:
            self._arm.freeze()
        command = self._arm.advance(now, dt)
        return [] if command is None else [t.ARM_COMMAND.of(command)]

    # --- explaining and replaying ----------------------------------------------------------------

    def why(self) -> str:
        """One sentence: who moves the body, or what holds it still."""
        if self._latch_source is not None:
            return f"the body is held still: the software stop was latched by {self._latch_source}"
        holding = [kind for kind in self._reports.holding if kind != TELEOP]
        held = "; ".join(f"{kind}: {self._reports.detail(kind)}" for kind in holding)
        if self._sent.is_zero:
            idle = f"{self._driver} asks for zero" if self._driver else "nobody commands it"
            return f"the base stands still ({held or idle})"
        moving = f"{self._driver} drives at {self._sent.linear:.2f} m/s and {self._sent.angular:.2f} rad/s"
        return f"{moving}, held back by {held}" if held else moving

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "now": self._now,
            "sent": [self._sent.linear, self._sent.angular],
            "driver": self._driver,
            "latch": [self._latch_source, None if math.isinf(self._latch_stamp) else self._latch_stamp],
            "scan": None if self._scan is None else self._scan.dump(),
            "positions": dict(self._positions),
            **{name: part.dump() for name, part in self._parts().items()},
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> ReflexKernel:
        """A kernel that goes on from a dumped state."""
        kernel = cls(settings)
        kernel._now, kernel._driver = data["now"], data["driver"]
        kernel._sent = Velocity(*data["sent"])
        source, stamp = data["latch"]
        kernel._latch_source, kernel._latch_stamp = source, -math.inf if stamp is None else stamp
        kernel._scan = None if data["scan"] is None else ScanView.load(data["scan"])
        kernel._positions = dict(data["positions"])
        for name, part in kernel._parts().items():
            part.load(data[name])
        return kernel

    def _parts(self) -> dict[str, Stream | ArmGate | Contact | Tilt | Stall | Silence | Reports]:
        return {
            "teleop": self._teleop, "skill": self._skill, "arm": self._arm, "contact": self._contact,
            "tilt": self._tilt, "stall": self._stall, "silence": self._silence, "reports": self._reports,
        }
