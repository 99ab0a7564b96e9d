"""What touches what in Gazebo: bumpers, collisions, and what carries an object."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anima_sim.mjcf_robot import TOUCHED_GROUP
from anima_sim.scene import Scene
from anima_sim.truth import Collision

# A touch that lets go for less than a tenth of a second is the same touch.
_SAME_TOUCH_S = 0.1


class TouchWatch:
    """Takes in the touches of each period as the lock-step plugin tells them: [shape, shape, newtons, since, still]."""

    def __init__(self, mjcf: str, scene: Scene, pads: set[str]) -> None:
        base = ET.fromstring(mjcf).find("worldbody/body[@name='base_link']")
        assert base is not None
        shapes = {g.get("name", "") for g in base.iter("geom") if g.get("group") == str(TOUCHED_GROUP)}
        self._own = {name for name in shapes if "tyre" not in name and "caster" not in name}
        self._pads = pads
        self._things = {thing.name for thing in scene.objects}
        self._surfaces = {surface.name for surface in scene.surfaces}
        self._ground = ("floor_", f"{scene.stairs.name}_", *(rug.name for rug in scene.rugs))
        self._dock = scene.dock.name  # backing onto the dock is what the dock is for
        self._touching: dict[str, set[str]] = {}
        self._last: dict[tuple[str, str], tuple[int, float]] = {}
        self.collisions: list[Collision] = []
        self.pressed = {"bumper_left": 0.0, "bumper_right": 0.0}

    def take(self, touches: Sequence[Sequence[Any]], time_s: float, speed_mps: float) -> None:
        """One period's touches; `speed_mps` is how fast the base went before it."""
        self.pressed = dict.fromkeys(self.pressed, 0.0)
        self._touching = {name: set() for name in self._things}
        for a, b, force, since, still in touches:
            for one, other in ((a, b), (b, a)):
                if still and one in self._things:
                    self._touching[one].add(other)
                if one in self._own and other not in self._own:
                    self._touched(one, other, float(force), float(since), time_s, speed_mps)

    def _touched(self, own: str, other: str, force: float, since: float, time_s: float, speed_mps: float) -> None:
        bumper = own in self.pressed
        thing = other in self._things
        if (thing and not bumper) or other == self._dock:
            return
        if bumper:
            self.pressed[own] = max(self.pressed[own], force)
        if thing:
            return
        place, last = self._last.get((own, other), (-1, -1.0))
        if place < 0 or since - last > _SAME_TOUCH_S:
            place = len(self.collisions)
            self.collisions.append(Collision(since, own, other, speed_mps, force))
        elif force > self.collisions[place].force_n:
            self.collisions[place] = replace(self.collisions[place], force_n=force)
        self._last[own, other] = (place, time_s)

    def carrier(self, thing: str, heights: dict[str, float]) -> str | None:
        """A surface's name, "gripper", "floor", or None; `heights` are those of the objects' centres."""
        return self._carrier(thing, heights, set())

    def _carrier(self, thing: str, heights: dict[str, float], seen: set[str]) -> str | None:
        seen.add(thing)
        touching = self._touching.get(thing, set())
        for name in sorted(touching & self._surfaces):
            return name
        if touching & self._pads:
            return "gripper"
        if any(name.startswith(self._ground) for name in touching):
            return "floor"
        for name in sorted(touching & self._things - seen):
            if heights[name] < heights[thing]:
                return self._carrier(name, heights, seen)
        return None
