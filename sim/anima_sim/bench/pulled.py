"""Behind the emulated board, in the middle of a spoken errand: cable pulled, driver killed, the whole host killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anima import topics as t
from anima.console.start import graph
from anima.runtime.processes import BODIES
from anima.runtime.supervisor import RECORDER, WORLD
from anima.types.link import LinkState
from anima.types.mind import Objective
from anima_sim.bench.deaths import Life, NeverHappened
from anima_sim.bench.first_choice import FirstChoice
from anima_sim.bench.options import BenchParser

STANDS_WITHIN_S = 0.5
WATCHED_S = 2.0  # of simulated time after that, in which the wheels go on standing
UNARMED_FOR_S = 3.0  # of simulated time, since the board was heard again
PULLED_FOR_S = 1.0
PATIENCE_S = 600.0  # of the wall clock, for one thing to happen: a cold model on a crowded machine thinks for minutes
_DRIVES_MPS = 0.25
_STILL_RADPS = 0.02
_OPEN = ("pending", "focused", "parked")
_TOPICS = (t.GROUND_TRUTH, t.WORLD_STATE, t.STOP_STATE, t.BACKLOG, t.LINK_STATE)
_SWITCH = re.compile(r"motors (on|off) at ([0-9.]+) s")

WAYS = ("cable", "driver", "host")
PLACES = {"cable": "office", "driver": "kitchen", "host": "office"}


@dataclass
class Case:
    """What was seen of one; times are simulated seconds since it happened, `motors_off_s` by the board's own pin."""

    way: str
    speed_mps: float = 0.0
    wheels_at_rest_s: float | None = None
    motors_off_s: float | None = None
    armed_by_itself: bool = False
    errand: str = ""
    went_on: bool = False
    faults: list[str] = field(default_factory=list)


class LinkedLife(Life):
    """A graph behind a board: also how the link is, and when the board switched its motors."""

    def __init__(self, client: Any, running: Any) -> None:
        super().__init__(client, running)
        self.links: list[LinkState] = []

    @property
    def phase(self) -> str:
        """How far the conversation with the board is, by what was said last."""
        return self.links[-1].phase if self.links else ""

    def switches(self) -> list[tuple[float, bool]]:
        """When the board switched its motors, simulated seconds, and whether on."""
        text = self.running.log(WORLD).read_text(encoding="utf-8", errors="replace")
        return [(float(at), word == "on") for word, at in _SWITCH.findall(text)]

    def _feed(self, sent: Any) -> None:
        if isinstance(sent.value, LinkState):
            self.links.append(sent.value)
        super()._feed(sent)


class Harm:
    """Does each of the three while the robot drives for an errand that it was told, and looks at what follows."""

    def __init__(self, life: LinkedLife) -> None:
        self._life = life
        self._errand = ""

    def do(self, way: str) -> Case:
        """One of the three."""
        case = Case(way)
        try:
            self.arm()
            self._set_out(PLACES[way])
            at, number = self._strike(way, case)
            self._watch(case, at, number)
            self._come_back(case)
            self.arm()
            self._go_on(case)
        except NeverHappened as error:
            case.faults.append(str(error))
        return case

    def arm(self) -> None:
        """The explicit act: a reset of the stop, as `anima reset` does it."""
        life = self._life
        if life.phase == "armed":
            return
        life.until(lambda: life.phase == "ready", "the board was not heard", PATIENCE_S)
        life.until(lambda: life.stop is not None and life.stop.latched, "nothing held the unarmed body", PATIENCE_S)
        self._ask(life.client.reset, "nobody takes a reset")
        life.until(lambda: life.phase == "armed", "it did not arm after a reset", PATIENCE_S)

    def _say(self, text: str) -> None:
        self._ask(lambda: self._life.client.say(text), f"nobody hears {text!r}")

    def _ask(self, ask: Callable[[], Any], what: str) -> None:
        """Ask until somebody answers: who was started again needs a while."""
        from anima_nodes.client import NotReady

        def answered() -> bool:
            try:
                ask()
            except NotReady:
                return False
            return True

        self._life.until(answered, what, PATIENCE_S)

    # --- the errand ------------------------------------------------------------------------------

    def _told(self) -> Objective | None:
        objectives = self._life.backlog.objectives if self._life.backlog is not None else ()
        return next((one for one in reversed(objectives) if one.condition == self._errand), None)

    def _is(self, *states: str) -> bool:
        told = self._told()
        return told is not None and told.state in states

    def _drives(self) -> bool:
        return bool(self._life.truth) and self._life.truth[-1].linear_speed > _DRIVES_MPS

    def _set_out(self, place: str) -> None:
        life = self._life
        life.until(lambda: life.world is not None and life.world.localized, "it did not know where it is", PATIENCE_S)
        self._errand = f"at(robot, {place})"
        self._say(f"go to the {place}")
        life.until(lambda: self._is(*_OPEN), f"the order to go to the {place} was not taken up", PATIENCE_S)
        driving = "it did not drive for the errand"
        life.until(lambda: (self._drives() and self._is("focused")) or not self._is(*_OPEN), driving, PATIENCE_S)
        if not self._is("focused"):
            raise NeverHappened(f"the errand ended before it was harmed: {self._told()}")

    # --- the harm --------------------------------------------------------------------------------

    def _strike(self, way: str, case: Case) -> tuple[float, int]:
        """Do it; returns the simulated time of the last that was seen before, and how many truths that were."""
        life = self._life
        life.look()
        at, number, case.speed_mps = life.now, len(life.truth), life.truth[-1].linear_speed
        if way == "cable":
            life.client.inject("pulled_cable", "", PULLED_FOR_S)
            return at, number
        alive = [name for name in life.running.processes if name not in (WORLD, RECORDER)]
        for name in alive if way == "host" else [name for name in alive if name in BODIES]:
            os.kill(life.running.pid(name), signal.SIGKILL)
        return at, number

    def _watch(self, case: Case, at: float, number: int) -> None:
        """The plant's truth and the board's pin."""
        life = self._life
        self._pass(at + STANDS_WITHIN_S + WATCHED_S - life.now)
        turning = [s.header.stamp.seconds for s in life.truth[number:] if np.abs(s.wheel_speeds).max() > _STILL_RADPS]
        case.wheels_at_rest_s = max(turning, default=at) - at
        off = [when for when, on in life.switches() if not on and when >= at]
        case.motors_off_s = off[0] - at if off else None
        if case.wheels_at_rest_s > STANDS_WITHIN_S:
            case.faults.append(f"the wheels turned until {case.wheels_at_rest_s:.2f} s later")
        if case.motors_off_s is None or case.motors_off_s > STANDS_WITHIN_S:
            case.faults.append(f"the board switched its motors off after {case.motors_off_s} s")

    def _pass(self, duration_s: float) -> None:
        """Let simulated time go by."""
        until = self._life.now + duration_s
        while self._life.now < until:
            self._life.until(self._life.fresh, "simulated time stood still", PATIENCE_S)

    # --- and after -------------------------------------------------------------------------------

    def _come_back(self, case: Case) -> None:
        """What was taken away is back, and it stays unarmed by itself."""
        life = self._life
        life.links.clear()
        if case.way == "host":
            life.backlog = None  # what the mind says that is started again is what counts
        off_before = len(life.switches())

        def is_back() -> bool:
            life.running.revive(time.monotonic())
            return life.phase == "ready"

        life.until(is_back, "the board was not heard again", PATIENCE_S)
        self._pass(UNARMED_FOR_S)
        switched_on = any(on for _, on in life.switches()[off_before:])
        case.armed_by_itself = switched_on or any(link.phase == "armed" for link in life.links)
        if case.armed_by_itself:
            case.faults.append("it armed by itself")

    def _go_on(self, case: Case) -> None:
        """After the explicit act the errand goes on by itself, or waits with a reason until a person says so."""
        life = self._life
        life.until(lambda: life.backlog is not None, "nobody tells what is to be done", PATIENCE_S)
        told = self._told()
        if told is None:
            case.errand = "forgotten"
            case.faults.append("nobody knows of the errand any more")
            return
        case.errand = f"{told.state}: {told.reason}" if told.reason else told.state
        if self._is("parked"):
            if not told.reason:
                case.faults.append("it was parked without a reason")
            self._say("go on")
        went_on = "the errand did not go on"
        life.until(lambda: self._drives() or not self._is(*_OPEN), went_on, PATIENCE_S)
        case.went_on = self._drives() or self._is("done")
        if not case.went_on:
            case.faults.append(f"the errand did not go on: {self._told()}")
        self._say("stop")
        life.until(lambda: not self._is(*_OPEN), "the errand did not end at the word stop", PATIENCE_S)


def bench_pulled(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """The whole graph behind the emulated board, driving for a spoken errand; then one of three things is done to it:
    its cable is pulled, its driver killed by SIGKILL, or every process of the host at once.

    The world's truth must show wheels at rest within 0.5 s of its time, and the board's pin motors off. The board is
    heard again without being armed; only a reset arms it, and then the errand goes on, or says what it waits for.
    """
    parser = BenchParser("pulled", bench_pulled.__doc__)
    parser.model()
    parser.add_argument("--stand-in", action="store_true", help="a script chooses the calls in place of the model")
    parser.add_argument("--only", default=",".join(WAYS), metavar="WAYS", help="of cable, driver, host, with commas")
    options = parser.parse_args(arguments)
    ways = options.only.split(",")
    if unknown := set(ways) - set(WAYS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    with contextlib.ExitStack() as stack:
        sets = {"cameras": "false"}
        if options.stand_in:
            sets |= {"llm.server": stack.enter_context(FirstChoice()).address, "learn.parts": "false"}
        cases = _run(seed, options.model, sets, ways, console)
    _show(cases, console)
    console.print(f"limits: wheels at rest, motors off within {STANDS_WITHIN_S} s; armed by a reset alone; it goes on")
    figures = {
        "cases": [asdict(case) for case in cases],
        "worst_rest_s": max((c.wheels_at_rest_s for c in cases if c.wheels_at_rest_s is not None), default=None),
        "worst_motors_off_s": max((c.motors_off_s for c in cases if c.motors_off_s is not None), default=None),
        "armed_by_itself": sum(case.armed_by_itself for case in cases),
        "went_on": sum(case.went_on for case in cases),
        "model": "a stand-in" if options.stand_in else options.model or "the configured one",
    }
    return figures, len(cases) == len(ways) and not any(case.faults for case in cases)


def _run(seed: int, model: str, sets: Mapping[str, str], ways: list[str], console: Console) -> list[Case]:
    from anima_nodes.client import Client

    cases: list[Case] = []
    with tempfile.TemporaryDirectory(prefix="anima-pulled-") as folder:
        memory = f"sqlite:///{Path(folder) / 'mind.db'}"
        with graph("firmware", seed, 1.0, model, memory_url=memory, **sets) as running, Client(_TOPICS) as client:
            client.wait_ready(PATIENCE_S)
            harm = Harm(LinkedLife(client, running))
            try:
                for way in track(ways, "pulling", console=console):
                    cases.append(harm.do(way))
                    for fault in cases[-1].faults:
                        console.print(f"[red]{way}: {fault}[/red]", soft_wrap=True)
            except KeyboardInterrupt:
                console.print(f"broken off after {len(cases)} of {len(ways)}; their figures follow")
    return cases


def _show(cases: list[Case], console: Console) -> None:
    def seconds(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f} s"

    table = Table("what", "at", "wheels at rest", "pin off", "armed by itself", "after the reset", "went on", "")
    for case in cases:
        table.add_row(
            case.way, f"{case.speed_mps:.2f} m/s", seconds(case.wheels_at_rest_s), seconds(case.motors_off_s),
            "yes" if case.armed_by_itself else "no", case.errand, "yes" if case.went_on else "no",
            "[red]fault[/red]" if case.faults else "[green]held[/green]",
        )
    console.print(table)
