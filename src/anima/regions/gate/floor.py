"""What the parts of the gate share: its state and numbers, and the few ways to end, revoke and set aside."""

from __future__ import annotations

from collections.abc import Iterable

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.regions.gate.backlog import Backlog
from anima.regions.gate.budgets import Budgets
from anima.regions.gate.config import load_gate
from anima.regions.gate.leases import Held
from anima.regions.gate.objectives import CURIOSITY, PARTS, Item, Spent, is_done, times
from anima.regions.gate.state import State
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import SkillCall, Verdict
from anima.world.predicates import holds

OPERATOR = "operator"
PLANNER = "planner"
PLAYBOOK = "playbook"
BY_HAND = "a person drives by hand"
QUESTION = "; shall I go on, or let it be? I need help"
_IDS_KEPT = 200


class Floor:
    """The state of the gate, and what every part of it does alike."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/gate.yaml` or the map can't be used."""
        self.tuning = load_gate()
        self.names = known_names(settings)
        self.places = load_places(settings.map_folder)
        self.robot = settings.robot
        self.state = State()
        self.budgets = Budgets.of(self.tuning, None, None)

    @property
    def backlog(self) -> Backlog:
        """The objectives."""
        return self.state.backlog

    def weigh(self) -> None:
        """The budgets, after condition or temperament changed."""
        self.budgets = Budgets.of(self.tuning, self.state.condition, self.state.temperament)

    def is_new(self, call: SkillCall) -> bool:
        """Whether the call was not decided about before; from now on it was.

        Who makes calls numbers them anew after a restart: when it was made is a part of what a call is.
        """
        made = f"{call.id} at {call.header.stamp.seconds:.3f}"
        if made in self.state.calls:
            return False
        self.state.calls = [*self.state.calls, made][-_IDS_KEPT:]
        return True

    # --- what holds the body still ---------------------------------------------------------------

    @property
    def latched(self) -> bool:
        """Whether the software stop is latched."""
        return self.state.stop is not None and self.state.stop.latched

    @property
    def latch_reason(self) -> str:
        """Who latched it."""
        source = self.state.stop.source if self.state.stop is not None else ""
        return f"the software stop was latched by {source or 'somebody'}"

    @property
    def out_of_hand(self) -> str:
        """Why the mind can't have the body for now, or empty: a silent process, or a person who drives it (teleop)."""
        active = self.state.stop.active if self.state.stop is not None else ()
        if "process_silent" in active:
            return "a process of the robot gives no sign of life"
        return BY_HAND if "teleop" in active else ""

    # --- leases ----------------------------------------------------------------------------------

    def revoke(self, now: float, helds: Iterable[Held], reason: str, *, blameless: bool = True) -> list[Sent]:
        """Take leases back."""
        revoked = (self.state.leases.revoke(now, held, reason, blameless=blameless) for held in list(helds))
        return [t.LEASE.of(lease) for lease in revoked if lease is not None]

    def refusal(self, now: float, call: SkillCall, failure: Failure, reason: str) -> Sent:
        """A person's call is refused."""
        verdict = Verdict(
            header=Header.at(now), call=call, accepted=False, correction="", failure=failure, reason=reason, repair=""
        )
        return t.OPERATOR_VERDICT.of(verdict)

    # --- objectives ------------------------------------------------------------------------------

    def end(self, item: Item, state: str, reason: str) -> None:
        """End an objective; the reason names what was tried after failures."""
        tried = ", ".join(item.recoveries) if state in ("done", "failed") else ""
        self.backlog.end(item, state, f"{reason}; {tried}" if tried else reason, self.tuning)

    def set_aside(self, now: float, item: Item, reason: str) -> None:
        """Let an objective rest for a while, so that others have their turn; after too many rests it has failed."""
        if item.source in (CURIOSITY, PARTS):
            self.end(item, "cancelled", reason)
            return
        item.rests += 1
        if item.rests > self.tuning.rests:
            often = f" though it was set aside {times(self.tuning.rests)}" if self.tuning.rests else ""
            self.end(item, "failed", f"it did not work{often}: {reason}")
            return
        item.frustration *= self.tuning.rest_relief
        item.park("rest", now, reason)

    def ask(self, now: float, item: Item, reason: str) -> None:
        """Set an objective aside with a question to the person."""
        item.park("question", now, f"{reason}{QUESTION}")

    def charge(self, now: float, item: Item, spent: Spent | None, detail: str) -> None:
        """End or set aside an objective on which too much was spent, or whose frustration is too much to go on."""
        if item not in self.backlog.open or (self.state.world is not None and holds(item.predicate, self.state.world)):
            return
        if spent is not None and spent.for_good:
            self.end(item, "failed", f"{detail}; {spent.why}" if detail else spent.why)
        elif spent is not None:
            self.set_aside(now, item, f"{detail}; {spent.why}" if detail else spent.why)
        elif item.frustration >= self.budgets.patience:
            self.set_aside(now, item, f"{detail or 'it leads nowhere'}; it rests for a while")

    def is_reached(self, now: float, item: Item) -> bool:
        """Whether the sensors say that it is reached, for long enough."""
        return self.state.world is not None and is_done(now, item, self.state.world, self.tuning.stable_s)

    def is_undecided(self, now: float, item: Item) -> bool:
        """Whether the sensors haven't yet shown what the last call came to, or are about to say that it is done."""
        if item.holds_since is not None:
            return True
        world = self.state.world
        looked = world is not None and item.acted_at is not None and world.header.stamp.seconds >= item.acted_at
        return item.acted_at is not None and not looked and now - item.acted_at < self.tuning.look_s

    @property
    def is_hearing(self) -> bool:
        """Whether somebody was just listened to, and what follows from it isn't known yet."""
        return self.state.hear_until is not None
