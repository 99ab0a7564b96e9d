"""The flashed image on the emulated board, a host that speaks the protocol, two wheels: a bench on simulated time."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from anima.body.link.config import LinkTuning, load_link
from anima.body.link.messages import Quality, State, Status
from anima.body.link.session import Session, Wish
from anima.config import Settings
from anima_sim.board.avr import AvrBoard, Change, Edge
from anima_sim.board.mega import MOTORS_ON, Drives, Surroundings, Wiring, drives
from anima_sim.board.wire import Wire

STEP_S = 0.005
HOST_PERIOD_S = 0.02
FREE_SPEED_RADPS = 10.0
WHEEL_TIME_S = 0.03
COUNTS_PER_RAD = 4096 / (2 * math.pi)


class BoardRig:
    """Steps board, wheels and host. `wish` is what the host wants; clear `host_lives` and it says nothing more."""

    def __init__(self, seed: int = 1, tuning: LinkTuning | None = None) -> None:
        self.board = AvrBoard()
        self.wiring, self.around = Wiring(), Surroundings()
        self.to_board, self.to_host = Wire(seed), Wire(seed + 1)
        self.session = Session(tuning or load_link(Settings()).tuning)
        self.wish = Wish()
        self.host_lives = True
        self.spoil: Callable[[bytes], bytes] = lambda data: data
        self.wheels_radps = [0.0, 0.0]
        self.wheels_turn = True
        self.encoders_work = True
        self._angles = [0.0, 0.0]
        self._luck = random.Random(seed)
        self._imu_noise = True
        self._due = 0.0
        self._to_board = self._from_board = b""
        self.edges: list[Edge] = []
        self.lost: list[str] = []
        self.refused: list[str] = []
        self.drives_sent = 0
        self.speeds: list[tuple[int, int]] = []
        """(state, mm/s) of every status that arrived"""
        self.reports: list[Quality] = []
        self.session.opened(0.0)

    def close(self) -> None:
        """End the emulator."""
        self.board.close()

    @property
    def now(self) -> float:
        """Simulated seconds."""
        return self.board.time_s

    @property
    def status(self) -> Status:
        """The last that arrived."""
        assert self.session.status is not None, "the board never said anything"
        return self.session.status

    @property
    def drives(self) -> Drives:
        """What the board's outputs are."""
        return drives(self.board.last)

    def freeze_imu(self) -> None:
        """From now on the sensor repeats its last sample for ever."""
        self._imu_noise = False

    def run(self, seconds: float, changes: list[Change] | None = None) -> None:
        """Let time pass; `changes` happen in the first step."""
        for _ in range(round(seconds / STEP_S)):
            self._step(changes or [])
            changes = None

    def run_until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Let time pass until `condition` holds; False if it doesn't within `limit_s`."""
        until = self.now + limit_s
        while not condition():
            if self.now >= until:
                return False
            self._step([])
        return True

    def arm(self) -> None:
        """A person permits it: until armed."""
        self.wish = Wish(permitted=False)
        self.run(2 * HOST_PERIOD_S)
        self.wish = Wish(permitted=True)
        assert self.run_until(lambda: self.session.armed, 3.0), (self.refused, self.session.status)

    def drive(self, linear_mps: float = 0.3, seconds: float = 0.6) -> None:
        """Armed, at speed."""
        if not self.session.armed:
            self.arm()
        self.wish = Wish(permitted=True, linear_mps=linear_mps)
        self.run(seconds)
        assert self.session.armed and self.status.linear_mmps == round(1000 * linear_mps), self.status
        self.edges.clear()
        self.speeds.clear()

    def motors_off_at(self) -> float | None:
        """When the driver's enable went low for good."""
        edges = [edge for edge in self.edges if edge.pin == MOTORS_ON]
        return edges[-1].time_s if edges and not edges[-1].level else None

    def off_after(self, since: float, limit_s: float = 1.0) -> float:
        """Seconds from `since` to the driver's enable going low."""
        assert self.run_until(lambda: self.motors_off_at() is not None, limit_s), f"still on; {self.status}"
        at = self.motors_off_at()
        assert at is not None
        return at - since

    def heard_frames(self) -> int:
        """How many frames the board understood so far, by its own next report."""
        self.reports.clear()
        assert self.run_until(lambda: bool(self.reports), 3.0), "it reports nothing"
        return self.reports[-1].frames

    @property
    def disarmed(self) -> bool:
        """Whether the motors are off, by the last status."""
        return self.status.state in (State.DISARMED, State.FAULT)

    def _step(self, changes: list[Change]) -> None:
        if self._imu_noise:
            self.around.acceleration_mps2 = (self._luck.gauss(0, 0.02), self._luck.gauss(0, 0.02), 9.81)
            self.around.turning_radps = (0.0, 0.0, self._luck.gauss(0, 0.002))
        at_connectors = [*self.wiring.changes(self.around, STEP_S), *changes]
        done = self.board.step(STEP_S, at_connectors, self.to_board.carry(self._to_board))
        self._to_board = b""
        self._from_board += self.to_host.carry(done.sent)
        self.edges += done.edges
        self._turn_wheels()
        if self.now >= self._due:
            self._due += HOST_PERIOD_S
            self._host()

    def _turn_wheels(self) -> None:
        duty = self.drives.duty or (0.0, 0.0)
        for side in (0, 1):
            goal = duty[side] * FREE_SPEED_RADPS if self.wheels_turn else 0.0
            self.wheels_radps[side] += (goal - self.wheels_radps[side]) * STEP_S / WHEEL_TIME_S
            self._angles[side] += self.wheels_radps[side] * STEP_S
        if self.encoders_work:
            left, right = (round(angle * COUNTS_PER_RAD) for angle in self._angles)
            self.around.wheel_counts = (left, right)

    def _host(self) -> None:
        if not self.host_lives:
            return
        received, self._from_board = self._from_board, b""
        before = self.session.armed
        sent = self.session.step(self.now, received, self.wish)
        self.drives_sent += before and self.session.armed
        self._to_board = self.spoil(sent)
        self.lost += [self.session.lost] if self.session.lost else []
        self.refused += [self.session.refused] if self.session.refused else []
        self.reports += [r for r in self.session.readings if isinstance(r, Quality)]
        self.speeds += [(r.state, r.linear_mmps) for r in self.session.readings if isinstance(r, Status)]
