"""The arm's way to the motors: targets are checked, clamped, and approached no faster than the joints may move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from anima.regions.reflex.config import MAX_STEP_S, ArmLimits
from anima.regions.reflex.mux import Admission, Refusal, invalid, stale
from anima.types.base import Duration, Header
from anima.types.std import JointTrajectory, JointTrajectoryPoint

# Asking for a joint to be within this of where it is held is asking for no motion.
_REST_RAD = 0.02
# A resting joint that is found farther than this from where it was last sent has been moved by hand or was off.
_MOVED_BY_HAND_RAD = 0.35


class ArmGate:
    """Holds a setpoint per joint and walks it to the skill's target; what it publishes is that setpoint.

    A target stays in force until the next one, so a sender need not repeat it; what ends a motion early is another
    target or `freeze`. `time_from_start` of the one point is when the target is to be reached; 0 is as fast as the
    joints may move.
    """

    def __init__(self, limits: ArmLimits, timeout_s: float, future_tolerance_s: float) -> None:
        self._limits = limits
        self._admission = Admission(timeout_s, future_tolerance_s)
        self._by_hand = Admission(timeout_s, future_tolerance_s)
        self._hand_at: float | None = None
        self._setpoint: dict[str, float] = {}
        self._target: dict[str, tuple[float, float]] = {}  # rad, rad/s

    def disarm(self, now: float) -> None:
        """Stay where it is until the sender has let go; see `Admission`."""
        self._target.clear()
        self._admission.disarm(now)
        self._by_hand.disarm(now)
        self._hand_at = None

    def freeze(self) -> None:
        """Stay where it is: the motion under way is dropped, and a new command is needed to go on."""
        self._target.clear()

    def forget(self) -> None:
        """Forget where the joints were sent, after the clock or the body was set back."""
        self._setpoint.clear()
        self._target.clear()
        self._hand_at = None

    def in_hand(self, now: float) -> bool:
        """Whether a person moves the arm, or did a moment ago: then skills don't."""
        return self._hand_at is not None and 0.0 <= now - self._hand_at <= self._by_hand.timeout_s

    def offer(
        self, now: float, message: JointTrajectory, measured: Mapping[str, float], by_hand: bool = False
    ) -> Refusal | None:
        """Take targets in, or say why not. `measured` are positions by joint, radians, as far as known now.

        A person's targets (`by_hand`) end the motion under way, and keep a skill's out until the person falls silent.
        """
        admission = self._by_hand if by_hand else self._admission
        if not by_hand and self.in_hand(now):
            admission.heard = now
            return stale("a person moves the arm by hand")
        refusal = self._malformed(message, measured)
        if refusal is not None:
            admission.heard = now
            self._target.clear()
            return refusal
        point = message.points[0]
        wanted = dict(zip(message.joint_names, map(float, point.positions), strict=True))
        for name in wanted:
            self._seed(name, measured)
        at_rest = all(abs(goal - self._setpoint[name]) <= _REST_RAD for name, goal in wanted.items())
        letting_go = at_rest and admission.disarmed is not None
        refusal = admission.check(now, message.header.stamp.seconds, at_rest)
        if refusal is None and by_hand:
            if not self.in_hand(now):
                self._target.clear()
            self._hand_at = now
        if refusal is None and not letting_go:
            self._aim(wanted, point.time_from_start.seconds)
        return refusal

    def _malformed(self, message: JointTrajectory, measured: Mapping[str, float]) -> Refusal | None:
        if len(message.points) != 1:
            return invalid(f"{len(message.points)} points: the arm takes one target at a time")
        names, positions = message.joint_names, message.points[0].positions
        if not names or len(names) != len(positions) or len(set(names)) != len(names):
            return invalid("names and positions don't pair up")
        unknown = [name for name in names if name not in self._limits.range_rad]
        if unknown:
            return invalid(f"unknown joints {', '.join(unknown)[:80]}")
        if not np.all(np.isfinite(positions)):
            return invalid("not finite")
        unfelt = [name for name in names if name not in self._setpoint and name not in measured]
        return invalid(f"the position of {', '.join(unfelt)} is not known yet") if unfelt else None

    def _seed(self, name: str, measured: Mapping[str, float]) -> None:
        """Start from where the joint is, when it was never sent anywhere or was moved by something else."""
        here = measured.get(name)
        known = self._setpoint.get(name)
        if here is None:
            return
        # A gripper is kept from its setpoint by what it holds.
        moved = known is not None and name != self._limits.gripper and abs(known - here) > _MOVED_BY_HAND_RAD
        if known is None or (moved and name not in self._target):
            self._setpoint[name] = self._clamp(name, here)

    def _clamp(self, name: str, position: float) -> float:
        lower, upper = self._limits.range_rad[name]
        return min(max(position, lower), upper)

    def _aim(self, wanted: Mapping[str, float], time_s: float) -> None:
        for name, goal in wanted.items():
            goal = self._clamp(name, goal)
            way = abs(goal - self._setpoint[name])
            speed = min(self._limits.max_speed_radps, way / time_s) if time_s > 0 else self._limits.max_speed_radps
            self._target[name] = (goal, speed)

    def advance(self, now: float, dt_s: float) -> JointTrajectory | None:
        """Walk the setpoints on by `dt_s`; the command to publish when one moved, else None."""
        dt = min(max(dt_s, 0.0), MAX_STEP_S)
        moved = False
        for name, (goal, speed) in list(self._target.items()):
            here = self._setpoint[name]
            way = goal - here
            step = math.copysign(min(abs(way), speed * dt), way)
            self._setpoint[name] = goal if abs(way) <= speed * dt else here + step
            moved = moved or step != 0.0
            if self._setpoint[name] == goal:
                del self._target[name]
        if not moved:
            return None
        nothing = np.zeros(0)
        point = JointTrajectoryPoint(
            positions=np.array(list(self._setpoint.values()), dtype=np.float64), velocities=nothing,
            accelerations=nothing, effort=nothing, time_from_start=Duration.of(dt),
        )
        return JointTrajectory(header=Header.at(now), joint_names=list(self._setpoint), points=[point])

    @property
    def moving(self) -> bool:
        """Whether a target is still to be reached."""
        return bool(self._target)

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {
            "admission": asdict(self._admission),
            "by_hand": [asdict(self._by_hand), self._hand_at],
            "setpoint": dict(self._setpoint),
            "target": {name: list(pair) for name, pair in self._target.items()},
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._admission = Admission(**data["admission"])
        self._by_hand, self._hand_at = Admission(**data["by_hand"][0]), data["by_hand"][1]
        self._setpoint = dict(data["setpoint"])
        self._target = {name: (goal, speed) for name, (goal, speed) in data["target"].items()}
