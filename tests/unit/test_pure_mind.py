"""The pure mind: the whole glue with the planner on a symbolic flat, deterministic, in one process."""

from __future__ import annotations

from anima import topics as t
from anima.audit.codec import encode
from anima.brain import TABLE
from anima.runtime.processes import Process
from anima_sim.pure_mind import GLUE, ROWS, PureMind
from anima_sim.symbolic import Trouble

CALM = Trouble(grasp_fails=0.0, search_fails=0.0, drive_fails=0.0)


def states(mind: PureMind) -> dict[str, str]:
    backlog = mind.graph.last(t.BACKLOG)
    return {} if backlog is None else {o.condition: o.state for o in backlog.objectives}


def test_every_glue_region_of_the_table_takes_part() -> None:
    bodily = {"parietal_affordance", "motor_cortex"}
    assert {row.node for row in TABLE if row.process is Process.BRAIN} - bodily == set(GLUE)
    assert "prefrontal_planner" in {row.node for row in ROWS}


def test_an_order_is_carried_out_to_the_end() -> None:
    mind = PureMind(seed=3, trouble=CALM)
    mind.graph.run_for(1.0)
    mind.say("bring me the red cube")
    assert mind.graph.run_until(lambda: states(mind).get("at(red_cube, person)") == "done", timeout_s=120.0)
    assert mind.flat.lies["red_cube"] == "person"


def test_the_same_seed_gives_the_same_life() -> None:
    lives = []
    for _ in range(2):
        mind = PureMind(seed=5)
        mind.say("take the red cube and the cyan cube to the shelf")
        mind.graph.run_for(40.0)
        lives.append([(item.at, item.node, encode(item.sent.value)) for item in mind.graph.log])
    assert lives[0] == lives[1]


def test_a_latched_stop_ends_what_moves_and_lets_nothing_begin() -> None:
    mind = PureMind(seed=3, trouble=CALM)
    mind.graph.run_for(1.0)
    mind.say("go to the office")
    assert mind.graph.run_until(lambda: bool(mind.flat.runs), timeout_s=10.0)
    mind.flat.latch()
    mind.graph.run_for(2.0)
    granted = len(mind.flat.granted)
    assert mind.flat.runs == {}
    mind.graph.run_for(20.0)
    assert len(mind.flat.granted) == granted
