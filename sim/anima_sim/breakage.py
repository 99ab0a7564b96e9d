"""What faults do to MuJoCo's physics."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from anima_sim.faults import WHEELS
from anima_sim.mjcf_scene import OBSTACLE_HALF_M, OBSTACLE_STORE_M, OBSTACLES
from anima_sim.truth import Pose2, Truth

_LOCKED_NMS = 100.0
_ICE = 0.03


class Breakage:
    """A `fault_effects.Physics` over a MuJoCo model. It is made before anything was broken."""

    def __init__(self, model: Any, data: Any) -> None:
        self._model, self._data = model, data
        self._damping = model.dof_damping.copy()
        self._grip = model.geom_friction.copy()
        self._priority = model.geom_priority.copy()
        self.truth: Truth | None = None

    @property
    def now(self) -> float:
        """Simulated time, s."""
        return float(self._data.time)

    def robot_pose(self) -> Pose2:
        """x, y (m) and heading (rad) of base_link."""
        assert self.truth is not None
        return self.truth.robot_pose()

    def spoil_wheels(self, locked: Set[str], icy: Set[str]) -> None:
        """Locks wheels by damping them out, and lets tyres slip whatever the floor is made of."""
        self._model.dof_damping[:] = self._damping
        self._model.geom_friction[:] = self._grip
        self._model.geom_priority[:] = self._priority
        for wheel in WHEELS:
            if wheel in locked:
                self._model.dof_damping[self._model.joint(f"{wheel}_joint").dofadr[0]] = _LOCKED_NMS
            if wheel in icy:
                tyre = self._model.geom(wheel.replace("wheel", "tyre")).id
                self._model.geom_friction[tyre] = (_ICE, 0.0, 0.0)
                self._model.geom_priority[tyre] = 3  # else the floor's grip would count

    def put_obstacle(self, name: str, at: tuple[float, float] | None) -> None:
        """Moves an obstacle to the floor, or below it."""
        place = OBSTACLE_STORE_M[OBSTACLES.index(name)] if at is None else (*at, OBSTACLE_HALF_M[2])
        self._data.mocap_pos[int(self._model.body(name).mocapid[0])] = place
