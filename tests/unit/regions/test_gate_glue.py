"""The gate with and without each signal of the glue: what is interrupted, forbidden, foreseen, or borne less long."""

from __future__ import annotations

import pytest
from support.gate_rig import (
    Bench,
    accepted,
    call,
    condition,
    conflict,
    forecast,
    objective,
    objectives,
    refused,
    resources,
    said,
    salient,
    temperament,
)

from anima import topics as t
from anima.failure import Failure
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Lease, SkillCall

GO = call("c1", "go_to", place="kitchen")


@pytest.fixture
def bench() -> Bench:
    """A gate whose person wants the robot in the kitchen, and then in the office."""
    bench = Bench(playbooks={})
    bench.tick(
        objectives(bench.now, objective("o1", "at(robot, kitchen)", 0), objective("o2", "at(robot, office)", 1))
    )
    return bench


def hand(id: str, skill: str, **arguments: object) -> Sent:
    return t.OPERATOR_CALL.of(call(id, skill, objective="", source="operator", **arguments))


class TestSalience:
    def test_what_is_urgent_takes_the_running_lease_back_and_nobody_is_blamed(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(salient(bench.now, "reflex", "execution", why="the robot leans, again."))
        assert (back.id, back.granted, back.reason) == (lease.id, False, "the robot leans, again.")
        bench.end(lease, Failure.INTERRUPTED)
        assert bench.focus == "o1" and bench.failures == []

    @pytest.mark.parametrize("interrupts", ["none", "deliberation"])
    def test_what_is_less_urgent_leaves_it(self, bench: Bench, interrupts: str) -> None:
        bench.begin(GO)
        assert bench.tick(salient(bench.now, "reflex", interrupts)) == []

    def test_what_a_person_does_by_hand_is_not_interrupted(self, bench: Bench) -> None:
        bench.tick(hand("p1", "go_to", place="office"))
        assert bench.tick(salient(bench.now, "reflex", "execution")) == []

    def test_what_began_after_the_event_is_the_answer_to_it_and_goes_on(self, bench: Bench) -> None:
        before = bench.now - 1.0
        bench.begin(GO)
        assert bench.tick(salient(before, "reflex", "execution")) == []

    def test_a_person_is_heard_before_the_loop_goes_on(self, bench: Bench) -> None:
        bench.end(bench.begin(GO), Failure.PATH_BLOCKED)
        bench.tick(said(bench.now, "what are you doing?", id="u5"))
        bench.tick(salient(bench.now, "utterance", "deliberation", because=["u5"]), accepted(bench.now, self.again()))
        assert bench.wait(3.0) == []
        (lease,) = bench.wait(1.5)
        assert lease.call.id == "c2"

    def test_without_salience_the_loop_goes_on_at_once(self, bench: Bench) -> None:
        bench.end(bench.begin(GO), Failure.PATH_BLOCKED)
        bench.tick(said(bench.now, "what are you doing?", id="u5"))
        assert bench.begin(self.again()).granted

    def test_a_message_during_a_recovery_is_answered_before_the_recovery_goes_on(self) -> None:
        bench = Bench()
        bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)")))
        lease = bench.begin(GO)
        bench.tick(salient(bench.now, "utterance", "deliberation", because=["u5"]))
        assert bench.end(lease, Failure.PATH_BLOCKED) + bench.wait(3.0) == []
        (lease,) = bench.wait(1.5)
        assert lease.call.source == "playbook"

    def test_an_order_that_comes_of_the_words_ends_the_wait(self, bench: Bench) -> None:
        bench.tick(salient(bench.now, "utterance", "deliberation", because=["u5"]))
        bench.tick(objectives(bench.now, objective("o5", "docked", source="u5"), replace=True))
        bench.tick(accepted(0, call("c2", "dock", objective="o5")))
        assert [lease.call.id for lease in bench.leases if lease.granted] == ["c2"]

    def test_a_proposal_made_after_the_words_has_taken_them_in(self, bench: Bench) -> None:
        bench.tick(salient(bench.now, "utterance", "deliberation", because=["u5"]))
        bench.tick(accepted(0, self.again().model_copy(update={"header": Header.at(bench.now + 1)})))
        assert [lease.call.id for lease in bench.leases] == ["c2"]

    @staticmethod
    def again() -> SkillCall:
        return call("c2", "go_to", place="kitchen")


class TestConflict:
    def test_a_tactic_that_led_nowhere_is_denied_for_a_while_and_the_planner_reads_why(self, bench: Bench) -> None:
        bench.tick(conflict(bench.now, "o1", "change_tactic", "go_to(kitchen)", why="it failed twice alike"))
        bench.tick(accepted(0, GO))
        bench.wait(1.0)
        assert bench.leases == []
        assert bench.failures[-1] == "go_to(kitchen): not begun, change tactic: it failed twice alike"
        bench.wait(60.0)
        assert bench.begin(call("c2", "go_to", place="kitchen")).granted

    def test_without_the_conflict_it_is_granted(self, bench: Bench) -> None:
        assert bench.begin(GO).granted

    def test_other_tactics_and_other_objectives_are_free(self, bench: Bench) -> None:
        bench.tick(conflict(bench.now, "o2", "change_tactic", "go_to(kitchen)"))
        bench.tick(conflict(bench.now, "o1", "change_tactic", "wait(5.0)"))
        assert bench.begin(GO).granted

    def test_a_tactic_that_runs_is_ended_without_blame(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(conflict(bench.now, "o1", "change_tactic", "go_to(kitchen)"))
        assert (back.id, back.reason) == (lease.id, "change tactic: it leads nowhere")

    def test_a_person_is_never_denied_by_it(self, bench: Bench) -> None:
        bench.tick(conflict(bench.now, "o1", "change_tactic", "go_to(kitchen)"))
        (lease,) = bench.tick(hand("p1", "go_to", place="kitchen"))
        assert lease.granted

    def test_escalation_gives_the_next_objective_its_turn_and_comes_back(self, bench: Bench) -> None:
        bench.tick(conflict(bench.now, "o1", "escalate", "go_to(kitchen)", why="round and round"))
        assert (bench.focus, bench.state_of("o1")) == ("o2", "parked")
        assert bench.reason_of("o1") == "round and round; it rests for a while"
        bench.wait(21.0)
        assert bench.state_of("o1") == "pending" and bench.focus == "o2"

    def test_asking_parks_with_a_question(self, bench: Bench) -> None:
        bench.tick(conflict(bench.now, "o1", "ask", why="nothing I try works"))
        assert bench.reason_of("o1") == "nothing I try works; shall I go on, or let it be? I need help"
        bench.tick(said(bench.now, "go on"))
        assert bench.state_of("o1") == "pending"

    def test_what_is_set_aside_again_and_again_fails_with_a_reason(self, bench: Bench) -> None:
        for _ in range(3):
            bench.tick(conflict(bench.now, "o1", "escalate", why="round and round"))
            bench.wait(21.0)
        assert bench.state_of("o1") == "failed"
        assert bench.reason_of("o1").startswith("it did not work though it was set aside 2 times: round and round")

    def test_the_body_is_taken_from_what_is_set_aside(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(conflict(bench.now, "o1", "escalate"))
        assert (back.id, back.granted) == (lease.id, False)


class TestConditionAndTemperament:
    def fail(self, bench: Bench, count: int, varied: bool = False) -> None:
        for i in range(count):
            lease = bench.begin(call(f"f{i}", "wait", seconds=1.0 + i * varied))
            bench.end(lease, Failure.STALLED)

    def test_a_worn_robot_sets_a_repeated_dead_end_aside_sooner(self, bench: Bench) -> None:
        bench.tick(condition(bench.now, 0.4))
        self.fail(bench, 1)
        assert bench.state_of("o1") == "parked" and "it failed in this way once" in bench.reason_of("o1")
        assert bench.focus == "o2"

    def test_a_fresh_one_tries_again(self, bench: Bench) -> None:
        bench.tick(condition(bench.now, 1.0))
        self.fail(bench, 2)
        assert bench.focus == "o1"

    def test_the_worst_condition_still_leaves_one_try(self, bench: Bench) -> None:
        bench.tick(condition(bench.now, 0.0))
        assert bench.begin(GO).granted

    def test_it_is_set_aside_and_not_given_up_since_it_is_the_robot_that_is_worn(self, bench: Bench) -> None:
        bench.tick(condition(bench.now, 0.4))
        self.fail(bench, 1)
        bench.tick(condition(bench.now, 1.0), objectives(0, objective("o3", "docked", source="u3"), replace=False))
        bench.wait(21.0)
        assert bench.state_of("o1") == "pending"

    @pytest.mark.parametrize(("persistence", "state"), [(0.0, "parked"), (0.5, "failed"), (1.0, "focused")])
    def test_a_driven_robot_holds_on_longer_and_a_timid_one_sets_aside(
        self, bench: Bench, persistence: float, state: str
    ) -> None:
        bench.tick(temperament(bench.now, persistence))
        for i in range(3):
            if bench.state_of("o1") == "focused":
                bench.end(bench.begin(call(f"f{i}", "wait", seconds=1.0)), Failure.STALLED)
        assert bench.state_of("o1") == state

    def test_frustration_of_many_kinds_adds_up_and_rests(self, bench: Bench) -> None:
        self.fail(bench, 3, varied=True)
        assert bench.focus == "o1"
        for _ in range(2):
            bench.tick(conflict(bench.now, "o1", "change_tactic", why="effort brings nothing"))
        assert bench.state_of("o1") == "parked" and bench.focus == "o2"
        assert bench.reason_of("o1") == "effort brings nothing; it rests for a while"

    def test_progress_relieves(self, bench: Bench) -> None:
        self.fail(bench, 3, varied=True)
        bench.end(bench.begin(call("ok", "go_to", place="corridor")))
        for _ in range(2):
            bench.tick(conflict(bench.now, "o1", "change_tactic", why="effort brings nothing"))
        assert bench.focus == "o1"

    def test_a_refused_proposal_counts_for_no_more_than_before(self, bench: Bench) -> None:
        for i in range(7):
            bench.tick(refused(0, call(f"r{i}", "pick", object="red_cube")))
        assert bench.focus == "o1"


class TestForecast:
    def ready(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, may_simulate=True))

    def propose(self, bench: Bench) -> list[Lease]:
        return bench.tick(accepted(bench.now, GO))

    def test_a_call_waits_for_its_forecast_and_begins_when_it_is_good(self, bench: Bench) -> None:
        self.ready(bench)
        assert self.propose(bench) == []
        (lease,) = bench.tick(forecast(bench.now, "c1", "go"))
        assert lease.call.id == "c1"

    def test_no_forecast_is_waited_for_without_an_end(self, bench: Bench) -> None:
        self.ready(bench)
        assert self.propose(bench) == []
        (lease,) = bench.wait(0.5)
        assert lease.granted

    def test_a_body_that_can_not_afford_it_does_not_wait(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, may_simulate=False))
        assert len(self.propose(bench)) == 1

    def test_what_is_foreseen_to_fail_is_denied_with_the_reason(self, bench: Bench) -> None:
        self.ready(bench)
        self.propose(bench)
        assert bench.tick(forecast(bench.now, "c1", "refuse", why="the map knows no way there")) == []
        assert bench.wait(2.0) == []
        assert bench.failures[-1] == "go_to(kitchen): not begun, foreseen to fail: the map knows no way there"

    def test_a_better_call_is_named(self, bench: Bench) -> None:
        self.ready(bench)
        self.propose(bench)
        bench.tick(forecast(bench.now, "c1", "rather", "go_to(corridor)", why="it worked before"))
        assert bench.failures[-1] == "go_to(kitchen): not begun, rather go_to(corridor): it worked before"

    def test_a_refusal_that_comes_late_takes_back_what_has_just_begun(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(forecast(bench.now, "c1", "refuse"))
        assert (back.id, back.granted) == (lease.id, False)

    def test_a_forecast_of_long_ago_does_not_break_off_what_runs(self, bench: Bench) -> None:
        bench.begin(GO)
        bench.wait(3.0)
        assert bench.tick(forecast(bench.now, "c1", "refuse")) == []

    def test_a_planner_that_insists_on_what_is_foreseen_to_fail_is_not_heard_for_ever(self, bench: Bench) -> None:
        self.ready(bench)
        for i in range(40):
            bench.tick(accepted(bench.now, call(f"c{i}", "go_to", place="kitchen")))
            bench.tick(forecast(bench.now, f"c{i}", "refuse"))
            if bench.focus == "o2":
                break
        assert bench.state_of("o1") == "parked" and bench.reason_of("o1")

    def test_a_person_by_hand_is_not_held_up(self, bench: Bench) -> None:
        self.ready(bench)
        (lease,) = bench.tick(hand("p1", "go_to", place="kitchen"), forecast(bench.now, "p1", "refuse"))
        assert lease.granted
        assert bench.tick(forecast(bench.now, "p1", "refuse")) == []
