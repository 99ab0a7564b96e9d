"""Several robots in one simulated world, each behind topics of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from anima import topics as t
from anima.brain import Row
from anima.config import ConfigError, Settings
from anima.runtime.component import Component, Inbox
from anima.runtime.local_graph import TICK_S, LocalGraph, Logged
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


class CompanyGraph:
    """Every robot's rows of the brain table in one process and without ROS, in lock-step around one world."""

    def __init__(
        self,
        settings: Settings,
        names: Sequence[str],
        rows: Iterable[Row],
        replace: Callable[[str], Mapping[str, Component]] = lambda name: {},
    ) -> None:
        """`replace` gives a robot's components that stand in for those of the table. Raises what `Company` raises."""
        self.company = Company(settings, names)
        kept = list(rows)
        self.graphs = {
            name: LocalGraph(settings, kept, replace={"body": body, **replace(name)})
            for name, body in self.company.bodies.items()
        }
        for name, graph in self.graphs.items():
            graph.tap(_obeying(self.company.bodies[name]))

    @property
    def now(self) -> float:
        """Simulated time, seconds."""
        return next(iter(self.graphs.values())).now

    def run_until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Ticks until `condition` holds; False if it doesn't within `timeout_s` of simulated time."""
        for _ in range(round(timeout_s / TICK_S)):
            if condition():
                return True
            for graph in self.graphs.values():
                graph.tick()
        return condition()


def _obeying(body: SimulatedBody) -> Callable[[Logged], None]:
    taken = {topic.name for topic in (t.CMD_VEL, t.ARM_COMMAND, t.FAULT)}

    def obey(logged: Logged) -> None:
        if logged.sent.topic.name in taken:
            body.obey(Inbox.of([logged.sent]))

    return obey
