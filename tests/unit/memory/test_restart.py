"""A robot that is switched off in the middle of an errand goes on with it in its next life, by itself."""

from __future__ import annotations

import random
from pathlib import Path
from typing import cast

from anima import topics as t
from anima.config import Settings
from anima.memory.node import MemoryKeeper
from anima.memory.opening import open_store
from anima.types.mind import Objective
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble


def born(settings: Settings) -> PureMind:
    mind = PureMind(settings, 3, Trouble(0.0, 0.0, 0.0), ChoosingModel(random.Random(1), strays=0.0))
    mind.graph.run_for(3.0)
    return mind


def switched_off(mind: PureMind) -> None:
    cast(MemoryKeeper, mind.graph.component("memory")).close()


def objectives(mind: PureMind) -> list[Objective]:
    backlog = mind.graph.last(t.BACKLOG)
    return [] if backlog is None else [o for o in backlog.objectives if o.condition == "holding(green_cube)"]


def test_what_a_restart_interrupted_is_taken_up_again_and_done_once(tmp_path: Path) -> None:
    home = Settings(memory_url=f"sqlite:///{tmp_path}/mind.db")
    mind = born(home)
    mind.say("pick up the green cube")
    mind.graph.run_for(10.0)
    assert [o.state for o in objectives(mind)] == ["focused"]
    switched_off(mind)

    mind = born(home)
    (objective,) = objectives(mind)
    assert (objective.state, objective.reason) == ("parked", "interrupted by a restart")
    assert mind.graph.run_until(lambda: [o.state for o in objectives(mind)] == ["done"], timeout_s=300.0)
    mind.graph.run_for(1.0)
    switched_off(mind)

    mind = born(home)
    assert objectives(mind) == []
    switched_off(mind)
    with open_store(home) as store:  # type: ignore[union-attr]
        assert store.verify() == []


def test_without_a_memory_every_life_is_the_first(tmp_path: Path) -> None:
    mind = born(Settings())
    mind.say("pick up the green cube")
    mind.graph.run_for(10.0)
    assert objectives(mind)
    assert objectives(born(Settings())) == []
