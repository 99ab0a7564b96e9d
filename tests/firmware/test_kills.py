"""The whole graph behind the emulated board: whatever is killed or pulled in mid-drive, the wheels come to rest."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anima_msgs.action import ExecuteSkill
from anima_msgs.srv import InjectFault
from rclpy.action import ActionClient
from std_srvs.srv import Trigger
from support.running_graph import NAMESPACE, SETTINGS, Graph, running_graph

from anima import topics as t
from anima.runtime.processes import Process
from anima.runtime.supervisor import Supervisor, commands
from anima.types.link import LinkState
from anima.types.mind import GroundTruth, StopState, WorldState

pytestmark = [pytest.mark.ros, pytest.mark.timeout(400)]

FIRMWARE = {"sim": "firmware"}
STANDS_WITHIN_S = 0.5  # of simulated time
WATCHED_S = 1.5
FAST_MPS = 0.3


class Drive:
    """A graph with a board that is armed, and that drives to a place."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.bench = graph, graph.bench
        self.truth: list[GroundTruth] = self.bench.listen(t.GROUND_TRUTH)
        self.links: list[LinkState] = self.bench.listen(t.LINK_STATE)
        self.worlds: list[WorldState] = self.bench.listen(t.WORLD_STATE)
        self.stops: list[StopState] = self.bench.listen(t.STOP_STATE)
        self.reset = self.bench.node.create_client(Trigger, "software_stop/reset")
        self.faults = self.bench.node.create_client(InjectFault, "sim/inject_fault")
        self.skills = ActionClient(self.bench.node, ExecuteSkill, "execute_skill")

    @property
    def now(self) -> float:
        return self.truth[-1].header.stamp.seconds

    @property
    def armed(self) -> bool:
        return bool(self.links) and self.links[-1].phase == "armed"

    def arm(self) -> None:
        """What `anima up` does: a reset whenever the stop is latched, until it is armed.

        One reset is enough for a person. This asks within milliseconds of the latch, which the driver may not have
        heard of then: it takes no reset for one of a stop that it doesn't know.
        """
        assert self.reset.wait_for_service(timeout_sec=30.0)
        assert self.bench.until(lambda: self.links and self.links[-1].phase == "ready", 60.0), self.graph.logs()
        assert self.bench.until(lambda: self.stops and self.stops[-1].latched, 30.0), "nothing holds an unarmed body"
        for _ in range(3):
            answer = self.bench.wait(self.reset.call_async(Trigger.Request()), 30.0)
            assert answer.success, answer.message
            self.bench.until(lambda: not self.stops[-1].latched, 5.0)
            if self.bench.until(lambda: self.armed or self.stops[-1].latched, 20.0) and self.armed:
                return
        raise AssertionError(f"it didn't arm: {self.stops[-1:]} {self.links[-1:]}\n{self.graph.logs()}")

    def ready(self) -> None:
        """Armed, sure of where it is, nothing holds it, and the mind has heard of that, too."""

        def is_ready() -> bool:
            free = bool(self.stops) and not self.stops[-1].latched and not self.stops[-1].active
            knows = bool(self.worlds) and self.worlds[-1].localized and not self.worlds[-1].stopped
            return free and self.armed and knows

        assert self.bench.until(self.skills.server_is_ready, 60.0), self.graph.logs()
        assert self.bench.until(is_ready, 90.0), f"not ready: {self.stops[-1:]} {self.links[-1:]}\n{self.graph.logs()}"

    def fast(self) -> None:
        """Off the dock, and on the way at speed."""
        self.ready()
        if self.worlds[-1].docked:
            leaving = self._start("undock", "{}")
            assert self.bench.until(leaving.done, 120.0), f"it never left the dock\n{self.graph.logs()}"
            assert leaving.result().result.error_code == 0, leaving.result().result.error_msg
            self.ready()
        going = self._start("go_to", '{"place": "kitchen"}')
        self.bench.until(lambda: self._is_fast() or going.done(), 120.0)
        end = going.result().result.error_msg if going.done() else "still under way"
        assert self._is_fast(), f"it never drove fast: {end}; {self.stops[-1:]} {self.links[-1:]}\n{self.graph.logs()}"

    def _is_fast(self) -> bool:
        return abs(self.truth[-1].linear_speed) > FAST_MPS

    def _start(self, skill: str, arguments: str) -> Any:
        goal = ExecuteSkill.Goal(skill=skill, arguments=arguments)
        return self.bench.wait(self.skills.send_goal_async(goal), 30.0).get_result_async()

    def stands_after(self, since: float) -> None:
        """Half a second of the robot's time later the wheels stand, and go on standing."""
        over = self.bench.until(lambda: self.now > since + STANDS_WITHIN_S + WATCHED_S, 90.0)
        assert over, "the world itself stands still"
        after = [s for s in self.truth if s.header.stamp.seconds > since + STANDS_WITHIN_S]
        assert max(np.abs(state.wheel_speeds).max() for state in after) < 0.02


def test_a_pulled_cable_stops_it_and_only_a_reset_arms_it_again(tmp_path: Path) -> None:
    with running_graph(tmp_path, FIRMWARE) as graph:
        drive = Drive(graph)
        drive.arm()
        drive.fast()
        request = InjectFault.Request(kind="pulled_cable", duration_s=1.0)
        answer = drive.bench.wait(drive.faults.call_async(request), 10.0)
        assert answer.success, answer.message
        drive.stands_after(drive.now)
        assert not drive.armed, "it armed by itself when the cable was back"
        assert drive.bench.until(lambda: drive.links[-1].phase == "ready", 30.0), "it didn't find the board again"
        drive.arm()
        drive.fast()


def test_the_driver_killed_and_started_again_leaves_a_robot_that_waits_for_a_reset(tmp_path: Path) -> None:
    with running_graph(tmp_path, FIRMWARE) as graph:
        drive = Drive(graph)
        drive.arm()
        drive.fast()
        os.kill(graph.supervisor.pid("body"), signal.SIGKILL)
        drive.stands_after(drive.now)
        drive.links.clear()
        words = commands({**SETTINGS, **FIRMWARE}, [Process.BODY])["body"]
        with Supervisor({"body": [*words, "-r", f"__ns:={NAMESPACE}"]}, tmp_path / "again"):
            assert drive.bench.until(lambda: drive.links and drive.links[-1].phase == "ready", 60.0)
            drive.stands_after(drive.now)
            assert not drive.armed, "the new driver armed by itself"
            drive.arm()


def test_the_whole_host_killed_at_once_leaves_wheels_at_zero(tmp_path: Path) -> None:
    with running_graph(tmp_path, FIRMWARE) as graph:
        drive = Drive(graph)
        drive.arm()
        drive.fast()
        for process in Process:
            os.kill(graph.supervisor.pid(process.value), signal.SIGKILL)
        drive.stands_after(drive.now)

