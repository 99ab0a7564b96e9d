"""Two days of the whole live graph with a restart between: what is said to a report, and how the next one sounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from anima import topics as t
from anima.audit.command import recordings_folder
from anima.audit.recording import newest
from anima.console.errand import Errand
from anima.console.start import graph
from anima.console.trace import SHOWN
from anima.runtime.supervisor import Supervisor
from anima.topics import Sent
from anima.types.mind import Lease, Speech
from anima_sim.errand import TOPICS, Watcher, settle

if TYPE_CHECKING:
    from anima_nodes.client import Client

START_LIMIT_S = 240.0
ERRAND_LIMIT_S = 400.0
ANSWER_LIMIT_S = 120.0
REFLECTION_LIMIT_S = 240.0
REFLECTED_S = 40.0  # without a turn of the learner: it has looked back on the day
AFTERGLOW_S = 2.0
STOP_AFTER_S = 1.5
KEPT = (*SHOWN, t.LEARNING_TURN)


class DayFailed(RuntimeError):
    """A day could not be lived to its end; the message says what did not come, and where the logs are."""


@dataclass
class LiveDay:
    """What was said on a day, both sides in order, and where it was recorded, if it was."""

    talk: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    recording: Path | None = None


@dataclass
class _Company:
    """The person of the day: speaks, listens, and waits for what should come; all by the wall clock."""

    client: Client
    running: Supervisor
    told: LiveDay
    tell: Callable[[str], None]
    heard: list[Sent] = field(default_factory=list)

    def say(self, text: str) -> str:
        """Say it; returns the utterance's id."""
        self._note(f"person: {text}")
        return self.client.say(text)

    def wait(self, what: str, over: Callable[[], bool], limit_s: float) -> None:
        """Listen until it is over. Raises `DayFailed` after `limit_s`, or when a process dies."""
        until = time.monotonic() + limit_s
        while not over():
            sent = self.client.receive(0.05)
            if sent is not None and sent.topic in KEPT:
                self.heard.append(sent)
                if sent.topic is t.REPLY and isinstance(sent.value, Speech):
                    self._note(f"robot: {sent.value.text}")
            deaths = self.running.deaths()
            if deaths or time.monotonic() > until:
                why = "; ".join(map(str, deaths)) or f"{what} did not come within {limit_s:.0f} s"
                raise DayFailed(f"{why}; said so far: {' / '.join(self.told.talk)}; the logs are in "
                                f"{self.running.log('planner').parent}")

    def rest(self, seconds: float) -> None:
        """Listen for so long."""
        until = time.monotonic() + seconds
        self.wait("", lambda: time.monotonic() >= until, seconds + 1.0)

    def errand(self, order: str) -> str:
        """Give an errand and wait for its end; returns the report on it."""
        id, first = self.say(order), len(self.heard)
        errand, fed = Errand(id), first

        def over() -> bool:
            nonlocal fed
            for sent in self.heard[fed:]:
                errand.feed(sent)
            fed = len(self.heard)
            return bool(errand.objectives) and errand.over

        self.wait(f"the end of {order!r}", over, ERRAND_LIMIT_S)
        self.rest(AFTERGLOW_S)
        said = [one.text for one in self._replies(first, id)]
        return said[-1] if said else ""

    def remark(self, text: str) -> None:
        """Say something and wait for the answer."""
        first, id = len(self.heard), self.say(text)
        self.wait(f"an answer to {text!r}", lambda: bool(self._replies(first, id)), ANSWER_LIMIT_S)

    def reflected(self) -> None:
        """Wait until the learner has asked nothing for a while."""
        seen, since = -1, time.monotonic()

        def over() -> bool:
            nonlocal seen, since
            turns = sum(sent.topic is t.LEARNING_TURN for sent in self.heard)
            if turns != seen:
                seen, since = turns, time.monotonic()
            return time.monotonic() - since >= REFLECTED_S

        self.wait("the end of the reflection", over, REFLECTION_LIMIT_S)

    def moves(self, first: int) -> bool:
        """Whether a skill was given the base since the value number `first`."""
        values = [sent.value for sent in self.heard[first:]]
        return any(isinstance(one, Lease) and one.granted and "base" in one.resources for one in values)

    def _replies(self, first: int, cause: str) -> list[Speech]:
        values = [sent.value for sent in self.heard[first:] if sent.topic is t.REPLY]
        return [one for one in values if isinstance(one, Speech) and one.cause == cause]

    def _note(self, line: str) -> None:
        self.told.talk.append(line)
        self.tell(line)


@dataclass(frozen=True)
class LivePair:
    """Two days over the memory in `folder`. With `record` the first one is recorded."""

    folder: Path
    lessons: bool
    seed: int
    speed: float
    model: str
    record: bool
    console: Console

    def first(self, order: str, feedback: str, remark: str, stopped: str) -> LiveDay:
        """An errand, `feedback` to its report, a `remark` that the learner has to think about; a second errand, which
        is `stopped` by word while the learner looks back on the encounter; and the end."""

        def live(who: _Company) -> None:
            who.told.reports.append(who.errand(order))
            who.remark(feedback)
            who.remark(remark)
            first = len(who.heard)
            who.say(stopped)
            who.wait("the second errand's drive", lambda: who.moves(first), ERRAND_LIMIT_S)
            who.client.end_encounter()
            who.rest(STOP_AFTER_S)
            who.say("stop")
            who.reflected()

        return self._day(live, self.record)

    def second(self, order: str) -> LiveDay:
        """One errand, and its report."""
        return self._day(lambda who: who.told.reports.append(who.errand(order)), False)

    def _day(self, live: Callable[[_Company], None], record: bool) -> LiveDay:
        from anima_nodes.client import Client

        told = LiveDay()
        more = {"memory_url": f"sqlite:///{self.folder}/mind.db", "learn.lessons": "true" if self.lessons else "false"}
        if record:
            more |= {"record.on": "true", "record.image_every_s": "0"}
        quiet = Watcher(self.console, quiet=True)
        running = graph("mujoco", self.seed, self.speed, self.model, **more)
        with running, Client((*TOPICS, t.LEARNING_TURN)) as client:
            client.wait_ready(START_LIMIT_S)
            settle(client, quiet, START_LIMIT_S)
            live(_Company(client, running, told, self._tell))
        if record:
            told.recording = newest(recordings_folder())
        return told

    def _tell(self, line: str) -> None:
        self.console.print(f"{'':12}   {line}", markup=False, soft_wrap=True)
