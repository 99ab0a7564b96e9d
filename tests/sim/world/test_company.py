"""Several robots in one world: each has its body for itself, and all share the place."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from anima.config import ConfigError, Settings
from anima_sim import World, load_scene
from anima_sim.company import Company
from anima_sim.faults import Fault

pytestmark = pytest.mark.sim


@pytest.fixture
def pair() -> Iterator[tuple[World, World]]:
    worlds = World.of_several(load_scene("flat"), ["ada", "bob"], seed=3, cameras=False)
    yield worlds["ada"], worlds["bob"]
    worlds["ada"].close()


def drive(world: World, linear: float, angular: float, seconds: float) -> None:
    for _ in range(round(seconds / 0.02)):
        world.command_base(linear, angular)
        world.step(0.02)


def test_one_drives_as_it_would_alone_and_the_other_stays_where_it_is(pair: tuple[World, World]) -> None:
    ada, bob = pair
    alone = World(load_scene("flat"), seed=3, cameras=False)
    there = bob.truth.robot_pose()
    for world in (alone, ada):
        drive(world, 0.3, 0.1, 1.0)
    assert ada.truth.robot_pose() == pytest.approx(alone.truth.robot_pose(), abs=1e-9)
    assert ada.odometry() == pytest.approx(alone.odometry(), abs=1e-9)
    assert bob.truth.robot_pose() == pytest.approx(there, abs=1e-4)
    assert bob.time == ada.time == pytest.approx(1.0)
    assert not bob.on_dock()


def test_each_sees_the_other_and_feels_when_it_is_bumped_into(pair: tuple[World, World]) -> None:
    ada, bob = pair
    ada.place_robot(6.2, 3.4, math.pi / 2)
    bob.place_robot(6.2, 4.4, -math.pi / 2)
    ada.step(0.02)
    extent = ada.config.base.footprint_m
    for world in pair:
        ahead = np.concatenate([world.lidar()[-15:], world.lidar()[:15]])
        assert np.nanmin(ahead) == pytest.approx(1.0 - extent.front, abs=0.06)
    for _ in range(120):
        drive(ada, 0.3, 0.0, 0.04)
        if any(ada.bumpers()):
            break
    assert any(ada.bumpers()) and any(bob.bumpers())
    assert {hit.against.partition("_")[0] for hit in ada.truth.collisions} == {"bob"}
    assert {hit.against.partition("_")[0] for hit in bob.truth.collisions} == {"ada"}


def test_what_breaks_on_one_does_not_break_on_the_other(pair: tuple[World, World]) -> None:
    ada, bob = pair
    ada.inject(Fault("stalled_wheel", "left_wheel"))
    ada.inject(Fault("lost_sensor", "imu"))
    bob.inject(Fault("slip", "both"))
    bob.clear_faults()
    for _ in range(40):
        bob.command_base(0.0, 0.5)
        ada.command_base(0.3, 0.0)
        ada.step(0.02)
    assert bob.truth.wheel_speeds()[1] > 0.5 and ada.truth.wheel_speeds()[0] == pytest.approx(0.0, abs=0.1)
    bob.imu()


def test_they_have_noise_of_their_own_and_start_over_together(pair: tuple[World, World]) -> None:
    ada, bob = pair
    first = ada.cliffs().tolist(), bob.cliffs().tolist()
    assert first[0] != first[1]
    drive(ada, 0.3, 0.0, 0.5)
    ada.reset(3)
    assert bob.time == 0.0
    assert (ada.cliffs().tolist(), bob.cliffs().tolist()) == first


@pytest.mark.parametrize("names", [[], ["ada", "ada"], ["a", "b", "c", "d"], ["ada b"]])
def test_names_and_numbers_that_do_not_do_are_said(names: list[str]) -> None:
    with pytest.raises(ConfigError, match="robots"):
        Company(Settings(cameras=False), names)
