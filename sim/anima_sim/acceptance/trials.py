"""Stages the drives of the reflex acceptance in a simulator, without a mind, and records them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from anima import topics as t
from anima.audit.recording import Recording
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.local_graph import TICK_S, LocalGraph, Logged
from anima.types.base import Header
from anima.types.mind import Fault, StopRequest
from anima.types.std import TwistStamped
from anima_sim.acceptance.numbers import Kind
from anima_sim.bench.hands import Hands
from anima_sim.body import SimulatedBody

Simulator = Literal["mujoco", "gazebo"]

# Where the flat has nothing in the way for 1.6 m: x, y (m), heading (rad).
FREE_SPOTS = (
    (1.9, 4.6, 0.0), (4.2, 3.3, math.pi / 2), (6.2, 3.3, math.pi / 2), (3.6, 4.0, math.pi), (4.0, 2.0, 0.0),
    (6.8, 4.6, math.pi), (6.4, 2.0, math.pi),
)
TO_THE_STAIRS = ((6.0, 2.0, 0.0), (6.2, 2.3, -0.2), (6.2, 1.7, 0.25))
# From room to room, never up to a table: nothing on this way is a reason to stop.
TOUR = ("kitchen", "living_room", "office", "corridor", "living_room", "kitchen")
RECORDED = (
    t.CMD_VEL, t.CMD_VEL_TELEOP, t.CMD_VEL_SKILL, t.SCAN, t.BUMPERS, t.CLIFFS, t.IMU, t.ODOM, t.JOINT_STATES,
    t.GROUND_TRUTH, t.FAULT, t.STOP_REQUEST, t.STOP_STATE, t.REFLEX_EVENT, *t.HEARTBEATS.values(),
)
_NAMES = frozenset(topic.name for topic in RECORDED)
_FRONT_M, _BOX_M = 0.195, 0.17


@dataclass(frozen=True)
class Staged:
    """A drive to stage: what comes in the way (None: nothing, a tour), and the luck that chooses how."""

    hazard: Kind | None
    seed: int


class Tape:
    """Records what the reflexes take and give, and the truth, whenever it is running."""

    def __init__(self, graph: LocalGraph) -> None:
        self._recording: Recording | None = None
        graph.tap(self._keep)

    @contextmanager
    def running(self, folder: Path) -> Iterator[None]:
        """Records into a new folder meanwhile."""
        with Recording(folder) as recording:
            self._recording = recording
            try:
                yield
            finally:
                self._recording = None

    def _keep(self, logged: Logged) -> None:
        if self._recording is not None and logged.sent.topic.name in _NAMES:
            self._recording.put(logged.sent, logged.at)


class Stage:
    """One simulator with the body and its reflexes in it; a hand drives straight ahead and never lets go by itself."""

    def __init__(self, sim: Simulator, seed: int) -> None:
        rows = [row for row in TABLE if row.node in ("body", "reflex_kernel")]
        self.graph = LocalGraph(Settings(cameras=False, seed=seed, sim=sim), rows)
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        self.world = body.world
        self._tape = Tape(self.graph)
        self._wish: tuple[float, float] | None = None
        self._pass(0.5)

    def close(self) -> None:
        """Ends the simulator."""
        self.world.close()

    def act(self, staged: Staged, folder: Path) -> None:
        """Stage one drive and record it."""
        luck = np.random.default_rng([staged.seed, 0x5AFE])
        self._fault("")
        spots = TO_THE_STAIRS if staged.hazard == "cliff" else FREE_SPOTS
        spot = spots[int(luck.integers(len(spots)))]
        self._wish = None
        self.world.place_robot(*spot)
        self._pass(1.5)  # what the last place left behind is over
        with self._tape.running(folder):
            self._wish = (float(luck.uniform(0.15, 0.40)), 0.0)
            match staged.hazard:
                case "obstacle":
                    self._obstacle(luck)
                case "bumper":
                    self._bump(luck)
                case "cliff":
                    self._edge(luck, spot)
                case "software_stop":
                    self._stop(luck)
                case None:
                    raise ValueError("a tour needs a mind to find the way: see `tour`")

    # -- scenes -----------------------------------------------------------------------------------------------------

    def _obstacle(self, luck: np.random.Generator) -> None:
        """A box is suddenly there, nearer than the robot would ever go, or farther, and more or less to one side."""
        self._pass(luck.uniform(0.6, 1.0))
        self._box(luck.uniform(0.12, 0.40), luck.uniform(-0.15, 0.15))
        self._pass(5.0)
        self._fault("")
        self._pass(1.2)

    def _bump(self, luck: np.random.Generator) -> None:
        """The lidar shows yesterday's picture, and the bumper is what is left."""
        self._pass(0.6)
        self._fault("lost_sensor", "lidar:frozen")
        self._box(luck.uniform(0.20, 0.35), luck.uniform(-0.15, 0.15))
        self._pass(4.0)
        self._fault("")
        self._pass(2.0)

    def _edge(self, luck: np.random.Generator, spot: tuple[float, float, float]) -> None:
        """The floor ends; after a while somebody carries the robot back."""
        self._pass(7.0)
        self.world.place_robot(*spot)
        self._pass(1.5)

    def _stop(self, luck: np.random.Generator) -> None:
        """A person stops it, resets the stop while the hand still pushes, and drives on only after letting go."""
        self._pass(luck.uniform(0.5, 1.2))
        self._request(True)
        self._pass(2.0)
        self._request(False)
        self._pass(1.0)
        wish, self._wish = self._wish, None
        self._pass(0.6)
        self._wish = wish
        self._pass(1.0)

    # -- what happens -----------------------------------------------------------------------------------------------

    def _pass(self, seconds: float) -> None:
        for _ in range(round(seconds / TICK_S)):
            if self._wish is not None:
                self.graph.send(t.CMD_VEL_TELEOP.of(TwistStamped.planar(self.graph.now, *self._wish)))
            self.graph.tick()

    def _box(self, gap_m: float, aside_m: float) -> None:
        x, y, yaw = self.world.truth.robot_pose()
        ahead = _FRONT_M + gap_m + _BOX_M
        where = (
            x + ahead * math.cos(yaw) - aside_m * math.sin(yaw), y + ahead * math.sin(yaw) + aside_m * math.cos(yaw)
        )
        self._fault("blocked_path", f"{where[0]:.4f},{where[1]:.4f}")

    def _fault(self, kind: str, target: str = "") -> None:
        self.graph.send(t.FAULT.of(Fault(kind=kind, target=target)))

    def _request(self, stop: bool) -> None:
        header = Header.at(self.graph.now)
        self.graph.send(t.STOP_REQUEST.of(StopRequest(header=header, stop=stop, source="a person")))


def tour(sim: Simulator, seed: int, folder: Path) -> list[str]:
    """The robot drives from room to room by its own navigation; recorded. Returns the places that it did not reach."""
    hands = Hands(seed, cameras=False, sim=sim)
    try:
        hands.do("undock")
        with Tape(hands.graph).running(folder):
            return [place for place in TOUR if not hands.do("go_to", place=place).success]
    finally:
        hands.world.close()
