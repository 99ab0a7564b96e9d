"""The rug that holds a wheel: in the physics the robot gets stuck on it twice, then it is sent once more."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from anima import topics as t
from anima.audit.timeline import Timeline, Told
from anima.audit.why import why
from anima.body.places import load_places
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.component import Component
from anima.runtime.local_graph import LocalGraph, Logged
from anima.types.base import Header
from anima.types.mind import Fault, Outcome, Route, SkillCall
from anima.types.std import Pose, PoseWithCovariance, PoseWithCovarianceStamped
from anima_sim.body import SimulatedBody

PARTS = "parts_self"
ROWS = (
    "body", "reflex_kernel", "localization", "parietal_affordance", "thalamus_router", "amygdala_salience",
    "hypothalamus_arbiter", "basal_ganglia_gate", "motor_cortex", PARTS,
)
BEFORE_THE_RUG = (4.2, 3.5, 1.5708)
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Drive:
    """One drive to the person: how it ended, and which share of its first way lay on the rug."""

    call: str
    outcome: Outcome
    on_the_rug: float


class RugDay:
    """The body, the reflexes, the gate and the inner life over physics; a person sends the robot by hand.

    While `grips`, a wheel stalls whenever the robot is on the rug, until the drive has ended.
    """

    def __init__(self, settings: Settings, inner: Component | None = None) -> None:
        given: Mapping[str, Component] = {} if inner is None else {PARTS: inner}
        rows = [row for row in TABLE if row.node in ROWS and (row.node != PARTS or inner is not None)]
        self.graph = LocalGraph(settings.model_copy(update={"cameras": False}), rows, replace=given)
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        self._body = body
        self._rug = load_places(settings.map_folder).coverings[0].name
        self._area = load_places(settings.map_folder).area_of(self._rug)
        self._told: list[Told] = []
        self.graph.tap(self._note)
        self.grips = False
        self._calls = 0
        body.world.place_robot(*BEFORE_THE_RUG)
        pose = PoseWithCovariance(pose=Pose.planar(*BEFORE_THE_RUG), covariance=np.full(36, 0.01))
        self.graph.send(t.INITIAL_POSE.of(PoseWithCovarianceStamped(header=Header.at(0.0, "map"), pose=pose)))
        self.graph.run_for(1.0)

    def _note(self, logged: Logged) -> None:
        self._told.append(Told(logged.at, logged.node, logged.sent.topic.name, logged.sent.value))

    def drive(self) -> Drive:
        """Send the robot to the person, over the rug if nothing speaks against it, from where it stands before it."""
        if self._calls:
            grips, self.grips = self.grips, False
            self._send("living_room")
            self.grips = grips
        call, began, ended = self._send("person")
        route = next(route for at, route in self._of(t.ROUTE.name) if at >= began and isinstance(route, Route))
        return Drive(call, ended, self._share(route))

    def _send(self, place: str) -> tuple[str, float, Outcome]:
        """A drive by hand to its end: the call, when it began, and how it ended."""
        graph = self.graph
        self._calls += 1
        call = SkillCall(
            header=Header.at(graph.now), id=f"drive-{self._calls}", skill="go_to",
            arguments=json.dumps({"place": place}), objective="", source="operator", because=[],
        )
        began = graph.now
        graph.send(t.OPERATOR_CALL.of(call))
        while (ended := self._outcome(call.id)) is None and graph.now < began + _PATIENCE_S:
            if self.grips and self._is_on_it():
                graph.send(t.FAULT.of(Fault(kind="stalled_wheel", target="left_wheel", duration_s=0.0)))
                self.grips = False
            graph.run_for(0.1)
            refused = [v.reason for v in graph.sent(t.OPERATOR_VERDICT) if v.call.id == call.id and not v.accepted]
            if refused:
                raise RuntimeError(f"{call.id} was refused: {refused[0]}")
        graph.send(t.FAULT.of(Fault(kind="")))
        graph.run_for(1.0)
        if ended is None:
            raise TimeoutError(f"{call.id} did not end within {_PATIENCE_S:g} s")
        return call.id, began, ended

    def think(self, wall_s: float = 0.0) -> bool:
        """Let time go on until a part's stance holds, or the inner life is at rest. With a real model that takes up to
        `wall_s` of the wall's. False when it did not come to either.
        """
        inner = self.graph.component(PARTS)
        limit = time.monotonic() + wall_s
        for _ in range(200_000):
            self.graph.run_for(0.2)
            stances = self.graph.last(t.STANCES)
            if getattr(inner, "is_idle", True) or (stances is not None and stances.stances):
                return True
            if wall_s:
                time.sleep(0.02)
                if time.monotonic() > limit:
                    return False
        return False

    def why(self, call: str) -> str:
        """What `anima why` says of a call."""
        topics: dict[str, list[Told]] = {}
        for told in self._told:
            topics.setdefault(told.topic, []).append(told)
        return "\n".join(f"{heading}: {text}" for heading, text in why(Timeline(topics), call))

    def _of(self, topic: str) -> Iterable[tuple[float, object]]:
        return ((told.at, told.value) for told in self._told if told.topic == topic)

    def _outcome(self, call: str) -> Outcome | None:
        return next((o for o in reversed(self.graph.sent(t.OUTCOME)) if o.call.id == call), None)

    def _is_on_it(self) -> bool:
        x, y, _ = self._body.world.truth.robot_pose()
        assert self._area is not None
        x0, y0, x1, y1 = self._area
        return x0 < x < x1 and y0 < y < y1

    def _share(self, route: Route) -> float:
        assert self._area is not None
        x0, y0, x1, y1 = self._area
        points = [pose.pose.position for pose in route.path.poses]
        return sum(x0 < p.x < x1 and y0 < p.y < y1 for p in points) / max(len(points), 1)
