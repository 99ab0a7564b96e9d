"""The same core on a Cortex-M, in QEMU and in real time: it arms, drives, and stops for a button and for silence."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import pytest

from anima.body.link.config import load_link
from anima.body.link.messages import Fault, State
from anima.body.link.session import Session, Wish
from anima.config import Settings
from anima_sim.board.mega import Surroundings
from anima_sim.board.qemu import QemuBoard

COUNTS_PER_M = 4096 / (2 * 3.14159265 * 0.08)


class Rig:
    """Host and plant around the board, every 5 ms of the clock."""

    def __init__(self) -> None:
        self.board, self.around = QemuBoard(), Surroundings()
        self.session = Session(load_link(Settings()).tuning)
        self.wish, self.host_lives, self.plugged = Wish(), True, True
        self._luck, self._way, self._last = random.Random(1), 0.0, time.monotonic()
        self._received = b""
        self._due = 0.0
        self.session.opened(time.monotonic())

    def until(self, condition: Callable[[], bool], limit_s: float = 20.0) -> bool:
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                return False
            self._turn()
            time.sleep(0.005)
        return True

    def run(self, seconds: float) -> None:
        self.until(lambda: False, seconds)

    def _turn(self) -> None:
        now = time.monotonic()
        motors = self.board.motors
        if motors is not None and motors.on:
            self._way += 0.0008 * motors.duty_permille[0] * (now - self._last)
        self._last = now
        counts = round(self._way * COUNTS_PER_M)
        self.around.wheel_counts = (counts, counts)
        self.around.acceleration_mps2 = (self._luck.gauss(0, 0.03), self._luck.gauss(0, 0.03), 9.81)
        sent = b""
        if self.host_lives and now >= self._due:
            self._due = now + 0.02
            sent = self.session.step(now, self._received, self.wish)
            self._received = b""
        self._received += self.board.exchange(sent, self.around if self.plugged else None)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.board.close()


def test_the_cortex_image_arms_drives_and_stops(rig: Rig) -> None:
    rig.plugged = False
    assert rig.until(lambda: rig.session.status is not None)
    rig.run(0.3)
    assert rig.session.status is not None and rig.session.status.live & Fault.ESTOP, "no plant, yet nothing is wrong"
    rig.plugged = True
    rig.run(0.5)
    rig.wish = Wish(permitted=True, linear_mps=0.2)
    assert rig.until(lambda: rig.session.armed), rig.session.refused
    assert rig.until(lambda: rig.board.motors is not None and rig.board.motors.duty_permille[0] > 100)
    rig.around.estop = True
    assert rig.until(lambda: rig.board.motors is not None and not rig.board.motors.on, 5.0)
    assert rig.until(lambda: rig.session.status is not None and rig.session.status.state == State.FAULT, 5.0)
    rig.around.estop = False
    rig.run(0.5)
    assert not rig.session.armed and rig.board.motors is not None and not rig.board.motors.on
    rig.wish = Wish()
    rig.run(0.1)
    rig.wish = Wish(permitted=True, linear_mps=0.2)
    assert rig.until(lambda: rig.session.armed)
    assert rig.until(lambda: rig.board.motors is not None and rig.board.motors.on)
    rig.host_lives = False
    assert rig.until(lambda: rig.board.motors is not None and not rig.board.motors.on, 10.0)
