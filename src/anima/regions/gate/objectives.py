"""What is to be brought about: the backlog in its order, the one focus, and what each objective has cost so far."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import BaseModel

from anima.regions.gate.config import GateTuning
from anima.skills.registry import SKILLS, InvalidArguments, render
from anima.types.mind import Objective, SkillCall, WorldState
from anima.world.predicates import Predicate, PredicateError, holds

OPEN = frozenset({"pending", "focused", "parked"})


class Item(BaseModel):
    """An objective and its history. `group` numbers the message that it came in; `happened`: its event took place.

    `waits_for_person`: it is parked until somebody says so, not until the reason is gone. `acted_at`: when the last
    call for it ended. `told`: sentences about what did not work, newest last.
    """

    objective: Objective
    group: int
    holds_since: float | None = None
    happened: bool = False
    waits_for_person: bool = False
    acted_at: float | None = None
    calls: int = 0
    failures: int = 0
    refusals: int = 0
    signatures: dict[str, int] = {}
    told: list[str] = []

    @property
    def id(self) -> str:
        """The objective's id."""
        return self.objective.id

    @property
    def state(self) -> str:
        """The objective's state."""
        return self.objective.state

    @property
    def predicate(self) -> Predicate:
        """The done-condition."""
        return Predicate.parse(self.objective.condition)

    def become(self, state: str, reason: str) -> None:
        """Change the state; what ended stays as it ended."""
        if self.state in OPEN:
            self.objective = self.objective.model_copy(update={"state": state, "reason": reason})

    def remember(self, sentence: str, keep: int) -> None:
        """Keep a sentence for the planner, newest last."""
        self.told = [*self.told, sentence][-keep:] if keep else []

    def failed(self, signature: str, sentence: str, tuning: GateTuning) -> str:
        """Count a call that failed; `signature` is equal for the same call failing in the same way.

        Returns why no more may be spent on the objective, or empty.
        """
        self.failures += 1
        self.signatures[signature] = self.signatures.get(signature, 0) + 1
        self.remember(sentence, tuning.failures_told)
        same = self.signatures[signature]
        if same > tuning.retries_per_signature:
            return f"it failed in this way {same} times"
        if self.failures >= tuning.failures_per_objective:
            return f"{self.failures} calls for it failed"
        return ""

    def refused(self, call: SkillCall, reason: str, tuning: GateTuning) -> str:
        """Count a proposal that the validator refused; returns why it was one too many, or empty."""
        self.refusals += 1
        sentence = f"{render(call.skill, call.arguments)}: refused, {reason}"
        self.remember(sentence, tuning.failures_told)
        if self.refusals < tuning.refusals_in_a_row:
            return ""
        return f"{self.refusals} proposals in a row were refused, the last: {sentence}"


class Backlog(BaseModel):
    """Open objectives in the order in which they are served, and the last ones that ended."""

    open: list[Item] = []
    finished: list[Item] = []
    groups: int = 0
    known: list[str] = []

    @property
    def focus(self) -> Item | None:
        """The one objective that is worked on."""
        return next((item for item in self.open if item.state == "focused"), None)

    def find(self, objective: str) -> Item | None:
        """The open objective of that id."""
        return next((item for item in self.open if item.id == objective), None)

    def add(self, objectives: Iterable[Objective], tuning: GateTuning) -> None:
        """Take in what came in one message: served in its `order`, after what came before. An id counts once."""
        self.groups += 1
        for objective in sorted(objectives, key=lambda o: o.order):
            if objective.id in self.known:
                given_up = self.find(objective.id) if objective.state in ("failed", "cancelled") else None
                if given_up is not None:
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
            self.open.append(item)

    def end_all(self, state: str, reason: str, tuning: GateTuning) -> None:
        """End every open objective alike."""
        for item in list(self.open):
            self.end(item, state, reason, tuning)

    def park(self, reason: str, *, until_said: bool) -> None:
        """Set every open objective aside; with `until_said` until a person says "go on"."""
        for item in self.open:
            if until_said or not item.waits_for_person:
                item.become("parked", reason)
                item.waits_for_person = until_said

    def wake(self, *, said: bool) -> None:
        """Take up what was set aside: by itself, or what waits until it is said."""
        for item in self.open:
            if item.state == "parked" and item.waits_for_person == said:
                item.become("pending", "")
                item.waits_for_person = False

    def end(self, item: Item, state: str, reason: str, tuning: GateTuning) -> None:
        """The objective is done, failed or cancelled; once, and for good."""
        if item not in self.open:
            return
        item.become(state, reason)
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
            go_on = "; a person must say that it may go on" if first.waits_for_person else ""
            return f"nothing is worked on: {first.objective.reason}{go_on}"
        rest = len(self.open) - 1
        rank = f"it is the oldest of {rest + 1} that are open" if rest else "it is all that is open"
        said = f", asked for as {focus.objective.said!r}" if focus.objective.said else ""
        return f"{focus.objective.condition}{said}: {rank}"

    def choose(self) -> Item | None:
        """Keep the focus, or give it to the next that is pending. Exactly one is focused, if any is pending."""
        focus = self.focus
        if focus is None:
            focus = next((item for item in self.open if item.state == "pending"), None)
            if focus is not None:
                focus.become("focused", "")
                focus.holds_since = None
        return focus


def is_done(now: float, item: Item, world: WorldState, stable_s: float) -> bool:
    """Whether the condition holds, for long enough. `world` is the newest state; what it says holds until the next."""
    predicate = item.predicate
    if predicate.is_event:
        return item.happened
    if not holds(predicate, world):
        item.holds_since = None
        return False
    if item.holds_since is None:
        item.holds_since = now
    return now - item.holds_since >= stable_s


def tells_of(call: SkillCall, thing: str) -> bool:
    """Whether a `say` is about the object: it names it, or all words of its name are in the text."""
    try:
        said = SKILLS["say"].parse(call.arguments).model_dump()
    except InvalidArguments:
        return False
    if said["object"]:
        return bool(said["object"] == thing)
    return set(thing.split("_")) <= set(re.findall(r"[a-z0-9]+", said["text"].lower()))
