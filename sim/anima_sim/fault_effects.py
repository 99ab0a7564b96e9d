"""Applies injected faults to the physics and takes them back."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from anima_sim.config import RobotConfig
from anima_sim.errors import FaultError
from anima_sim.faults import WHEELS, Fault
from anima_sim.mjcf_scene import OBSTACLE_HALF_M, OBSTACLES
from anima_sim.scene import Scene

_AHEAD_M = 0.7
_LET_GO_RAD = 0.9
_LET_GO_S = 1.0


@dataclass
class _Active:
    fault: Fault
    until_s: float
    obstacle: str | None = None


class Physics(Protocol):
    """What a fault can do to a simulator. Wheels are called left_wheel and right_wheel."""

    @property
    def now(self) -> float:
        """Simulated time, s."""
        ...

    def robot_pose(self) -> tuple[float, float, float]:
        """x, y (m) and heading (rad) of base_link in the map."""
        ...

    def spoil_wheels(self, locked: Set[str], icy: Set[str]) -> None:
        """From now on exactly these wheels are locked, and exactly these have no grip."""
        ...

    def put_obstacle(self, name: str, at: tuple[float, float] | None) -> None:
        """Stands one of `OBSTACLES` on the floor at x, y; None takes it away."""
        ...


class FaultBox:
    """The faults in force. It changes the physics when one begins or ends; the world asks it each period."""

    def __init__(
        self, physics: Physics, scene: Scene, config: RobotConfig, boxes: tuple[str, ...] = OBSTACLES
    ) -> None:
        """`boxes`: those of `OBSTACLES` that it may put in the way."""
        self._physics, self._scene, self._boxes = physics, scene, boxes
        self._reach = config.base.footprint_m.front
        self._active: list[_Active] = []

    def inject(self, fault: Fault) -> None:
        """Puts a fault in force. Raises `FaultError` when it can't be produced here and now."""
        fault.check()
        active = _Active(fault, math.inf if fault.duration_s is None else self._physics.now + fault.duration_s)
        if fault.kind == "blocked_path":
            active.obstacle = self._block(fault.target)
        if fault.kind == "dropped_object" and fault.duration_s is None:
            active.until_s = self._physics.now + _LET_GO_S
        if fault.kind == "low_battery" and fault.duration_s is None:
            active.until_s = self._physics.now  # the charge is gone; nothing to keep up
        self._active.append(active)
        self._apply()

    def expire(self) -> bool:
        """Ends what has run out. Returns whether anything ended."""
        ended = [a for a in self._active if self._physics.now >= a.until_s - 1e-9]
        for active in ended:
            self._end(active)
        return bool(ended)

    def clear(self) -> None:
        """Ends everything."""
        for active in list(self._active):
            self._end(active)

    @property
    def faults(self) -> list[Fault]:
        return [a.fault for a in self._active]

    def lost(self, sensor: str) -> Fault | None:
        """The fault that silences or freezes a sensor, if any."""
        for fault in self.faults:
            both = fault.target == "camera" and sensor in ("mast", "wrist")
            if fault.kind == "lost_sensor" and (fault.target == sensor or both):
                return fault
        return None

    def gripper_override(self) -> float | None:
        """Where the gripper goes instead of where it was told to (rad)."""
        return _LET_GO_RAD if any(f.kind == "dropped_object" for f in self.faults) else None

    def _end(self, active: _Active) -> None:
        self._active.remove(active)
        if active.obstacle is not None:
            self._physics.put_obstacle(active.obstacle, None)
        self._apply()

    def _apply(self) -> None:
        locked = {fault.target for fault in self.faults if fault.kind == "stalled_wheel"}
        slipping = {fault.target for fault in self.faults if fault.kind == "slip"}
        self._physics.spoil_wheels(locked, set(WHEELS) if "both" in slipping else slipping)

    def _block(self, target: str) -> str:
        taken = {a.obstacle for a in self._active}
        free = [name for name in self._boxes if name not in taken]
        if not free:
            raise FaultError(f"only {len(self._boxes)} boxes can stand in the way at once: clear one first")
        x, y = self._place(target)
        if math.dist((x, y), self._physics.robot_pose()[:2]) < math.hypot(*OBSTACLE_HALF_M[:2]) + self._reach + 0.03:
            raise FaultError(f"a box at ({x:.2f}, {y:.2f}) would stand in the robot: choose a place further off")
        self._physics.put_obstacle(free[0], (x, y))
        return free[0]

    def _place(self, target: str) -> tuple[float, float]:
        if not target:
            x, y, heading = self._physics.robot_pose()
            return x + _AHEAD_M * math.cos(heading), y + _AHEAD_M * math.sin(heading)
        doors = self._scene.doors()
        if target in doors:
            return doors[target]
        try:
            x, y = (float(v) for v in target.split(","))
        except ValueError as error:
            raise FaultError(f"'{target}' is neither a door ({', '.join(doors)}) nor 'x,y'") from error
        return x, y
