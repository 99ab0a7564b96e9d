"""Whose velocity command counts: admission of each stream, and which stream wins."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from anima.types.std import TwistStamped

FRAMES = ("", "base_link", "base_footprint")
# Stamps are whole nanoseconds, and now is a float: what differs by less is the same moment.
_SAME_TIME_S = 1e-6


@dataclass(frozen=True)
class Velocity:
    """Forward m/s and counter-clockwise rad/s of a wheeled base."""

    linear: float = 0.0
    angular: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether nothing moves."""
        return self.linear == 0.0 and self.angular == 0.0


ZERO = Velocity()


@dataclass(frozen=True)
class Refusal:
    """Why a command was not let in: `kind` is stale_command or invalid_command."""

    kind: str
    why: str


def stale(why: str) -> Refusal:
    """Refused for its time."""
    return Refusal("stale_command", why)


def invalid(why: str) -> Refusal:
    """Refused for what it says."""
    return Refusal("invalid_command", why)


@dataclass
class Admission:
    """The rules of time that hold for every stream of commands, velocities and arm targets alike.

    Times are ROS seconds; None is never. After `disarm` (a reset of the stop, a clock that jumped back) the stream
    is let in again only when it has let go: with a command stamped after the disarming that asks for no motion, or
    with any command after at least `timeout_s` in which nothing came. So a reset never restarts motion.
    """

    timeout_s: float
    future_tolerance_s: float
    newest: float | None = None
    heard: float | None = None
    disarmed: float | None = None

    def disarm(self, now: float) -> None:
        """Let nothing through until the stream has let go."""
        self.disarmed = now
        self.heard = self.newest = None

    def check(self, now: float, stamp: float, at_rest: bool) -> Refusal | None:
        """Let a well-formed command in, or say why not. `at_rest`: the command asks for no motion."""
        heard, self.heard = self.heard, now
        if now - stamp > self.timeout_s:
            return stale(f"stamped {now - stamp:.2f} s ago, at most {self.timeout_s:g} s count")
        if stamp - now > self.future_tolerance_s:
            return stale(f"stamped {stamp - now:.2f} s in the future")
        if self.newest is not None and stamp < self.newest:
            return stale(f"out of order, {self.newest - stamp:.3f} s older than the one before")
        if self.disarmed is not None:
            if stamp <= self.disarmed + _SAME_TIME_S:
                return stale("given before the stop was reset")
            quiet = now - (self.disarmed if heard is None else max(heard, self.disarmed))
            if not at_rest and quiet < self.timeout_s:
                return stale("still moving since before the reset: let go first")
            self.disarmed = None
        self.newest = stamp
        return None


class Stream:
    """One source of velocity commands."""

    def __init__(self, name: str, timeout_s: float, future_tolerance_s: float) -> None:
        self.name = name
        self._admission = Admission(timeout_s, future_tolerance_s)
        self._command: Velocity | None = None
        self._since = 0.0

    def disarm(self, now: float) -> None:
        """Forget the command; see `Admission`."""
        self._command = None
        self._admission.disarm(now)

    def offer(self, now: float, message: TwistStamped) -> Refusal | None:
        """Take a command in, or say why not. One that makes no sense also cancels the one before: its sender is ill.

        This base moves forward, backward and about z only: a command with another component is refused, not
        reinterpreted. Speeds beyond the limits are let in and clamped later.
        """
        twist = message.twist
        numbers = (twist.linear.x, twist.linear.y, twist.linear.z, twist.angular.x, twist.angular.y, twist.angular.z)
        refusal = None
        if not all(map(math.isfinite, numbers)):
            refusal = invalid("not finite")
        elif any(numbers[1:5]):
            refusal = invalid("asks for a motion that wheels can't do (linear y, z or angular x, y)")
        elif message.header.frame_id.rsplit("/", 1)[-1] not in FRAMES:
            refusal = invalid(f"in frame {message.header.frame_id!r}, not base_link")
        if refusal is not None:
            self._admission.heard = now
            self._command = None
            return refusal
        command = Velocity(twist.linear.x, twist.angular.z)
        stamp = message.header.stamp.seconds
        refusal = self._admission.check(now, stamp, command.is_zero)
        if refusal is None:
            self._command, self._since = command, min(stamp, now)
        return refusal

    def command(self, now: float) -> Velocity | None:
        """The command in force, None when the stream is silent."""
        if self._command is not None and now - self._since > self._admission.timeout_s:
            self._command = None
        return self._command

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        command = None if self._command is None else asdict(self._command)
        return {"admission": asdict(self._admission), "command": command, "since": self._since}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._admission = Admission(**data["admission"])
        self._command = None if data["command"] is None else Velocity(**data["command"])
        self._since = data["since"]
