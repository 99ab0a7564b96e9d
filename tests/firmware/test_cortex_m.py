"""The same core on a Cortex-M, in QEMU on time counted in instructions: it arms, drives, and stops."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from anima.body.link.config import load_link
from anima.body.link.messages import Fault, State
from anima.body.link.session import Session, Wish
from anima.config import Settings
from anima_sim.board.mega import Surroundings
from anima_sim.board.qemu import LONGEST_STEP_S, QemuBoard

COUNTS_PER_M = 4096 / (2 * 3.14159265 * 0.08)
Figure = Callable[[str, float, float, str], None]


class Rig:
    """Host and plant around the board; all go by the board's own time, to within a step of it."""

    def __init__(self) -> None:
        self.board, self.around = QemuBoard(), Surroundings()
        self.session = Session(load_link(Settings()).tuning)
        self.wish, self.host_lives, self.plugged = Wish(), True, True
        self.steps = 0
        self._luck, self._way = random.Random(1), 0.0
        self._received = b""
        self.session.opened(0.0)

    @property
    def now(self) -> float:
        return self.steps * LONGEST_STEP_S

    @property
    def on(self) -> bool:
        return self.board.motors is not None and self.board.motors.on

    @property
    def pushes(self) -> bool:
        return self.board.motors is not None and self.board.motors.duty_permille[0] > 100

    def until(self, condition: Callable[[], bool], limit_s: float = 3.0) -> bool:
        end = self.now + limit_s
        while not condition():
            if self.now > end:
                return False
            self._step()
        return True

    def run(self, seconds: float) -> None:
        self.until(lambda: False, seconds)

    def _step(self) -> None:
        self.steps += 1
        motors = self.board.motors
        if motors is not None and motors.on:
            self._way += 0.0008 * motors.duty_permille[0] * LONGEST_STEP_S
        counts = round(self._way * COUNTS_PER_M)
        self.around.wheel_counts = (counts, counts)
        self.around.acceleration_mps2 = (self._luck.gauss(0, 0.03), self._luck.gauss(0, 0.03), 9.81)
        sent = b""
        if self.host_lives:
            sent = self.session.step(self.now, self._received, self.wish)
            self._received = b""
        self._received += self.board.step(sent, self.around if self.plugged else None)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.board.close()


def test_the_cortex_image_arms_drives_and_stops(rig: Rig, figure: Figure) -> None:
    rig.plugged = False
    assert rig.until(lambda: rig.session.status is not None)
    rig.run(0.2)
    assert rig.session.status is not None and rig.session.status.live & Fault.ESTOP, "no plant, yet nothing is wrong"
    rig.plugged = True
    rig.run(0.2)
    rig.wish = Wish(permitted=True, linear_mps=0.2)
    assert rig.until(lambda: rig.session.armed), rig.session.refused
    assert rig.until(lambda: rig.pushes)

    rig.around.estop = True
    pressed = rig.now
    assert rig.until(lambda: not rig.on, 1.0)
    figure("Cortex-M: stop button to motors off, the emulator's line included", 1000 * (rig.now - pressed), 60.0, "ms")
    assert rig.until(lambda: rig.session.status is not None and rig.session.status.state == State.FAULT)
    rig.around.estop = False
    rig.run(0.3)
    assert not rig.session.armed and not rig.on, "it armed by itself"

    rig.wish = Wish()
    rig.run(0.1)
    rig.wish = Wish(permitted=True, linear_mps=0.2)
    assert rig.until(lambda: rig.session.armed), rig.session.refused
    assert rig.until(lambda: rig.pushes)
    rig.host_lives = False
    fell_silent = rig.now
    assert rig.until(lambda: not rig.on, 1.0)
    figure("Cortex-M: host silent to motors off", 1000 * (rig.now - fell_silent), 300.0, "ms")
