"""A planner with a scripted model, stepped by hand, and the messages that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from anima import topics as t
from anima.config import Settings
from anima.planner.prefrontal import PrefrontalPlanner
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Condition, Conflict, ContextPacket, Episode, Event, Recall, Resources, Salient
from anima.types.mind import Backlog, Objective, ObjectState, Outcome, SkillCall, Utterance, WorldState
from anima.types.std import Point, Pose, Vector3
from anima.world.state import facts_of
from support.scripted_model import ScriptedModel


def world(now: float, *things: tuple[str, str], **changes: Any) -> WorldState:
    objects = [
        ObjectState(
            name=name, colour=name.split("_")[0], shape=name.split("_")[1], status="confirmed",
            position=Point(x=5.0, y=5.0, z=0.42), yaw=0.0, size=Vector3(x=0.04, y=0.04, z=0.04), place=place,
            last_seen=Time.at(now), confidence=0.9,
        )
        for name, place in things
    ]
    state = WorldState(
        header=Header.at(now, "map"), robot=Pose(), room="living_room", place="", holding="", docked=False,
        battery=0.8, stopped=False, localized=True, objects=objects, surfaces=[], facts=[],
    ).model_copy(update=changes)
    return state.model_copy(update={"facts": facts_of(state)})


def objective(condition: str, state: str = "focused", reason: str = "") -> Objective:
    return Objective(
        id="u1.0", condition=condition, said="do it", source="u1", order=0, state=state, reason=reason,
        created=Time.at(0.0),
    )


def backlog(*objectives: Objective) -> Backlog:
    focus = next((o.id for o in objectives if o.state == "focused"), "")
    return Backlog(header=Header.at(0.0), objectives=list(objectives), focus=focus, why="", failures=[])


class Bench:
    """A planner with its inbox, stepped by hand ten times a second."""

    def __init__(self, script: Any, wakes: bool = True) -> None:
        self.model = ScriptedModel(script if callable(script) else lambda request: script, wakes)
        self.planner = PrefrontalPlanner(Settings(), self.model)
        self.inbox = Inbox()
        self.now = 10.0
        self.sent: list[Sent] = []
        self.run(1.0)

    def run(self, seconds: float) -> list[Sent]:
        fresh: list[Sent] = []
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            fresh += self.planner.step(self.now, self.inbox)
            self.inbox.clear()
        self.sent += fresh
        return fresh

    def give(self, *values: Sent) -> None:
        for value in values:
            self.inbox.deliver(value)

    def say(self, text: str, identity: str = "u1") -> list[Sent]:
        self.give(t.UTTERANCE.of(Utterance(header=Header.at(self.now), id=identity, speaker="ana", text=text)))
        return self.run(1.0)

    def focus_on(self, condition: str, state: WorldState | None = None) -> list[Sent]:
        self.give(t.WORLD_STATE.of(state or world(self.now)), t.BACKLOG.of(backlog(objective(condition))))
        return self.run(1.0)

    @property
    def offered(self) -> tuple[str, ...]:
        """What the model could choose from at its last decision."""
        return self.model.requests[-1].choices

    @property
    def shown(self) -> str:
        """The packet of the last decision."""
        return self.model.requests[-1].messages[-1].content

    @property
    def context(self) -> ContextPacket:
        """The last packet as it is told to people."""
        packet: ContextPacket = of(self.sent, t.CONTEXT)[-1]
        return packet

    def end(self, call: SkillCall, failure: int = 0, detail: str = "") -> list[Sent]:
        outcome = Outcome(
            header=Header.at(self.now), lease="l", call=call, success=failure == 0, failure=failure, detail=detail,
            duration_s=1.0,
        )
        last = self.inbox.last(t.WORLD_STATE)
        assert last is not None
        fresh = last.model_copy(update={"header": Header.at(self.now + 0.2)})
        self.give(t.OUTCOME.of(outcome), t.WORLD_STATE.of(fresh))
        return self.run(1.0)


def of(sent: list[Sent], topic: t.Topic[Any]) -> list[Any]:
    return [item.value for item in sent if item.topic is topic]


def salient(
    now: float,
    text: str,
    urgency: float,
    kind: str = "trend",
    interrupts: str = "none",
    subject: str = "",
    cause: str = "",
) -> Sent:
    event = Event(
        header=Header.at(now), id=f"{kind}@{now:.3f}", source="body", kind=kind, subject=subject or text, text=text,
        repeats=0, because=[cause] if cause else [],
    )
    return t.SALIENCE.of(
        Salient(header=Header.at(now), event=event, urgency=urgency, why="", interrupts=interrupts)
    )


def conflict(now: float, *avoid: str, objective: str = "u1.0", kind: str = "repeated_failure") -> Sent:
    return t.CONFLICT.of(
        Conflict(
            header=Header.at(now), id="c1", kind=kind, objective=objective, advice="change_tactic", avoid=list(avoid),
            why="the same again and again", because=[],
        )
    )


def condition(mode: str, label: str = "STABLE", retry_scale: float = 1.0) -> Sent:
    return t.CONDITION.of(
        Condition(
            header=Header.at(0.0), label=label, mode=mode, strain=0.6, retry_scale=retry_scale, persistence_scale=1.0,
            why="many small failures",
        )
    )


def resources(think_s: float = 60.0, must_dock: bool = False) -> Sent:
    return t.RESOURCES.of(
        Resources(
            header=Header.at(0.0), battery=0.5, temperature=0.0, wear=0.0, charge_drive=0.0, must_dock=must_dock,
            think_budget_s=think_s, may_simulate=True, may_explore=True, range_m=100.0, why="",
        )
    )


def episode(call: str, failure: int = 0, fix: str = "") -> Episode:
    return Episode(
        id=f"e-{call}", at=Time.at(0.0), situation="", objective="", call=call, success=failure == 0, failure=failure,
        detail="", fix=fix, count=1, origin="recalled",
    )


def recall(
    *episodes: Episode, avoid: tuple[str, ...] = (), prefer: tuple[str, ...] = (), objective: str = "u1.0"
) -> Sent:
    return t.RECALL.of(
        Recall(
            header=Header.at(0.0), objective=objective, episodes=list(episodes), similarity=np.ones(len(episodes)),
            avoid=list(avoid), prefer=list(prefer),
        )
    )
