"""Two robots in one simulated flat do two errands at once. The planner's stand-in takes the first way that is open."""

from __future__ import annotations

import random

import pytest
from support.company_graph import CompanyGraph

from anima import topics as t
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.brain import TABLE
from anima.config import Settings
from anima.planner.prefrontal import PrefrontalPlanner
from anima.types.base import Header
from anima.types.mind import Utterance
from anima.types.std import PoseWithCovarianceStamped
from anima_sim.pure_mind import ChoosingModel

pytestmark = [pytest.mark.sim, pytest.mark.timeout(600)]

ERRANDS = {"ada": ("go to the office", "office"), "bob": ("come to me", "person")}
SETTINGS = Settings(seed=2, cameras=False)


def test_both_arrive_touch_nothing_and_neither_hears_the_other() -> None:
    def mind(name: str) -> dict[str, PrefrontalPlanner]:
        return {"prefrontal_planner": PrefrontalPlanner(SETTINGS, ChoosingModel(random.Random(1), strays=0.0))}

    rows = [row for row in TABLE if row.node != "perception"]
    pair = CompanyGraph(SETTINGS, list(ERRANDS), rows, mind)
    worlds = {name: body.world for name, body in pair.company.bodies.items()}
    try:
        # Bob has no dock to be expected at: a person shows on the map where it stands, as in rviz.
        start = Pose2D(*worlds["bob"].truth.robot_pose())
        pair.graphs["bob"].send(t.INITIAL_POSE.of(PoseWithCovarianceStamped.about(0.0, start.to_msg(), 0.05, 0.05)))
        pair.run_until(lambda: False, 1.0)
        for name, (order, _) in ERRANDS.items():
            said = Utterance(header=Header.at(pair.now), id=f"to_{name}", speaker="ana", text=order)
            pair.graphs[name].send(t.UTTERANCE.of(said))

        def ended() -> bool:
            backlogs = [graph.last(t.BACKLOG) for graph in pair.graphs.values()]
            return all(b is not None and {one.state for one in b.objectives} == {"done"} for b in backlogs)

        whys = [graph.component("basal_ganglia_gate").why for graph in pair.graphs.values()]
        assert pair.run_until(ended, 120.0), [why() for why in whys]
        places = load_places(SETTINGS.map_folder)
        for name, (_, place) in ERRANDS.items():
            where = Pose2D(*worlds[name].truth.robot_pose())
            assert min(where.distance(pose) for pose in places.poses(place)) < 0.4, name
            assert worlds[name].truth.collisions == []
            assert [said.id for said in pair.graphs[name].sent(t.UTTERANCE)] == [f"to_{name}"]
            calls = {outcome.call.arguments for outcome in pair.graphs[name].sent(t.OUTCOME)}
            assert any(place in arguments for arguments in calls), calls
    finally:
        pair.company.close()
