"""The live brain table shows who works, and which decision each region last changed."""

from __future__ import annotations

from rich.console import Console

from anima import topics as t
from anima.brain import TABLE
from anima.console.brain_table import BrainTable
from anima.types.audit import BrainStatus, RegionStatus
from anima.types.base import Header
from anima_sim.pure_mind import PureMind
from anima_sim.symbolic import Trouble


def printed(table: BrainTable) -> str:
    console = Console(width=220, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(table.table())
    return console.export_text()


def status(now: float, node: str, rate: float = 10.0) -> BrainStatus:
    region = RegionStatus(node=node, steps_per_s=rate, last_topic="backlog", last_sent_s=now - 1.0, why="It waits.")
    return BrainStatus(header=Header.at(now), process="brain", regions=[region])


def test_each_node_shows_its_rate_what_it_sent_and_why() -> None:
    table = BrainTable()
    table.feed(t.BRAIN_STATUS["brain"].of(status(5.0, "basal_ganglia_gate")))
    line = next(line for line in printed(table).splitlines() if "basal_ganglia_gate" in line)
    assert "10.0 of 10" in line
    assert "backlog, 1 s ago" in line
    assert "It waits." in line


def test_every_row_is_there_and_those_not_heard_of_say_so() -> None:
    text = printed(BrainTable())
    assert all(row.node in text for row in TABLE)
    assert "not heard of" in text


def test_a_node_that_fell_silent_is_shown_as_silent() -> None:
    table = BrainTable()
    table.feed(t.BRAIN_STATUS["brain"].of(status(5.0, "acc_conflict")))
    table.feed(t.BRAIN_STATUS["planner"].of(status(15.0, "prefrontal_planner")))
    assert "silent for 10 s" in printed(table)


def test_after_an_errand_it_tells_which_decision_each_region_last_changed() -> None:
    mind = PureMind(seed=3, trouble=Trouble(grasp_fails=1.0))
    table = BrainTable()
    mind.graph.tap(lambda logged: table.feed(logged.sent))
    mind.graph.run_for(1.0)
    for _ in range(2):  # the second time it remembers the first
        mind.say("bring me the red cube")
        mind.graph.run_for(60.0)
    assert {
        "prefrontal_planner", "basal_ganglia_gate", "thalamus_router", "amygdala_salience", "hippocampus_episodes",
        "insula_condition",
    } <= set(table.changed)
