"""The gate, when somebody stops the robot or drives it by hand."""

from __future__ import annotations

import pytest
from support.gate_rig import (
    TICK_S,
    Bench,
    accepted,
    call,
    objective,
    objectives,
    said,
    stop_state,
)

from anima import topics as t
from anima.failure import Failure
from anima.types.base import Header
from anima.types.mind import SkillCall

GO = call("c1", "go_to", place="kitchen")


@pytest.fixture
def bench() -> Bench:
    """A gate whose person wants the robot in the kitchen."""
    bench = Bench()
    bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)", said="go to the kitchen")))
    return bench


def operator(id: str, skill: str, **arguments: object) -> SkillCall:
    return call(id, skill, objective="", source="operator", **arguments)


class TestStops:
    def test_a_stop_word_takes_every_lease_back_at_once_and_cancels_what_is_open(self, bench: Bench) -> None:
        first, second = bench.begin(GO), bench.begin(call("c2", "say", text="hello there"))
        bench.tick(objectives(0, objective("o2", "docked", source="u2")))
        back = bench.tick(said(bench.now, "Stop!"))
        assert {lease.id for lease in back} == {first.id, second.id} and not any(lease.granted for lease in back)
        assert {bench.reason_of("o1"), bench.reason_of("o2")} == {"the person said stop"}
        assert bench.focus == ""

    def test_a_stop_word_also_ends_what_a_person_drives_by_hand_and_what_still_waits_for_it(self, bench: Bench) -> None:
        (lease,) = bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="kitchen")))
        bench.tick(t.OPERATOR_CALL.of(operator("p2", "wait", seconds=1.0)))
        bench.tick(t.OPERATOR_CALL.of(operator("p3", "say", text="hello")))
        bench.tick(said(bench.now, "stop"))
        assert {held.call.id for held in bench.leases if not held.granted} == {"p1", "p3"}
        assert bench.verdicts[-1].call.id == "p2" and not bench.verdicts[-1].accepted
        assert bench.end(lease, Failure.INTERRUPTED) == []

    def test_an_order_said_before_the_stop_and_understood_after_it_is_not_obeyed(self, bench: Bench) -> None:
        bench.tick(said(bench.now, "go to the office", id="u5"))
        bench.tick(said(bench.now, "stop", id="u6"))
        late = objective("o5", "at(robot, office)", source="u5", created=bench.now + 1)
        bench.tick(objectives(0, late), dt=1.0)
        assert bench.state_of("o5") == "cancelled"
        bench.tick(said(bench.now, "go to the office", id="u7"))
        bench.tick(objectives(0, objective("o7", "at(robot, office)", source="u7", created=bench.now)))
        assert bench.focus == "o7"

    def test_stopping_by_the_kitchen_is_no_stop(self, bench: Bench) -> None:
        bench.begin(GO)
        assert bench.tick(said(bench.now, "stop by the kitchen")) == []
        assert bench.focus == "o1"

    def test_the_latched_stop_takes_the_body_but_not_the_voice(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.begin(call("c2", "say", text="On my way."))
        (back,) = bench.tick(stop_state(bench.now, True))
        assert (back.id, back.granted) == (lease.id, False)
        assert bench.state_of("o1") == "parked" and bench.focus == ""

    def test_after_the_reset_nothing_resumes_until_a_person_says_so(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.tick(stop_state(bench.now, True))
        bench.end(lease, Failure.INTERRUPTED)
        bench.tick(said(bench.now, "go on"))
        bench.tick(stop_state(bench.now, False))
        bench.tick(accepted(0, call("c2", "go_to", place="kitchen")))
        bench.wait(30.0)
        assert bench.state_of("o1") == "parked" and len(bench.leases) == 2
        bench.tick(said(bench.now, "Okay, go on."))
        assert bench.focus == "o1"
        assert bench.begin(call("c3", "go_to", place="kitchen")).granted

    def test_an_order_given_while_it_is_latched_does_not_begin_by_the_reset(self, bench: Bench) -> None:
        bench.tick(stop_state(bench.now, True))
        bench.tick(objectives(0, objective("o2", "docked", source="u2")))
        bench.tick(stop_state(bench.now, False))
        bench.wait(5.0)
        assert bench.focus == ""

    def test_a_new_order_after_the_reset_is_served_and_wakes_nothing_else(self, bench: Bench) -> None:
        bench.tick(stop_state(bench.now, True))
        bench.tick(stop_state(bench.now, False))
        bench.tick(objectives(0, objective("o2", "docked", source="u2")))
        assert bench.focus == "o2" and bench.state_of("o1") == "parked"

    def test_a_silent_process_takes_the_body_and_the_focus_comes_back_after_it(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(stop_state(bench.now, False, "process_silent"))
        assert not back.granted and bench.state_of("o1") == "parked"
        bench.end(lease, Failure.INTERRUPTED)
        bench.tick(stop_state(bench.now, False))
        assert bench.focus == ""
        bench.wait(1.2)
        assert bench.focus == "o1"

    def test_that_the_skill_itself_died_with_its_process_is_no_failure_of_the_errand(self, bench: Bench) -> None:
        bench.begin(GO)
        bench.tick(stop_state(bench.now, False, "process_silent"))
        bench.wait(2.0)
        bench.tick(stop_state(bench.now, False))
        bench.wait(6.0)
        assert bench.failures == [] and bench.focus == "o1"
        assert bench.begin(call("c2", "go_to", place="kitchen")).granted, "the base is free again"

    def test_an_ordinary_reflex_leaves_the_lease_to_the_skill(self, bench: Bench) -> None:
        bench.begin(GO)
        assert bench.tick(stop_state(bench.now, False, "obstacle", "bumper")) == []


class TestByHand:
    def test_a_persons_call_is_checked_and_runs(self, bench: Bench) -> None:
        (lease,) = bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="kitchen")))
        assert lease.granted and lease.call.source == "operator"
        assert bench.verdicts[-1].accepted

    def test_a_call_that_the_validator_refuses_gets_no_lease(self, bench: Bench) -> None:
        assert bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="the moon"))) == []
        assert not bench.verdicts[-1].accepted

    def test_it_takes_the_body_from_the_planner_first_and_begins_when_the_body_rests(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="office")))
        assert (back.id, back.granted) == (lease.id, False)
        assert bench.wait(1.0) == []
        (granted,) = bench.end(lease, Failure.INTERRUPTED)
        assert granted.granted and granted.call.id == "p1"
        assert bench.state_of("o1") == "parked" and bench.failures == []
        bench.end(granted)
        bench.wait(1.5)
        assert bench.focus == "o1"

    def test_a_newer_call_of_a_person_replaces_one_that_has_not_begun(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="office")))
        bench.tick(t.OPERATOR_CALL.of(operator("p2", "go_to", place="living_room")))
        assert (bench.verdicts[-1].call.id, bench.verdicts[-1].accepted) == ("p1", False) or (
            bench.verdicts[-2].call.id,
            bench.verdicts[-2].accepted,
        ) == ("p1", False)
        (granted,) = bench.end(lease, Failure.INTERRUPTED)
        assert granted.call.id == "p2"

    def test_while_the_stop_is_latched_it_is_refused_with_the_reason(self, bench: Bench) -> None:
        bench.tick(stop_state(bench.now, True))
        assert bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="office"))) == []
        assert "software stop" in bench.verdicts[-1].reason

    def test_speaking_by_hand_does_not_park_the_work(self, bench: Bench) -> None:
        bench.begin(GO)
        bench.tick(t.OPERATOR_CALL.of(operator("p1", "say", text="hello")))
        assert bench.focus == "o1"

    def test_nothing_is_known_yet(self) -> None:
        bench = Bench()
        bench.tick(t.OPERATOR_CALL.of(operator("p1", "dock")), look=False)
        assert bench.verdicts[-1].reason == "nothing is known of the world yet"


def test_a_call_by_hand_from_the_moment_of_the_stop_word_does_not_begin_after_it() -> None:
    bench = Bench()
    bench.tick()
    now = bench.now + TICK_S
    by_hand = call("hand-1", "go_to", objective="", source="operator", place="kitchen").model_copy(
        update={"header": Header.at(now)}
    )
    assert bench.tick(t.OPERATOR_CALL.of(by_hand), said(now, "Stop!")) == []
    assert bench.wait(2.0) == []
    assert [verdict.reason for verdict in bench.verdicts] == ["the person said stop"]


class TestTeleop:
    def test_whoever_takes_the_wheel_takes_the_lease_and_the_errand_waits_with_that_reason(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(stop_state(bench.now, False, "teleop"))
        assert (back.id, back.granted, back.reason) == (lease.id, False, "a person drives by hand")
        bench.end(lease, Failure.INTERRUPTED)
        assert bench.state_of("o1") == "parked" and "a person drives by hand" in bench.reason_of("o1")

    def test_meanwhile_nothing_that_moves_begins(self, bench: Bench) -> None:
        bench.tick(stop_state(bench.now, False, "teleop"))
        assert bench.tick(accepted(bench.now, GO)) == []
        assert bench.tick(t.OPERATOR_CALL.of(operator("p1", "go_to", place="kitchen"))) == []
        assert not bench.verdicts[-1].accepted and bench.verdicts[-1].reason == "a person drives by hand"

    def test_when_the_hands_are_off_the_errand_goes_on_by_itself_and_was_charged_nothing(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        bench.tick(stop_state(bench.now, False, "teleop"))
        bench.end(lease, Failure.INTERRUPTED)
        bench.tick(stop_state(bench.now))
        bench.wait(3.0)
        assert bench.focus == "o1" and bench.failures == []
        assert bench.begin(call("c2", "go_to", place="kitchen")).granted
