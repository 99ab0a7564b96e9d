"""A process that is killed while the robot drives leaves a robot that stands."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from anima_msgs.action import ExecuteSkill
from rclpy.action import ActionClient
from support.running_graph import Graph, running_graph

from anima import topics as t
from anima.types.mind import GroundTruth

pytestmark = [pytest.mark.ros, pytest.mark.timeout(240)]

STARTED_S = 3.5  # before, the reflexes put up with processes that are busy starting
STANDS_WITHIN_S = 0.5  # of simulated time
WATCHED_S = 1.5


def drive(graph: Graph, truth: list[GroundTruth]) -> None:
    """Let the robot leave its dock, and wait until it rolls."""
    worlds = graph.bench.listen(t.WORLD_STATE)
    client = ActionClient(graph.bench.node, ExecuteSkill, "execute_skill")
    assert graph.bench.until(lambda: truth and truth[-1].header.stamp.seconds > STARTED_S, 60.0)
    assert graph.bench.until(lambda: worlds and worlds[-1].localized and client.server_is_ready(), 30.0)
    handle = graph.bench.wait(client.send_goal_async(ExecuteSkill.Goal(skill="undock", arguments="{}")), 30.0)
    answer = handle.get_result_async()

    def rolls() -> bool:
        if answer.done():
            pytest.fail(f"it did not drive: {answer.result().result.error_msg}")
        return abs(truth[-1].linear_speed) > 0.05

    assert graph.bench.until(rolls, 60.0), f"it never drove off\n{graph.logs()}"
    client.destroy()


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
        assert [death.process for death in graph.supervisor.deaths()] == [process]
