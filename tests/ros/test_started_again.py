"""A process that dies in the middle of an errand is started again; what was asked is not forgotten."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from support.running_graph import SETTINGS, Graph, running_graph

from anima import topics as t
from anima.runtime.supervisor import commands, started_again
from anima.types.base import Header, Time
from anima.types.mind import Backlog, Objective, Objectives

pytestmark = [pytest.mark.ros, pytest.mark.timeout(300)]

OPEN = ("pending", "focused", "parked")


def kill_and_revive(graph: Graph, process: str) -> None:
    os.kill(graph.supervisor.pid(process), signal.SIGKILL)
    before = len(graph.beats[process])
    told: list[str] = []

    def again() -> bool:
        told.extend(str(death) for death in graph.supervisor.deaths())
        graph.supervisor.revive(time.monotonic())
        return bool(told) and len(graph.beats[process]) > before + 5

    assert graph.bench.until(again, 90.0), graph.logs()
    assert told[0].startswith(f"the {process} process was killed")


def test_after_the_death_of_each_process_the_errand_is_still_there(tmp_path: Path) -> None:
    with running_graph(tmp_path, {"memory_url": f"sqlite:///{tmp_path / 'mind.db'}"}, revived=True) as graph:
        backlogs, stops = graph.bench.listen(t.BACKLOG), graph.bench.listen(t.STOP_STATE)
        worlds = graph.bench.listen(t.WORLD_STATE)
        assert graph.bench.until(lambda: worlds and worlds[-1].localized, 60.0), graph.logs()
        # In the planner's place, whose language model doesn't answer here.
        ask = graph.bench.publisher(t.OBJECTIVES)
        errand = Objective(
            id="o1", condition="at(robot, kitchen)", said="go to the kitchen", source="ana", order=0, state="pending",
            reason="", created=Time.at(worlds[-1].header.stamp.seconds),
        )
        ask(Objectives(header=Header.at(worlds[-1].header.stamp.seconds), objectives=[errand], replace=False))

        def open_errands(backlog: Backlog) -> list[Objective]:
            return [one for one in backlog.objectives if one.said == errand.said and one.state in OPEN]

        def parked_for(word: str) -> bool:
            found = open_errands(backlogs[-1]) if backlogs else []
            return bool(found) and found[0].state == "parked" and word in found[0].reason

        assert graph.bench.until(lambda: backlogs and open_errands(backlogs[-1]), 30.0), graph.logs()
        for process in ("perception", "planner"):
            kill_and_revive(graph, process)
            assert open_errands(backlogs[-1]), f"{process}: {backlogs[-1]}"
        kill_and_revive(graph, "reflex")
        assert graph.bench.until(lambda: stops[-1].latched and "restart" in stops[-1].source, 30.0)
        assert graph.bench.until(lambda: parked_for("restart of the reflexes"), 30.0), backlogs[-1]
        graph.bench.pass_time(2.0)  # memory has written it down
        backlogs.clear()
        kill_and_revive(graph, "brain")
        assert graph.bench.until(lambda: parked_for("restart"), 30.0), backlogs
        assert set(graph.supervisor.stop().values()) == {0}, graph.logs()


def test_what_is_started_again_has_the_settings_that_it_had() -> None:
    words = commands(SETTINGS)
    for name, again in started_again(words, "mujoco").items():
        assert [word for word in again if word != "--stopped"] == words[name]
