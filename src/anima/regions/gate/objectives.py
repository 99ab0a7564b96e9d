"""One objective of the backlog: where it stands, what it has cost so far, and when it counts as reached."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from anima.regions.gate.budgets import Budgets
from anima.regions.gate.config import GateTuning
from anima.skills.registry import SKILLS, InvalidArguments, render
from anima.types.mind import Objective, SkillCall, WorldState
from anima.world.predicates import Predicate, holds

OPEN = frozenset({"pending", "focused", "parked"})
SURVIVAL = "hypothalamus"
CURIOSITY = "striatum"
PARTS = "parts"
Parked = Literal["", "stop", "moment", "rest", "question", "survival", "restart"]
"""What an objective that was set aside waits for: a person's word after a stop; a transient reason to pass; its rest
to be over; an answer; the battery; somebody, or its own pressure, to take it up again after a restart."""

_parse = functools.lru_cache(maxsize=256)(Predicate.parse)


def short(call: SkillCall) -> str:
    """A call as people and advice write it: ``wait(5)``, not ``wait(5.0)``."""
    return plain(render(call.skill, call.arguments))


def plain(text: str) -> str:
    """The one spelling by which written calls are compared."""
    return text.replace(".0)", ")")


@dataclass(frozen=True)
class Spent:
    """Why no more may be spent on an objective: `for_good`, or for as long as the robot is as it is."""

    why: str
    for_good: bool


class Item(BaseModel):
    """An objective and its history. `group` numbers the message that it came in; `happened`: its event took place.

    `parked_by`, `parked_at`: what it waits for since when. `rests`: how often it was set aside. `insisted`: a person
    wants it before the battery is charged. `acted_at`: when the last call for it ended. `told`: sentences about what
    did not work, newest last. `avoid`: calls that are denied, until when; `avoid_why` says why. `worked`: calls that
    succeeded. `because`: why the robot wants it of itself.
    `energy`: the share of the battery that a forecast says the next call takes; `battery` how full
    the battery was when it last waited for it.

    `recovery` names the last recovery (``after slip: rescan``), `recoveries` all of them; `recovering` is the failure
    that it is for, `mends` the call that ended with it, `steps` how many steps of each failure's playbook were taken,
    `next_call` the call that it wants.
    """

    objective: Objective
    group: int
    holds_since: float | None = None
    happened: bool = False
    parked_by: Parked = ""
    parked_at: float = 0.0
    rests: int = 0
    insisted: bool = False
    frustration: float = 0.0
    acted_at: float | None = None
    calls: int = 0
    failures: int = 0
    refusals: int = 0
    signatures: dict[str, int] = {}
    told: list[str] = []
    avoid: dict[str, float] = {}
    avoid_why: dict[str, str] = {}
    worked: list[str] = []
    energy: float | None = None
    battery: float = 0.0
    because: str = ""
    recovery: str = ""
    recoveries: list[str] = []
    recovering: int = 0
    mends: str = ""
    steps: dict[int, int] = {}
    next_call: str = ""

    @property
    def id(self) -> str:
        """The objective's id."""
        return self.objective.id

    @property
    def state(self) -> str:
        """The objective's state."""
        return self.objective.state

    @property
    def source(self) -> str:
        """Who wants it: an utterance's id, `SURVIVAL`, `CURIOSITY` or `PARTS`."""
        return self.objective.source

    @property
    def is_own(self) -> bool:
        """Whether the robot wants it of itself."""
        return self.source in (SURVIVAL, CURIOSITY, PARTS)

    @property
    def predicate(self) -> Predicate:
        """The done-condition; raises `PredicateError`."""
        return _parse(self.objective.condition)

    def become(self, state: str, reason: str) -> None:
        """Change the state; what ended stays as it ended."""
        if self.state in OPEN and (state, reason) != (self.state, self.objective.reason):
            self.objective = self.objective.model_copy(update={"state": state, "reason": reason})

    def park(self, by: Parked, now: float, reason: str) -> None:
        """Set it aside."""
        if self.parked_by != by:
            self.parked_at = now
        self.become("parked", reason)
        self.parked_by = by
        self.next_call = ""

    def wake(self) -> None:
        """Take it up again, behind whatever is in focus. After a rest every tactic is open again."""
        if self.parked_by in ("rest", "question"):
            self.avoid, self.avoid_why = {}, {}
        self.become("pending", "")
        self.parked_by = ""
        self.holds_since = None

    def remember(self, sentence: str, keep: int) -> None:
        """Keep a sentence for the planner, newest last; the same once only."""
        self.told = [*(told for told in self.told if told != sentence), sentence][-keep:] if keep else []

    def failed(self, signature: str, sentence: str, tuning: GateTuning, budgets: Budgets) -> Spent | None:
        """Count a call that failed; `signature` is equal for the same call failing in the same way."""
        self.failures += 1
        self.signatures[signature] = same = self.signatures.get(signature, 0) + 1
        self.frustration += 1.0 + tuning.repeat_frustration * (same - 1)
        self.remember(sentence, tuning.failures_told)
        if same >= budgets.same:
            return Spent(f"it failed in this way {times(same)}", same > tuning.retries_per_signature)
        if self.failures >= budgets.failures:
            return Spent(f"{self.failures} calls for it failed", self.failures >= tuning.failures_per_objective)
        return None

    def overdrawn(self, tuning: GateTuning, budgets: Budgets) -> Spent | None:
        """Whether there were too many calls for it already."""
        if self.source == CURIOSITY and self.calls >= tuning.calls_per_exploration:
            return Spent(f"{self.calls} calls are enough for a look around", True)
        if self.calls < budgets.calls:
            return None
        why = f"{self.calls} calls were made for it and it is still not reached"
        return Spent(why, self.calls >= tuning.calls_per_objective)

    def refused(self, call: SkillCall, reason: str, tuning: GateTuning) -> Spent | None:
        """Count a proposal that the validator refused."""
        self.refusals += 1
        sentence = f"{render(call.skill, call.arguments)}: refused, {reason}"
        self.remember(sentence, tuning.failures_told)
        if self.refusals < tuning.refusals_in_a_row:
            return None
        return Spent(f"{self.refusals} proposals in a row were refused, the last: {sentence}", True)

    def forbid(self, call: str, until: float, why: str) -> None:
        """Deny a call until a time, or until another call for the objective has worked: the tactic has changed then."""
        call = plain(call)
        self.avoid = {**self.avoid, call: max(until, self.avoid.get(call, until))}
        self.avoid_why = {**self.avoid_why, call: why}

    def forbidden(self, now: float, call: str) -> str:
        """Why a call is denied now, or empty."""
        call = plain(call)
        return self.avoid_why[call] if now < self.avoid.get(call, now) else ""

    def succeeded(self, call: str, tuning: GateTuning) -> None:
        """A call for it worked: what is new relieves, and what was forbidden is allowed again."""
        if call not in self.worked:
            self.worked = [*self.worked, call][-20:]
            self.frustration *= tuning.progress_relief
        self.avoid = {}

    def mended(self) -> None:
        """A call worked after a recovery, which is over."""
        if self.recovery:
            self.recovery, self.recovering, self.mends, self.next_call = "", 0, "", ""
            self.become(self.state, "")


def times(count: int) -> str:
    """``once``, or ``3 times``."""
    return "once" if count == 1 else f"{count} times"


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
