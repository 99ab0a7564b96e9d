"""Skills with real physics and without ROS: leases in, outcomes and the simulator's truth out."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Literal

from anima import topics as t
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.brain import TABLE
from anima.config import Settings
from anima.failure import Failure
from anima.runtime.local_graph import LocalGraph
from anima.skills.registry import skill
from anima.types.base import Header, Time
from anima.types.mind import Fault, GroundTruth, Lease, Outcome, SkillCall, StopRequest
from anima.types.std import PoseWithCovarianceStamped
from anima_sim.body import SimulatedBody

DRIVING = ("body", "reflex_kernel", "localization", "parietal_affordance", "motor_cortex")
SEEING = (*DRIVING, "perception")


def call_of(name: str, now: float = 0.0, id: str = "c", **arguments: Any) -> SkillCall:
    """A call as the validator lets it through."""
    return SkillCall(
        header=Header.at(now), id=id, skill=name, arguments=json.dumps(arguments), objective="", source="operator",
        because=[],
    )


class SkillRig:
    """A robot in the flat, driven by leases. Without cameras unless perception is among the rows."""

    def __init__(
        self,
        seed: int = 0,
        rows: Iterable[str] = DRIVING,
        at: Pose2D | None = None,
        sim: Literal["mujoco", "gazebo"] = "mujoco",
    ) -> None:
        names = set(rows)
        self.settings = Settings(seed=seed, cameras="perception" in names, sim=sim)
        self.graph = LocalGraph(self.settings, [row for row in TABLE if row.node in names])
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        self.world = body.world
        self.places = load_places(self.settings.map_folder)
        self._leases = 0
        if at is not None:
            self.world.place_robot(at.x, at.y, at.yaw)
            self.graph.send(t.INITIAL_POSE.of(PoseWithCovarianceStamped.about(0.0, at.to_msg(), 0.05, 0.05)))
        self.graph.run_for(0.6)

    @property
    def pose(self) -> Pose2D:
        """Where the robot truly is."""
        return Pose2D(*self.world.truth.robot_pose())

    @property
    def truth(self) -> GroundTruth:
        """What truly happened so far."""
        truth = self.graph.last(t.GROUND_TRUTH)
        assert truth is not None
        return truth

    def lease(self, name: str, timeout_s: float | None = None, **arguments: Any) -> Lease:
        """Grant a lease for a call; it runs from the next tick on."""
        self._leases += 1
        now = self.graph.now
        call = call_of(name, now, f"call{self._leases}", **arguments)
        lease = Lease(
            header=Header.at(now), id=f"lease{self._leases}", call=call,
            resources=sorted(part.value for part in skill(name).resources),
            deadline=Time.at(now + (timeout_s or skill(name).timeout_s)), granted=True, reason="",
        )
        self.graph.send(t.LEASE.of(lease))
        return lease

    def revoke(self, lease: Lease, reason: str = "the person changed their mind") -> None:
        """Take a lease back."""
        self.graph.send(t.LEASE.of(lease.model_copy(update={"granted": False, "reason": reason})))

    def outcome(self, lease: Lease) -> Outcome | None:
        """How the lease ended, or None."""
        return next((o for o in reversed(self.graph.sent(t.OUTCOME)) if o.lease == lease.id), None)

    def wait_for(self, lease: Lease) -> Outcome:
        """Let time go on until the lease has ended."""
        limit = lease.deadline.seconds - self.graph.now + 6.0
        assert self.graph.run_until(lambda: self.outcome(lease) is not None, limit), f"no outcome of {lease.call.skill}"
        outcome = self.outcome(lease)
        assert outcome is not None
        return outcome

    def run(self, name: str, timeout_s: float | None = None, **arguments: Any) -> Outcome:
        """Run a skill to its end."""
        return self.wait_for(self.lease(name, timeout_s, **arguments))

    def stop(self) -> None:
        """Latch the software stop."""
        now = self.graph.now
        self.graph.send(t.STOP_REQUEST.of(StopRequest(header=Header.at(now), stop=True, source="test")))

    def reset_stop(self) -> None:
        """Reset the software stop."""
        now = self.graph.now
        self.graph.send(t.STOP_REQUEST.of(StopRequest(header=Header.at(now), stop=False, source="test")))

    def fault(self, kind: str, target: str = "", duration_s: float = 0.0) -> None:
        """Inject a fault."""
        self.graph.send(t.FAULT.of(Fault(kind=kind, target=target, duration_s=duration_s)))

    def off(self, place: str) -> tuple[float, float]:
        """Metres and radians between the robot and the nearest pose of a place."""
        here = self.pose
        pose = min(self.places.poses(place), key=here.distance)
        return here.distance(pose), abs(math.remainder(here.yaw - pose.yaw, 2 * math.pi))

    @property
    def speed_mps(self) -> float:
        """How fast the base truly moves."""
        return abs(float(self.world.truth.robot_velocity()[0]))


def failure_of(outcome: Outcome) -> Failure:
    """The typed failure of an outcome."""
    return Failure(outcome.failure)
