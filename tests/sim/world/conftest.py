"""A flat to try things in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sim.world.motion import MakeWorld

from anima_sim import World, load_scene


@pytest.fixture
def make_world() -> Iterator[MakeWorld]:
    """Makes worlds of the flat and closes them after the test; without cameras unless asked for."""
    made: list[World] = []

    def make(seed: int = 0, cameras: bool = False, battery_scale: float = 1.0) -> World:
        made.append(World(load_scene("flat"), seed=seed, cameras=cameras, battery_scale=battery_scale))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """The flat with seed 0."""
    return make_world()

