"""Several robots in one world and one process, without ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from anima import topics as t
from anima.brain import Row
from anima.config import Settings
from anima.runtime.component import Component, Inbox
from anima.runtime.local_graph import TICK_S, LocalGraph, Logged
from anima_sim.body import SimulatedBody
from anima_sim.company import Company


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
