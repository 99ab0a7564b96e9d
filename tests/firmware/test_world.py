"""The driver on a real pseudo terminal, the flashed image, and the physics behind it, in lock-step."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anima import brain
from anima import topics as t
from anima.body.link.driver import SerialBody
from anima.config import Settings
from anima.runtime.local_graph import LocalGraph
from anima.types.base import Header
from anima.types.mind import Fault, StopRequest
from anima.types.std import TwistStamped
from anima_sim.board.avr import AvrBoard
from anima_sim.board.mega import MOTORS_ON, Surroundings, Wiring
from anima_sim.board.plant import FirmwareWorld
from anima_sim.board.wire import Socket

Figure = Callable[[str, float, float, str], None]
STANDS_WITHIN_S = 0.5


class Robot:
    """World, board, driver and reflex kernel; `speed` is what a skill asks for all the while."""

    def __init__(self) -> None:
        self.settings = Settings(sim="firmware", cameras=False, seed=3)
        rows = [row for row in brain.table("firmware") if row.node in ("driver", "reflex_kernel")]
        self.graph = LocalGraph(self.settings, [brain.WORLD, *rows], record=[t.ODOM])
        world, driver = self.graph.component("world"), self.graph.component("driver")
        assert isinstance(world, FirmwareWorld) and isinstance(driver, SerialBody)
        self.world, self.driver = world, driver
        self.speed = 0.0
        self.run(1.0)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.02)):
            self.graph.send(t.CMD_VEL_SKILL.of(TwistStamped.planar(self.graph.now, self.speed, 0.0)))
            self.graph.tick()

    def reset(self) -> None:
        """What `anima reset` does: an explicit act. Motion is let in again after a standstill."""
        self.graph.send(t.STOP_REQUEST.of(StopRequest(header=Header.at(self.graph.now), stop=False, source="person")))
        self.speed = 0.0
        self.run(0.6)

    def drive(self, speed: float) -> None:
        self.reset()
        assert self.driver.session.armed, self.driver.why()
        self.speed = speed
        self.run(1.0)
        assert abs(self.world.world.truth.robot_velocity()[0] - abs(speed)) < 0.05, self.driver.why()

    def wheels(self) -> float:
        return max(abs(w) for w in self.world.world.truth.wheel_speeds())

    def stands(self) -> None:
        """Half a second later the wheels stand, and stay so though a skill goes on asking."""
        self.run(STANDS_WITHIN_S)
        for _ in range(50):
            assert self.wheels() < 0.02
            self.run(0.02)


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Robot]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = Robot()
    yield made
    made.world.close()


def test_it_starts_disarmed_says_why_and_a_reset_arms_it(robot: Robot) -> None:
    robot.speed = 0.2
    robot.run(0.5)
    assert robot.wheels() < 0.02 and "never armed" in robot.driver.why()
    stop = robot.graph.last(t.STOP_STATE)
    assert stop is not None and stop.latched and stop.source.startswith("body:")
    robot.drive(0.2)


def test_odometry_follows_the_truth(robot: Robot) -> None:
    robot.drive(0.2)
    began, told = robot.world.world.truth.robot_pose(), robot.graph.last(t.ODOM)
    robot.run(3.0)
    ended, tells = robot.world.world.truth.robot_pose(), robot.graph.last(t.ODOM)
    assert told is not None and tells is not None
    way = math.dist(began[:2], ended[:2])
    assert way > 0.5
    assert abs(tells.pose.pose.position.x - told.pose.pose.position.x - way) < 0.02, way


@pytest.mark.parametrize("fault", ["pulled_cable", "hung_firmware", "brown_out", "estop_pressed"])
def test_it_stands_after_a_fault_of_board_or_line_until_somebody_resets_it(robot: Robot, fault: str) -> None:
    robot.drive(0.3)
    robot.world.inject(Fault(kind=fault, duration_s=1.0))
    robot.stands()
    robot.run(1.5)
    assert robot.wheels() < 0.02 and not robot.driver.session.armed, "it came back by itself"
    stop = robot.graph.last(t.STOP_STATE)
    assert stop is not None and stop.latched
    robot.drive(0.3)


def test_a_noisy_line_does_not_stop_an_errand(robot: Robot) -> None:
    robot.drive(0.1)
    robot.world.inject(Fault(kind="noisy_line", target="0.01"))
    robot.run(5.0)
    assert robot.driver.session.armed, robot.driver.why()
    state = robot.graph.last(t.LINK_STATE)
    assert state is not None and state.frames_bad > 0 and state.heard_share < 1.0


def test_a_bumper_lets_it_back_away_slowly_and_nothing_else(robot: Robot) -> None:
    robot.drive(0.2)
    robot.world.inject(Fault(kind="lost_sensor", target="bumpers", duration_s=0.3))
    robot.run(0.4)
    assert robot.wheels() < 0.02
    robot.speed = -0.05
    robot.run(1.5)
    assert robot.driver.session.armed, robot.driver.why()


DRIVER = """
import sys, time
from anima import topics as t
from anima.body.link.driver import SerialBody
from anima.config import LinkSettings, Settings
from anima.runtime.component import Inbox
from anima.types.base import Header
from anima.types.mind import StopState
from anima.types.std import TwistStamped

body = SerialBody(Settings(sim="none", link=LinkSettings(device=sys.argv[1])))
began = time.monotonic()
while True:
    now = time.monotonic() - began
    latched = len(sys.argv) > 2 and now < 1.0
    state = StopState(header=Header.at(now), latched=latched, source="", active=[])
    inbox = Inbox.of([t.STOP_STATE.of(state), t.CMD_VEL.of(TwistStamped.planar(now, 0.3, 0.0))])
    body.step(now, inbox)
    time.sleep(0.01)
"""


class LiveBoard:
    """The board in real time on a device of its own."""

    def __init__(self, device: Path) -> None:
        self.board, self.wiring, self.socket = AvrBoard(), Wiring(), Socket(device)
        self.around = Surroundings()
        self.on_since: float | None = None
        self.off_at: float | None = None
        self._turned = 0.0

    def until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                return False
            self._step()
        return True

    def _step(self) -> None:
        jitter = 0.02 * (-1) ** round(200 * self.board.time_s)
        self.around.acceleration_mps2 = (jitter, 0.0, 9.81)
        if self.on_since is not None and self.off_at is None:
            self._turned += min(0.3, self.board.time_s - self.on_since) * 4096 / (2 * 3.1416 * 0.08) * 0.005
            self.around.wheel_counts = (round(self._turned), round(self._turned))
        changes = self.wiring.changes(self.around, 0.005)
        began = time.monotonic()
        step = self.board.step(0.005, changes, self.socket.read())
        self.socket.write(step.sent)
        for edge in step.edges:
            if edge.pin == MOTORS_ON:
                self.on_since, self.off_at = (edge.time_s, None) if edge.level else (self.on_since, edge.time_s)
        time.sleep(max(0.0, 0.005 - (time.monotonic() - began)))


def test_a_driver_killed_by_force_leaves_the_motors_off_and_a_new_one_does_not_turn_them_on(
    tmp_path: Path, figure: Figure
) -> None:
    device = tmp_path / "brainstem"
    live = LiveBoard(device)
    first = subprocess.Popen([sys.executable, "-c", DRIVER, str(device), "reset"])
    second = None
    try:
        assert live.until(lambda: live.on_since is not None, 30.0), "it never armed"
        live.until(lambda: False, 0.5)
        assert live.off_at is None
        os.kill(first.pid, signal.SIGKILL)
        killed_at = live.board.time_s
        assert live.until(lambda: live.off_at is not None, 5.0)
        assert live.off_at is not None
        figure("driver killed to motors off", 1000 * (live.off_at - killed_at), 500.0, "ms")
        live.on_since = None
        second = subprocess.Popen([sys.executable, "-c", DRIVER, str(device)])
        live.until(lambda: False, 4.0)
        assert live.on_since is None, "the new driver armed though nobody reset the stop"
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.wait()
        live.socket.pull()
        live.board.close()

