"""Gazebo for the tests: installed once a machine. Where its release can't be reached they are skipped, and say so."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from anima_sim import World, load_scene
from anima_sim.gazebo.prefix import INSTALLER
from anima_sim.gazebo.world import GazeboWorld

UNREACHABLE = 69
_untested: list[str] = []


@pytest.fixture(scope="session")
def gazebo_installed() -> None:
    """Runs the installer. Unreachable is a skip with its reason; anything else that goes wrong is a failure."""
    done = subprocess.run([INSTALLER], capture_output=True, text=True, timeout=900, check=False)
    if done.returncode == UNREACHABLE:
        reason = " ".join(done.stderr.split())
        _untested.append(reason)
        pytest.skip(f"NOT TESTED IN GAZEBO: {reason}")
    assert done.returncode == 0, f"{INSTALLER.name} failed with {done.returncode}:\n{done.stdout}{done.stderr}"


@pytest.fixture
def gazebo(gazebo_installed: None) -> Iterator[Callable[..., GazeboWorld]]:
    """Makes Gazebo worlds, each in a server of its own; all are closed in the end."""
    made: list[GazeboWorld] = []

    def make(seed: int = 1, cameras: bool = False) -> GazeboWorld:
        made.append(GazeboWorld(load_scene("flat"), seed, cameras))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def mujoco() -> Iterator[Callable[..., World]]:
    """Makes the same worlds in MuJoCo."""
    made: list[World] = []

    def make(seed: int = 1, cameras: bool = False) -> World:
        made.append(World(load_scene("flat"), seed, cameras))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A skip of all of Gazebo is never lost among the dots."""
    for reason in _untested:
        terminalreporter.section("GAZEBO WAS NOT TESTED", sep="!", red=True, bold=True)
        terminalreporter.line(reason, red=True)
