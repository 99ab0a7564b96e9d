"""When effort is noticed to lead nowhere, and when it is forgiven."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.gate_rig import SETTINGS, call, objective, thing, world
from support.glue_rig import Region, backlog, feedback, go_to, lease, outcome, pick

from anima import topics as t
from anima.failure import Failure
from anima.regions.acc import ConflictMonitor
from anima.types.glue import Conflict
from anima.types.mind import SkillCall
from anima.world.state import facts_of

BRING = objective("o1", "at(red_cube, shelf)")


class Bench(Region):
    """A conflict monitor, and a world that calls change or not."""

    def __init__(self) -> None:
        super().__init__(ConflictMonitor(SETTINGS))
        self.world: dict[str, Any] = {}
        self.calls = 0
        self.look(place="corridor")
        self.tick(backlog(self.now, BRING))

    def look(self, **update: Any) -> list[Conflict]:
        """The world is so from now on."""
        self.world |= update
        value = world(self.now, **self.world).value
        return self.tick(t.WORLD_STATE.of(value.model_copy(update={"facts": facts_of(value)})))  # type: ignore[arg-type]

    def do(self, made: SkillCall, failure: Failure = Failure.NONE, **changes: Any) -> list[Conflict]:
        """A call is made and ends; `changes` is how the world is after it."""
        self.calls += 1
        made = made.model_copy(update={"id": f"c{self.calls}"})
        found = self.tick(lease(self.now, made))
        self.tick(dt=2.0)
        found += self.tick(outcome(self.now + 0.1, made, failure))
        return [*found, *self.look(**changes), *self.wait(1.0)]


@pytest.fixture
def acc() -> Bench:
    return Bench()


def test_the_same_failure_again_in_the_same_world_is_a_conflict_that_names_the_call(acc: Bench) -> None:
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []
    (conflict,) = acc.do(pick(""), Failure.GRASP_FAILED)
    assert (conflict.kind, conflict.objective, conflict.advice) == ("repeated_failure", "o1", "change_tactic")
    assert conflict.avoid == ["pick(red_cube)"]
    assert conflict.because == ["c1", "c2"]
    assert "2 times" in conflict.why and "grasp_failed" in conflict.why


def test_another_failure_of_the_same_call_is_none(acc: Bench) -> None:
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []
    assert acc.do(pick(""), Failure.SLIP) == []


def test_the_same_failure_in_another_world_is_none(acc: Bench) -> None:
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []
    assert acc.do(go_to("", "shelf"), place="shelf") == []
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []


def test_a_way_that_may_clear_by_itself_is_not_forbidden_at_once(acc: Bench) -> None:
    acc.do(go_to("", "shelf"), Failure.PATH_BLOCKED)
    (second,) = acc.do(go_to("", "shelf"), Failure.PATH_BLOCKED)
    assert second.avoid == []
    (third,) = acc.do(go_to("", "shelf"), Failure.PATH_BLOCKED)
    assert third.avoid == ["go_to(shelf)"]


def test_the_same_success_that_changes_nothing_is_a_conflict_too(acc: Bench) -> None:
    assert acc.do(go_to("", "shelf"), place="shelf") == [], "this one brought it there"
    assert acc.do(go_to("", "shelf")) == []
    (conflict,) = acc.do(go_to("", "shelf"))
    assert (conflict.kind, conflict.avoid) == ("no_progress", ["go_to(shelf)"])


def test_doing_it_again_after_something_else_was_tried_is_no_conflict(acc: Bench) -> None:
    approach = call("", "approach", object="red_cube")
    assert acc.do(approach) == []
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []
    assert acc.do(call("", "look_for", object="red_cube")) == []
    assert acc.do(approach) == []


def test_going_to_and_fro_is_noticed_within_four_calls(acc: Bench) -> None:
    found = [acc.do(go_to("", place), place=place) for place in ("shelf", "kitchen_table", "shelf", "kitchen_table")]
    assert found[:3] == [[], [], []]
    (conflict,) = found[3]
    assert (conflict.kind, set(conflict.avoid)) == ("oscillation", {"go_to(shelf)", "go_to(kitchen_table)"})


def test_a_round_of_three_tactics_is_noticed_when_it_has_gone_twice(acc: Bench) -> None:
    places = ["shelf", "desk", "office"] * 2
    found = [acc.do(go_to("", place), place=place) for place in places]
    assert [[c.kind for c in one] for one in found] == [[], [], [], [], [], ["oscillation"]]


def test_two_objectives_that_undo_each_other_are_noticed(acc: Bench) -> None:
    other = objective("o2", "at(orange_ball, desk)", order=1)
    acc.tick(backlog(acc.now, BRING, other))
    found = []
    for id, place in (("o1", "shelf"), ("o2", "desk")) * 2:
        found += acc.do(go_to("", place, objective=id), place=place)
    assert [conflict.kind for conflict in found] == ["oscillation"]


def test_waiting_between_two_tries_is_not_itself_to_be_avoided(acc: Bench) -> None:
    found = []
    for _ in range(2):
        found += acc.do(go_to("", "shelf"), Failure.PATH_BLOCKED)
        found += acc.do(call("", "wait", seconds=5.0))
    assert found[-1].kind == "oscillation" and found[-1].avoid == ["go_to(shelf)"]


def test_many_different_calls_that_bring_nothing_nearer_are_a_conflict(acc: Bench) -> None:
    places = ["shelf", "desk", "office", "kitchen", "kitchen_table", "living_room"]
    found = [conflict for place in places for conflict in acc.do(go_to("", place), place=place)]
    assert [conflict.kind for conflict in found] == ["no_progress"]


def test_advice_rises_from_another_tactic_to_setting_aside_to_asking(acc: Bench) -> None:
    advice = [conflict.advice for _ in range(5) for conflict in acc.do(pick(""), Failure.GRASP_FAILED)]
    assert advice == ["change_tactic", "escalate", "ask", "ask"]


def test_real_progress_forgives(acc: Bench) -> None:
    for _ in range(2):
        acc.do(pick(""), Failure.GRASP_FAILED)
    acc.look(objects=[thing("red_cube", "shelf").model_copy(update={"place": "gripper"})], holding="red_cube")
    place = call("", "place", object="red_cube", surface="shelf")
    assert acc.do(place, Failure.PATH_BLOCKED) == []
    (conflict,) = acc.do(place, Failure.PATH_BLOCKED)
    assert conflict.advice == "change_tactic"


def test_a_drive_that_gains_nothing_is_a_conflict_while_it_runs(acc: Bench) -> None:
    drive = go_to("c1", "shelf")
    acc.tick(lease(acc.now, drive))
    for n in range(20):
        assert acc.tick(feedback(acc.now, drive, 0.02 * n), dt=1.0) == []
    found = [conflict for _ in range(40) for conflict in acc.tick(feedback(acc.now, drive, 0.4), dt=1.0)]
    assert [conflict.kind for conflict in found] == ["no_progress"]
    assert found[0].avoid == ["go_to(shelf)"] and found[0].because == ["c1"]


def test_a_drive_to_and_fro_gains_nothing_either(acc: Bench) -> None:
    drive = go_to("c1", "shelf")
    acc.tick(lease(acc.now, drive))
    found = [c for n in range(40) for c in acc.tick(feedback(acc.now, drive, 0.3 + 0.1 * (n % 3)), dt=1.0)]
    assert [conflict.kind for conflict in found] == ["no_progress"]


def test_a_search_that_goes_from_place_to_place_gets_on(acc: Bench) -> None:
    search = call("c1", "look_for", object="red_cube")
    acc.tick(lease(acc.now, search, lasts_s=300.0))
    for n in range(200):
        phase = f"looking for the red cube on table {n // 20}: on the way"
        assert acc.tick(feedback(acc.now, search, 0.05 * (n % 20), phase), dt=1.0) == []


def test_waiting_is_not_meant_to_get_on(acc: Bench) -> None:
    waiting = call("c1", "wait", seconds=60.0)
    acc.tick(lease(acc.now, waiting))
    assert acc.wait(60.0, dt=1.0) == []


def test_a_skill_whose_end_was_never_told_is_not_watched_for_ever(acc: Bench) -> None:
    acc.tick(lease(acc.now, go_to("c1", "shelf"), lasts_s=20.0))
    assert len(acc.wait(300.0, dt=1.0)) == 1


def test_what_a_person_breaks_off_or_does_by_hand_is_no_conflict(acc: Bench) -> None:
    for _ in range(4):
        assert acc.do(pick(""), Failure.INTERRUPTED) == []
        assert acc.do(pick("", objective=""), Failure.GRASP_FAILED) == []


def test_charging_minute_by_minute_is_progress(acc: Bench) -> None:
    acc.tick(backlog(acc.now, objective("o1", "charged(80)")))
    acc.look(battery=0.2, docked=True)
    for n in range(6):
        assert acc.do(call("", "wait", seconds=60.0), battery=0.25 + 0.1 * n) == []


def test_objectives_that_have_ended_are_forgotten(acc: Bench) -> None:
    acc.do(pick(""), Failure.GRASP_FAILED)
    acc.tick(backlog(acc.now))
    acc.tick(backlog(acc.now, BRING))
    acc.look()
    assert acc.do(pick(""), Failure.GRASP_FAILED) == []


def test_a_dumped_monitor_goes_on_as_if_nothing_had_been(acc: Bench) -> None:
    acc.do(pick(""), Failure.GRASP_FAILED)
    made = pick("c9")
    acc.tick(lease(acc.now, made))
    again = Region(ConflictMonitor.load(SETTINGS, json.loads(json.dumps(acc.region.dump()))), acc.now)
    ended = outcome(acc.now + 0.1, made, Failure.GRASP_FAILED)
    assert again.tick(ended) == acc.tick(ended) != []
    assert again.region.why() == acc.region.why()
