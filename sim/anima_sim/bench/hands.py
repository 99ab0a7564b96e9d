"""The body and the part of the mind that moves it, without planner and gate: skills are called by name."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Literal

from anima import topics as t
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.component import Component
from anima.runtime.local_graph import LocalGraph
from anima.skills.registry import skill
from anima.types.base import Header, Time
from anima.types.mind import Lease, Outcome, SkillCall, WorldState
from anima_sim.body import SimulatedBody
from anima_sim.robot_world import RobotWorld

_ROWS = ("body", "reflex_kernel", "localization", "perception", "parietal_affordance", "motor_cortex")


class Hands:
    """A robot on its dock that does one skill after another, in simulated time."""

    def __init__(
        self,
        seed: int,
        cameras: bool = True,
        replace: Mapping[str, Component] | None = None,
        sim: Literal["mujoco", "gazebo"] = "mujoco",
    ) -> None:
        """Without cameras nothing is seen, and time passes several times as fast. `replace`: components by node."""
        settings = Settings(seed=seed, cameras=cameras, sim=sim)
        rows = [row for row in TABLE if row.node in _ROWS and (cameras or row.node != "perception")]
        self.graph = LocalGraph(settings, rows=rows, replace=replace)
        self._ids = itertools.count(1)
        self.graph.run_until(lambda: self.graph.last(t.WORLD_STATE) is not None and self.state.localized, 5.0)

    @property
    def world(self) -> RobotWorld:
        """The simulated world: for judging and for pictures, never for deciding."""
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        return body.world

    @property
    def state(self) -> WorldState:
        """What the robot knows."""
        state = self.graph.last(t.WORLD_STATE)
        assert state is not None
        return state

    def begin(self, name: str, **arguments: str) -> str:
        """Lease the body to a skill; returns the lease's id."""
        known, now = skill(name), self.graph.now
        identity = f"bench-{next(self._ids)}"
        call = SkillCall(
            header=Header.at(now), id=identity, skill=name, arguments=json.dumps(arguments), objective="",
            source="operator", because=[],
        )
        parts = sorted(part.value for part in known.resources)
        deadline = Time.at(now + known.timeout_s)
        lease = Lease(
            header=Header.at(now), id=identity, call=call, resources=parts, deadline=deadline, granted=True, reason=""
        )
        self.graph.send(t.LEASE.of(lease))
        return identity

    def revoke(self, identity: str) -> None:
        """Take a lease back."""
        lease = next(lease for lease in self.graph.sent(t.LEASE) if lease.id == identity)
        self.graph.send(t.LEASE.of(lease.model_copy(update={"granted": False, "reason": "taken back by the bench"})))

    def outcome(self, identity: str, timeout_s: float = 300.0) -> Outcome:
        """How the lease's call ended; raises TimeoutError when it doesn't end."""

        def ended() -> bool:
            last = self.graph.last(t.OUTCOME)
            return last is not None and last.lease == identity

        if not self.graph.run_until(ended, timeout_s):
            raise TimeoutError(f"{identity} did not end within {timeout_s:g} s of simulated time")
        found = self.graph.last(t.OUTCOME)
        assert found is not None
        return found

    def do(self, name: str, **arguments: str) -> Outcome:
        """Do a skill and wait for its end."""
        return self.outcome(self.begin(name, **arguments))
