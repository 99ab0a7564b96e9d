"""A whole robot in one process with physics, without a camera and without a real language model."""

from __future__ import annotations

import random

from anima import topics as t
from anima.body.pose import Pose2D
from anima.brain import TABLE
from anima.config import Settings
from anima.planner.prefrontal import PrefrontalPlanner
from anima.runtime.local_graph import LocalGraph
from anima.types.base import Header
from anima.types.mind import Utterance
from anima_sim.body import SimulatedBody
from anima_sim.pure_mind import ChoosingModel
from anima_sim.world import World


class Life:
    """A robot that is told to go to the office; a stand-in that always takes the first way open chooses its calls."""

    def __init__(self, seed: int = 2) -> None:
        settings = Settings(seed=seed, cameras=False)
        planner = PrefrontalPlanner(settings, ChoosingModel(random.Random(1), strays=0.0))
        rows = [row for row in TABLE if row.node != "perception"]
        self.graph = LocalGraph(settings, rows, replace={"prefrontal_planner": planner})
        self.graph.run_for(1.0)
        heard = Utterance(header=Header.at(self.graph.now), id="u1", speaker="ana", text="go to the office")
        self.graph.send(t.UTTERANCE.of(heard))

    @property
    def world(self) -> World:
        """The physics: for judging and for meddling."""
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        world = body.world
        assert isinstance(world, World)
        return world

    @property
    def where(self) -> Pose2D:
        """Where the robot truly is."""
        return Pose2D(*self.world.truth.robot_pose())

    @property
    def wheels_mps(self) -> float:
        """How fast the wheels carry the base forward."""
        odometry = self.graph.last(t.ODOM)
        assert odometry is not None
        return odometry.twist.twist.linear.x

    def driving(self) -> bool:
        """Whether it is well under way."""
        lease = self.graph.last(t.LEASE)
        under_way = lease is not None and lease.granted and lease.call.skill == "go_to"
        return under_way and self.wheels_mps > 0.25

    def operator_events(self) -> list[str]:
        """What the mind noticed of hands on the robot."""
        return [event.kind for event in self.graph.sent(t.EVENTS) if event.source == "operator"]

    def objective(self) -> tuple[str, str]:
        """State and reason of what it was told."""
        backlog = self.graph.last(t.BACKLOG)
        assert backlog is not None
        (found,) = [item for item in backlog.objectives if item.source == "u1"]
        return found.state, found.reason

    def is_done(self) -> bool:
        """Whether the sensors say that it is there."""
        return self.objective()[0] == "done"
