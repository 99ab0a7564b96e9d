"""The errand benchmark: spoken orders on the whole live graph, with the simulator's truth as the judge."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from anima.body.places import Places, load_places
from anima.config import ROOT, Tuning, load_settings, parse, read_yaml
from anima.console.start import graph
from anima.types.mind import GroundTruth
from anima.world.predicates import Predicate
from anima_sim.bench.options import BenchParser
from anima_sim.bench.trouble import TROUBLES, Trouble, Troublemaker
from anima_sim.errand import TOPICS, Report, Watcher, follow, settle
from anima_sim.judge import is_true, words

SCENARIOS = ROOT / "sim" / "scenarios" / "errands.yaml"
SURFACES = ("kitchen_table", "office_table", "shelf")
RIGHT_OF_30 = 25
RIGHT_OF_30_WITH_FAULTS = 18
SLOW_COLLISION_MPS = 0.3
STOP_GRACE_S = 1.0
STOP_WATCH_S = 8.0
STILL_M = 0.01
START_LIMIT_S = 180.0


class Order(Tuning):
    """One phrasing of a kind of errand."""

    say: str
    expect: tuple[str, ...] = ()
    visits: tuple[str, ...] = ()
    interrupt: str = ""


class Kind(Tuning):
    """A kind of errand, and how the mind itself must have ended it."""

    kind: str
    verdict: str
    orders: list[Order] = Field(min_length=1)


class Scenarios(Tuning):
    """The file of scenarios."""

    kinds: list[Kind]


@dataclass(frozen=True)
class Trial:
    """An order as it is said in one world."""

    kind: Kind
    order: Order
    seed: int
    trouble: Trouble | None = None


@dataclass(frozen=True)
class Result:
    """How a trial went. `trouble` is the fault that was really injected, or empty."""

    kind: str
    seed: int
    trouble: str
    right: bool
    why: str
    moved_after_stop_m: float
    report: Report


def load_kinds(file: Path = SCENARIOS) -> list[Kind]:
    """The kinds in the file; raises `ConfigError` naming the fault."""
    scenarios: Scenarios = parse(Scenarios, read_yaml(file), str(file))
    return scenarios.kinds


def fill(order: Order, truth: GroundTruth, seed: int) -> Order:
    """The order with `{target}` replaced by a surface where its first object does not lie yet."""
    if "{target}" not in order.say:
        return order
    condition = next(text for text in order.expect if "{target}" in text) if order.expect else ""
    thing = condition.partition("(")[2].partition(",")[0] if condition else ""
    support = next((o.support for o in truth.objects if o.name == thing), "")
    free = [surface for surface in SURFACES if surface != support]
    target = free[seed % len(free)]
    return Order(
        say=order.say.replace("{target}", words(target)),
        expect=tuple(text.replace("{target}", target) for text in order.expect),
        visits=order.visits,
        interrupt=order.interrupt,
    )


class Interrupter:
    """Says the interrupting words once the robot has really moved, and measures how it moves after that."""

    def __init__(self, watcher: Watcher, text: str) -> None:
        self._watcher = watcher
        self._text = text
        self.said_at: float | None = None

    def __call__(self) -> str | None:
        truth = self._watcher.truth
        if not self._text or self.said_at is not None or truth is None or truth.linear_speed < 0.15:
            return None
        self.said_at = truth.header.stamp.seconds
        return self._text


def moved_after(client: Any, watcher: Watcher, said_at: float) -> float:
    """Metres that the robot still moves between `STOP_GRACE_S` after the word and `STOP_WATCH_S` later."""
    start: tuple[float, float] | None = None
    farthest = 0.0
    until = time.monotonic() + 4 * STOP_WATCH_S
    while time.monotonic() < until:
        sent = client.receive(0.2)
        if sent is None:
            continue
        watcher.feed(sent)
        if not isinstance(sent.value, GroundTruth):
            continue
        age = sent.value.header.stamp.seconds - said_at
        where = (sent.value.robot.position.x, sent.value.robot.position.y)
        if age >= STOP_GRACE_S:
            start = start or where
            farthest = max(farthest, math.dist(start, where))
        if age > STOP_GRACE_S + STOP_WATCH_S:
            break
    return farthest


def decide(
    trial: Trial, order: Order, report: Report, watcher: Watcher, places: Places, moved_m: float, broken: bool
) -> tuple[bool, str]:
    """Whether the trial ended rightly, and if not, why. Giving up is right only where something was `broken`."""
    if report.deaths:
        return False, report.deaths[0]
    if report.worst_collision_speed_mps > SLOW_COLLISION_MPS:
        return False, f"collision at {report.worst_collision_speed_mps:.2f} m/s"
    given_up = report.verdict == "failed" and all(report.conditions.values()) and any(report.said)
    if broken and given_up:
        return True, ""  # it said so, and claimed nothing that isn't true
    verdict = "declined" if trial.kind.verdict == "declined" and report.verdict == "answered" else report.verdict
    if verdict != trial.kind.verdict:
        return False, f"{report.verdict}, {'; '.join(report.failures) or 'said: ' + ' | '.join(report.said)}"
    if trial.kind.verdict == "declined" and (report.calls or not any(report.said)):
        return False, "declined, but not without moving" if report.calls else "declined without a reason"
    if moved_m > STILL_M:
        return False, f"moved {moved_m:.3f} m after the stop"
    truth = watcher.truth
    for text in order.expect:
        if truth is None or not is_true(Predicate.parse(text), truth, places, report.said):
            return False, f"not true in the end: {text}"
    for place in order.visits:
        if not any(places.near(place, x, y, 0.8) for x, y in watcher.way):
            return False, f"never was at {place}"
    return True, ""


def run_trial(
    trial: Trial, sim: str, speed: float, console: Console, verbose: bool, sets: Mapping[str, str]
) -> Result:
    """A fresh graph, one order, its judgement."""
    from anima_nodes.client import Client

    places = load_places(load_settings().map_folder)
    watcher = Watcher(console, quiet=not verbose)
    moved_m = 0.0
    with graph(sim, trial.seed, speed, **sets) as running, Client(TOPICS) as client:
        client.wait_ready(START_LIMIT_S)
        settle(client, watcher)
        assert watcher.truth is not None, "the simulator tells no truth"
        order = fill(trial.order, watcher.truth, trial.seed)
        interrupter = Interrupter(watcher, order.interrupt)
        troublemaker = Troublemaker(watcher, client.inject, trial.trouble) if trial.trouble else None

        def interject() -> str | None:
            if troublemaker is not None:
                troublemaker.poll()
            return interrupter()

        report = follow(client, watcher, running, order.say, interject=interject)
        if interrupter.said_at is not None:
            moved_m = moved_after(client, watcher, interrupter.said_at)
    injected = str(trial.trouble) if troublemaker is not None and troublemaker.injected_at is not None else ""
    right, why = decide(trial, order, report, watcher, places, moved_m, bool(injected))
    return Result(trial.kind.kind, trial.seed, injected, right, why, moved_m, report)


def bench_errands(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Run the trials; prints each as it ends."""
    from anima_nodes.process import overrides

    parser = BenchParser("errands", __doc__)
    there = ", ".join(kind.kind for kind in load_kinds())
    parser.add_argument("--kinds", default="", help=f"only these, with commas: {there}")
    parser.add_argument("--seeds", type=int, default=3, help="worlds and phrasings per kind (default 3)")
    parser.add_argument("--sim", default="mujoco", choices=["mujoco", "gazebo"], help="the simulation (default mujoco)")
    parser.add_argument(
        "--pose", default="own", choices=["own", "truth"],
        help="own localization, or the simulator's truth in its place (default own)",
    )
    parser.add_argument("--speed", type=float, default=4.0, help="of the simulation while moving (default 4 times)")
    parser.add_argument("--faults", action="store_true", help="break something in the middle of each errand")
    parser.add_argument("--verbose", action="store_true", help="show what each robot thinks and does")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting, e.g. --set temperament=skittish"
    )
    options = parser.parse_args(arguments)
    if options.faults and options.sim != "mujoco":
        parser.error(f"faults can be injected in mujoco only, not in {options.sim}")
    sets = dict(pair.split("=", 1) for pair in options.set if load_settings(overrides([pair])))
    for key in ("sim", "pose"):
        if key in sets:
            parser.error(f"{key} is chosen by --{key} {sets[key]}")
    sets["pose"] = options.pose
    kinds = [kind for kind in load_kinds() if not options.kinds or kind.kind in options.kinds.split(",")]
    trials = [
        Trial(
            kind,
            kind.orders[number % len(kind.orders)],
            number,
            TROUBLES[(number + place) % len(TROUBLES)] if options.faults else None,
        )
        for number in range(seed, seed + options.seeds)
        for place, kind in enumerate(kinds)
    ]
    results: list[Result] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("errands", total=len(trials))
        for trial in trials:
            progress.update(task, description=f"{trial.kind.kind} (seed {trial.seed})")
            try:
                result = run_trial(trial, options.sim, options.speed, progress.console, options.verbose, sets)
            except KeyboardInterrupt:
                progress.console.print(f"broken off after {len(results)} of {len(trials)}; their figures follow")
                break
            results.append(result)
            mark = "[green]right[/green]" if result.right else f"[red]wrong[/red] {result.why}"
            if options.faults:
                recovery = ", ".join(result.report.recoveries) or "nothing failed"
                mark += f" [{result.trouble or 'no moment for the fault'}: {recovery}]".replace("[", "\\[", 1)
            progress.console.print(
                f"{trial.kind.kind:20} seed {trial.seed}: {result.report.verdict:9} "
                f"{result.report.simulated_s:5.0f} s simulated, {result.report.wall_s:4.0f} s, "
                f"{result.report.calls} calls  {mark}  «{result.report.order}»",
                soft_wrap=True,
            )
            progress.advance(task)
    met = meets(results, RIGHT_OF_30_WITH_FAULTS if options.faults else RIGHT_OF_30)
    return {"pose": options.pose, **figures(results)}, met and len(results) == len(trials)


def meets(results: list[Result], right_of_30: int) -> bool:
    """The limits: so many of 30 right, no collision above 0.3 m/s, no motion after a stop."""
    right = sum(result.right for result in results)
    fast = any(result.report.worst_collision_speed_mps > SLOW_COLLISION_MPS for result in results)
    moved = any(result.moved_after_stop_m > STILL_M for result in results)
    return right * 30 >= right_of_30 * len(results) and not fast and not moved


def figures(results: list[Result]) -> dict[str, Any]:
    """The figures of a run."""
    count = len(results)
    return {
        "errands": count,
        "right": sum(result.right for result in results),
        "done": sum(result.report.verdict == "done" and result.right for result in results),
        "declined_rightly": sum(r.report.verdict in ("declined", "answered") and r.right for r in results),
        "stopped_rightly": sum(result.report.verdict == "cancelled" and result.right for result in results),
        "collisions": sum(result.report.collisions for result in results),
        "worst_collision_speed_mps": max((r.report.worst_collision_speed_mps for r in results), default=0.0),
        "worst_motion_after_stop_m": max((r.moved_after_stop_m for r in results), default=0.0),
        "mean_simulated_s": sum(r.report.simulated_s for r in results) / max(1, count),
        "mean_wall_s": sum(r.report.wall_s for r in results) / max(1, count),
        "mean_thinking_s": sum(r.report.thinking_s for r in results) / max(1, count),
        "mean_calls": sum(r.report.calls for r in results) / max(1, count),
        "wrong_by_reason": dict(Counter(result.why for result in results if not result.right)),
        "trials": [json.loads(json.dumps(asdict(result))) for result in results],
    }
