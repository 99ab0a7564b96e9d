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
DRIVES_ON_S = 0.7
# What a skill by hand needs, and a view of it: all 26 take a small machine a minute to start.
DRIVING = (
    "body", "reflex_kernel", "localization", "parietal_affordance", "basal_ganglia_gate", "motor_cortex", "markers",
)  # fmt: skip
STILL_RADPS = 0.01
FAST_MPS = 0.3


def drive(graph: Graph, truth: list[GroundTruth]) -> None:
    """Let the robot leave its dock and drive to the kitchen, and wait until it drives fast."""
    worlds, stops = graph.bench.listen(t.WORLD_STATE), graph.bench.listen(t.STOP_STATE)
    client = ActionClient(graph.bench.node, ExecuteSkill, "execute_skill")
    assert graph.bench.until(lambda: truth and truth[-1].header.stamp.seconds > STARTED_S, 60.0)
    assert graph.bench.until(lambda: worlds and worlds[-1].localized and client.server_is_ready(), 30.0)
    # On a busy machine a process may still be silent for a moment, and what begins then is refused.
    assert graph.bench.until(lambda: stops and not stops[-1].active, 60.0), f"it is held: {stops[-1:]}"
    undocking = start(graph, client, "undock", "{}")
    assert graph.bench.until(undocking.done, 60.0), f"it never left the dock\n{graph.logs()}"
    undocked = undocking.result().result
    assert undocked.error_code == 0, f"it did not leave the dock: {undocked.error_msg}\n{graph.logs()}"
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


def kill(graph: Graph, truth: list[GroundTruth], process: str) -> float:
    """Kill it; returns the simulated time of that."""
    killed_at = truth[-1].header.stamp.seconds
    os.kill(graph.supervisor.pid(process), signal.SIGKILL)
    return killed_at


def wheels_after(graph: Graph, truth: list[GroundTruth], since: float, seconds: float) -> list[float]:
    """How fast the faster wheel turns at each moment of so many simulated seconds."""
    over = graph.bench.until(lambda: truth[-1].header.stamp.seconds > since + seconds, 60.0)
    assert over, "the simulator itself stands still"
    return [float(np.abs(one.wheel_speeds).max()) for one in truth if one.header.stamp.seconds > since]


@pytest.mark.parametrize("process", ["reflex", "brain"])
def test_the_wheels_stand_within_half_a_second_after_a_process_was_killed(
    tmp_path: Path, process: str
) -> None:
    with running_graph(tmp_path) as graph:
        truth = graph.bench.listen(t.GROUND_TRUTH)
        drive(graph, truth)
        killed_at = kill(graph, truth, process)
        assert max(wheels_after(graph, truth, killed_at + STANDS_WITHIN_S, WATCHED_S)) < STILL_RADPS
        (death,) = graph.supervisor.deaths()
        assert str(death).startswith(f"the {process} process")
        assert "SIGKILL" in str(death)


def test_with_one_process_per_node_it_drives_on_without_a_view_of_itself_and_stands_without_its_motor_cortex(
    tmp_path: Path,
) -> None:
    with running_graph(tmp_path, {"composed": "false"}, only=DRIVING) as graph:
        truth = graph.bench.listen(t.GROUND_TRUTH)
        drive(graph, truth)
        killed_at = kill(graph, truth, "markers")
        assert min(wheels_after(graph, truth, killed_at + STANDS_WITHIN_S, DRIVES_ON_S)) > STILL_RADPS
        killed_at = kill(graph, truth, "motor_cortex")
        assert max(wheels_after(graph, truth, killed_at + STANDS_WITHIN_S, WATCHED_S)) < STILL_RADPS
        deaths = [str(death) for death in graph.supervisor.deaths()]
        assert any("markers" in death and "goes on without it" in death for death in deaths), deaths
        assert any("motor_cortex" in death and "hold the robot still" in death for death in deaths), deaths


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
