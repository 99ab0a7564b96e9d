"""What the validator corrects, what it refuses, and what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anima.failure import Failure
from anima.planner.names import KnownNames
from anima.planner.validate import validate
from anima.types.base import Header, Time
from anima.types.mind import ObjectState, SkillCall, Verdict, WorldState
from anima.types.std import Point, Pose, Vector3

NAMES = KnownNames(
    places=("kitchen", "living_room", "office", "kitchen_table", "shelf", "person_tray", "dock", "person"),
    surfaces=("kitchen_table", "shelf", "person_tray"),
    objects=("red_cube", "blue_cylinder", "green_cube"),
    no_go=("stairs",),
    holders={"person_tray": "person"},
)


def thing(name: str, place: str, status: str = "confirmed") -> ObjectState:
    colour, _, shape = name.partition("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status=status, position=Point(x=2.0, y=2.0, z=0.42), yaw=0.0,
        size=Vector3(x=0.04, y=0.04, z=0.04), place=place, last_seen=Time(sec=0, nanosec=0), confidence=0.9,
    )


def world(*things: ObjectState, **changes: Any) -> WorldState:
    state = WorldState(
        header=Header.at(1.0, "map"), robot=Pose(), room="kitchen", place="", holding="", docked=False, battery=0.8,
        stopped=False, localized=True, objects=list(things), surfaces=[], facts=[],
    )
    return state.model_copy(update=changes)


def check(skill: str, arguments: Any, state: WorldState | None = None) -> Verdict:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = SkillCall(
        header=Header.at(1.0), id="c1", skill=skill, arguments=text, objective="o1", source="planner", because=[]
    )
    return validate(call, state or world(), NAMES)


@pytest.mark.parametrize(
    ("skill", "arguments", "meant"),
    [
        ("look_for", {"object": "red cube"}, {"object": "red_cube"}),
        ("look_for", {"object": "the Red Cube"}, {"object": "red_cube"}),
        ("look_for", {"object": "cube red"}, {"object": "red_cube"}),
        ("look_for", {"object": "blue_cilinder"}, {"object": "blue_cylinder"}),
        ("go_to", {"place": "Kitchen Table"}, {"place": "kitchen_table"}),
        ("go_to", {"place": "livingroom"}, {"place": "living_room"}),
        ("go_to", {"destination": "office"}, {"place": "office"}),
        ("go_to", ["office"], {"place": "office"}),
        ("wait", {"seconds": "5"}, {"seconds": 5.0}),
        ("wait", {"seconds": "1.5 min"}, {"seconds": 60.0}),
        ("wait", {"seconds": 300}, {"seconds": 60.0}),
        ("go to", {"place": "office"}, {"place": "office"}),
    ],
)
def test_what_is_meant_beyond_doubt_is_corrected_and_said(skill: str, arguments: Any, meant: dict[str, Any]) -> None:
    verdict = check(skill, arguments)
    assert verdict.accepted, verdict.reason
    assert json.loads(verdict.call.arguments) == meant
    assert "read as" in verdict.correction


def test_putting_something_on_the_person_is_handing_it_over() -> None:
    at_person = world(thing("red_cube", "gripper"), holding="red_cube", place="person")
    for surface in ("person", "person_tray"):
        verdict = check("place", {"object": "red_cube", "surface": surface}, at_person)
        assert (verdict.accepted, verdict.call.skill) == (True, "hand_over")
        assert "hand_over" in verdict.correction


def test_the_object_left_out_of_place_is_the_one_in_the_hand() -> None:
    at_shelf = world(thing("red_cube", "gripper"), holding="red_cube", place="shelf")
    verdict = check("place", {"surface": "shelf"}, at_shelf)
    assert json.loads(verdict.call.arguments) == {"object": "red_cube", "surface": "shelf"}
    assert "red_cube" in verdict.correction


def test_driving_to_a_thing_is_approaching_it_or_searching_for_it() -> None:
    assert check("go_to", {"place": "red_cube"}).call.skill == "look_for"
    assert check("go_to", {"place": "red_cube"}, world(thing("red_cube", "shelf"))).call.skill == "approach"


def test_a_name_that_could_be_either_of_two_is_not_guessed() -> None:
    verdict = check("look_for", {"object": "cube"})
    assert not verdict.accepted
    assert "red_cube" in verdict.reason


def test_the_stairs_are_off_limits_however_they_are_spelt() -> None:
    for spelling in ("stairs", "the Stairs", "stair s"):
        verdict = check("go_to", {"place": spelling})
        assert verdict.failure == Failure.CONSTRAINT_PREVENTED
        assert "off limits" in verdict.reason


def test_an_unmet_precondition_comes_with_the_call_that_mends_it() -> None:
    verdict = check("pick", {"object": "red_cube"})
    assert verdict.failure == Failure.PRECONDITION_UNMET
    assert verdict.repair == "look_for(red_cube)"
    holding = world(thing("red_cube", "shelf"), thing("green_cube", "gripper"), holding="green_cube", place="shelf")
    assert check("pick", {"object": "red_cube"}, holding).repair == "place(green_cube, shelf)"


def test_a_number_that_is_none_is_refused() -> None:
    for seconds in ('{"seconds": NaN}', '{"seconds": 1e999}', '{"seconds": -3}'):
        assert not check("wait", seconds).accepted


def test_an_overlong_text_is_shortened_not_refused() -> None:
    verdict = check("say", {"text": "word " * 100})
    assert verdict.accepted
    assert len(json.loads(verdict.call.arguments)["text"]) <= 200


def test_two_motions_in_one_reply_are_one_refusal() -> None:
    verdict = check("go_to", '[{"place": "office"}, {"place": "shelf"}]')
    assert verdict.failure == Failure.PARSE_ERROR
