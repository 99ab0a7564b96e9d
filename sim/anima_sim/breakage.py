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
    """A `fault_effects.Physics` over a MuJoCo model. It is made before anything was broken.

    `prefix` begins the names of the robot that is broken: what others suffer is not touched.
    """

    def __init__(self, model: Any, data: Any, prefix: str = "") -> None:
        self._model, self._data, self._prefix = model, data, prefix
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
        model, prefix = self._model, self._prefix
        for wheel in WHEELS:
            turning = model.joint(f"{prefix}{wheel}_joint").dofadr[0]
            model.dof_damping[turning] = _LOCKED_NMS if wheel in locked else self._damping[turning]
            tyre = model.geom(prefix + wheel.replace("wheel", "tyre")).id
            slips = wheel in icy
            model.geom_friction[tyre] = (_ICE, 0.0, 0.0) if slips else self._grip[tyre]
            model.geom_priority[tyre] = 3 if slips else self._priority[tyre]  # else the floor's grip would count

    def put_obstacle(self, name: str, at: tuple[float, float] | None) -> None:
        """Moves an obstacle to the floor, or below it."""
        place = OBSTACLE_STORE_M[OBSTACLES.index(name)] if at is None else (*at, OBSTACLE_HALF_M[2])
        self._data.mocap_pos[int(self._model.body(name).mocapid[0])] = place
