"""A body without arm, camera or dock: what it can't do is not offered, and is declined with the reason."""

from __future__ import annotations

from typing import Any

from support.planner_rig import Bench, of, world

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.planner.options import options
from anima.planner.validate import validate
from anima.skills.registry import SKILLS
from anima.types.base import Header
from anima.types.mind import SkillCall, WorldState
from anima.world.predicates import Predicate, holds
from anima.world.state import facts_of

NAMES = known_names(Settings())


def bare(**changes: Any) -> WorldState:
    state = world(10.0, **changes)
    return state.model_copy(update={"facts": facts_of(state, ("arm", "camera", "dock"))})


def test_that_a_part_is_lacking_is_a_fact() -> None:
    assert "lacks(arm)" in bare().facts
    assert holds(Predicate.parse("lacks(arm)"), bare())
    assert not any(fact.startswith("lacks") for fact in facts_of(world(10.0)))


def test_a_skill_that_the_body_can_t_do_says_only_that() -> None:
    pick = SKILLS["pick"]
    unmet = pick.unmet(pick.parse('{"object": "red_cube"}'), bare())
    assert [one.reason for one in unmet] == ["this robot has no arm", "this robot has no camera that measures depth"]
    assert not any(one.repair for one in unmet)
    go = SKILLS["go_to"]
    assert not go.unmet(go.parse('{"place": "office"}'), bare())


def test_nothing_of_it_is_offered_but_driving_is() -> None:
    found = options(Predicate.parse("at(red_cube, kitchen_table)"), bare(), NAMES, ())
    assert found.possible == () and found.calls == ("give_up(not_possible)",)
    assert options(Predicate.parse("at(robot, office)"), bare(), NAMES, ()).possible == ("go_to(office)",)


def test_a_call_for_it_is_refused_with_the_reason() -> None:
    call = SkillCall(
        header=Header.at(10.0), id="c", skill="look_for", arguments='{"object": "red_cube"}', objective="", source="",
        because=[],
    )
    verdict = validate(call, bare(), NAMES)
    assert not verdict.accepted and verdict.failure == Failure.PRECONDITION_UNMET
    assert "no camera" in verdict.reason


def test_an_order_for_it_is_declined_at_once_and_one_to_drive_is_not() -> None:
    bench = Bench("bring(red_cube, kitchen_table)")
    bench.give(t.WORLD_STATE.of(bare()))
    sent = bench.say("Bring the red cube to the kitchen table.")
    assert of(sent, t.REPLY)[0].text == "Sorry, I can't: this robot has no arm."
    (declined,) = of(sent, t.OBJECTIVES)[0].objectives
    assert (declined.state, declined.reason.split(":")[0]) == ("declined", "not_able")

    bench = Bench("go(office)")
    bench.give(t.WORLD_STATE.of(bare()))
    assert of(bench.say("Go to the office."), t.OBJECTIVES)[0].objectives[0].state == "pending"
