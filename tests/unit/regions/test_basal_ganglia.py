"""The gate: what is worked on, who holds the body, and what ends it."""

from __future__ import annotations

import json

import pytest
from support.gate_rig import (
    SETTINGS,
    TICK_S,
    Bench,
    accepted,
    call,
    objective,
    objectives,
    refused,
    said,
    stop_state,
    thing,
    world,
)

from anima import topics as t
from anima.failure import Failure
from anima.regions.basal_ganglia import BasalGanglia
from anima.runtime.component import Inbox
from anima.skills.registry import SKILLS
from anima.types.base import Header
from anima.types.mind import SkillCall

GO = call("c1", "go_to", place="kitchen")


@pytest.fixture
def bench() -> Bench:
    """A gate whose person wants the robot in the kitchen, and that leaves it to the planner to mend failures."""
    bench = Bench(playbooks={})
    bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)", said="go to the kitchen")))
    return bench


def operator(id: str, skill: str, **arguments: object) -> SkillCall:
    return call(id, skill, objective="", source="operator", **arguments)


class TestFocus:
    def test_objectives_of_one_order_are_served_in_its_order_and_orders_oldest_first(self) -> None:
        bench = Bench()
        bench.tick(
            objectives(0, objective("b", "at(robot, office)", 1), objective("a", "at(robot, kitchen)", 0)),
            objectives(0, objective("c", "docked", source="u2")),
        )
        seen = []
        for update in ({"room": "kitchen"}, {"room": "office"}, {"docked": True}):
            seen.append(bench.focus)
            bench.world_update = update
            bench.wait(1.0)
        assert seen == ["a", "b", "c"] and bench.focus == ""
        assert [bench.state_of(o) for o in "abc"] == ["done"] * 3

    def test_going_there_and_coming_back_is_not_done_by_being_back_already(self) -> None:
        bench = Bench()
        bench.tick(objectives(0, objective("a", "at(robot, kitchen)", 0), objective("b", "at(robot, corridor)", 1)))
        bench.wait(3.0)
        assert (bench.state_of("a"), bench.state_of("b")) == ("focused", "pending")

    def test_a_condition_must_hold_for_a_while(self, bench: Bench) -> None:
        bench.world_update = {"room": "kitchen"}
        bench.wait(0.3)
        bench.world_update = {}
        bench.wait(2.0)
        assert bench.state_of("o1") == "focused"

    def test_it_does_not_end_while_its_skill_still_runs(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.world_update = {"room": "kitchen"}
        bench.wait(2.0)
        assert bench.state_of("o1") == "focused"
        bench.end(lease)
        bench.wait(0.2)
        assert (bench.state_of("o1"), bench.reason_of("o1")) == ("done", "the sensors say so")

    def test_a_success_that_the_sensors_do_not_see_ends_nothing(self, bench: Bench) -> None:
        bench.end(bench.begin(GO))
        bench.wait(2.0)
        assert bench.state_of("o1") == "focused"

    def test_what_was_declined_stays_to_be_seen_and_is_never_worked_on(self, bench: Bench) -> None:
        bench.tick(objectives(0, objective("no", "at(robot, stairs)", state="declined", reason="off limits")))
        assert (bench.state_of("no"), bench.reason_of("no")) == ("declined", "off limits")

    def test_a_condition_that_nobody_can_check_is_declined(self, bench: Bench) -> None:
        bench.tick(objectives(0, objective("no", "happy(ana)")))
        assert bench.state_of("no") == "declined" and "unknown condition" in bench.reason_of("no")

    def test_the_same_objective_told_twice_is_one(self, bench: Bench) -> None:
        bench.tick(objectives(0, objective("o1", "at(robot, kitchen)")))
        assert bench.state_of("o1") == "focused"

    def test_a_new_order_that_replaces_cancels_what_was_open_and_takes_its_lease_back(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(objectives(0, objective("o2", "docked", source="u2"), replace=True))
        assert (back.id, back.granted) == (lease.id, False)
        assert (bench.state_of("o1"), bench.focus) == ("cancelled", "o2")

    def test_an_empty_replacing_order_calls_everything_off(self, bench: Bench) -> None:
        bench.tick(objectives(0, replace=True))
        assert (bench.state_of("o1"), bench.focus) == ("cancelled", "")

    def test_being_told_is_an_event_after_the_order(self) -> None:
        bench = Bench()
        bench.tick(objectives(0, objective("o1", "told(red_cube)", created=bench.now)))
        bench.end(bench.begin(call("c1", "say", text="I am looking.")))
        assert bench.state_of("o1") == "focused"
        bench.end(bench.begin(call("c2", "say", object="red_cube")))
        assert (bench.state_of("o1"), bench.reason_of("o1")) == ("done", "the person was told")

    def test_saying_it_in_words_counts_as_telling(self) -> None:
        bench = Bench()
        bench.tick(objectives(0, objective("o1", "told(red_cube)", created=bench.now)))
        bench.end(bench.begin(call("c1", "say", text="The red cube is on the kitchen table.")))
        assert bench.state_of("o1") == "done"

    def test_only_the_last_ten_that_ended_are_kept(self) -> None:
        bench = Bench()
        for i in range(15):
            bench.tick(objectives(0, objective(f"o{i}", "hand_empty", source=f"u{i}")))
            bench.wait(0.7)
        assert bench.backlog is not None and len(bench.backlog.objectives) == 10

    def test_the_backlog_is_told_on_change_and_every_second(self, bench: Bench) -> None:
        bench.wait(1.0)
        before = bench.backlogs
        bench.wait(5.0)
        assert bench.backlogs - before == pytest.approx(5, abs=1)

    def test_it_says_why_this_is_the_focus(self, bench: Bench) -> None:
        assert bench.backlog is not None
        assert bench.backlog.why == "at(robot, kitchen), asked for as 'go to the kitchen': it is all that is open"
        bench.begin(GO)
        assert "go_to(kitchen)" in bench.gate.why()


class TestLeases:
    def test_an_accepted_call_for_the_focus_gets_its_parts_and_a_deadline(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        assert lease.resources == ["base"]
        assert lease.deadline.seconds == pytest.approx(bench.now + SKILLS["go_to"].timeout_s)

    def test_a_planner_that_was_started_again_may_count_its_calls_anew(self, bench: Bench) -> None:
        first = bench.begin(GO)
        bench.end(first, Failure.INTERRUPTED)
        bench.wait(2.0)
        again = GO.model_copy(update={"header": Header.at(bench.now)})
        second = bench.begin(again)
        assert second.granted and second.id != first.id

    def test_the_same_call_twice_is_one_lease(self, bench: Bench) -> None:
        bench.begin(GO)
        bench.tick(accepted(0, GO), accepted(0, GO))
        bench.wait(1.0)
        assert len(bench.leases) == 1

    def test_a_call_for_something_else_than_the_focus_gets_none(self, bench: Bench) -> None:
        bench.tick(objectives(0, objective("o2", "docked", source="u2")))
        bench.tick(accepted(0, call("c1", "dock", objective="o2")), accepted(0, call("c2", "dock", objective="ghost")))
        bench.wait(1.0)
        assert bench.leases == []

    def test_parts_that_are_held_are_denied_and_the_planner_reads_who_holds_them(self, bench: Bench) -> None:
        bench.begin(GO)
        bench.tick(accepted(0, call("c2", "wait", seconds=2.0)))
        assert len(bench.leases) == 1
        assert bench.failures == ["wait(2.0): not begun, base is held by go_to(kitchen)"]

    def test_speaking_needs_no_wheels(self, bench: Bench) -> None:
        bench.begin(GO)
        assert bench.begin(call("c2", "say", text="On my way.")).resources == ["voice"]

    def test_past_its_deadline_a_lease_is_taken_back_and_counted_as_a_timeout(self, bench: Bench) -> None:
        lease = bench.begin(call("c1", "wait", seconds=1.0))
        (back,) = bench.wait(SKILLS["wait"].timeout_s + 1.0)
        assert (back.granted, back.reason) == (False, "timeout")
        bench.end(lease, Failure.INTERRUPTED)
        assert bench.failures == ["wait(1.0): timeout"]

    def test_a_part_stays_held_until_the_body_is_reported_at_rest(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.tick(objectives(0, objective("o2", "docked", source="u2"), replace=True))
        bench.tick(accepted(0, call("c2", "dock", objective="o2")))
        assert [lease.granted for lease in bench.leases] == [True, False]
        bench.end(lease, Failure.INTERRUPTED)
        assert bench.begin(call("c3", "dock", objective="o2")).granted

    def test_a_skill_that_never_says_how_it_ended_is_given_up_as_a_fault(self, bench: Bench) -> None:
        bench.begin(call("c1", "wait", seconds=1.0))
        bench.wait(SKILLS["wait"].timeout_s + 8.0)
        assert bench.failures == ["wait(1.0): hardware_fault, it never said how it ended"]
        assert bench.begin(call("c2", "wait", seconds=1.0)).granted

    def test_after_an_outcome_the_next_call_waits_until_the_world_was_looked_at(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.end(lease)
        bench.world_update = {"room": "kitchen"}
        assert bench.tick(accepted(0, call("c2", "wait", seconds=9.0))) == []
        bench.wait(1.0)
        assert bench.state_of("o1") == "done" and len(bench.leases) == 1

    def test_without_a_word_of_the_world_the_next_call_is_not_held_up_for_ever(self, bench: Bench) -> None:
        bench.end(bench.begin(GO))
        proposal = accepted(0, call("c2", "wait", seconds=9.0))
        granted = bench.tick(proposal, look=False)
        for _ in range(10):
            granted += bench.tick(look=False)
        assert [lease.call.id for lease in granted] == ["c2"]


class TestBudgets:
    def test_the_third_identical_failure_fails_the_objective_with_its_reason(self, bench: Bench) -> None:
        for i in range(3):
            assert bench.state_of("o1") == "focused"
            bench.end(bench.begin(call(f"c{i}", "go_to", place="kitchen")), Failure.PATH_BLOCKED, "a chair in the door")
        assert bench.state_of("o1") == "failed"
        assert bench.reason_of("o1").startswith(
            "go_to(kitchen): path_blocked, a chair in the door; it failed in this way 3"
        )

    def test_varied_failures_have_a_longer_budget(self, bench: Bench) -> None:
        kinds = [Failure.PATH_BLOCKED, Failure.STALLED, Failure.TIMEOUT, Failure.SLIP, Failure.UNKNOWN]
        for i, kind in enumerate(kinds):
            bench.end(bench.begin(call(f"c{i}", "go_to", place="kitchen")), kind)
        assert bench.state_of("o1") == "focused"
        assert len(bench.failures) == 5 and bench.failures[-1] == "go_to(kitchen): unknown"
        bench.end(bench.begin(call("c9", "go_to", place="kitchen")), Failure.HARDWARE_FAULT)
        assert bench.state_of("o1") == "failed"

    def test_an_interruption_is_nobodys_failure(self, bench: Bench) -> None:
        for i in range(9):
            bench.end(bench.begin(call(f"c{i}", "go_to", place="kitchen")), Failure.INTERRUPTED)
        assert bench.state_of("o1") == "focused" and bench.failures == []

    def test_a_failed_objective_gives_the_focus_to_the_next(self, bench: Bench) -> None:
        bench.tick(objectives(0, objective("o2", "docked", source="u2")))
        for i in range(3):
            bench.end(bench.begin(call(f"c{i}", "go_to", place="kitchen")), Failure.STALLED)
        assert bench.focus == "o2" and bench.failures == []

    def test_a_planner_that_is_refused_again_and_again_is_not_heard_for_ever(self, bench: Bench) -> None:
        for i in range(8):
            assert bench.state_of("o1") == "focused"
            bench.tick(refused(0, call(f"c{i}", "place", object="red_cube", surface="shelf")))
        assert bench.state_of("o1") == "failed"
        assert "the hand is empty" in bench.reason_of("o1")

    def test_calls_that_succeed_and_bring_nothing_nearer_end_too(self, bench: Bench) -> None:
        for i in range(20):
            bench.end(bench.begin(call(f"c{i}", "wait", seconds=1.0)))
        bench.tick(accepted(0, call("one more", "wait", seconds=1.0)))
        bench.wait(1.0)
        assert bench.state_of("o1") == "failed" and "20 calls" in bench.reason_of("o1")

    def test_a_failure_report_does_not_fail_what_the_sensors_see_done(self, bench: Bench) -> None:
        for i in range(2):
            bench.end(bench.begin(call(f"c{i}", "go_to", place="kitchen")), Failure.STALLED)
        lease = bench.begin(call("c9", "go_to", place="kitchen"))
        bench.world_update = {"room": "kitchen"}
        bench.tick()
        bench.end(lease, Failure.STALLED)
        bench.wait(1.0)
        assert bench.state_of("o1") == "done"


def test_a_clock_that_is_set_back_ends_everything(bench: Bench) -> None:
    bench.begin(GO)
    bench.now = 1.0
    (back,) = bench.tick()
    assert not back.granted
    assert bench.state_of("o1") == "cancelled"
    bench.tick(objectives(0, objective("o2", "docked", source="u2", created=bench.now)))
    assert bench.begin(call("c2", "dock", objective="o2")).granted


def test_an_object_on_the_table_is_what_perception_says(bench: Bench) -> None:
    bench.tick(objectives(0, objective("o2", "at(red_cube, kitchen_table)", source="u2"), replace=True))
    bench.world_update = {"objects": [thing("red_cube", "shelf")]}
    bench.wait(1.0)
    assert bench.state_of("o2") == "focused"
    bench.world_update = {"objects": [thing("red_cube", "kitchen_table")]}
    bench.wait(1.0)
    assert bench.state_of("o2") == "done"


def test_a_loaded_gate_goes_on_exactly_as_the_dumped_one(bench: Bench) -> None:
    lease = bench.begin(GO)
    bench.tick(objectives(0, objective("o2", "docked", source="u2")), refused(0, call("c7", "pick", object="red_cube")))
    bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="office")))
    twin = BasalGanglia.load(SETTINGS, json.loads(json.dumps(bench.gate.dump())), {})
    story = {
        3: [said(bench.now, "hello", id="u8")],
        9: [t.OPERATOR_CALL.of(operator("p2", "wait", seconds=1.0))],
        20: [stop_state(bench.now, True)],
        40: [stop_state(bench.now, False)],
        45: [said(bench.now, "go on")],
        60: [said(bench.now, "stop")],
    }
    for i in range(90):
        now = bench.now + i * TICK_S
        inbox = [world(now, room="kitchen" if i > 50 else "office"), *story.get(i, [])]
        ours, theirs = (
            [(s.topic.name, s.value.model_dump_json()) for s in gate.step(now, Inbox.of(inbox))]
            for gate in (bench.gate, twin)
        )
        assert ours == theirs
    assert lease.id and bench.gate.dump() == twin.dump()
