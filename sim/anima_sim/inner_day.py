"""The concept's acceptance list on the simulated robot: physics, the regions from the ears to the wheels, the model."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.memory.opening import RunClock
from anima.parts.library import KeptPart, PartLibrary
from anima.parts.node import PartsSelf
from anima.parts.schema import Part
from anima.planner.llm.base import Mind
from anima.types.base import Header
from anima.types.mind import Utterance
from anima_sim.rug import RugDay

THINKS_WITHIN_S = 1800.0  # of the wall's clock, for one thing that happened: a busy machine thinks slowly
BEFORE_DUE_S = 120.0  # what is left of a prediction's time when the robot is switched on again
LONGEST_S = 604_800.0  # no prediction reaches farther


@dataclass
class InnerDay:
    """A day of a robot with an inner life over the memory in `folder`. `clock` is its own unless it follows another
    day's."""

    model: Mind
    folder: Path
    clock: RunClock | None = None

    def __post_init__(self) -> None:
        settings = Settings(memory_url=f"sqlite:///{self.folder}/mind.db", seed=0)
        self.inner = PartsSelf(settings, self.model)
        if self.clock is not None:
            self.inner.context.clock = self.clock
        self._day = RugDay(settings, self.inner)
        self.graph = self._day.graph

    def given(self, parts: Sequence[Part]) -> None:
        """Parts that are there when the day begins."""
        for part in parts:
            self.library.create(part, self.inner.context.cause("the day begins with it", "before"))

    @property
    def library(self) -> PartLibrary:
        """The parts."""
        return self.inner.context.library

    @property
    def alive(self) -> list[KeptPart]:
        """The parts that may bid."""
        return list(self.library.active())

    def hears(self, text: str, speaker: str = "ana") -> None:
        """Somebody speaks, and the robot thinks about it to the end."""
        now = self.graph.now
        said = Utterance(header=Header.at(now), id=f"u-{now:.2f}", speaker=speaker, text=text)
        self.graph.send(t.UTTERANCE.of(said))
        self.graph.run_for(0.5)
        self.think()

    def stalls(self) -> None:
        """A drive to the person; where it leads over the rug, a wheel is held there."""
        self._day.grips = True
        self._day.drive()
        self.think()

    def think(self) -> None:
        """Until nothing is thought about, and nothing waits for a quiet moment. Raises `TimeoutError`."""
        context = self.inner.context
        until = time.monotonic() + THINKS_WITHIN_S
        quiet_at = self.graph.now + 8.0
        while self.graph.now < quiet_at or not self.inner.is_idle or context.touched or context.echoes:
            # The model takes the wall's time: the robot's goes on no faster while it thinks.
            self.graph.run_for(0.02 if not self.inner.is_idle else 0.2)
            time.sleep(0.02 if not self.inner.is_idle else 0.0)
            if time.monotonic() > until:
                raise TimeoutError(f"no end of thinking within {THINKS_WITHIN_S:g} s: {self.inner.why()}")

    def next_due_s(self) -> float | None:
        """How long until the next prediction is due that leaves time to live something before, s; None without one."""
        context = self.inner.context
        ahead = (due.due_utc_s - context.utc_s for due in self.library.due(context.utc_s + LONGEST_S))
        return min((s for s in ahead if s > BEFORE_DUE_S), default=None)

    def switched_off_for(self, gap_s: float) -> InnerDay:
        """The robot as it is switched on again so much later."""
        context = self.inner.context
        begins = context.utc_s + gap_s
        return InnerDay(self.model, self.folder, RunClock(f"sim-{begins:.3f}", begins))

    def changes(self) -> list[str]:
        """What became of parts this day, in order."""
        return [change.what for change in self.graph.sent(t.PART_CHANGES)]

    def bids(self) -> list[Any]:
        """What parts bid this day, in order."""
        return [bid for choice in self.graph.sent(t.BIDS) for bid in choice.bids]


Held = tuple[bool, str]


def made_of_a_felt_event_and_used_again(day: InnerDay) -> tuple[Held, InnerDay]:
    """A wheel stalls on the rug: a viewpoint is born of it, and bids when it happens again."""
    day.stalls()
    if not day.alive:
        day.stalls()
    born = [kept.part.name for kept in day.alive]
    day.stalls()
    bid = [bid.name for bid in day.bids()]
    return (bool(born) and any(name in bid for name in born), f"born: {born}; bids: {dict(Counter(bid))}"), day


def told_by_what_was_sensed(day: InnerDay) -> tuple[Held, InnerDay]:
    """What a part predicted comes to its time, is held against what was heard meanwhile, and the part says itself anew.

    Until shortly before that time the robot is switched off, as over night.
    """
    day.hears("it is evening and the math homework is still open")
    before = {kept.id: kept.part.description for kept in day.alive}
    predicted = [bid.prediction for bid in day.bids()]
    due_s = day.next_due_s()
    if due_s is None:
        return (False, f"nothing was predicted that lies ahead; changes: {day.changes()}"), day
    day = day.switched_off_for(due_s - BEFORE_DUE_S)
    day.hears("I have just done twenty minutes of math")
    while day.graph.now < 2.0 * BEFORE_DUE_S and "evaluated" not in day.changes():
        day.graph.run_for(10.0)
        day.think()
    results = [entry.result for kept in day.alive for entry in kept.part.suggestions_and_results if entry.result]
    reworded = [kept.part.description for kept in day.alive if before.get(kept.id) not in (None, kept.part.description)]
    return (bool(results and reworded), f"predicted: {predicted}; results: {results}; now: {reworded}"), day


def divided(day: InnerDay) -> tuple[Held, InnerDay]:
    """A part that wants contrary things in two contexts becomes two."""
    day.hears("in the workshop be blunt with me, but at home please just listen", "roly")
    names = sorted(kept.part.name for kept in day.alive)
    return ("split" in day.changes() and len(names) >= 2, f"alive: {names}"), day


def concluded(day: InnerDay) -> tuple[Held, InnerDay]:
    """What is over is put away, and says nothing more."""
    day.hears("the math homework is finished, all of it!")
    away = "archived" in day.changes() and not any("Homework" in kept.part.name for kept in day.alive)
    before = len(day.bids())
    day.hears("let us talk about the homework of my brother")
    later = [bid.name for bid in day.bids()[before:] if "Homework: Math" in bid.name]
    return (away and not later, f"changes: {day.changes()}; bids of it afterwards: {later}"), day


def merged(day: InnerDay) -> tuple[Held, InnerDay]:
    """Two that say the same in the same moments become one."""
    day.stalls()
    if "merged" not in day.changes():
        day.stalls()
    names = sorted(kept.part.name for kept in day.alive)
    return ("merged" in day.changes(), f"changes: {day.changes()}; alive: {names}"), day


ITEMS: dict[str, tuple[Callable[[InnerDay], tuple[Held, InnerDay]], str]] = {
    "created_from_a_felt_event_and_reused": (made_of_a_felt_event_and_used_again, ""),
    "prediction_evaluated_and_wording_changed": (told_by_what_was_sensed, "concluded_part_is_archived_and_silent"),
    "oversized_part_splits": (divided, "oversized_part_splits"),
    "concluded_part_is_archived_and_silent": (concluded, "concluded_part_is_archived_and_silent"),
    "two_that_say_the_same_merge": (merged, "two_that_say_the_same_merge"),
}
"""What must hold, and the example whose parts the day begins with."""


def live_through(name: str, model: Mind, given: Sequence[Part]) -> Held:
    """One item of the acceptance list on a robot of its own; whether it holds, and what was seen."""
    play, _ = ITEMS[name]
    with tempfile.TemporaryDirectory(prefix="anima-inner-") as folder:
        day = InnerDay(model, Path(folder))
        day.given(given)
        try:
            held, day = play(day)
        except TimeoutError as error:
            held = (False, str(error))
    return held
