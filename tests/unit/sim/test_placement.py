"""Where the objects start."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anima_sim.errors import SceneError
from anima_sim.placement import start_poses
from anima_sim.scene import OUTWARD, Scene, load_scene

FLAT = load_scene("flat")
seeds = st.integers(min_value=0, max_value=2**31)


def _edge_distance(scene: Scene, x: float, y: float) -> float:
    """Distance to the nearest edge from which the robot can reach the point."""
    best = math.inf
    for surface in scene.surfaces:
        if surface.name in scene.placements.surfaces and surface.contains(x, y):
            for side in surface.approach_sides:
                (ex, ey), _ = surface.edge(side)
                out = OUTWARD[side]
                best = min(best, (ex - x) * out[0] + (ey - y) * out[1])
    return best


@settings(deadline=None)
@given(seeds)
def test_the_same_seed_puts_everything_in_the_same_place(seed: int) -> None:
    assert start_poses(FLAT, seed) == start_poses(FLAT, seed)


@settings(deadline=None)
@given(seeds)
def test_every_object_lies_where_the_arm_reaches_it_from_an_open_side(seed: int) -> None:
    for x, y, _, _ in start_poses(FLAT, seed).values():
        assert 0.05 - 1e-9 <= _edge_distance(FLAT, x, y) <= 0.16 + 1e-9


@settings(deadline=None)
@given(seeds)
def test_no_two_objects_lie_closer_than_eight_centimetres(seed: int) -> None:
    for a, b in combinations(start_poses(FLAT, seed).values(), 2):
        assert math.dist(a[:2], b[:2]) >= 0.08


@settings(deadline=None)
@given(seeds)
def test_nothing_starts_on_the_persons_tray(seed: int) -> None:
    tray = FLAT.surface("person_tray")
    assert not any(tray.contains(x, y) for x, y, _, _ in start_poses(FLAT, seed).values())


def test_other_seeds_give_other_places() -> None:
    assert len({start_poses(FLAT, seed)["red_cube"] for seed in range(20)}) == 20


def test_too_many_objects_for_the_space_are_refused(tmp_path: Path) -> None:
    wide = FLAT.placements.model_copy(update={"gap_m": 1.5})
    with pytest.raises(SceneError, match="no room for"):
        start_poses(FLAT.model_copy(update={"placements": wide}), 0)
