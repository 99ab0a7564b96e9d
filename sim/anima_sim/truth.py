"""What really happened, for the judge alone: nothing that the robot decides with may read this."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from anima_sim.scene import Scene

Pose2 = tuple[float, float, float]
_BASE, _ARM, _BUMPER, _GROUND, _WORLD, _THING, _PAD, _ROLLER = range(1, 9)


@dataclass(frozen=True)
class Collision:
    """One touch between the robot and its surroundings, from first contact to letting go."""

    time_s: float
    part: str
    against: str
    speed_mps: float
    """The base's speed just before."""
    force_n: float
    """Largest normal force while it lasted."""


class ContactWatch:
    """Looks at the contacts of every physics step: bumpers, collisions, what lies on what.

    Of several robots it is the one whose names begin with `prefix` that is looked at; the others are surroundings.
    """

    def __init__(
        self, model: Any, scene: Scene, bumper_links: tuple[str, str], pads: dict[str, str], prefix: str = ""
    ) -> None:
        self._model = model
        self.names = [model.geom(i).name for i in range(model.ngeom)]
        self.kind = np.zeros(model.ngeom, np.int8)
        base = model.body(prefix + "base_link").id
        things = {model.body(o.name).id for o in scene.objects}
        ground = tuple(["floor_", f"{scene.stairs.name}_", *(r.name for r in scene.rugs)])
        for geom in range(model.ngeom):
            body = model.geom_bodyid[geom]
            name = self.names[geom]
            if model.body_rootid[body] == base:
                short = name.removeprefix(prefix), model.body(body).name.removeprefix(prefix)
                self.kind[geom] = self._own(*short, bumper_links, pads)
            elif body in things:
                self.kind[geom] = _THING
            elif name.startswith(ground):
                self.kind[geom] = _GROUND
            else:
                self.kind[geom] = _WORLD
        self._bumper = {model.geom(f"{prefix}bumper_{side}").id: i for i, side in enumerate(("left", "right"))}
        # Backing onto the dock is what the dock is for.
        self._ignored = {model.geom(scene.dock.name).id}
        self.collisions: list[Collision] = []
        self._open: dict[tuple[int, int], tuple[int, int]] = {}
        self._step = 0
        self.pressed = [0.0, 0.0]

    @staticmethod
    def _own(name: str, body: str, bumper_links: tuple[str, str], pads: dict[str, str]) -> int:
        if body in bumper_links:
            return _BUMPER
        if name in pads:
            return _PAD
        if "tyre" in name or "caster" in name:
            return _ROLLER
        return _BASE

    def begin_period(self) -> None:
        """Forgets the bumpers' last period."""
        self.pressed = [0.0, 0.0]

    def look(self, data: Any, speed_mps: float) -> None:
        """Takes in the contacts after one physics step."""
        self._step += 1
        count = data.ncon
        if not count:
            return
        pairs = data.contact.geom
        kinds = self.kind[pairs]
        own = (kinds == _BASE) | (kinds == _BUMPER) | (kinds == _PAD)
        other = (kinds == _WORLD) | (kinds == _THING) | (kinds == _GROUND)
        hits = np.nonzero((own[:, 0] & other[:, 1]) | (own[:, 1] & other[:, 0]))[0]
        for index in hits:
            a, b = int(pairs[index, 0]), int(pairs[index, 1])
            if not own[index, 0]:
                a, b = b, a
            self._touch(data, int(index), a, b, speed_mps)

    def _touch(self, data: Any, index: int, own: int, other: int, speed_mps: float) -> None:
        thing = self.kind[other] == _THING
        bumper = self._bumper.get(own)
        if (thing and bumper is None) or other in self._ignored:
            return
        force = np.zeros((6, 1))
        mujoco.mj_contactForce(self._model, data, index, force)
        push = float(abs(force[0, 0]))
        if bumper is not None:
            self.pressed[bumper] = max(self.pressed[bumper], push)
        if thing:
            return
        key = (own, other)
        place, last = self._open.get(key, (-1, -1))
        # A touch that lets go for less than a tenth of a second is the same touch.
        if place < 0 or self._step - last > 50:
            place = len(self.collisions)
            self.collisions.append(Collision(float(data.time), self.names[own], self.names[other], speed_mps, push))
        elif push > self.collisions[place].force_n:
            old = self.collisions[place]
            self.collisions[place] = Collision(old.time_s, old.part, old.against, old.speed_mps, push)
        self._open[key] = (place, self._step)


class Truth:
    """The simulator's own knowledge. Poses are in the map frame, metres and radians."""

    def __init__(self, model: Any, data: Any, scene: Scene, watch: ContactWatch, prefix: str = "") -> None:
        self._model, self._data, self._scene, self._watch = model, data, scene, watch
        self._base = model.body(prefix + "base_link").id
        self._root = int(model.joint(prefix + "base").dofadr[0])
        self._wheels = [int(model.joint(prefix + j).dofadr[0]) for j in ("left_wheel_joint", "right_wheel_joint")]

    def robot_pose(self) -> Pose2:
        """x, y, heading of base_link."""
        x, y, _ = self._data.xpos[self._base]
        forward = self._data.xmat[self._base].reshape(3, 3)[:, 0]
        return float(x), float(y), math.atan2(forward[1], forward[0])

    def robot_height(self) -> float:
        """Height of base_link over the floor (m): 0 on the floor, less when it fell down the stairs."""
        return float(self._data.xpos[self._base][2])

    def robot_velocity(self) -> tuple[float, float]:
        """Speed over ground (m/s, never negative) and rate of turn (rad/s)."""
        velocity = self._data.qvel[self._root : self._root + 6]
        return math.hypot(velocity[0], velocity[1]), float(velocity[5])

    def wheel_speeds(self) -> tuple[float, float]:
        """Left and right wheel, rad/s."""
        left, right = (float(self._data.qvel[i]) for i in self._wheels)
        return left, right

    def object_pose(self, name: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Position (3,) and orientation quaternion (4,) w x y z of an object's centre."""
        self._scene.object(name)
        body = self._data.body(name)
        return np.array(body.xpos), np.array(body.xquat)

    def object_poses(self) -> dict[str, tuple[float, float, float]]:
        """Position of every object."""
        return {o.name: _triple(self._data.body(o.name).xpos) for o in self._scene.objects}

    def on_surface(self, name: str) -> str | None:
        """What carries the object: a surface's name, "gripper", "floor", or None (in the air, or on something else)."""
        self._scene.object(name)
        return self._carrier(self._model.body(name).id, seen=set())

    def _carrier(self, body: int, seen: set[int]) -> str | None:
        seen.add(body)
        touching = self._touching(body)
        tops = {s.name for s in self._scene.surfaces}
        for geom in touching:
            name = self._watch.names[geom]
            if name in tops and self._data.xpos[body][2] > self._data.geom_xpos[geom][2]:
                return str(name)
        kinds = [int(self._watch.kind[g]) for g in touching]
        if _PAD in kinds:
            return "gripper"
        if _GROUND in kinds:
            return "floor"
        for geom in touching:
            below = int(self._model.geom_bodyid[geom])
            lower = self._data.xpos[below][2] < self._data.xpos[body][2]
            if self._watch.kind[geom] == _THING and below not in seen and lower:
                return self._carrier(below, seen)
        return None

    def _touching(self, body: int) -> list[int]:
        out = []
        for a, b in self._data.contact.geom[: self._data.ncon]:
            if self._model.geom_bodyid[a] == body:
                out.append(int(b))
            elif self._model.geom_bodyid[b] == body:
                out.append(int(a))
        return out

    @property
    def collisions(self) -> list[Collision]:
        """Every touch between robot and surroundings since the start (wheels on the floor and the dock left out)."""
        return list(self._watch.collisions)

    def max_collision_speed_mps(self) -> float:
        """Fastest that the base was going when it touched something; 0 if it never did."""
        return max((c.speed_mps for c in self._watch.collisions), default=0.0)

    def max_collision_force_n(self) -> float:
        """Hardest push against the surroundings so far."""
        return max((c.force_n for c in self._watch.collisions), default=0.0)


def _triple(values: Any) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
