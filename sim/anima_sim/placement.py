"""Where the objects start: random for each seed, the same for the same seed, always within the arm's reach."""

from __future__ import annotations

import math

import numpy as np

from anima_sim.errors import SceneError
from anima_sim.scene import OUTWARD, Scene, SceneObject, Surface

_TRIES = 2000


def start_poses(scene: Scene, seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Start pose of each object: x, y, z of its centre in the map frame (m) and heading (rad).

    Raises `SceneError` when the surfaces are too small for the objects and the gaps that the scene asks for.
    """
    rng = np.random.default_rng([seed, 0x0B7EC7])
    surfaces = [scene.surface(name) for name in scene.placements.surfaces]
    taken: list[tuple[float, float]] = []
    poses = {}
    for thing in scene.objects:
        for _ in range(_TRIES):
            surface = surfaces[int(rng.integers(len(surfaces)))]
            x, y = _spot(scene, surface, rng)
            if all(math.dist((x, y), other) >= scene.placements.gap_m + _extent(thing) for other in taken):
                break
        else:
            raise SceneError(f"no room for '{thing.name}': enlarge the surfaces or lower placements.gap_m")
        taken.append((x, y))
        poses[thing.name] = (x, y, surface.height_m + thing.size_m[2] / 2, float(rng.uniform(-math.pi, math.pi)))
    return poses


def _extent(thing: SceneObject) -> float:
    # Gaps are meant between centres for ordinary things; a long block needs its overhang as well.
    return max(0.0, max(thing.size_m[:2]) - 0.04)


def _spot(scene: Scene, surface: Surface, rng: np.random.Generator) -> tuple[float, float]:
    sides = surface.approach_sides
    side = sides[int(rng.integers(len(sides)))]
    (x, y), length = surface.edge(side)
    inward = rng.uniform(*scene.placements.edge_distance_m)
    along = rng.uniform(-1.0, 1.0) * (length / 2 - scene.placements.corner_margin_m)
    out = OUTWARD[side]
    return x - out[0] * inward - out[1] * along, y - out[1] * inward + out[0] * along
