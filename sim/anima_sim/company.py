"""Several robots in one simulated world, each behind topics of its own."""

from __future__ import annotations

from collections.abc import Sequence

from anima.config import ConfigError, Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima_sim.body import SimulatedBody
from anima_sim.config import RobotConfig, load_robot
from anima_sim.errors import SimulationError
from anima_sim.robot_world import RobotWorld
from anima_sim.scene import Scene, load_scene
from anima_sim.world import World


class Company:
    """The bodies of several robots, by name, in one world: what one does the others see, push and bump into.

    Whoever drives it lets all of them `obey` before it steps them, in this order: then commands of one moment act in
    the same control period, whichever robot they are for.
    """

    def __init__(self, settings: Settings, names: Sequence[str]) -> None:
        """Raises `ConfigError` for more robots than the scene has places for, and for names that are none or twice."""
        if not all(name.isidentifier() for name in names):
            raise ConfigError(f"robots are called by names of letters, digits and _, not: {', '.join(names)}")
        scene, config = load_scene(settings.scene), load_robot(settings.robot_file)
        try:
            worlds = World.of_several(scene, names, settings.seed, settings.cameras, config)
        except SimulationError as error:
            raise ConfigError(str(error)) from error
        self.bodies = {name: Member(settings, worlds[name], leads=index == 0) for index, name in enumerate(names)}

    def close(self) -> None:
        """Frees the graphics contexts."""
        for body in self.bodies.values():
            body.world.close()


class Member(SimulatedBody):
    """The body of one of several robots. The one that `leads` moves time on for all, and is stepped first.

    A step takes no commands: it would be too late for those who lead. See `Company`.
    """

    def __init__(self, settings: Settings, world: World, leads: bool) -> None:
        self._given, self._leads = world, leads
        super().__init__(settings)

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Goes on to `now`, and returns what the sensors say."""
        return self.live(now)

    def _build_world(self, scene: Scene, config: RobotConfig, settings: Settings) -> RobotWorld:
        return self._given

    def _advance(self, duration_s: float) -> None:
        if self._leads:
            super()._advance(duration_s)
