"""Faults that can be injected: each changes the physics or the sensing, never a report about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from anima_sim.errors import FaultError

FaultKind = Literal["stalled_wheel", "slip", "blocked_path", "lost_sensor", "low_battery", "dropped_object"]
SENSORS = ("lidar", "mast", "wrist", "camera", "imu", "odometry", "joint_states", "bumpers", "cliffs", "battery")
WHEELS = ("left_wheel", "right_wheel")
TARGETS: dict[FaultKind, str] = {
    "stalled_wheel": "left_wheel or right_wheel: the wheel locks",
    "slip": "left_wheel, right_wheel or both: the tyres lose their grip",
    "blocked_path": "a door's name, 'x,y' in the map, or empty for 0.7 m ahead: a box stands there",
    "lost_sensor": f"one of {', '.join(SENSORS)}; 'camera' is both: no data, or the last reading for ever if `frozen`",
    "low_battery": "the charge that is left, 0..1 (empty: 0.12)",
    "dropped_object": "empty: the gripper lets go of what it holds",
}
"""What `target` means for each kind of fault."""


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong. `duration_s` None lasts until it is cleared."""

    kind: FaultKind
    target: str = ""
    duration_s: float | None = None
    frozen: bool = False

    @classmethod
    def named(cls, kind: str, target: str = "", duration_s: float = 0.0) -> Fault:
        """A fault from words, as a service gets them; no duration (0) lasts until cleared. Raises `FaultError`.

        A target that ends in ":frozen" repeats the sensor's last reading instead of silencing it.
        """
        sensor, _, mode = target.partition(":")
        if mode not in ("", "frozen"):
            raise FaultError(f"'{target}': after the colon only 'frozen' is known")
        fault = cls(cast(FaultKind, kind), sensor, duration_s or None, frozen=mode == "frozen")
        fault.check()
        return fault

    def check(self) -> None:
        """Raises `FaultError` when kind and target don't fit."""
        if self.kind not in TARGETS:
            raise FaultError(f"no fault '{self.kind}' (there are: {', '.join(TARGETS)})")
        allowed = {"stalled_wheel": WHEELS, "slip": (*WHEELS, "both"), "lost_sensor": SENSORS}.get(self.kind)
        if allowed is not None and self.target not in allowed:
            raise FaultError(f"{self.kind} can't hit '{self.target}': give {TARGETS[self.kind]}")
        if self.duration_s is not None and not self.duration_s > 0.0:
            raise FaultError(f"a fault lasts longer than {self.duration_s} s")
        if self.kind == "low_battery" and self.target and not 0.0 <= _number(self.target) <= 1.0:
            raise FaultError(f"low_battery can't leave {self.target}: give {TARGETS[self.kind]}")

    def charge(self) -> float:
        """Charge that a low battery is left with."""
        return _number(self.target) if self.target else 0.12


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise FaultError(f"'{text}' is not a number") from error
