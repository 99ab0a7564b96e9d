"""What the robot's own parts come to at the gate: they want, speak and hold back, and never command."""

from __future__ import annotations

import json

import pytest
from support.gate_rig import Bench, objective, objectives, resources, said, stop_state, tension
from support.parts_messages import bid, bids, stance, stances

WANTS = bid(focus="at(robot, dock)")
SPEAKS = bid("b2", stance="speak", target="I want us to get back to the homework.")


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.tick(resources(bench.now))
    return bench


def test_a_followed_focus_becomes_an_objective_that_names_part_and_bid(bench: Bench) -> None:
    bench.tick(bids(bench.now, WANTS, focus="b1"))
    assert bench.focus == "part-b1"
    assert bench.reason_of("part-b1") == "Fear of the rug bids for it [p1, b1]"
    assert bench.leases == []  # the body moves only once the planner has found a call for it


@pytest.mark.parametrize(
    "given",
    [
        bid(focus="at(robot, dock)", followed=False),
        bid(focus="at(robot, moon)"),
        bid(focus="drive into the wall"),
        bid(focus=""),
    ],
)
def test_what_is_ignored_or_no_condition_of_the_vocabulary_becomes_nothing(bench: Bench, given: object) -> None:
    bench.tick(bids(bench.now, given, focus="b1"))  # type: ignore[arg-type]
    assert bench.focus == ""


def test_people_come_before_parts(bench: Bench) -> None:
    bench.tick(bids(bench.now, WANTS, focus="b1"))
    bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)")))
    bench.wait(0.5)
    assert bench.focus == "o1"
    assert bench.state_of("part-b1") == "pending"


def test_a_stop_word_ends_what_a_part_wanted_and_keeps_it_silent(bench: Bench) -> None:
    bench.tick(bids(bench.now, WANTS, focus="b1"))
    bench.tick(said(bench.now, "stop"))
    bench.tick(bids(bench.now, WANTS.model_copy(update={"id": "b9"}), SPEAKS, focus="b9"))
    bench.wait(2.0)
    assert bench.focus == ""
    assert [lease for lease in bench.leases if lease.granted] == []


def test_while_the_software_stop_is_latched_nothing_new_is_wanted(bench: Bench) -> None:
    bench.tick(stop_state(bench.now, True))
    bench.tick(bids(bench.now, WANTS, focus="b1"))
    assert bench.focus == ""


def test_a_part_speaks_its_own_words_once_and_not_again_at_once(bench: Bench) -> None:
    (lease,) = bench.tick(bids(bench.now, SPEAKS))
    assert json.loads(lease.call.arguments)["text"] == "I want us to get back to the homework."
    assert lease.call.because == ["p1", "b2"] and lease.call.source == "parts"
    bench.end(lease)
    assert bench.tick(bids(bench.now, SPEAKS)) == []
    assert bench.wait(5.0) == []


def test_while_a_part_holds_the_robot_back_it_explores_nothing(bench: Bench) -> None:
    bench.tick(stances(bench.now, stance(bench.now, "hold_back", "", lasts_s=10.0)))
    look_around = {"wants": "explore", "condition": "at(robot, shelf)"}
    bench.tick(tension(bench.now, **look_around))
    assert bench.focus == ""
    bench.wait(11.0)
    bench.tick(tension(bench.now, **look_around))
    assert bench.focus.startswith("explore")


def test_what_a_part_prefers_goes_first_among_the_robots_own_wishes(bench: Bench) -> None:
    bench.tick(tension(bench.now, "explore", condition="at(robot, shelf)"))
    bench.tick(stances(bench.now, stance(bench.now, "prefer", "dock")), bids(bench.now, WANTS, focus="b1"))
    bench.wait(0.5)
    assert bench.focus == "part-b1"
