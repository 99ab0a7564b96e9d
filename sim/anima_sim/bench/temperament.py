"""What a temperament changes: the same flat with the same luck, lived by robots that start from different ones."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from anima import topics as t
from anima.config import CONFIG, Settings
from anima.types.base import Header, Time
from anima.types.mind import Objective, Objectives
from anima_sim.bench.options import BenchParser
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble

TICK_S = 0.1
PLACE, GOAL = "office", "at(robot, office)"
PATIENCE_S, ALONE_S = 240.0, 2400.0
SET_ASIDE = frozenset({"parked", "done", "failed", "declined", "cancelled"})
BOLD, CAUTIOUS = "driven", "skittish"


@dataclass(frozen=True)
class Life:
    """What a robot did in one flat; a time that did not come is the time that it was waited for.

    `tries` drives to a place that can't be reached before that was first set aside or given up, after `held_on_s`;
    `resumed_s`: how long it was idle until it took up by itself what a restart had left. `trips`: looks around in
    `ALONE_S` of being left alone. `rollouts`: how often it imagined a doubtful call before it began it, in the mean.
    """

    tries: int
    held_on_s: float
    resumed_s: float
    trips: int
    rollouts: float


def live(temperament: str, seed: int, alone_s: float = ALONE_S) -> Life:
    """The same three situations for whoever comes: a dead end, something unfinished, nothing to do."""
    minds = [_mind(temperament, seed) for _ in range(3)]
    tries, held_on_s = _dead_end(minds[0])
    resumed_s = _unfinished(minds[1])
    trips = _alone(minds[2], alone_s)
    rollouts = [forecast.rollouts for mind in minds for forecast in mind.graph.sent(t.FORECAST) if forecast.rollouts]
    return Life(tries, held_on_s, resumed_s, trips, sum(rollouts) / max(1, len(rollouts)))


def _mind(temperament: str, seed: int) -> PureMind:
    settings = Settings(seed=seed, temperament=temperament)
    model = ChoosingModel(random.Random(seed), strays=0.0)
    mind = PureMind(settings, seed, Trouble(0.0, 0.0, 0.0), model, tick_s=TICK_S)
    mind.graph.run_for(1.0)
    return mind


def _states(mind: PureMind) -> dict[str, str]:
    backlog = mind.graph.last(t.BACKLOG)
    return {} if backlog is None else {one.condition: one.state for one in backlog.objectives}


def _until(mind: PureMind, reached: Callable[[], bool]) -> float:
    began = mind.now
    mind.graph.run_until(reached, PATIENCE_S)
    return mind.now - began


def _dead_end(mind: PureMind) -> tuple[int, float]:
    mind.flat.trouble.blocked[PLACE] = math.inf
    mind.say("go to the office")
    _until(mind, lambda: GOAL in _states(mind))
    held_on_s = _until(mind, lambda: _states(mind)[GOAL] in SET_ASIDE)
    return sum(lease.call.skill == "go_to" for lease in mind.flat.granted), held_on_s


def _unfinished(mind: PureMind) -> float:
    left = Objective(
        id="left", condition=GOAL, said="go to the office", source="u0", order=0, state="parked",
        reason="interrupted by a restart", created=Time.at(mind.now),
    )
    mind.graph.send(t.OBJECTIVES.of(Objectives(header=Header.at(mind.now), objectives=[left], replace=False)))
    return _until(mind, lambda: _states(mind).get(GOAL) not in (None, "parked"))


def _alone(mind: PureMind, seconds: float) -> int:
    mind.graph.run_for(seconds)
    seen = {one.id for backlog in mind.graph.sent(t.BACKLOG) for one in backlog.objectives if one.source == "striatum"}
    return len(seen)


def bench_temperament(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Robots of different temperaments in the same flats, without a language model: how often they try what can't be
    done, how soon they go on by themselves, how often they look around, how far they think ahead. The limits: the
    driven one tries more often, goes on sooner and looks around more than the skittish one, which imagines more."""
    there = sorted(file.stem for file in (CONFIG / "temperaments").glob("*.yaml"))
    parser = BenchParser("temperament", bench_temperament.__doc__)
    parser.add_argument("--temperaments", nargs="+", choices=there, default=there, help="which (default all)")
    parser.add_argument("--flats", type=int, default=5, help="how many, each with other things in it (default 5)")
    options = parser.parse_args(arguments)
    flats = range(seed, seed + options.flats)
    lives = {
        name: [live(name, flat) for flat in track(flats, f"{name}", console=console)] for name in options.temperaments
    }
    means = {name: _means(found) for name, found in lives.items()}
    table = Table("mean of", *means)
    for key in Life.__dataclass_fields__:
        table.add_row(key.replace("_", " "), *(f"{mean[key]:.1f}" for mean in means.values()))
    console.print(table)
    figures = {f"{name}_{key}": value for name, mean in means.items() for key, value in mean.items()}
    return {**figures, "lives": {name: [asdict(one) for one in found] for name, found in lives.items()}}, _met(means)


def _means(lives: list[Life]) -> dict[str, float]:
    return {key: sum(getattr(one, key) for one in lives) / max(1, len(lives)) for key in Life.__dataclass_fields__}


def _met(means: dict[str, dict[str, float]]) -> bool:
    if not {BOLD, CAUTIOUS} <= set(means):
        return True
    bold, cautious = means[BOLD], means[CAUTIOUS]
    return (
        bold["tries"] > cautious["tries"]
        and bold["resumed_s"] < cautious["resumed_s"]
        and bold["trips"] > cautious["trips"]
        and bold["rollouts"] < cautious["rollouts"]
    )
