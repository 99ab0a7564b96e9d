"""What is to be brought about: the backlog in its order, and the one focus."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import BaseModel

from anima.regions.gate.config import GateTuning
from anima.regions.gate.objectives import SURVIVAL, Item, Parked
from anima.types.mind import Objective
from anima.world.predicates import PredicateError

RESTARTED = "interrupted by a restart"


class Backlog(BaseModel):
    """Open objectives in the order in which they are served, and the last ones that ended."""

    open: list[Item] = []
    finished: list[Item] = []
    groups: int = 0
    known: list[str] = []

    @property
    def focus(self) -> Item | None:
        """The one objective that is worked on."""
        return next((item for item in self.open if item.objective.state == "focused"), None)

    def find(self, objective: str) -> Item | None:
        """The open objective of that id."""
        return next((item for item in self.open if item.objective.id == objective), None)

    def of(self, source: str) -> list[Item]:
        """The open objectives of a source."""
        return [item for item in self.open if item.objective.source == source]

    def add(self, objectives: Iterable[Objective], tuning: GateTuning, *, first: bool = False) -> list[Item]:
        """Take in what came in one message: served in its `order`, after what came before, or before it (`first`).

        An id counts once. One that comes as parked was open when the robot was switched off. Who wants to give up what
        the battery asks for is not heard. Returns what is newly open.
        """
        self.groups += 1
        new: list[Item] = []
        for objective in sorted(objectives, key=lambda o: o.order):
            if objective.id in self.known:
                given_up = self.find(objective.id) if objective.state in ("failed", "cancelled") else None
                if given_up is not None and given_up.source == SURVIVAL:
                    given_up.remember("it can't be given up: the battery asks for it", tuning.failures_told)
                elif given_up is not None:
                    self.end(given_up, objective.state, objective.reason, tuning)
                continue
            self.known = [*self.known, objective.id][-200:]
            item = Item(objective=objective, group=self.groups)
            if objective.state == "declined":
                self._finish(item, tuning)
                continue
            try:
                _ = item.predicate
            except PredicateError as error:
                item.objective = objective.model_copy(update={"state": "declined", "reason": str(error)})
                self._finish(item, tuning)
                continue
            item.objective = objective.model_copy(update={"state": "pending"})
            if objective.state == "parked":
                item.park("restart", objective.created.seconds, RESTARTED)
            new.append(item)
        if first and new:
            self.put_first(new)
        else:
            self.open += new
        return new

    def put_first(self, items: list[Item]) -> None:
        """Serve these before everything else, in their order."""
        focus = self.focus
        if focus is not None and focus not in items:
            focus.become("pending", "")
        self.open = [*items, *(item for item in self.open if item not in items)]

    def put_last(self, item: Item) -> None:
        """Serve this after everything else."""
        if item.state == "focused":
            item.become("pending", "")
        self.open = [*(other for other in self.open if other is not item), item]

    def end_all(self, state: str, reason: str, tuning: GateTuning) -> None:
        """End every open objective alike."""
        for item in list(self.open):
            self.end(item, state, reason, tuning)

    def park(self, by: Parked, now: float, reason: str, but: Callable[[Item], bool] = lambda item: False) -> None:
        """Set aside what is worked on or waits its turn; a stop sets everything aside."""
        for item in self.open:
            if not but(item) and (by == "stop" or item.objective.state != "parked" or item.parked_by == by):
                item.park(by, now, reason)

    def wake(self, *by: Parked) -> list[Item]:
        """Take up again what waits for one of these."""
        woken = [item for item in self.open if item.parked_by and item.parked_by in by]
        for item in woken:
            item.wake()
        return woken

    def end(self, item: Item, state: str, reason: str, tuning: GateTuning) -> None:
        """The objective is done, failed or cancelled; once, and for good."""
        if item not in self.open:
            return
        item.become(state, reason)
        item.parked_by = ""
        self.open.remove(item)
        self._finish(item, tuning)

    def _finish(self, item: Item, tuning: GateTuning) -> None:
        self.finished = [*self.finished, item][-tuning.finished_kept :] if tuning.finished_kept else []

    @property
    def why(self) -> str:
        """Why this objective has the focus, or why none has."""
        focus = self.focus
        if focus is None and not self.open:
            return "nothing is left to do"
        if focus is None:
            first = self.open[0]
            go_on = "; a person must say that it may go on" if first.parked_by == "stop" else ""
            return f"nothing is worked on: {first.objective.reason}{go_on}"
        rest = len(self.open) - 1
        rank = f"it is the first of {rest + 1} that are open" if rest else "it is all that is open"
        if focus.is_own:
            return f"{focus.objective.condition}, wanted by the robot itself: {rank}"
        said = f", asked for as {focus.objective.said!r}" if focus.objective.said else ""
        return f"{focus.objective.condition}{said}: {rank}"

    def choose(self) -> Item | None:
        """Keep the focus, or give it to the next that is pending. Exactly one is focused, if any is pending."""
        focus = self.focus
        if focus is None:
            focus = next((item for item in self.open if item.state == "pending"), None)
            if focus is not None:
                focus.become("focused", focus.recovery or focus.because)
                focus.holds_since = None
        return focus
