"""A process that is killed while the robot drives leaves a robot that stands."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anima_msgs.action import ExecuteSkill
from rclpy.action import ActionClient
from support.running_graph import Graph, running_graph

from anima import topics as t
from anima.runtime.supervisor import Death
from anima.types.mind import GroundTruth

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]

STARTED_S = 3.5  # before, the reflexes put up with processes that are busy starting
STANDS_WITHIN_S = 0.5  # of simulated time
WATCHED_S = 1.5
FAST_MPS = 0.3


def drive(graph: Graph, truth: list[GroundTruth]) -> None:
    """Let the robot leave its dock and drive to the kitchen, and wait until it drives fast."""
    worlds = graph.bench.listen(t.WORLD_STATE)
    client = ActionClient(graph.bench.node, ExecuteSkill, "execute_skill")
    assert graph.bench.until(lambda: truth and truth[-1].header.stamp.seconds > STARTED_S, 60.0)
    assert graph.bench.until(lambda: worlds and worlds[-1].localized and client.server_is_ready(), 30.0)
    undocking = start(graph, client, "undock", "{}")
    assert graph.bench.until(undocking.done, 60.0), f"it never left the dock\n{graph.logs()}"
    assert graph.bench.until(lambda: not worlds[-1].docked, 30.0)
    driving = start(graph, client, "go_to", '{"place": "kitchen"}')

    def is_fast() -> bool:
        if driving.done():
            pytest.fail(f"it did not drive: {driving.result().result.error_msg}")
        return abs(truth[-1].linear_speed) > FAST_MPS

    assert graph.bench.until(is_fast, 60.0), f"it never drove fast\n{graph.logs()}"
    client.destroy()


def start(graph: Graph, client: ActionClient, skill: str, arguments: str) -> Any:
    """Begin a skill by hand; returns the future of its result."""
    goal = ExecuteSkill.Goal(skill=skill, arguments=arguments)
    return graph.bench.wait(client.send_goal_async(goal), 30.0).get_result_async()


@pytest.mark.parametrize("process", ["reflex", "perception", "brain", "planner"])
def test_the_wheels_stand_within_half_a_second_after_a_process_was_killed(
    tmp_path: Path, process: str
) -> None:
    with running_graph(tmp_path) as graph:
        truth = graph.bench.listen(t.GROUND_TRUTH)
        drive(graph, truth)
        os.kill(graph.supervisor.pid(process), signal.SIGKILL)
        killed_at = truth[-1].header.stamp.seconds

        def watched() -> bool:
            return truth[-1].header.stamp.seconds > killed_at + STANDS_WITHIN_S + WATCHED_S

        assert graph.bench.until(watched, 60.0), "the simulator itself stands still"
        after = [state for state in truth if state.header.stamp.seconds > killed_at + STANDS_WITHIN_S]
        assert max(np.abs(state.wheel_speeds).max() for state in after) < 0.01
        (death,) = graph.supervisor.deaths()
        assert str(death).startswith(f"the {process} process")
        assert "SIGKILL" in str(death)


def test_the_death_of_the_simulator_itself_is_told_and_the_others_live_on(tmp_path: Path) -> None:
    with running_graph(tmp_path) as graph:
        truth = graph.bench.listen(t.GROUND_TRUTH)
        assert graph.bench.until(lambda: bool(truth), 60.0)
        os.kill(graph.supervisor.pid("body"), signal.SIGKILL)
        told: list[Death] = []

        def noticed() -> bool:
            told.extend(graph.supervisor.deaths())
            return bool(told)

        assert graph.bench.until(noticed, 10.0)
        (death,) = told
        assert death.process == "body" and "SIGKILL" in str(death)
