"""A gate on the bench, and what people, planner, skills and sensors say to it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.regions.basal_ganglia import BasalGanglia
from anima.regions.gate.playbooks import Playbooks
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Condition, Conflict, Event, Forecast, GoalTension, Resources, Salient, Temperament
from anima.types.mind import (
    Backlog,
    Lease,
    Objective,
    Objectives,
    ObjectState,
    Outcome,
    SkillCall,
    StopState,
    Utterance,
    Verdict,
    WorldState,
)
from anima.types.std import Point, Pose, Vector3

SETTINGS = Settings()
TICK_S = 0.1


def world(now: float, **update: Any) -> Sent:
    """What is known: a robot in the corridor, with an empty hand; `update` changes fields."""
    state = WorldState(
        header=Header.at(now, "map"), robot=Pose.planar(5.0, 1.7, 0.0), room="corridor", place="", holding="",
        docked=False, battery=0.9, stopped=False, localized=True, objects=[], surfaces=[], facts=[],
    )
    return t.WORLD_STATE.of(state.model_copy(update=update))


def thing(name: str, place: str) -> ObjectState:
    """An object that is known to be somewhere."""
    colour, shape = name.split("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status="confirmed", position=Point(x=1.0, y=1.0, z=0.4), yaw=0.0,
        size=Vector3(x=0.035, y=0.035, z=0.035), place=place, last_seen=Time.at(0.0), confidence=0.9,
    )


def objective(
    id: str, condition: str, order: int = 0, source: str = "u1", created: float = 100.0, **more: Any
) -> Objective:
    """An objective as the planner makes it from an utterance."""
    fields: dict[str, Any] = {"state": "pending", "reason": "", "said": "please"} | more
    return Objective(id=id, condition=condition, source=source, order=order, created=Time.at(created), **fields)


def objectives(now: float, *items: Objective, replace: bool = False) -> Sent:
    """A message of new objectives."""
    return t.OBJECTIVES.of(Objectives(header=Header.at(now), objectives=list(items), replace=replace))


def call(id: str, skill: str, objective: str = "o1", source: str = "planner", **arguments: Any) -> SkillCall:
    """A skill call."""
    return SkillCall(
        header=Header.at(0.0), id=id, skill=skill, arguments=json.dumps(arguments), objective=objective,
        source=source, because=[],
    )


def accepted(now: float, proposal: SkillCall) -> Sent:
    """The validator accepts."""
    return t.VERDICT.of(
        Verdict(header=Header.at(now), call=proposal, accepted=True, correction="", failure=0, reason="", repair="")
    )


def refused(now: float, proposal: SkillCall, reason: str = "the hand is empty") -> Sent:
    """The validator refuses."""
    return t.VERDICT.of(
        Verdict(
            header=Header.at(now),
            call=proposal,
            accepted=False,
            correction="",
            failure=int(Failure.PRECONDITION_UNMET),
            reason=reason,
            repair="",
        )
    )


def said(now: float, text: str, id: str = "u9") -> Sent:
    """A person says something."""
    return t.UTTERANCE.of(Utterance(header=Header.at(now), id=id, speaker="ana", text=text))


def stop_state(now: float, latched: bool = False, *active: str) -> Sent:
    """What the reflex kernel says."""
    return t.STOP_STATE.of(StopState(header=Header.at(now), latched=latched, source="ana", active=list(active)))


def salient(now: float, kind: str, interrupts: str, why: str = "it is urgent", because: Sequence[str] = ()) -> Sent:
    """The amygdala finds that an event matters."""
    event = Event(
        header=Header.at(now), id=f"e{now}", source="test", kind=kind, subject="", text=kind, repeats=1,
        because=list(because),
    )
    return t.SALIENCE.of(Salient(header=Header.at(now), event=event, urgency=0.9, why=why, interrupts=interrupts))


def conflict(now: float, objective: str, advice: str, *avoid: str, why: str = "it leads nowhere") -> Sent:
    """The conflict monitor finds that effort brings nothing."""
    return t.CONFLICT.of(
        Conflict(
            header=Header.at(now), id=f"x{now}", kind="no_progress", objective=objective, advice=advice,
            avoid=list(avoid), why=why, because=[],
        )
    )


def condition(now: float, scale: float) -> Sent:
    """The insula says how worn the robot is; 1 is not at all."""
    return t.CONDITION.of(
        Condition(
            header=Header.at(now), label="STABLE" if scale == 1 else "DEGRADED", mode="FOCUSED", strain=1 - scale,
            retry_scale=scale, persistence_scale=scale, why="test",
        )
    )


def temperament(now: float, persistence: float) -> Sent:
    """How persistent the robot has become; 0.5 is neutral."""
    return t.TEMPERAMENT.of(
        Temperament(header=Header.at(now), initiative=0.5, persistence=persistence, caution=0.5, word="steady")
    )


def resources(now: float, **update: Any) -> Sent:
    """What the body can afford: plenty, unless `update` says otherwise."""
    plenty = Resources(
        header=Header.at(now), battery=0.9, temperature=30.0, wear=0.0, charge_drive=0.0, must_dock=False,
        think_budget_s=30.0, may_simulate=False, may_explore=True, range_m=500.0, why="the battery is full",
        reserve=0.15,
    )
    return t.RESOURCES.of(plenty.model_copy(update=update))


def tension(now: float, wants: str, objective: str = "", condition: str = "") -> Sent:
    """What presses the robot when it is idle."""
    return t.GOAL_TENSION.of(
        GoalTension(
            header=Header.at(now), tension=0.8, arousal=0.8, wants=wants, objective=objective, condition=condition,
            why="it is unfinished",
        )
    )


def forecast(now: float, call: str, advice: str, rather: str = "", why: str = "it would strand", **more: Any) -> Sent:
    """What short rollouts say of the call of that id."""
    fields: dict[str, Any] = {"rollouts": 3, "success": 0.5, "energy": 0.01} | more
    return t.FORECAST.of(
        Forecast(
            header=Header.at(now), call="", cost_s=10.0, hazard=0.0, advice=advice,
            rather=rather if advice == "rather" else "", why=why, id=call, **fields,
        )
    )


class Bench:
    """Steps a gate ten times a second; keeps the newest backlog, and every lease message.

    `playbooks` are other ones than the file's.
    """

    def __init__(self, now: float = 100.0, playbooks: Playbooks | None = None) -> None:
        self.gate = BasalGanglia(SETTINGS, playbooks)
        self.now = now
        self.inbox = Inbox()
        self.backlog: Backlog | None = None
        self.backlogs = 0
        self.leases: list[Lease] = []
        self.verdicts: list[Verdict] = []
        self.world_update: dict[str, Any] = {}

    def tick(self, *sent: Sent, dt: float = TICK_S, look: bool = True) -> list[Lease]:
        """One step; returns the lease messages of it. `look`: a fresh world state comes with it."""
        self.now += dt
        for item in (*((world(self.now, **self.world_update),) if look else ()), *sent):
            self.inbox.deliver(item)
        new: list[Lease] = []
        for item in self.gate.step(self.now, self.inbox):
            if isinstance(item.value, Lease):
                new.append(item.value)
            elif isinstance(item.value, Backlog):
                self.backlog, self.backlogs = item.value, self.backlogs + 1
            elif isinstance(item.value, Verdict):
                self.verdicts.append(item.value)
        self.inbox.clear()
        self.leases += new
        return new

    def wait(self, seconds: float) -> list[Lease]:
        """Nothing new for a while."""
        return [lease for _ in range(round(seconds / TICK_S)) for lease in self.tick()]

    def begin(self, proposal: SkillCall) -> Lease:
        """The planner's call is accepted, and must get a lease within a second."""
        found = self.tick(accepted(self.now, proposal)) or self.wait(1.0)
        (lease,) = found
        assert lease.granted and lease.call.id == proposal.id
        return lease

    def end(self, lease: Lease, failure: Failure = Failure.NONE, detail: str = "") -> list[Lease]:
        """The motor cortex says how a lease ended."""
        outcome = Outcome(
            header=Header.at(self.now), lease=lease.id, call=lease.call, success=failure is Failure.NONE,
            failure=int(failure), detail=detail, duration_s=1.0,
        )
        return self.tick(t.OUTCOME.of(outcome))

    def state_of(self, id: str) -> str:
        """How an objective stands in the newest backlog."""
        return self._objective(id).state

    def reason_of(self, id: str) -> str:
        """Why it stands so."""
        return self._objective(id).reason

    def _objective(self, id: str) -> Objective:
        assert self.backlog is not None
        (found,) = [o for o in self.backlog.objectives if o.id == id]
        return found

    @property
    def focus(self) -> str:
        """The focus of the newest backlog."""
        assert self.backlog is not None
        return self.backlog.focus

    @property
    def failures(self) -> Sequence[str]:
        """The failures of the newest backlog."""
        assert self.backlog is not None
        return self.backlog.failures
