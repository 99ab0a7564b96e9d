"""A glue region on the bench: stepped by hand, and messages of the body and the mind to feed it."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from anima import topics as t
from anima.failure import Failure
from anima.regions.gate.leases import resources_of
from anima.runtime.component import Component, Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Condition, Event, Resources, Temperament
from anima.types.mind import Backlog, Lease, Objective, Outcome, ReflexEvent, SkillCall, SkillFeedback, Thought
from anima.types.std import BatteryState, JointState
from support.gate_rig import call

WHEELS = ["left_wheel_joint", "right_wheel_joint"]
NOTHING = np.zeros(0, dtype=np.float32)


class Dumped(Component, Protocol):
    """A region whose state can be taken out."""

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        ...


class Region:
    """Steps a region and keeps what it has sent."""

    def __init__(self, region: Dumped, now: float = 100.0) -> None:
        self.region = region
        self.now = now
        self.inbox = Inbox()
        self.sent: list[Any] = []

    def tick(self, *sent: Sent, dt: float = 0.1) -> list[Any]:
        """One step with these messages; what it says."""
        self.now += dt
        for item in sent:
            self.inbox.deliver(item)
        new = [item.value for item in self.region.step(self.now, self.inbox)]
        self.inbox.clear()
        self.sent += new
        return new

    def wait(self, seconds: float, dt: float = 0.1) -> list[Any]:
        """Nothing happens for a while; what it says meanwhile."""
        return [value for _ in range(round(seconds / dt)) for value in self.tick(dt=dt)]


def outcome(
    now: float, done: SkillCall, failure: Failure = Failure.NONE, detail: str = "", lease: str = ""
) -> Sent:
    """A call has ended, which `lease` had let begin."""
    return t.OUTCOME.of(
        Outcome(
            header=Header.at(now), lease=lease or f"lease-{done.id}", call=done, success=failure is Failure.NONE,
            failure=int(failure), detail=detail, duration_s=1.0,
        )
    )


def lease(now: float, begun: SkillCall, granted: bool = True, lasts_s: float = 120.0) -> Sent:
    """The gate lets a call begin, or takes it back."""
    return t.LEASE.of(
        Lease(
            header=Header.at(now), id=f"lease-{begun.id}", call=begun, resources=sorted(resources_of(begun.skill)),
            deadline=Time.at(now + lasts_s), granted=granted, reason="" if granted else "something else came first",
        )
    )


def feedback(now: float, running: SkillCall, progress: float, phase: str = "driving: on the way") -> Sent:
    """A skill says how far it is."""
    return t.SKILL_FEEDBACK.of(
        SkillFeedback(
            header=Header.at(now), lease=f"lease-{running.id}", call=running.id, skill=running.skill, phase=phase,
            progress=progress,
        )
    )


def backlog(now: float, *objectives: Objective, focus: str | None = None) -> Sent:
    """What the gate keeps; the first objective is in focus unless said otherwise."""
    chosen = (objectives[0].id if objectives else "") if focus is None else focus
    message = Backlog(header=Header.at(now), objectives=list(objectives), focus=chosen, why="", failures=[])
    return t.BACKLOG.of(message)


def reflex(now: float, kind: str, active: bool = True, detail: str = "front left") -> Sent:
    """A reflex began or ended."""
    return t.REFLEX_EVENT.of(ReflexEvent(header=Header.at(now), kind=kind, active=active, detail=detail))


def battery(now: float, charge: float, plugged: bool = False) -> Sent:
    """A reading of the battery; `charge` is the share of full."""
    return t.BATTERY.of(
        BatteryState(
            header=Header.at(now), voltage=12.0, temperature=math.nan, current=-1.0, charge=math.nan,
            capacity=math.nan, design_capacity=math.nan, percentage=charge, power_supply_status=1 if plugged else 2,
            power_supply_health=1, power_supply_technology=2, present=True, cell_voltage=NOTHING,
            cell_temperature=NOTHING, location="", serial_number="",
        )
    )


def wheels(now: float, speeds_radps: tuple[float, float], efforts_nm: tuple[float, float]) -> Sent:
    """The wheels' joint states, left and right."""
    return t.JOINT_STATES.of(
        JointState(
            header=Header.at(now), name=WHEELS, position=np.zeros(2), velocity=np.array(speeds_radps),
            effort=np.array(efforts_nm),
        )
    )


def event(now: float, kind: str, subject: str, repeats: int = 0, because: tuple[str, ...] = ()) -> Sent:
    """The thalamus passes something on."""
    return t.EVENTS.of(
        Event(
            header=Header.at(now), id=f"{kind}@{now:.3f}", source="test", kind=kind, subject=subject,
            text=f"{kind} of {subject}", repeats=repeats, because=list(because),
        )
    )


def temperament(now: float, caution: float) -> Sent:
    """How cautious the robot is, 0.5 being neutral."""
    return t.TEMPERAMENT.of(
        Temperament(header=Header.at(now), initiative=0.5, persistence=0.5, caution=caution, word="")
    )


def resources(now: float, charge_drive: float = 0.0, must_dock: bool = False) -> Sent:
    """What the body can afford."""
    return t.RESOURCES.of(
        Resources.model_construct(
            header=Header.at(now), battery=0.5, temperature=0.0, wear=0.0, charge_drive=charge_drive,
            must_dock=must_dock, think_budget_s=30.0, may_simulate=True, may_explore=True, range_m=100.0, why="",
        )
    )


def thought(now: float, role: str = "act") -> Sent:
    """A turn of the language model has ended."""
    return t.THOUGHT.of(
        Thought(
            header=Header.at(now), id=f"t{now}", role=role, prompt="", text="", prompt_tokens=0, cached_tokens=0,
            completion_tokens=0, prefill_s=0.0, decode_s=0.0, error="",
        )
    )


def last_condition(region: Region) -> Condition:
    """What the insula said last."""
    found = [value for value in region.sent if isinstance(value, Condition)]
    return found[-1]


def go_to(id: str, place: str, objective: str = "o1") -> SkillCall:
    """A drive."""
    return call(id, "go_to", objective, place=place)


def pick(id: str, thing: str = "red_cube", objective: str = "o1") -> SkillCall:
    """A grasp."""
    return call(id, "pick", objective, object=thing)
