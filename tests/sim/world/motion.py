"""Ways of moving the simulated robot that the tests share."""

from __future__ import annotations

from collections.abc import Callable

from anima_sim import World

MakeWorld = Callable[..., World]
"""The fixture `make_world`: takes seed, cameras and battery_scale."""


def drive(world: World, linear_mps: float, angular_radps: float, duration_s: float) -> None:
    """Repeats one command for a while."""
    for _ in range(round(duration_s / 0.02)):
        world.command_base(linear_mps, angular_radps)
        world.step()


def wait(world: World, duration_s: float) -> None:
    """Lets time pass without a command."""
    for _ in range(round(duration_s / 0.02)):
        world.step()


def bend(world: World, duration_s: float, **joints: float) -> None:
    """Sends joints somewhere and waits."""
    world.command_joints(joints)
    wait(world, duration_s)
