"""Applies injected faults to the physics and takes them back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from anima_sim.config import RobotConfig
from anima_sim.errors import FaultError
from anima_sim.faults import WHEELS, Fault
from anima_sim.mjcf_scene import OBSTACLE_HALF_M, OBSTACLE_STORE_M, OBSTACLES
from anima_sim.scene import Scene

_LOCKED_NMS = 100.0
_ICE = 0.03
_AHEAD_M = 0.7
_LET_GO_RAD = 0.9
_LET_GO_S = 1.0


@dataclass
class _Active:
    fault: Fault
    until_s: float
    obstacle: str | None = None


class FaultBox:
    """The faults in force. It changes the physics when one begins or ends; the world asks it each period."""

    def __init__(self, model: Any, data: Any, scene: Scene, config: RobotConfig) -> None:
        self._model, self._data, self._scene = model, data, scene
        self._reach = config.base.footprint_m.front
        self._active: list[_Active] = []
        self._damping = model.dof_damping.copy()
        self._grip = model.geom_friction.copy()
        self._priority = model.geom_priority.copy()

    def inject(self, fault: Fault) -> None:
        """Puts a fault in force. Raises `FaultError` when it can't be produced here and now."""
        fault.check()
        active = _Active(fault, math.inf if fault.duration_s is None else self._data.time + fault.duration_s)
        if fault.kind == "blocked_path":
            active.obstacle = self._block(fault.target)
        if fault.kind == "dropped_object" and fault.duration_s is None:
            active.until_s = self._data.time + _LET_GO_S
        if fault.kind == "low_battery" and fault.duration_s is None:
            active.until_s = self._data.time  # the charge is gone; nothing to keep up
        self._active.append(active)
        self._apply()

    def expire(self) -> bool:
        """Ends what has run out. Returns whether anything ended."""
        ended = [a for a in self._active if self._data.time >= a.until_s - 1e-9]
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
            index = OBSTACLES.index(active.obstacle)
            self._data.mocap_pos[self._mocap(active.obstacle)] = OBSTACLE_STORE_M[index]
        self._apply()

    def _apply(self) -> None:
        self._model.dof_damping[:] = self._damping
        self._model.geom_friction[:] = self._grip
        self._model.geom_priority[:] = self._priority
        for fault in self.faults:
            if fault.kind == "stalled_wheel":
                self._model.dof_damping[self._model.joint(f"{fault.target}_joint").dofadr[0]] = _LOCKED_NMS
            if fault.kind == "slip":
                for wheel in WHEELS if fault.target == "both" else (fault.target,):
                    tyre = self._model.geom(wheel.replace("wheel", "tyre")).id
                    self._model.geom_friction[tyre] = (_ICE, 0.0, 0.0)
                    self._model.geom_priority[tyre] = 3  # else the floor's grip would count

    def _block(self, target: str) -> str:
        taken = {a.obstacle for a in self._active}
        free = [name for name in OBSTACLES if name not in taken]
        if not free:
            raise FaultError(f"only {len(OBSTACLES)} boxes can stand in the way at once: clear one first")
        x, y = self._place(target)
        body = self._model.body("base_link").id
        if math.dist((x, y), self._data.xpos[body][:2]) < math.hypot(*OBSTACLE_HALF_M[:2]) + self._reach + 0.03:
            raise FaultError(f"a box at ({x:.2f}, {y:.2f}) would stand in the robot: choose a place further off")
        self._data.mocap_pos[self._mocap(free[0])] = (x, y, OBSTACLE_HALF_M[2])
        return free[0]

    def _place(self, target: str) -> tuple[float, float]:
        if not target:
            body = self._model.body("base_link").id
            ahead = self._data.xmat[body].reshape(3, 3)[:2, 0]
            place = self._data.xpos[body][:2] + ahead / np.linalg.norm(ahead) * _AHEAD_M
            return float(place[0]), float(place[1])
        doors = self._scene.doors()
        if target in doors:
            return doors[target]
        try:
            x, y = (float(v) for v in target.split(","))
        except ValueError as error:
            raise FaultError(f"'{target}' is neither a door ({', '.join(doors)}) nor 'x,y'") from error
        return x, y

    def _mocap(self, name: str) -> int:
        return int(self._model.body(name).mocapid[0])
