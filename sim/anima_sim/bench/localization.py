"""How well the robot knows where it is: its error on the way, and whether it finds itself after being carried off."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from anima import topics as t
from anima.body.localization.node import Localization
from anima.body.navigation.costmap import Costmap
from anima.body.navigation.tuning import load_tuning
from anima.body.places import load_places
from anima.body.pose import Pose2D, is_lost, wrap
from anima.config import Settings
from anima.runtime.component import Component, Inbox
from anima.runtime.local_graph import Logged
from anima.topics import Sent
from anima.types.std import PoseWithCovarianceStamped
from anima_sim.bench.hands import Hands
from anima_sim.bench.options import BenchParser

TOUR = ("kitchen_table", "office_table", "shelf", "person", "corridor")
MEDIAN_LIMIT_M = 0.10
FOUND_OF_10 = 9
CPU_LIMIT = 0.15
_FOUND_M, _FOUND_RAD = 0.20, 0.20
_NOTICES_WITHIN_S = 15.0
_TURNING_ROOM_M = 0.30


class Timed:
    """A component whose time on the processor is counted."""

    def __init__(self, component: Component) -> None:
        self._component = component
        self.spent_s = 0.0

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """One step, timed."""
        began = time.process_time()
        sent = self._component.step(now, inbox)
        self.spent_s += time.process_time() - began
        return sent

    def why(self) -> str:
        """What the component says."""
        return self._component.why()


@dataclass
class Errors:
    """What a pose was off by whenever the robot said that it knew it: metres, radians."""

    metres: list[float] = field(default_factory=list)
    radians: list[float] = field(default_factory=list)
    worst_while_sure_m: float = 0.0

    def watch(self, hands: Hands) -> None:
        """Compare every pose with the truth of its moment."""

        def listen(logged: Logged) -> None:
            pose = logged.sent.value
            if not isinstance(pose, PoseWithCovarianceStamped) or logged.node != "localization" or is_lost(pose):
                return
            off_m, off_rad = off_by(hands, pose)
            self.metres.append(off_m)
            self.radians.append(off_rad)
            self.worst_while_sure_m = max(self.worst_while_sure_m, off_m)

        hands.graph.tap(listen)


def off_by(hands: Hands, pose: PoseWithCovarianceStamped) -> tuple[float, float]:
    """How far a pose of this moment is from the truth."""
    said, true = Pose2D.of(pose.pose.pose), Pose2D(*hands.world.truth.robot_pose())
    return said.distance(true), abs(wrap(said.yaw - true.yaw))


@dataclass(frozen=True)
class Kidnapping:
    """One time that the robot was carried off. Seconds are simulated; `noticed_s` is inf when it never noticed."""

    seed: int
    driving: bool
    noticed_s: float
    found: bool
    took_s: float
    off_m: float
    detail: str


def drive_about(seed: int, errors: Errors) -> tuple[float, float]:
    """A tour of the flat from the dock and back; returns processor and simulated seconds."""
    timed = Timed(Localization(Settings(seed=seed)))
    hands = Hands(seed, cameras=False, replace={"localization": timed})
    errors.watch(hands)
    began = hands.graph.now
    hands.do("undock")
    for place in TOUR:
        hands.do("go_to", place=place)
    hands.do("dock")
    return timed.spent_s, hands.graph.now - began


def kidnap(seed: int, where: Pose2D, driving: bool) -> Kidnapping:
    """Lift the robot somewhere else, under way or at rest; it has to notice, and to find itself."""
    hands = Hands(seed, cameras=False)
    hands.do("undock")
    if driving:
        hands.begin("go_to", place=TOUR[seed % len(TOUR)])
        hands.graph.run_for(4.0)
    lifted = hands.graph.now
    hands.world.place_robot(where.x, where.y, where.yaw)
    noticed = hands.graph.run_until(lambda: not hands.state.localized, _NOTICES_WITHIN_S)
    noticed_s = hands.graph.now - lifted if noticed else math.inf
    hands.graph.run_for(2.0)  # what drove comes to rest
    began = hands.graph.now
    outcome = hands.do("relocalize")
    pose = hands.graph.last(t.POSE)
    assert pose is not None
    off_m, off_rad = off_by(hands, pose)
    found = not is_lost(pose) and off_m <= _FOUND_M and off_rad <= _FOUND_RAD
    return Kidnapping(seed, driving, noticed_s, found, hands.graph.now - began, off_m, outcome.detail)


def anywhere(luck: np.random.Generator) -> Pose2D:
    """A pose on the map where the robot has room to turn."""
    settings = Settings()
    grid = load_places(settings.map_folder).grid
    clearance = Costmap(grid, load_tuning(settings), Pose2D(0.0, 0.0, 0.0)).clearance
    free = np.argwhere(clearance >= _TURNING_ROOM_M)
    x, y = grid.centres(free[luck.integers(len(free))][None])[0]
    return Pose2D(float(x), float(y), float(luck.uniform(-math.pi, math.pi)))


def bench_localization(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Tours of the flat, then kidnappings, in pure physics without a language model."""
    parser = BenchParser("localization", __doc__)
    parser.add_argument("--tours", type=int, default=2, help="tours of the flat, each in another world (default 2)")
    parser.add_argument("--kidnaps", type=int, default=10, help="times that it is carried off (default 10)")
    options = parser.parse_args(arguments)
    luck = np.random.default_rng(seed)
    errors, spent_s, lived_s = Errors(), 0.0, 0.0
    for number in track(range(options.tours), "tours", console=console):
        spent, lived = drive_about(seed + number, errors)
        spent_s, lived_s = spent_s + spent, lived_s + lived
    taken: list[Kidnapping] = []
    for number in track(range(options.kidnaps), "kidnappings", console=console):
        taken.append(kidnap(seed + number, anywhere(luck), driving=number % 2 == 0))
        last = taken[-1]
        word = "[green]found[/green]" if last.found else f"[red]not found[/red]: {last.detail}"
        console.print(
            f"{'under way' if last.driving else 'at rest':9}: noticed after {last.noticed_s:.1f} s, "
            f"{last.took_s:.0f} s to look, {last.off_m:.3f} m off  {word}"
        )
    found = sum(one.found for one in taken)
    figures: dict[str, Any] = {
        "median_error_m": float(np.median(errors.metres)) if errors.metres else math.nan,
        "p95_error_m": float(np.percentile(errors.metres, 95)) if errors.metres else math.nan,
        "worst_error_while_sure_m": errors.worst_while_sure_m,
        "median_error_rad": float(np.median(errors.radians)) if errors.radians else math.nan,
        "p95_error_rad": float(np.percentile(errors.radians, 95)) if errors.radians else math.nan,
        "share_of_a_core": spent_s / lived_s if lived_s else math.nan,
        "kidnapped": len(taken),
        "found": found,
        "median_to_notice_s": float(np.median([one.noticed_s for one in taken])) if taken else math.nan,
        "median_to_find_s": float(np.median([one.took_s for one in taken if one.found] or [math.nan])),
    }
    console.print(
        f"limits: median error at most {MEDIAN_LIMIT_M} m, {FOUND_OF_10} of 10 kidnapped robots find themselves, "
        f"at most {CPU_LIMIT:.0%} of a core"
    )
    met = (not errors.metres or figures["median_error_m"] <= MEDIAN_LIMIT_M) and found * 10 >= FOUND_OF_10 * len(taken)
    return figures, met and not figures["share_of_a_core"] > CPU_LIMIT
