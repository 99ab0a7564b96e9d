"""Errands on two days with a restart between: what is said to the first report, and how the second one sounds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, cast

from anima import topics as t
from anima.config import LlmSettings, Settings, Switches
from anima.learning.learner import Learner
from anima.memory.node import MemoryKeeper
from anima.planner.llm.base import Completion, Given, Mind, Pending, Read, Reading, Request, Weighed, Weighing
from anima.types.base import Header
from anima.types.learning import EncounterEnd
from anima_sim.pure_mind import PureMind
from anima_sim.symbolic import Trouble

CALM = Trouble(grasp_fails=0.0, search_fails=0.0, drive_fails=0.0)
ERRAND_S = 240.0
_LOOK_S = 0.005


@dataclass
class _Waited(Generic[Given]):
    pending: Pending[Given]

    def poll(self) -> Given | None:
        while (done := self.pending.poll()) is None:
            time.sleep(_LOOK_S)
        return done

    def cancel(self) -> None:
        self.pending.cancel()


@dataclass
class Patient:
    """A model whose answers are waited for, so that simulated time stands still while it thinks."""

    model: Mind

    def start(self, request: Request) -> _Waited[Completion]:
        """A turn."""
        return _Waited(self.model.start(request))

    def read(self, reading: Reading) -> _Waited[Read]:
        """A look at hidden states."""
        return _Waited(self.model.read(reading))

    def weigh(self, weighing: Weighing) -> _Waited[Weighed]:
        """A comparison."""
        return _Waited(self.model.weigh(weighing))

    def close(self) -> None:
        """The model is somebody else's."""


@dataclass
class Day:
    """What was said on a day: by the robot, in order."""

    replies: list[str] = field(default_factory=list)


def day(folder: Path, model: Mind, llm: LlmSettings, lessons: bool, order: str, feedback: str) -> Day:
    """One life of the pure mind over the memory in `folder`: an errand, what is said to its report, and the end."""
    settings = Settings(memory_url=f"sqlite:///{folder}/mind.db", llm=llm, learn=Switches(lessons=lessons))
    mind = PureMind(settings, 3, CALM, Patient(model), tick_s=0.05)
    graph = mind.graph
    graph.run_for(2.0)
    mind.say(order)
    graph.run_until(lambda: _is_over(mind), ERRAND_S)
    graph.run_for(2.0)
    if feedback:
        mind.say(feedback)
        graph.run_for(5.0)
    learner = cast("Learner", graph.component("learner"))
    graph.send(t.ENCOUNTER_END.of(EncounterEnd(header=Header.at(graph.now), person="", why="the day is over")))
    graph.run_until(lambda: False, 2.0)
    graph.run_until(lambda: learner.is_idle, 600.0)
    learner.close()
    cast("MemoryKeeper", graph.component("memory")).close()
    return Day([reply.text for reply in graph.sent(t.REPLY)])


def _is_over(mind: PureMind) -> bool:
    backlog = mind.graph.last(t.BACKLOG)
    return bool(backlog and backlog.objectives) and all(
        one.state in ("done", "failed", "declined", "cancelled") for one in backlog.objectives  # type: ignore[union-attr]
    )
