"""The death of every process in the middle of an errand: what stands, what goes on, who says so, what comes back."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anima import topics as t
from anima.brain import rows_of, steering
from anima.console.start import graph
from anima.runtime.processes import BODIES, REFLEXES, processes
from anima.runtime.supervisor import Supervisor
from anima.topics import Sent
from anima.types.health import STALE, DiagnosticArray
from anima.types.mind import Backlog, GroundTruth, Heartbeat, Objective, StopState, WorldState
from anima_sim.bench.first_choice import FirstChoice
from anima_sim.bench.options import BenchParser

STANDS_WITHIN_S = 0.5
GONE_FOR_S = 6.0  # of simulated time until it is started again: what is said of it takes half of that
BACK_WITHIN_S = 120.0  # of the wall clock: a crowded machine starts Python slowly
ERRAND_WITHIN_S = 120.0  # of simulated time
GOES_ON_WITHIN_S = 8.0  # of simulated time: what waits longer waits for a person
DRIVES_ON_M = 0.3
_END_WATCHED_S = 5.0  # of the wall clock
_TRIES = 3
_PATIENCE_S = 300.0  # of the wall clock, for any one thing to happen
_STILL_RADPS = 0.01
_DRIVES_MPS = 0.25
_OPEN = ("pending", "focused", "parked")
_PLACES = ("office", "kitchen")
_TOPICS = (t.GROUND_TRUTH, t.WORLD_STATE, t.STOP_STATE, t.BACKLOG, t.DIAGNOSTICS)


@dataclass
class Case:
    """What was seen of one death. Times are seconds, simulated except for `back_after_s`."""

    process: str
    steers: bool
    stands_after_s: float | None = None
    drove_on_m: float = 0.0
    told_by: list[str] = field(default_factory=list)
    back_after_s: float | None = None
    errand: str = ""
    faults: list[str] = field(default_factory=list)


class NeverHappened(RuntimeError):
    """Something that had to happen did not; the message says what."""


class Life:
    """A graph that is listened to: the truth, the stop, the backlog, the diagnostics, and the hearts' last beats."""

    def __init__(self, client: Any, running: Supervisor) -> None:
        self.client, self.running = client, running
        self.truth: list[GroundTruth] = []
        self.world: WorldState | None = None
        self.stop: StopState | None = None
        self.backlog: Backlog | None = None
        self.diagnostics: DiagnosticArray | None = None
        self.beats: dict[str, float] = {}
        self.deaths: list[str] = []
        self._seen = 0.0

    @property
    def now(self) -> float:
        """Simulated time."""
        return self.truth[-1].header.stamp.seconds if self.truth else 0.0

    def look(self) -> None:
        """Take in what comes, and who died."""
        sent = self.client.receive(0.1)
        while sent is not None:
            self._feed(sent)
            sent = self.client.receive(0.0)
        self.deaths += [death.process for death in self.running.deaths()]

    def until(self, true: Callable[[], Any], what: str, patience_s: float = _PATIENCE_S) -> None:
        """Look until it is true. Raises `NeverHappened` when patience, of the wall clock, ends before."""
        end = time.monotonic() + patience_s
        while not true():
            self.look()
            if time.monotonic() > end:
                raise NeverHappened(f"{what} within {patience_s:.0f} s")

    def fresh(self) -> bool:
        """Whether simulated time went on since this was asked last."""
        went_on, self._seen = self.now > self._seen, self.now
        return went_on

    def stale(self) -> set[str]:
        """The nodes of which the diagnostics say that nothing is heard."""
        status = self.diagnostics.status if self.diagnostics is not None else []
        return {one.name.partition(": ")[2] for one in status if one.level == STALE}

    def _feed(self, sent: Sent) -> None:
        match sent.value:
            case GroundTruth() as truth:
                self.truth.append(truth)
            case WorldState() as world:
                self.world = world
            case StopState() as stop:
                self.stop = stop
            case Backlog() as backlog:
                self.backlog = backlog
            case DiagnosticArray() as diagnostics:
                self.diagnostics = diagnostics
            case Heartbeat() as beat:
                self.beats[beat.process] = beat.header.stamp.seconds


class Victims:
    """Kills one process after the other while the robot drives to a place that it was told."""

    def __init__(self, life: Life, composed: bool) -> None:
        self._life, self._composed = life, composed
        self._steering = {*steering(composed=composed), *REFLEXES, *BODIES}
        self._trips = 0
        self._errand = ""

    def kill(self, process: str) -> Case:
        """One death in the middle of an errand, and what follows."""
        case = Case(process, process in self._steering)
        try:
            self._set_out()
            at, number = self._kill(process)
            if process in BODIES:
                self._end_of_the_world(case)
            else:
                self._watch(case, at, number)
                self._revive(case)
                self._finish(case)
        except NeverHappened as error:
            case.faults.append(str(error))
        return case

    # --- the errand ------------------------------------------------------------------------------

    @property
    def _objectives(self) -> Sequence[Objective]:
        return self._life.backlog.objectives if self._life.backlog is not None else ()

    def _told(self) -> Objective | None:
        """The objective that it drives for, as it is now."""
        return next((one for one in reversed(self._objectives) if one.condition == self._errand), None)

    def _is_open(self) -> bool:
        told = self._told()
        return told is not None and told.state in _OPEN

    def _set_out(self) -> None:
        """Have it drive to where it isn't."""
        life = self._life
        life.until(lambda: life.world is not None and life.world.localized, "it did not know where it is")
        life.client.say("stop")
        life.until(lambda: all(one.state not in _OPEN for one in self._objectives), "what was open did not end")
        for _ in range(_TRIES):
            place = _PLACES[self._trips % len(_PLACES)]
            self._trips += 1
            self._errand = f"at(robot, {place})"
            life.client.say(f"go to the {place}")
            life.until(self._is_open, f"the order to go to the {place} was not taken up")
            life.until(lambda: not self._is_open() or self._drives(), "it did not drive")
            if self._is_open():
                return
        raise NeverHappened(f"it never drove: {self._told()}")

    def _drives(self) -> bool:
        return bool(self._life.truth) and self._life.truth[-1].linear_speed > _DRIVES_MPS

    # --- the death -------------------------------------------------------------------------------

    def _kill(self, process: str) -> tuple[float, int]:
        """Kill it; returns the simulated time, and how many truths were told before."""
        life = self._life
        life.deaths.clear()
        life.look()
        life.diagnostics = None
        at, number = life.now, len(life.truth)
        os.kill(life.running.pid(process), signal.SIGKILL)
        return at, number

    def _end_of_the_world(self, case: Case) -> None:
        """A simulated body takes its world along: nothing moves, and the others live on until they are stopped."""
        life = self._life
        life.until(lambda: case.process in life.deaths, "nobody told of its death")
        case.told_by = ["anima up"]
        end = life.now
        until = time.monotonic() + _END_WATCHED_S
        while time.monotonic() < until:
            life.look()
        others = [name for name in life.deaths if name != case.process]
        if life.now > end or others:
            case.faults.append(f"after its death time went on by {life.now - end:.2f} s, and these died too: {others}")
        case.stands_after_s, case.errand = 0.0, "its world is gone; start anew"

    def _watch(self, case: Case, at: float, number: int) -> None:
        """What the wheels do, and who says that somebody is gone."""
        life, nodes = self._life, {row.node for row in rows_of(case.process, composed=self._composed)}
        told: set[str] = set()
        while life.now < at + GONE_FOR_S:
            life.until(life.fresh, "simulated time stood still")
            if life.stop is not None and "process_silent" in life.stop.active:
                told.add("stop state")
            if nodes <= life.stale():
                told.add("diagnostics")
        if case.process in life.deaths:
            told.add("anima up")
        case.told_by = sorted(told)
        # What was heard last before the kill may be late; what it still said itself, it said alive.
        at = max(at, life.beats.get(case.process, at))
        after = life.truth[number:]
        turning = [one.header.stamp.seconds for one in after if np.abs(one.wheel_speeds).max() > _STILL_RADPS]
        case.stands_after_s = max(turning, default=at) - at
        way = np.array([(one.robot.position.x, one.robot.position.y) for one in after])
        case.drove_on_m = float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
        if case.steers and case.stands_after_s > STANDS_WITHIN_S:
            case.faults.append(f"the wheels turned until {case.stands_after_s:.2f} s after its death")
        if not case.steers and case.drove_on_m < DRIVES_ON_M and self._is_open():
            case.faults.append(f"it drove on for {case.drove_on_m:.2f} m only")
        if len(told) < 2 and "diagnostics" not in nodes:
            case.faults.append(f"its death was told by {' and '.join(case.told_by) or 'nobody'}")

    # --- and after -------------------------------------------------------------------------------

    def _revive(self, case: Case) -> None:
        life, began = self._life, time.monotonic()
        life.beats.pop(case.process, None)

        def beats() -> bool:
            life.running.revive(time.monotonic())
            return case.process in life.beats

        life.until(beats, "it was not back", BACK_WITHIN_S)
        case.back_after_s = time.monotonic() - began

    def _finish(self, case: Case) -> None:
        """The errand goes on by itself, or waits with a reason and goes on when a person says so."""
        life, began, asked = self._life, self._life.now, False
        if case.process in REFLEXES:
            life.until(lambda: life.stop is not None and life.stop.latched, "the reflexes came back without a stop")
            life.until(lambda: self._parked_for() != "", "it was not parked by the stop")
        while life.now < began + ERRAND_WITHIN_S:
            told = self._told()
            if told is not None and told.state not in _OPEN:
                break
            reason = self._parked_for()
            if not asked and reason and life.now > began + GOES_ON_WITHIN_S:
                case.errand, asked = f"parked: {reason}; go on: ", True
                if case.process in REFLEXES:
                    life.client.reset()
                life.client.say("go on")
            life.until(life.fresh, "simulated time stood still")
        told = self._told()
        case.errand += told.state if told is not None else "forgotten"
        if told is None or told.state != "done":
            how = f"{told.state}, {told.reason}" if told is not None else "it was forgotten"
            case.faults.append(f"the errand did not end well: {how}")

    def _parked_for(self) -> str:
        told = self._told()
        return told.reason if told is not None and told.state == "parked" else ""


def bench_deaths(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """SIGKILL to each process in turn while the robot drives on an errand; with --apart each node is one.

    A stand-in chooses the calls, always the first that is offered. What is on the way from a decision to the wheels
    must leave them at rest within 0.5 s of simulated time; without the rest the robot drives on. Somebody says who is
    gone; it is started again; and the errand goes on, or waits with a reason until a person says so.
    """
    parser = BenchParser("deaths", bench_deaths.__doc__)
    parser.add_argument("--apart", action="store_true", help="one process per node (composed: false)")
    parser.add_argument("--only", default="", metavar="NAMES", help="these processes, with commas between")
    parser.add_argument("--speed", type=float, default=2.0, help="simulated time while moving, times the clock")
    options = parser.parse_args(arguments)
    names = processes(not options.apart, "mujoco")
    chosen = [name for name in options.only.split(",") if name] or list(names)
    if unknown := set(chosen) - set(names):
        parser.error(f"no process {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    chosen.sort(key=lambda name: name in BODIES)  # nothing moves after the body
    cases, codes = _run(seed, options.speed, not options.apart, chosen, console)
    _show(cases, console)
    wrong = {name: code for name, code in codes.items() if code not in (0, -signal.SIGKILL if name in BODIES else 0)}
    if wrong:
        console.print(f"[red]exit codes other than 0: {wrong}[/red]")
    console.print(
        f"limits: what steers: wheels at rest within {STANDS_WITHIN_S} s; the rest: it drives on; told by two; back; "
        "the errand done; every process ends with 0"
    )
    rests = [case.stands_after_s for case in cases if case.steers and case.stands_after_s is not None]
    figures = {
        "deaths": len(cases), "with_faults": sum(bool(case.faults) for case in cases),
        "worst_rest_s": max(rests, default=0.0), "exit_codes": codes, "cases": [asdict(case) for case in cases],
    }
    return figures, not wrong and len(cases) == len(chosen) and not any(case.faults for case in cases)


def _run(
    seed: int, speed: float, composed: bool, chosen: Sequence[str], console: Console
) -> tuple[list[Case], dict[str, int]]:
    """The deaths in one graph after the other's return; and how the processes ended."""
    from anima_nodes.client import Client

    cases: list[Case] = []
    hearts = [t.HEARTBEATS[name] for name in processes(composed, "mujoco")]
    with FirstChoice() as model, tempfile.TemporaryDirectory(prefix="anima-deaths-") as folder:
        sets = {
            "llm.server": model.address, "memory_url": f"sqlite:///{Path(folder) / 'mind.db'}", "cameras": "false",
            "composed": str(composed).lower(), "learn.parts": "false",
        }
        with graph("mujoco", seed, speed, **sets) as running, Client((*_TOPICS, *hearts)) as client:
            client.wait_ready(_PATIENCE_S)
            victims = Victims(Life(client, running), composed)
            try:
                for name in track(chosen, "killing", console=console):
                    cases.append(victims.kill(name))
                    for fault in cases[-1].faults:
                        console.print(f"[red]{name}: {fault}[/red]", soft_wrap=True)
            except KeyboardInterrupt:
                console.print(f"broken off after {len(cases)} of {len(chosen)}; their figures follow")
            return cases, running.stop()


def _show(cases: Sequence[Case], console: Console) -> None:
    table = Table("process", "steers", "at rest after", "drove on", "told by", "back after", "errand", "")
    for case in cases:
        rest = "–" if case.stands_after_s is None or not case.steers else f"{case.stands_after_s:.2f} s"
        back = "–" if case.back_after_s is None else f"{case.back_after_s:.1f} s"
        mark = "[red]fault[/red]" if case.faults else "[green]held[/green]"
        table.add_row(
            case.process, "yes" if case.steers else "", rest, f"{case.drove_on_m:.2f} m", ", ".join(case.told_by), back,
            case.errand, mark,
        )
    console.print(table)
