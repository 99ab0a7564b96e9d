"""What the sensors forbid: contact, missing floor, tilt, stalled wheels, and silence of sensors and processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from anima.regions.reflex.config import BaseLimits, Body, ContactTuning, SilenceTuning, StallTuning, TiltTuning
from anima.regions.reflex.motion import NO_TRANSLATION, NOTHING, Permit
from anima.regions.reflex.mux import Velocity
from anima.types.mind import Bumpers, Cliffs, Heartbeat
from anima.types.std import Imu, JointState


@dataclass(frozen=True)
class Hold:
    """A reflex at work: its kind (see `ReflexEvent`), what it leaves allowed, and the reason in words."""

    kind: str
    permit: Permit
    detail: str


class Contact:
    """Bumpers and cliff sensors: no motion towards what was touched or lost, only straight and slowly away."""

    def __init__(self, tuning: ContactTuning, body: Body) -> None:
        self._tuning, self._body = tuning, body
        self._pressed: dict[str, float] = {}
        self._no_floor: dict[str, float] = {}
        self._floor_m: dict[str, float | None] = {}

    def bumpers(self, now: float, message: Bumpers) -> None:
        """Take in which bumpers are pressed."""
        for name in ("front_left", "front_right"):
            if getattr(message, name):
                self._pressed[name] = now

    def cliffs(self, now: float, message: Cliffs) -> None:
        """Take in the ranges to the floor. Bad and missing ones, and +inf, count as no floor.

        `-inf` is something too close to measure (REP 117), such as the dock behind a docked robot: not a drop.
        """
        seen = {item.header.frame_id.rsplit("/", 1)[-1]: item.range for item in message.ranges}
        limit = self._body.floor_range_m + self._tuning.cliff_drop_m
        for name in {*seen, *self._body.cliff_frames}:
            reading = seen.get(name, math.nan)
            if math.isnan(reading) or reading > limit:
                self._no_floor[name] = now
                self._floor_m[name] = reading if math.isfinite(reading) else None

    def holds(self, now: float) -> list[Hold]:
        """The reflexes at work."""
        self._pressed = {k: at for k, at in self._pressed.items() if now - at <= self._tuning.hold_s}
        self._no_floor = {k: at for k, at in self._no_floor.items() if now - at <= self._tuning.hold_s}
        away = self._tuning.escape_mps
        found = []
        if self._pressed:
            found.append(Hold("bumper", Permit(0.0, away, 0.0), f"pressed: {', '.join(sorted(self._pressed))}"))
        if self._no_floor:
            # A sensor of unknown place forbids both ways.
            sides = {self._tuning.cliff_sides.get(name) for name in self._no_floor}
            permit = Permit(0.0 if sides & {"front", None} else away, 0.0 if sides & {"rear", None} else away, 0.0)
            sensors = ", ".join(map(self._reading, sorted(self._no_floor)))
            found.append(Hold("cliff", permit, f"no floor under {sensors}"))
        return found

    def _reading(self, name: str) -> str:
        reading = self._floor_m.get(name)
        return f"{name} ({'no range' if reading is None else f'{reading:.2f} m'})"

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {"pressed": dict(self._pressed), "no_floor": dict(self._no_floor), "floor_m": dict(self._floor_m)}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._pressed, self._no_floor = dict(data["pressed"]), dict(data["no_floor"])
        self._floor_m = dict(data["floor_m"])


def tilt_of(imu: Imu) -> float | None:
    """The angle of the body's z axis to the vertical, radians; None when the message holds no usable orientation."""
    q = imu.orientation
    norm = math.sqrt(q.x**2 + q.y**2 + q.z**2 + q.w**2) if max(map(abs, (q.x, q.y, q.z, q.w))) < 2.0 else math.nan
    unreported = len(imu.orientation_covariance) > 0 and imu.orientation_covariance[0] == -1.0
    if unreported or not 0.9 <= norm <= 1.1:
        return None
    return math.acos(min(1.0, max(-1.0, 1.0 - 2.0 * (q.x**2 + q.y**2) / norm**2)))


class Tilt:
    """A body that leans too far stands still until it has been upright for a while."""

    def __init__(self, tuning: TiltTuning) -> None:
        self._tuning = tuning
        self._last: float | None = None
        self._worst_rad = 0.0

    def imu(self, now: float, tilt_rad: float) -> None:
        """Take in the tilt."""
        if tilt_rad > self._tuning.limit_rad:
            self._last, self._worst_rad = now, tilt_rad

    def holds(self, now: float) -> list[Hold]:
        """The reflexes at work."""
        if self._last is None or now - self._last > self._tuning.hold_s:
            return []
        return [Hold("tilt", NOTHING, f"tilted by {math.degrees(self._worst_rad):.0f} degrees")]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {"last": self._last, "worst_rad": self._worst_rad}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._last, self._worst_rad = data["last"], data["worst_rad"]


class Stall:
    """Wheels that push and don't turn are given a rest."""

    def __init__(self, tuning: StallTuning, base: BaseLimits) -> None:
        self._tuning, self._base = tuning, base
        self._since: dict[str, float] = {}
        self._rest_until: float | None = None
        self._detail = ""

    def step(self, now: float, commanded: Velocity, joints: JointState | None) -> None:
        """Compare what was last sent to the wheels with what they do. `joints`: a fresh joint state, or None."""
        if joints is None:
            return
        turn = commanded.angular * self._base.track_m / 2
        for wheel, rim in (
            (self._tuning.left_wheel, commanded.linear - turn), (self._tuning.right_wheel, commanded.linear + turn),
        ):
            effort = self._effort_if_stuck(wheel, rim / self._base.wheel_radius_m, joints)
            if effort is None:
                self._since.pop(wheel, None)
                continue
            begun = self._since.setdefault(wheel, now)
            patience = self._tuning.after_s * (2 if math.isnan(effort) else 1)
            if now - begun >= patience:
                self._rest_until = now + self._tuning.rest_s
                pushed = "unknown effort" if math.isnan(effort) else f"{effort:.1f} N m"
                self._detail = f"{wheel} does not turn at {pushed}"
                self._since.clear()
                return

    def _effort_if_stuck(self, wheel: str, expected: float, joints: JointState) -> float | None:
        """The effort (N m, NaN if unknown) of a wheel that should turn at `expected` rad/s and doesn't, else None."""
        if abs(expected) < self._tuning.min_command_radps or wheel not in joints.name:
            return None
        at = joints.name.index(wheel)
        speed = float(joints.velocity[at]) if at < len(joints.velocity) else math.nan
        effort = abs(float(joints.effort[at])) if at < len(joints.effort) else math.nan
        turning = speed * math.copysign(1.0, expected) >= self._tuning.moving_share * abs(expected)
        if turning or effort < self._tuning.min_effort_nm:
            return None
        return effort if math.isfinite(effort) else math.nan

    def holds(self, now: float) -> list[Hold]:
        """The reflexes at work."""
        if self._rest_until is None or now >= self._rest_until:
            return []
        return [Hold("stall", NOTHING, self._detail)]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {"since": dict(self._since), "rest_until": self._rest_until, "detail": self._detail}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._since, self._rest_until, self._detail = dict(data["since"]), data["rest_until"], data["detail"]


@dataclass
class Silence:
    """When each sensor and each process was last heard, by the stamps of what they sent."""

    tuning: SilenceTuning
    sensors: tuple[str, ...]
    future_tolerance_s: float
    started: float | None = None
    heard: dict[str, float] = field(default_factory=dict)
    processes: dict[str, float] = field(default_factory=dict)

    def fresh(self, now: float, sensor: str, stamp: float) -> bool:
        """Whether a message of the sensor is timely and newer than the last one; if so it counts as heard."""
        if now - stamp > self.tuning.sensor_timeout_s or stamp - now > self.future_tolerance_s:
            return False
        if stamp < self.heard.get(sensor, -math.inf):
            return False
        self.heard[sensor] = stamp
        return True

    def is_silent(self, now: float, sensor: str) -> bool:
        """Whether nothing timely came from the sensor."""
        return now - self.heard.get(sensor, -math.inf) > self.tuning.sensor_timeout_s

    def heartbeat(self, now: float, process: str, message: Heartbeat) -> None:
        """Take in a sign of life."""
        stamp = message.header.stamp.seconds
        if stamp - now <= self.future_tolerance_s:
            self.processes[process] = max(stamp, self.processes.get(process, -math.inf))

    def silent_processes(self, now: float) -> Sequence[str]:
        """The processes that lived once and say nothing any more."""
        if self.started is None or now - self.started < self.tuning.grace_s:
            return []
        return sorted(p for p, at in self.processes.items() if now - at > self.tuning.process_timeout_s)

    def holds(self, now: float) -> list[Hold]:
        """The reflexes at work. A silent process only takes the skills' commands away, so it forbids nothing here."""
        silent = [sensor for sensor in self.sensors if self.is_silent(now, sensor)]
        if not silent:
            return []
        return [Hold("sensor_silent", NO_TRANSLATION, f"nothing from {', '.join(silent)}")]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        state = asdict(self)
        return {key: state[key] for key in ("started", "heard", "processes")}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self.started, self.heard, self.processes = data["started"], dict(data["heard"]), dict(data["processes"])
