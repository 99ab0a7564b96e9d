"""The gate when the battery is low, when the robot is idle, and after it was switched off."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_rig import (
    SETTINGS,
    Bench,
    accepted,
    call,
    conflict,
    forecast,
    objective,
    objectives,
    resources,
    said,
    stop_state,
    tension,
    thing,
    world,
)

from anima import topics as t
from anima.body.places import load_places
from anima.failure import Failure
from anima.memory.kinds import OBJECTIVE
from anima.memory.opening import open_store, run_clock
from anima.regions.basal_ganglia import BasalGanglia
from anima.regions.gate.survival import way_m
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.mind import Backlog, Lease, Objective
from anima.world.predicates import Predicate

GO = call("c1", "go_to", place="kitchen")
LOW = {"battery": 0.15, "charge_drive": 0.5, "range_m": 2.0, "why": "the battery is low"}
EMPTY = {"battery": 0.08, "charge_drive": 1.0, "must_dock": True, "range_m": 0.0, "why": "the battery is nearly empty"}


@pytest.fixture
def bench() -> Bench:
    """A gate whose person wants the robot in the kitchen, on a battery at 15 %."""
    bench = Bench()
    bench.world_update = {"battery": 0.15}
    bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)", said="go to the kitchen")))
    return bench


def last(leases: list[Lease]) -> str:
    return f"{leases[-1].call.source}: {leases[-1].call.skill} {leases[-1].call.arguments}"


class TestFarErrands:
    def test_at_15_percent_a_far_errand_is_postponed_for_the_dock_and_resumed_after(self, bench: Bench) -> None:
        leases = bench.tick(resources(bench.now, **LOW))
        assert bench.state_of("o1") == "parked"
        assert bench.reason_of("o1") == "postponed: battery at 15%, it goes to the dock first"
        assert last(leases) == "hypothalamus: dock {}"
        bench.world_update = {"battery": 0.16, "docked": True}
        leases = bench.end(leases[0]) + bench.wait(0.5)
        assert last(leases) == 'hypothalamus: wait {"seconds": 30.0}'
        bench.world_update = {"battery": 0.62, "docked": True}
        bench.end(leases[0])
        bench.tick(resources(bench.now, battery=0.62, range_m=100.0))
        bench.wait(1.0)
        assert bench.focus == "o1"
        bench.world_update = {"battery": 0.62}
        assert bench.begin(GO).granted

    def test_without_the_hypothalamus_it_goes(self, bench: Bench) -> None:
        assert bench.begin(GO).granted

    def test_a_near_errand_is_done_first(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, **(LOW | {"range_m": 30.0})))
        assert bench.begin(GO).granted

    def test_on_a_full_battery_nothing_is_postponed(self, bench: Bench) -> None:
        bench.tick(resources(bench.now))
        assert bench.begin(GO).granted

    def test_what_is_under_way_is_not_broken_off(self, bench: Bench) -> None:
        bench.begin(GO)
        assert bench.tick(resources(bench.now, **LOW)) == [] and bench.focus == "o1"

    def test_a_forecast_that_the_call_would_strand_it_postpones_the_errand(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, may_simulate=True, battery=0.4, reserve=0.15))
        bench.tick(accepted(bench.now, GO))
        (lease,) = bench.tick(forecast(bench.now, "c1", "rather", "dock()", energy=0.3))
        assert lease.call.source == "hypothalamus"
        assert bench.state_of("o1") == "parked" and bench.reason_of("o1").startswith("postponed: battery at 40%")

    def test_a_persons_new_order_goes_before_the_charging(self, bench: Bench) -> None:
        (lease,) = bench.tick(resources(bench.now, **LOW))
        back = bench.tick(objectives(0, objective("o2", "at(robot, office)", source="u2", said="no, first the office")))
        assert [(b.id, b.granted) for b in back] == [(lease.id, False)]
        assert bench.focus == "o2" and bench.state_of("o1") == "parked"
        bench.end(lease, Failure.INTERRUPTED)
        bench.begin(call("c2", "go_to", objective="o2", place="office"))
        bench.tick(resources(bench.now, **LOW))
        assert bench.focus == "o2"

    def test_after_that_order_it_charges(self, bench: Bench) -> None:
        (lease,) = bench.tick(resources(bench.now, **LOW))
        bench.tick(objectives(0, objective("o2", "at(robot, office)", source="u2")))
        bench.end(lease, Failure.INTERRUPTED)
        bench.world_update = {"battery": 0.15, "room": "office"}
        leases = bench.wait(1.0)
        assert bench.state_of("o2") == "done" and last(leases) == "hypothalamus: dock {}"

    def test_an_idle_robot_that_is_low_charges_before_it_must(self) -> None:
        bench = Bench()
        bench.world_update = {"battery": 0.2}
        (lease,) = bench.tick(resources(bench.now, **LOW))
        assert lease.call.skill == "dock"


class TestSurvival:
    def test_nothing_but_the_dock_begins_and_what_runs_is_taken_back(self, bench: Bench) -> None:
        lease = bench.begin(GO)
        (back,) = bench.tick(resources(bench.now, **EMPTY))
        assert (back.id, back.granted) == (lease.id, False)
        bench.tick(accepted(0, call("c2", "say", text="but I want to")))
        (granted,) = bench.end(lease, Failure.INTERRUPTED)
        assert granted.call.skill == "dock"
        assert bench.state_of("o1") == "parked"

    def test_the_model_can_not_veto_it(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, **EMPTY))
        assert bench.backlog is not None
        own = bench.backlog.focus
        given_up = objective(own, "docked", state="failed", reason="I see no way")
        bench.tick(objectives(0, given_up), objectives(0, replace=True))
        assert bench.focus == own and "can't be given up" in bench.failures[-1]

    def test_a_persons_order_waits_for_it(self, bench: Bench) -> None:
        bench.tick(resources(bench.now, **EMPTY))
        bench.tick(objectives(0, objective("o2", "at(robot, office)", source="u2", said="no, first the office")))
        assert bench.state_of("o2") == "parked" and bench.reason_of("o2").startswith("postponed: battery at 8%")

    def test_a_person_by_hand_and_a_stop_word_are_obeyed(self, bench: Bench) -> None:
        (lease,) = bench.tick(resources(bench.now, **EMPTY))
        bench.tick(t.OPERATOR_CALL.of(call("p1", "go_to", objective="", source="operator", place="office")))
        (by_hand,) = bench.end(lease, Failure.INTERRUPTED)
        assert by_hand.call.source == "operator"
        bench.tick(said(bench.now, "stop"))
        bench.end(by_hand, Failure.INTERRUPTED)
        bench.tick(resources(bench.now, **EMPTY))
        assert bench.wait(60.0) == []

    def test_after_a_stop_word_go_on_lets_it_dock(self, bench: Bench) -> None:
        bench.tick(said(bench.now, "stop"))
        bench.tick(resources(bench.now, **EMPTY))
        assert bench.wait(5.0) == []
        (lease,) = bench.tick(said(bench.now, "go on"))
        assert lease.call.skill == "dock"

    def test_it_does_not_begin_by_the_reset_of_a_stop(self, bench: Bench) -> None:
        bench.tick(stop_state(bench.now, True), resources(bench.now, **EMPTY))
        bench.tick(stop_state(bench.now, False))
        assert bench.wait(60.0) == []

    def test_a_way_to_the_dock_that_fails_is_tried_again_later(self, bench: Bench) -> None:
        leases = bench.tick(resources(bench.now, **EMPTY))
        docks = 0
        for _ in range(3000):
            for lease in [lease for lease in leases if lease.granted]:
                docks += lease.call.skill == "dock"
                leases = bench.end(lease, Failure.NONE if lease.call.skill == "wait" else Failure.PATH_BLOCKED)
                break
            else:
                leases = bench.tick()
        assert docks > 6
        assert bench.state_of("o1") == "parked" and "postponed" in bench.reason_of("o1")

    def test_when_the_battery_is_well_again_everything_comes_back(self, bench: Bench) -> None:
        (lease,) = bench.tick(resources(bench.now, **EMPTY))
        bench.world_update = {"docked": True, "battery": 0.65}
        bench.end(lease)
        bench.tick(resources(bench.now, battery=0.65))
        bench.wait(1.0)
        assert bench.focus == "o1"


def test_the_way_of_an_errand_grows_with_its_legs_and_with_what_has_to_be_searched() -> None:
    places = load_places(SETTINGS.map_folder)
    state = world(0.0, objects=[thing("red_cube", "shelf")]).value

    def metres(condition: str) -> float:
        return way_m(Predicate.parse(condition), state, places, 1.4, 25.0)  # type: ignore[arg-type]

    assert metres("docked") == metres("hand_empty") == metres("charged(60)") == 0.0
    assert 0.0 < metres("at(robot, corridor)") < metres("at(robot, kitchen)")
    assert metres("holding(red_cube)") < metres("at(red_cube, kitchen_table)")
    assert metres("holding(cyan_cube)") == 25.0


class TestInitiative:
    def rested(self) -> Bench:
        bench = Bench()
        bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)")))
        bench.tick(resources(bench.now))
        return bench

    def test_an_idle_robot_takes_up_what_it_set_aside(self) -> None:
        bench = self.rested()
        for _ in range(2):
            bench.end(bench.begin(call(f"c{bench.now}", "wait", seconds=bench.now)), Failure.UNKNOWN)
        bench.tick(*self.escalate(bench))
        assert bench.state_of("o1") == "parked"
        bench.wait(5.0)
        bench.tick(tension(bench.now, "resume", objective="o1"))
        assert bench.focus == "o1"

    def test_without_tension_it_rests_its_time(self) -> None:
        bench = self.rested()
        bench.tick(*self.escalate(bench))
        bench.wait(6.0)
        assert bench.state_of("o1") == "parked"

    def test_tension_wakes_nothing_that_a_stop_put_to_rest(self) -> None:
        bench = self.rested()
        bench.tick(stop_state(bench.now, True))
        bench.tick(stop_state(bench.now, False))
        bench.tick(tension(bench.now, "resume", objective="o1"))
        bench.wait(5.0)
        assert bench.state_of("o1") == "parked"

    @staticmethod
    def escalate(bench: Bench) -> list[Sent]:
        return [conflict(bench.now, "o1", "escalate")]

    def exploring(self) -> Bench:
        bench = Bench()
        bench.tick(resources(bench.now))
        bench.tick(tension(bench.now, "explore", condition="at(robot, shelf)"))
        assert bench.backlog is not None and bench.focus.startswith("explore")
        return bench

    def test_an_idle_robot_looks_around_when_it_is_bored(self) -> None:
        bench = self.exploring()
        assert bench.backlog is not None
        assert "wanted by the robot itself" in bench.backlog.why

    def test_one_that_is_not_does_not(self) -> None:
        bench = Bench()
        bench.tick(resources(bench.now))
        bench.tick(tension(bench.now, "nothing", condition="at(robot, shelf)"))
        assert bench.focus == ""

    @pytest.mark.parametrize("word", ["hello there", "stop"])
    def test_a_word_of_a_person_ends_it_at_once(self, word: str) -> None:
        bench = self.exploring()
        lease = bench.begin(call("c1", "go_to", objective=bench.focus, place="shelf"))
        (back,) = bench.tick(said(bench.now, word))
        assert (back.id, back.granted) == (lease.id, False) and bench.focus == ""

    def test_an_order_ends_it_at_once(self) -> None:
        bench = self.exploring()
        bench.tick(objectives(0, objective("o1", "at(robot, kitchen)")))
        assert bench.focus == "o1" and bench.state_of("explore-1") == "cancelled"

    def test_it_is_budgeted(self) -> None:
        bench = self.exploring()
        bench.tick(said(bench.now, "hello"))
        bench.tick(tension(bench.now, "explore", condition="at(robot, shelf)"))
        assert bench.focus == ""
        bench.wait(61.0)
        bench.tick(tension(bench.now, "explore", condition="at(robot, shelf)"))
        assert bench.focus == "explore-2"

    def test_after_a_stop_it_wants_nothing_of_itself(self) -> None:
        bench = Bench()
        bench.tick(resources(bench.now), said(bench.now, "stop"))
        bench.tick(tension(bench.now, "explore", condition="at(robot, shelf)"))
        assert bench.focus == ""

    @pytest.mark.parametrize("condition", ["seen_surface(shelf)", "at(robot, stairs)", ""])
    def test_a_wish_that_can_not_be_checked_is_not_taken_up(self, condition: str) -> None:
        bench = Bench()
        bench.tick(resources(bench.now))
        bench.tick(tension(bench.now, "explore", condition=condition))
        assert bench.focus == ""


class TestRestart:
    def test_what_was_open_before_waits_until_it_is_woken(self, tmp_path: Path) -> None:
        kept = SETTINGS.model_copy(update={"memory_url": f"sqlite:///{tmp_path / 'mind.db'}"})
        store = open_store(kept)
        assert store is not None
        with store:
            clock = run_clock(kept, store)
            before = objective("o1", "at(robot, kitchen)", state="focused", created=1.0)
            own = objective("e1", "at(robot, shelf)", state="focused", source="striatum", created=1.0)
            for one in (before, own):
                store.put(OBJECTIVE, one.id, one.model_dump(mode="json"), who="test", why="test", at=clock.stamp(2.0))
        gate = BasalGanglia(kept)
        (told,) = self.backlog(gate, 10.0)
        assert (told.state, told.reason) == ("parked", "interrupted by a restart")
        (told,) = self.backlog(gate, 40.0)
        assert told.state == "parked"
        (told,) = self.backlog(gate, 50.0, said(50.0, "go on"))
        assert told.state == "focused"

    def test_tension_wakes_it_too(self, tmp_path: Path) -> None:
        bench = Bench()
        bench.tick(objectives(bench.now, objective("o1", "at(robot, kitchen)", state="parked")))
        assert bench.state_of("o1") == "parked"
        bench.tick(tension(bench.now, "resume", objective="o1"))
        assert bench.focus == "o1"

    @staticmethod
    def backlog(gate: BasalGanglia, now: float, *sent: Sent) -> list[Objective]:
        found = gate.step(now, Inbox.of([world(now), *sent]))
        (told,) = [item.value for item in found if isinstance(item.value, Backlog)]
        return list(told.objectives)
