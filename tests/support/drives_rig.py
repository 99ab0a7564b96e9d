"""What body, gate and planner say to hypothalamus, striatum and prospection; and a stepper for any one of them."""

from __future__ import annotations

import json
import math
from typing import Any, TypeVar

import numpy as np

from anima import topics as t
from anima.runtime.component import Component, Inbox
from anima.topics import Sent, Topic
from anima.types.base import Header, Msg, Time
from anima.types.glue import Condition, Episode, Recall, Resources, Temperament
from anima.types.mind import Backlog, Objective, SurfaceState
from anima.types.std import BatteryState, JointState, Pose, PoseWithCovariance, PoseWithCovarianceStamped

M = TypeVar("M", bound=Msg)
KITCHEN, OFFICE, DOCK = (6.75, 4.4), (1.2, 1.3), (5.2, 1.54)
_NONE = np.zeros(0, np.float32)
_ZEROS = np.zeros(36)


def battery(now: float, share: float, *, docked: bool = False, current: float = math.nan, c: float = math.nan) -> Sent:
    """The gauge: `share` of full, amperes (negative when discharging), degrees Celsius."""
    return t.BATTERY.of(
        BatteryState(
            header=Header.at(now), voltage=12.0, temperature=c, current=current, charge=share * 5, capacity=5.0,
            design_capacity=5.0, percentage=share, power_supply_status=1 if docked else 2, power_supply_health=1,
            power_supply_technology=2, present=True, cell_voltage=_NONE, cell_temperature=_NONE, location="",
            serial_number="",
        )
    )


def pose(now: float, at: tuple[float, float]) -> Sent:
    """Where the robot is on the map."""
    placed = PoseWithCovariance(pose=Pose.planar(*at, 0.0), covariance=_ZEROS)
    return t.POSE.of(PoseWithCovarianceStamped(header=Header.at(now, "map"), pose=placed))


def joints(now: float, **effort: float) -> Sent:
    """What the motors push with, newton metres."""
    efforts, still = np.array(list(effort.values())), np.zeros(len(effort))
    return t.JOINT_STATES.of(
        JointState(header=Header.at(now), name=list(effort), position=still, velocity=still, effort=efforts)
    )


def objective(id: str, condition: str, state: str = "parked", **more: Any) -> Objective:
    """An objective of a person."""
    fields: dict[str, Any] = {"said": "please", "source": "u1", "reason": "", "created": Time.at(0.0)} | more
    return Objective(id=id, condition=condition, order=0, state=state, **fields)


def backlog(now: float, *items: Objective) -> Sent:
    """What the gate keeps."""
    focus = next((item.id for item in items if item.state == "focused"), "")
    return t.BACKLOG.of(Backlog(header=Header.at(now), objectives=list(items), focus=focus, why="because", failures=[]))


def resources(now: float, **update: Any) -> Sent:
    """A body that can afford everything."""
    fields: dict[str, Any] = {
        "battery": 0.9, "temperature": 25.0, "wear": 0.0, "charge_drive": 0.0, "must_dock": False,
        "think_budget_s": 30.0, "may_simulate": True, "may_explore": True, "range_m": 500.0, "why": "enough",
        "share_per_m": 5e-5, "share_per_s": 4e-5, "reserve": 0.15,
    } | update
    return t.RESOURCES.of(Resources(header=Header.at(now), **fields))


def condition(now: float, label: str = "STABLE", mode: str = "FOCUSED", strain: float = 0.0) -> Sent:
    """How the robot is."""
    return t.CONDITION.of(
        Condition(
            header=Header.at(now), label=label, mode=mode, strain=strain, retry_scale=1.0, persistence_scale=1.0, why=""
        )
    )


def temperament(now: float, initiative: float = 0.5, caution: float = 0.5) -> Sent:
    """Dispositions."""
    return t.TEMPERAMENT.of(
        Temperament(header=Header.at(now), initiative=initiative, persistence=0.5, caution=caution, word="even")
    )


def surface(name: str, viewed_at: float, coverage: float = 0.0) -> SurfaceState:
    """When a surface was last looked at; 0 is never."""
    return SurfaceState(name=name, coverage=coverage, last_viewed=Time.at(viewed_at))


def recall(now: float, objective: str, avoid: list[str], prefer: list[str], *episodes: tuple[str, bool]) -> Sent:
    """What came to mind; each episode as (call, success), all of them alike."""
    lived = [
        Episode(
            id=str(k), at=Time.at(0.0), situation="", objective=objective, call=call, success=success, failure=0,
            detail="", fix="", count=1, origin="lived",
        )
        for k, (call, success) in enumerate(episodes)
    ]
    return t.RECALL.of(
        Recall(
            header=Header.at(now), objective=objective, episodes=lived, similarity=np.ones(len(lived)), avoid=avoid,
            prefer=prefer,
        )
    )


def arguments(**values: Any) -> str:
    """Arguments of a call."""
    return json.dumps(values)


class Stepper:
    """Steps one region and keeps what it said."""

    def __init__(self, region: Component, now: float = 0.0) -> None:
        self.region = region
        self.now = now
        self.inbox = Inbox()
        self.sent: list[Sent] = []

    def step(self, *given: Sent, dt: float = 1.0) -> list[Sent]:
        """Time moves on, and these arrive."""
        self.now += dt
        for item in given:
            self.inbox.deliver(item)
        sent = self.region.step(self.now, self.inbox)
        self.inbox.clear()
        self.sent += sent
        return sent

    def wait(self, seconds: float) -> list[Sent]:
        """Nothing new for a while, at 1 Hz."""
        return [item for _ in range(round(seconds)) for item in self.step()]

    def last(self, topic: Topic[M]) -> M:
        """The newest value that it said."""
        value = next(item.value for item in reversed(self.sent) if item.topic is topic)
        assert isinstance(value, topic.type)
        return value
