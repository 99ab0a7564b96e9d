"""How surely the hand works: things picked, carried and put down on real physics, with the truth as judge."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field

from rich.console import Console

from anima.failure import Failure
from anima_sim.bench.hands import Hands
from anima_sim.bench.options import BenchParser

Figures = dict[str, object]

TOUR = ("kitchen_table", "shelf", "office_table")
PICKS = 32
_LIFTED_M = 0.50  # a thing higher than this is neither on a top nor on the floor
PICKED_RATE = PLACED_RATE = AGREEING_RATE = 0.95


@dataclass
class Tally:
    """What was tried, what the robot said of it, and what was true."""

    picks: int = 0
    picked: int = 0
    pick_agrees: int = 0
    places: int = 0
    placed: int = 0
    place_agrees: int = 0
    carried: int = 0
    pick_s: list[float] = field(default_factory=list)
    place_s: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

    def figures(self) -> Figures:
        """The tally as figures."""
        return {
            "picks": self.picks,
            "picked": self.picked,
            "picked_rate": self.picked / max(1, self.picks),
            "pick_verdict_right_rate": self.pick_agrees / max(1, self.picks),
            "places": self.places,
            "placed": self.placed,
            "placed_rate": self.placed / max(1, self.places),
            "place_verdict_right_rate": self.place_agrees / max(1, self.places),
            "places_after_a_drive": self.carried,
            "pick_mean_s": _mean(self.pick_s),
            "place_mean_s": _mean(self.place_s),
            "failures": dict(self.failures),
        }


def bench_manipulation(seed: int, arguments: list[str], console: Console) -> tuple[Figures, bool]:
    """Pick and put down what lies on the surfaces of one flat after another.

    Of the things on a surface the last is carried to the next surface, the others are put back on the same one.
    """
    parser = BenchParser("manipulation", bench_manipulation.__doc__)
    parser.add_argument("--picks", type=int, default=PICKS, help=f"how many (default {PICKS})")
    wanted: int = parser.parse_args(arguments).picks
    tally, worst, started = Tally(), 0.0, time.perf_counter()
    flat, simulated = seed, 0.0
    while tally.picks < wanted:
        hands = Hands(flat)
        console.print(f"flat {flat}: {tally.picks} of {wanted} picks done")
        _tour(hands, tally, wanted, console)
        worst = max(worst, hands.world.truth.max_collision_speed_mps())
        simulated += hands.graph.now
        hands.world.close()
        flat += 1
    figures = tally.figures() | {
        "worst_collision_mps": worst,
        "simulated_s": simulated,
        "wall_s": time.perf_counter() - started,
    }
    agree = (tally.pick_agrees + tally.place_agrees) / max(1, tally.picks + tally.places)
    met = (
        tally.picked >= PICKED_RATE * tally.picks
        and tally.placed >= PLACED_RATE * tally.places
        and agree >= AGREEING_RATE
    )
    return figures, met


def _tour(hands: Hands, tally: Tally, wanted: int, console: Console) -> None:
    for surface, following in zip(TOUR, (*TOUR[1:], TOUR[0]), strict=True):
        arrived = hands.do("go_to", place=surface)
        if not arrived.success:
            _note(tally, console, "go_to", surface, arrived.failure, arrived.detail)
            continue
        names = [thing.name for thing in hands.state.objects if thing.place == surface and thing.status == "confirmed"]
        for index, name in enumerate(names):
            if tally.picks >= wanted:
                return
            _move(hands, tally, name, surface, following if index == len(names) - 1 else surface, console)


def _move(hands: Hands, tally: Tally, name: str, start: str, goal: str, console: Console) -> None:
    """Pick one thing and put it down again, here or there."""
    near = hands.do("approach", object=name)
    if not near.success:
        tally.picks += 1
        tally.pick_agrees += 1
        _note(tally, console, "approach", name, near.failure, near.detail)
        return
    taken = hands.do("pick", object=name)
    lifted = bool(hands.world.truth.object_pose(name)[0][2] > _LIFTED_M)
    tally.picks += 1
    tally.picked += lifted
    tally.pick_agrees += taken.success == lifted
    tally.pick_s.append(taken.duration_s)
    if not (taken.success and lifted):
        truth = "lifted" if lifted else "not lifted"
        _note(tally, console, "pick", name, taken.failure, f"{taken.detail} (truth: {truth})")
    if not taken.success:
        return
    if goal != start:
        there = hands.do("go_to", place=goal)
        if not there.success:
            _note(tally, console, "go_to", goal, there.failure, there.detail)
    put = hands.do("place", object=name, surface=goal)
    stands = hands.world.truth.on_surface(name) == goal
    tally.places += 1
    tally.carried += goal != start
    tally.placed += stands
    tally.place_agrees += put.success == stands
    tally.place_s.append(put.duration_s)
    if not (put.success and stands):
        truth = hands.world.truth.on_surface(name) or "nothing"
        _note(tally, console, "place", name, put.failure, f"{put.detail} (truth: on {truth})")


def _note(tally: Tally, console: Console, skill: str, what: str, failure: int, detail: str) -> None:
    word = Failure(failure).word
    tally.failures[f"{skill}: {word}"] += 1
    console.print(f"  {skill}({what}): {word}: {detail}", soft_wrap=True)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
