"""Runs an errand on a live graph: says the order, shows what happens, films it, and lets the truth judge."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from anima import topics as t
from anima.body.places import Places, load_places
from anima.config import load_settings
from anima.console.errand import Errand
from anima.console.trace import SHOWN, Trace
from anima.runtime.supervisor import Death
from anima.topics import Sent
from anima.types.mind import GroundTruth, SkillFeedback, Speech, WorldState
from anima.types.std import Image, OccupancyGrid
from anima.world.predicates import Predicate
from anima.world.stop_words import is_stop
from anima_sim.film import Film, picture
from anima_sim.judge import is_true
from anima_sim.map_picture import draw_map

TOPICS = (*SHOWN, t.GROUND_TRUTH, t.WORLD_STATE, t.MAP)
FILM_TOPICS = (t.CAMERA_COLOUR, t.OVERVIEW)
ERRAND_LIMIT_S = 1200.0
AFTERGLOW_S = 2.0
DONE, FAILED, DECLINED = 0, 1, 3

STYLES = {
    "person": "bold cyan", "robot": "bold green", "thought": "dim", "objective": "yellow", "call": "white",
    "good": "green", "bad": "red", "phase": "dim", "reflex": "magenta",
}


class Voice(Protocol):
    """What an errand needs of a client."""

    def say(self, text: str) -> str:
        """Say it; returns the utterance's id."""

    def receive(self, timeout_s: float) -> Sent | None:
        """The next value, or None."""


class Watched(Protocol):
    """What an errand needs of a supervisor."""

    def deaths(self) -> list[Death]:
        """Processes that ended since the last call."""


@dataclass
class Report:
    """What became of an errand. `right`: every condition that the mind took on holds in truth."""

    order: str
    verdict: str
    right: bool
    conditions: dict[str, bool]
    said: list[str]
    failures: list[str]
    recoveries: list[str]
    calls: int
    collisions: int
    worst_collision_speed_mps: float
    simulated_s: float
    wall_s: float
    thinking_s: float
    deaths: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """The exit code: 0 done, 1 failed, 3 declined or only answered."""
        if self.verdict == "done":
            return DONE if self.right else FAILED
        return DECLINED if self.verdict in ("declined", "answered") else FAILED


class Watcher:
    """Follows what a graph says: the trace on the console, the errand, the truth, the way, the film."""

    def __init__(self, console: Console, quiet: bool = False) -> None:
        self._console = console
        self._quiet = quiet
        self._trace = Trace()
        self._view: Image | None = None
        self._caption = ""
        self._filmed_at = -1.0
        self.film: Film | None = None
        self.errand: Errand | None = None
        self.truth: GroundTruth | None = None
        self.world: WorldState | None = None
        self.grid: OccupancyGrid | None = None
        self.way: list[tuple[float, float]] = []

    def feed(self, sent: Sent) -> None:
        """Take in one value."""
        value = sent.value
        match value:
            case GroundTruth():
                self.truth = value
                self.way.append((value.robot.position.x, value.robot.position.y))
            case WorldState():
                self.world = value
            case OccupancyGrid():
                self.grid = value
            case Image():
                self._picture(sent.topic.name, value)
        if self.errand is not None:
            self.errand.feed(sent)
        for style, line in self._trace.lines(sent):
            if isinstance(value, SkillFeedback | Speech):
                self._caption = line.strip(" …")
            if not self._quiet:
                now = f"{self.truth.header.stamp.seconds:7.1f}" if self.truth else " " * 7
                self._console.print(f"[dim]{now}[/dim] [{STYLES[style]}]{_plain(line)}[/]", soft_wrap=True)

    def _picture(self, topic: str, image: Image) -> None:
        if topic == t.CAMERA_COLOUR.name:
            self._view = image
        elif self.film is not None:
            self.film.add(picture(image), picture(self._view) if self._view else None, self._caption)


def _plain(line: str) -> str:
    return line.replace("[", "\\[")


def follow(
    voice: Voice,
    watcher: Watcher,
    running: Watched | None,
    order: str,
    limit_s: float = ERRAND_LIMIT_S,
    interject: Callable[[], str | None] = lambda: None,
) -> Report:
    """Say the order and follow it to its end, or until a process dies or `limit_s` of the wall clock is over.

    `interject` is asked all the while; a text that it returns is said too. A word that stops the robot ends what
    was ordered before; any other order takes its place in the report.
    """
    places = load_places(load_settings().map_folder)
    started = time.monotonic()
    watcher.way.clear()
    errand = watcher.errand = Errand(voice.say(order))
    first = watcher.truth.header.stamp.seconds if watcher.truth else None
    deaths: list[str] = []
    over_at: float | None = None
    while time.monotonic() - started < limit_s and not deaths:
        sent = voice.receive(0.1)
        if sent is not None:
            watcher.feed(sent)
            if first is None and watcher.truth:
                first = watcher.truth.header.stamp.seconds
        if said := interject():
            spoken = voice.say(said)
            if not is_stop(said):
                order, errand, over_at = said, Errand(spoken), None
                watcher.errand = errand
        deaths = [str(death) for death in running.deaths()] if running else []
        # Words come before the objectives that they announce, so an answer alone isn't the end at once.
        over_at = (over_at or time.monotonic()) if errand.over else None
        if over_at is not None and time.monotonic() - over_at > AFTERGLOW_S:
            break
    watcher.errand = None
    return _judge(order, errand, watcher, places, first or 0.0, time.monotonic() - started, deaths)


def _judge(
    order: str, errand: Errand, watcher: Watcher, places: Places, first: float, wall_s: float, deaths: list[str]
) -> Report:
    truth = watcher.truth
    said = [*errand.replies, *errand.speeches]
    conditions: dict[str, bool] = {}
    for objective in errand.objectives.values():
        if objective.state == "done" and truth is not None and objective.condition:
            conditions[objective.condition] = is_true(Predicate.parse(objective.condition), truth, places, said)
    return Report(
        order=order,
        verdict=errand.verdict,
        right=bool(conditions) and all(conditions.values()),
        conditions=conditions,
        said=said,
        failures=[f"{o.condition}: {o.reason}" for o in errand.objectives.values() if o.state == "failed"],
        recoveries=errand.recoveries,
        calls=len(errand.outcomes),
        collisions=truth.collisions if truth else 0,
        worst_collision_speed_mps=truth.worst_collision_speed if truth else 0.0,
        simulated_s=truth.header.stamp.seconds - first if truth else 0.0,
        wall_s=wall_s,
        thinking_s=sum(thought.prefill_s + thought.decode_s for thought in errand.thoughts),
        deaths=deaths,
    )


def run_one(
    client: Any, running: Watched | None, order: str, seed: int | None, folder: Path | None, console: Console
) -> int:
    """One order, shown, filmed into `folder` when given, judged; returns the exit code."""
    watcher = Watcher(console)
    settle(client, watcher)
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-seed{seed}" if seed is not None else time.strftime("%Y%m%d-%H%M%S")
    if folder is not None:
        client.subscribe(*FILM_TOPICS)
        watcher.film = Film(folder / f"{stem}.mp4")
    try:
        report = follow(client, watcher, running, order)
    finally:
        if watcher.film is not None:
            watcher.film.close()
    conclude(report, watcher, folder, stem, console)
    return report.code


def settle(client: Voice, watcher: Watcher, limit_s: float = 30.0) -> None:
    """Wait until the first truth and world state are in: then the robot knows where it is."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until and not (watcher.truth and watcher.world and watcher.world.localized):
        sent = client.receive(0.2)
        if sent is not None:
            watcher.feed(sent)


def conclude(report: Report, watcher: Watcher, folder: Path | None, stem: str, console: Console) -> None:
    """Print how it went; write the map picture."""
    for line in (*report.deaths, *report.failures):
        console.print(f"[red]{_plain(line)}[/red]", soft_wrap=True)
    for condition, right in report.conditions.items():
        console.print(f"simulator's truth: {condition} is [{'green' if right else 'red'}]{right}[/]")
    console.print(
        f"[bold]{report.verdict}[/bold]: {report.simulated_s:.0f} s of the robot's time, {report.wall_s:.0f} s of "
        f"yours, of which {report.thinking_s:.0f} s thinking; {report.calls} skill calls, {report.collisions} "
        f"collisions"
    )
    if folder is not None and watcher.grid is not None:
        places = load_places(load_settings().map_folder)
        file = folder / f"{stem}.png"
        draw_map(file, watcher.grid, places, watcher.way, watcher.world, watcher.truth, report.order)
        console.print(f"map picture {file}", soft_wrap=True)
        if watcher.film is not None:
            console.print(f"film        {watcher.film.file}", soft_wrap=True)


class Keyboard:
    """Lines from the standard input, read in a thread so that one can speak while the robot works."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    def _read(self) -> None:
        for line in sys.stdin:
            if text := line.strip():
                self._lines.put(text)
        self._lines.put(None)

    def wait(self) -> str | None:
        """The next line, None at the end of the input."""
        return self._lines.get()

    def poll(self) -> str | None:
        """The next line if there is one. The end of the input stays for `wait`."""
        try:
            line = self._lines.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            self._lines.put(None)
        return line


def run_conversation(
    client: Any, running: Watched | None, folder: Path, console: Console
) -> int:
    """Orders from the keyboard, also while the robot works, until the end of the input. Ctrl-C stops the robot."""
    watcher = Watcher(console)
    settle(client, watcher)
    console.print(
        "Say something, e.g. [cyan]bring the red cube to the kitchen table[/cyan], [cyan]where is the orange "
        "ball?[/cyan] or, at any time, [cyan]stop[/cyan]. Ctrl-C stops the robot, too; Ctrl-D leaves."
    )
    keyboard = Keyboard()
    while True:
        console.print("[bold cyan]>[/] ", end="")
        try:
            order = keyboard.wait()
        except KeyboardInterrupt:
            return DONE
        if order is None:
            return DONE
        if is_stop(order):
            client.say(order)
            continue
        stem = time.strftime("%Y%m%d-%H%M%S")
        client.subscribe(*FILM_TOPICS)
        watcher.film = Film(folder / f"{stem}.mp4")
        try:
            report = follow(client, watcher, running, order, interject=keyboard.poll)
        except KeyboardInterrupt:
            client.say("stop")
            console.print("[red]stop[/red]")
            continue
        except ValueError as error:  # words that the ears can't take in
            console.print(f"[red]{error}[/red]", soft_wrap=True)
            continue
        finally:
            watcher.film.close()
            client.unsubscribe(*FILM_TOPICS)
        conclude(report, watcher, folder, stem, console)
        if report.deaths:
            return FAILED
