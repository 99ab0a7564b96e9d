"""World states as values: facts, meaning, differences for people."""

from __future__ import annotations

import itertools

import pytest

from anima.types.base import Header, Time
from anima.types.mind import ObjectState, SurfaceState, WorldState
from anima.types.std import Point, Pose, Vector3
from anima.world.predicates import Predicate, holds
from anima.world.state import DiffError, diff, facts_of, means_the_same, rebuild


def thing(
    name: str = "red_cube", place: str = "kitchen_table", status: str = "confirmed", x: float = 7.0
) -> ObjectState:
    colour, shape = name.split("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status=status, position=Point(x=x, y=4.0, z=0.42), yaw=0.1,
        size=Vector3(x=0.035, y=0.035, z=0.035), place=place, last_seen=Time.at(3.0), confidence=0.9,
    )


def state(**changes: object) -> WorldState:
    base = WorldState(
        header=Header.at(10.0, "map"), robot=Pose.planar(6.7, 4.4, 0.0), room="kitchen", place="kitchen_table",
        holding="", docked=False, battery=0.87, stopped=False, localized=True, objects=[thing()],
        surfaces=[SurfaceState(name="kitchen_table", coverage=0.8, last_viewed=Time.at(9.0))], facts=[],
    )
    changed = base.model_copy(update=changes)
    return changed.model_copy(update={"facts": facts_of(changed)})


def test_facts_are_sorted_true_and_in_canonical_text() -> None:
    facts = state().facts
    assert facts == [
        "at(red_cube, kitchen_table)", "at(robot, kitchen)", "at(robot, kitchen_table)", "charged(80)", "hand_empty",
        "seen(red_cube)",
    ]
    assert all(holds(Predicate.parse(fact), state()) for fact in facts)


def test_a_held_object_is_held_and_the_hand_is_not_empty() -> None:
    facts = state(holding="red_cube", objects=[thing(place="gripper")]).facts
    assert "holding(red_cube)" in facts and "hand_empty" not in facts
    assert not any(fact.startswith("at(red_cube") for fact in facts)


@pytest.mark.parametrize("status", ["tentative", "absent"])
def test_what_is_not_known_to_be_there_is_no_fact(status: str) -> None:
    assert not any("red_cube" in fact for fact in state(objects=[thing(status=status)]).facts)


def test_a_full_battery_is_charged_to_the_full() -> None:
    assert "charged(100)" in state(battery=1.0).facts
    assert "charged(90)" in state(battery=0.9).facts


def test_noise_has_no_meaning_and_a_change_of_place_has() -> None:
    old = state()
    assert means_the_same(old, state(objects=[thing(x=7.004)], robot=Pose.planar(6.71, 4.41, 0.01)))
    assert not means_the_same(old, state(objects=[thing(x=7.05)]))
    assert not means_the_same(old, state(place="", room="corridor"))
    assert not means_the_same(old, state(objects=[thing(status="absent")]))


def test_a_slow_drift_does_not_hide_in_steps() -> None:
    told = state(objects=[thing(x=7.0)])
    steps = [state(objects=[thing(x=7.0 + 0.01 * i)]) for i in range(1, 6)]
    assert not all(means_the_same(told, step) for step in steps)


def test_a_difference_reads_like_a_sentence_and_says_only_what_changed() -> None:
    old = state()
    new = state(holding="red_cube", objects=[thing(place="gripper"), thing("blue_cylinder", x=7.2)])
    lines = diff(old, new)
    assert 'holding: "" -> "red_cube"' in lines
    assert 'objects.red_cube.place: "kitchen_table" -> "gripper"' in lines
    assert "+ holding(red_cube)" in lines and "- hand_empty" in lines
    assert any(line.startswith("+ objects.blue_cylinder: {") for line in lines)
    assert not any("battery" in line or "surfaces" in line for line in lines)
    assert diff(new, new) == []


def test_a_state_is_rebuilt_from_the_first_one_and_the_differences_since() -> None:
    states = [
        state(),
        state(header=Header.at(11.0, "map"), battery=0.79, objects=[]),
        state(header=Header.at(12.0, "map"), holding="red_cube", objects=[thing(place="gripper")], surfaces=[]),
        state(header=Header.at(13.0, "map"), stopped=True, room="", place=""),
    ]
    rebuilt = states[0]
    for old, new in itertools.pairwise(states):
        rebuilt = rebuild(rebuilt, diff(old, new))
        assert rebuilt == new


@pytest.mark.parametrize(
    "line",
    [
        "nonsense", "- holding(red_cube)", "- objects.green_cube", 'objects.green_cube.place: "" -> "x"',
        'objects.red_cube.colour_of_its_soul: "" -> "x"', "battery: 0.5", "battery: 0.5 => 0.6", "+ flies(red_cube)",
        'facts: [] -> ["docked"]',
    ],
)
def test_a_line_that_does_not_fit_is_an_error_and_not_a_guess(line: str) -> None:
    with pytest.raises(DiffError):
        rebuild(state(), [line])
