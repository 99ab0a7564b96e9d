"""What the robot says about where things are."""

from __future__ import annotations

import pytest

from anima.body.places import load_places
from anima.config import Settings
from anima.skills.words import listed, whereabouts
from anima.types.base import Header, Time
from anima.types.mind import ObjectState, SurfaceState, WorldState
from anima.types.std import Point, Pose, Vector3

PLACES = load_places(Settings().map_folder)


def thing(place: str, status: str = "confirmed") -> ObjectState:
    x, y = PLACES.surface(place).centre if place not in ("floor", "gripper", "") else (1.0, 1.0)
    return ObjectState(
        name="orange_ball", colour="orange", shape="ball", status=status, position=Point(x=x, y=y, z=0.4), yaw=0.0,
        size=Vector3(), place=place, last_seen=Time.at(1.0), confidence=1.0,
    )


def world(*things: ObjectState, looked: tuple[str, ...] = (), holding: str = "") -> WorldState:
    surfaces = [
        SurfaceState(name=s.name, coverage=1.0 if s.name in looked else 0.0, last_viewed=Time.at(0.0))
        for s in PLACES.surfaces
    ]
    return WorldState(
        header=Header.at(2.0), robot=Pose(), room="kitchen", place="", holding=holding, docked=False, battery=1.0,
        stopped=False, localized=True, objects=list(things), surfaces=surfaces, facts=[],
    )


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (world(thing("shelf")), "The orange ball is on the shelf in the living room."),
        (world(thing("kitchen_table")), "The orange ball is on the kitchen table."),
        (world(thing("person_tray")), "The orange ball is on your tray."),
        (world(thing("floor")), "The orange ball is on the floor in the office."),
        (world(thing("gripper"), holding="orange_ball"), "I have the orange ball in my hand."),
        (
            world(looked=("shelf", "kitchen_table")),
            "I looked at the kitchen table and shelf and did not find the orange ball.",
        ),
        (
            world(thing("shelf", "absent"), looked=("shelf",)),
            "The orange ball was on the shelf in the living room, but it is no longer there. "
            "I looked at the shelf and did not find the orange ball.",
        ),
        (world(), "I don't know where the orange ball is; I have not looked for it."),
        (world(thing("shelf", "tentative")), "I don't know where the orange ball is; I have not looked for it."),
    ],
)
def test_it_tells_what_it_knows_and_no_more(state: WorldState, sentence: str) -> None:
    assert whereabouts("orange_ball", state, PLACES) == sentence


def test_lists_are_spoken_as_people_do() -> None:
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
