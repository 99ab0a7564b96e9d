"""Driving by hand as a row of the brain table: a gamepad's sticks become commands while a button is held."""

from __future__ import annotations

import math

import numpy as np

from anima import topics as t
from anima.body.teleop.tuning import load_teleop
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Duration, Header
from anima.types.operator import Joy
from anima.types.std import JointTrajectory, JointTrajectoryPoint, TwistStamped


class Teleop:
    """What a person does with the pad goes to the reflex kernel, which puts it before what the mind wants.

    Nothing is sent unless a hold button is pressed and the pad is heard. Letting go sends one zero, then nothing: so
    the base stands at once, and the mind has it back when the kernel's time-out is over.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/teleop.yaml` can't be used."""
        self._tuning = load_teleop()
        self._joy: Joy | None = None
        self._heard = -math.inf
        self._driving = False
        self._aims: dict[str, float] = {}
        self._now: float | None = None
        self._said = "nobody drives by hand"

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Turn the newest state of the pad into commands."""
        dt = 0.0 if self._now is None else min(max(now - self._now, 0.0), 0.1)
        self._now = now
        for state in inbox.new(t.JOY):
            self._joy, self._heard = state, now
        alive = 0.0 <= now - self._heard <= self._tuning.timeout_s
        joy = self._joy if alive else None
        sent = [*self._drive(now, joy), *self._jog(now, dt, joy, inbox)]
        if not sent:
            self._said = "nobody drives by hand"
        return sent

    def _drive(self, now: float, joy: Joy | None) -> list[Sent]:
        base = self._tuning.base
        if joy is None or not _pressed(joy, base.hold_button):
            was, self._driving = self._driving, False
            return [t.CMD_VEL_TELEOP.of(TwistStamped.planar(now, 0.0, 0.0))] if was else []
        fast = _pressed(joy, base.fast_button)
        linear = self._axis(joy, base.drive_axis) * (base.fast_drive_mps if fast else base.drive_mps)
        angular = self._axis(joy, base.turn_axis) * (base.fast_turn_radps if fast else base.turn_radps)
        self._driving = True
        self._said = f"a person drives the base by hand: {linear:.2f} m/s, {angular:.2f} rad/s"
        return [t.CMD_VEL_TELEOP.of(TwistStamped.planar(now, linear, angular))]

    def _jog(self, now: float, dt: float, joy: Joy | None, inbox: Inbox) -> list[Sent]:
        """Joint targets a little ahead of where the joints are, so that letting go of the stick stops them."""
        arm, joints = self._tuning.arm, inbox.last(t.JOINT_STATES)
        if joy is None or joints is None or not _pressed(joy, arm.hold_button):
            self._aims.clear()
            return []
        at = dict(zip(joints.name, map(float, joints.position), strict=False))
        speeds = {name: self._axis(joy, joint.axis) * joint.radps for name, joint in arm.joints.items() if name in at}
        aims: dict[str, float] = {}
        for name, speed in speeds.items():
            if speed and math.isfinite(at[name]):
                lead = abs(speed) * arm.lead_s
                aim = self._aims.get(name, at[name]) + speed * dt
                aims[name] = min(max(aim, at[name] - lead), at[name] + lead)
        stopped = {name: at[name] for name in self._aims.keys() - aims.keys() if name in at and math.isfinite(at[name])}
        self._aims = aims
        self._said = f"a person moves the arm by hand: {', '.join(aims) or 'at rest'}"
        wanted = {**aims, **stopped}
        # Also at rest the person has the arm: where it is, is what is asked for.
        wanted = wanted or {name: at[name] for name in list(speeds)[:1] if math.isfinite(at[name])}
        return [t.ARM_COMMAND_TELEOP.of(_targets(now, wanted))] if wanted else []

    def _axis(self, joy: Joy, number: int) -> float:
        """-1..1, 0 within the dead zone and for an axis that the pad doesn't have."""
        value = float(joy.axes[number]) if number < len(joy.axes) else 0.0
        if not math.isfinite(value) or abs(value) <= self._tuning.dead_zone:
            return 0.0
        return max(-1.0, min(1.0, value))

    def why(self) -> str:
        """One sentence: what the person does."""
        return self._said


def _pressed(joy: Joy, number: int) -> bool:
    return number < len(joy.buttons) and bool(joy.buttons[number] == 1)


def _targets(now: float, wanted: dict[str, float]) -> JointTrajectory:
    nothing = np.zeros(0)
    point = JointTrajectoryPoint(
        positions=np.array(list(wanted.values()), dtype=np.float64), velocities=nothing, accelerations=nothing,
        effort=nothing, time_from_start=Duration.of(0.0),
    )
    return JointTrajectory(header=Header.at(now), joint_names=list(wanted), points=[point])
