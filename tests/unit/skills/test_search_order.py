"""A search begins where people said to look first."""

from __future__ import annotations

from typing import Any, cast

from support.planner_rig import world

from anima.body.places import load_places
from anima.config import Settings
from anima.skills.program import Body, Senses
from anima.skills.programs.look_for import _next

SETTINGS = Settings()


def first(*places: str, seen_on: str = "") -> str:
    known = load_places(SETTINGS.map_folder)
    things = [("red_cube", seen_on)] if seen_on else []
    # Without a navigator: where people have said to look, nothing has to be measured.
    body = Body(SETTINGS, known, cast(Any, None), Senses(100.0, world=world(50.0, *things)), places)
    return _next(body, "red_cube", list(known.surfaces), since=100.0).name


def test_it_begins_where_people_said_to_look_first() -> None:
    assert first("shelf", "office_table") == "shelf"
    assert first("office_table") == "office_table"


def test_where_the_thing_was_last_seen_still_comes_before_that() -> None:
    assert first("shelf", seen_on="kitchen_table") == "kitchen_table"
