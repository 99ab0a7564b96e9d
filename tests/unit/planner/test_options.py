"""Which next steps are offered, which are blocked, and which call leads to the goal."""

from __future__ import annotations

import pytest

from anima.config import Settings
from anima.planner.bench import Moment, situation_of
from anima.planner.calls import CallError, parse_call
from anima.planner.options import Options
from anima.planner.packet import build
from anima.planner.speech import given_up
from anima.skills.registry import SKILLS

SETTINGS = Settings()


def options(**moment: object) -> Options:
    return situation_of(Moment.model_validate({"room": "kitchen", "want": [], **moment}), SETTINGS).options()


def test_the_way_leads_back_to_what_can_be_done_now() -> None:
    found = options(goal="at(red_cube, shelf)", lies={"red_cube": "kitchen_table"})
    assert found.way == ("place(red_cube, shelf)", "pick(red_cube)", "approach(red_cube)")
    assert found.possible[0] == "approach(red_cube)"
    assert {b.call for b in found.blocked} == {"place(red_cube, shelf)", "pick(red_cube)"}


def test_a_full_hand_is_emptied_where_the_robot_stands() -> None:
    found = options(
        goal="at(red_cube, office_table)", place="kitchen_table", holding="green_cube", lies={"red_cube": "shelf"}
    )
    assert found.way[-1] == "place(green_cube, kitchen_table)"


def test_nothing_is_told_before_it_was_looked_for() -> None:
    assert options(goal="told(red_cube)").way == ("say(red_cube)", "look_for(red_cube)")
    after = options(goal="told(red_cube)", done=["look_for(red_cube) perception_miss"])
    assert after.possible[0] == "say(red_cube)"


def test_a_call_that_failed_three_times_is_not_offered_again() -> None:
    found = options(goal="at(red_cube, shelf)", done=["look_for(red_cube) perception_miss"] * 3)
    assert "look_for(red_cube)" not in found.possible
    assert "give_up(not_found)" in found.calls


def test_a_success_in_between_opens_it_again() -> None:
    miss = "go_to(office) path_blocked"
    done = [miss, miss, "go_to(office) ok", miss]
    assert "go_to(office)" in options(goal="at(robot, office)", done=done).possible


def test_giving_up_takes_a_next_step_that_has_used_up_its_tries() -> None:
    miss = "go_to(office) path_blocked"
    for failed in range(3):
        assert options(goal="at(robot, office)", done=[miss] * failed).give_up == ()
    assert options(goal="at(robot, office)", done=[miss] * 3).give_up == ("way_blocked",)


def test_many_different_failures_are_a_reason_too() -> None:
    done = ["approach(red_cube) path_blocked", "look_for(red_cube) perception_miss", "pick(red_cube) grasp_failed",
            "approach(red_cube) ok", "pick(red_cube) grasp_failed", "approach(red_cube) stalled"]
    assert "cannot_grasp" in options(goal="at(red_cube, shelf)", lies={"red_cube": "shelf"}, done=done).give_up


def test_what_nothing_can_mend_is_the_reason_to_give_up_whatever_else_failed() -> None:
    stalled = ["look_for(red_cube) stalled", "look_for(red_cube) ok"]
    found = options(goal="at(red_cube, shelf)", lies={"red_cube": "floor"}, done=stalled)
    assert found.give_up == ("not_possible",)
    said = given_up("not_possible", found.hopeless)
    assert said == "red cube lies on the floor, out of the arm's reach"


def test_waiting_is_offered_when_waiting_can_help() -> None:
    assert "wait(5)" not in options(goal="at(robot, office)").possible
    assert "wait(5)" in options(goal="at(robot, office)", done=["go_to(office) path_blocked"]).possible


@pytest.mark.parametrize("goal", ["at(red_cube, shelf)", "at(red_cube, person)", "at(robot, office)", "docked",
                                  "holding(red_cube)", "hand_empty", "charged(80)", "seen(red_cube)", "told(red_cube)"])
@pytest.mark.parametrize("docked", [True, False])
def test_every_offered_call_passes_the_registry(goal: str, docked: bool) -> None:
    situation = situation_of(
        Moment(goal=goal, room="corridor", place="dock" if docked else "", docked=docked, want=[]), SETTINGS
    )
    for call in situation.options().possible:
        skill, arguments = parse_call(call, situation.names)
        assert not SKILLS[skill].unmet(SKILLS[skill].parse(arguments), situation.state)


def test_the_packet_keeps_its_order_and_stays_short() -> None:
    moment = Moment(
        goal="at(red_cube, kitchen_table)", room="living_room", battery=0.1, lies={"red_cube": "shelf"}, want=[],
        done=["look_for(red_cube) ok", "approach(red_cube) path_blocked", "approach(red_cube) path_blocked"],
    )
    situation = situation_of(moment, SETTINGS)
    text = build(situation, situation.options()).text
    before, _, choices = text.partition("can:\n")
    heads = [line.partition(":")[0] for line in before.splitlines()] + ["can"]
    assert choices.startswith("approach(red_cube), next on the way, failed 2x\n")
    assert heads == ["focus", "way", "know", "concerns", "history", "mode", "blocked", "new", "can"]
    assert len(text) < 1400


def test_calls_are_read_in_their_short_form() -> None:
    names = situation_of(Moment(goal="docked", room="kitchen", want=[]), SETTINGS).names
    assert parse_call("place(red_cube, shelf)", names) == ("place", '{"object": "red_cube", "surface": "shelf"}')
    assert parse_call("say(red_cube)", names) == ("say", '{"object": "red_cube"}')
    assert parse_call("wait(5)", names) == ("wait", '{"seconds": 5.0}')
    for text in ("pick", "pick()", "fly(red_cube)", "wait(soon)", "place(red_cube)"):
        with pytest.raises(CallError):
            parse_call(text, names)
