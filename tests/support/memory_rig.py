"""A hippocampus on the bench: objectives come into focus, calls begin and end, and it is seen what comes to mind."""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.regions.hippocampus import Hippocampus
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Condition, Episode, Recall
from anima.types.mind import Backlog, Lease, Objective, Outcome, ReflexEvent, SkillCall, WorldState
from support.gate_rig import call, objective, thing, world

TICK_S = 0.2


class Life:
    """Steps a hippocampus through what happens to a robot; keeps the episodes and what comes to mind."""

    def __init__(self, settings: Settings | None = None, region: Hippocampus | None = None) -> None:
        self.region = region or Hippocampus(settings or Settings())
        self.now = 100.0
        self.inbox = Inbox()
        self.recalls: list[Recall] = []
        self.episodes: list[Episode] = []
        self.open: dict[str, Objective] = {}
        self.focused = ""
        self.calls = 0
        self.where: dict[str, Any] = {"room": "living_room", "place": "", "holding": "", "objects": []}

    def step(self, *sent: Sent) -> None:
        self.now += TICK_S
        for item in sent:
            self.inbox.deliver(item)
        for given in self.region.step(self.now, self.inbox):
            if isinstance(given.value, Recall):
                self.recalls.append(given.value)
            elif isinstance(given.value, Episode):
                self.episodes.append(given.value)
        self.inbox.clear()

    @property
    def in_mind(self) -> Recall | None:
        """What is in mind now; None for nothing."""
        return self.recalls[-1] if self.recalls and self.recalls[-1].episodes else None

    @property
    def avoid(self) -> list[str]:
        return self.in_mind.avoid if self.in_mind is not None else []

    @property
    def prefer(self) -> list[str]:
        return self.in_mind.prefer if self.in_mind is not None else []

    def stand(self, **where: Any) -> None:
        """The robot is somewhere else, or the world is."""
        self.where |= where
        self.step(world(self.now, **self.where))

    def focus(self, id: str, condition: str) -> None:
        """An objective comes into focus."""
        self.open[id] = objective(id, condition, state="focused", created=self.now)
        self.focused = id
        self._tell()

    def end(self, state: str = "done") -> None:
        """The focus ends, and is no more."""
        self.open[self.focused] = self.open[self.focused].model_copy(update={"state": state})
        self.focused = ""
        self._tell()

    def _tell(self) -> None:
        message = Backlog.model_construct(
            header=Header.at(self.now), objectives=list(self.open.values()), focus=self.focused, why="", failures=[],
        )
        self.step(t.BACKLOG.of(message))

    def begin(self, skill: str, by_hand: bool = False, **arguments: Any) -> Lease:
        self.calls += 1
        serves = "" if by_hand else self.focused
        proposal: SkillCall = call(f"c{self.calls}", skill, serves, **arguments)
        lease = Lease(
            header=Header.at(self.now), id=f"lease-{self.calls}", call=proposal, resources=["base"],
            deadline=Time.at(self.now + 60), granted=True, reason="",
        )
        self.step(t.LEASE.of(lease))
        return lease

    def take_back(self, lease: Lease, reason: str) -> None:
        self.step(t.LEASE.of(lease.model_copy(update={"granted": False, "reason": reason})))

    def over(self, lease: Lease, failure: Failure = Failure.NONE, detail: str = "") -> None:
        outcome = Outcome(
            header=Header.at(self.now), lease=lease.id, call=lease.call, success=failure is Failure.NONE,
            failure=int(failure), detail=detail, duration_s=1.0,
        )
        self.step(t.OUTCOME.of(outcome))

    def do(self, skill: str, failure: Failure = Failure.NONE, **arguments: Any) -> None:
        """A call from its lease to its end; then the world is looked at again."""
        self.over(self.begin(skill, **arguments), failure)
        self.step(world(self.now, **self.where))

    def feel(self, label: str) -> None:
        condition = Condition(
            header=Header.at(self.now), label=label, mode="FOCUSED", strain=0.0, retry_scale=1.0,
            persistence_scale=1.0, why="",
        )
        self.step(t.CONDITION.of(condition))

    def reflex(self, kind: str, active: bool) -> None:
        self.step(t.REFLEX_EVENT.of(ReflexEvent(header=Header.at(self.now), kind=kind, active=active, detail="")))


def known(now: float, **where: Any) -> WorldState:
    """A world state as a value."""
    value = world(now, **where).value
    assert isinstance(value, WorldState)
    return value


RED = thing("red_cube", "kitchen_table")
