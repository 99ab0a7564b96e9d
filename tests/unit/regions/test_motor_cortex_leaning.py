"""What a part has come to avoid makes the motor cortex plan another way, and only while that holds."""

from __future__ import annotations

import numpy as np
from support.parts_messages import stance, stances

from anima.body.navigation.grid import GridNavigator
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.regions.motor_cortex import MotorCortex
from anima.runtime.component import Inbox
from anima.topics import Sent

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)
RUG = PLACES.area_of("rug")
DOOR = Pose2D(5.2, 2.1, 1.57)


def share_on_the_rug(cortex: MotorCortex, place: str) -> float:
    navigator = cortex._body.navigator
    assert isinstance(navigator, GridNavigator) and RUG is not None
    path = navigator._planner.plan(DOOR, PLACES.poses(place)[0])
    assert len(path)
    x0, y0, x1, y1 = RUG
    return float(np.mean((path[:, 0] > x0) & (path[:, 0] < x1) & (path[:, 1] > y0) & (path[:, 1] < y1)))


def told(cortex: MotorCortex, now: float, *sent: Sent) -> None:
    cortex.step(now, Inbox.of(sent))


def test_the_way_to_the_person_leads_over_the_rug_until_a_part_speaks_against_it() -> None:
    assert RUG is not None
    cortex = MotorCortex(SETTINGS)
    assert share_on_the_rug(cortex, "person") > 0.2
    inbox = Inbox.of([stances(10.0, stance(10.0, "avoid", "rug", RUG, lasts_s=60.0))])
    cortex.step(10.0, inbox)
    assert share_on_the_rug(cortex, "person") < 0.08
    inbox.clear()
    cortex.step(75.0, inbox)
    assert share_on_the_rug(cortex, "person") > 0.2


def test_an_avoided_thing_without_a_place_on_the_floor_changes_no_way() -> None:
    cortex = MotorCortex(SETTINGS)
    before = share_on_the_rug(cortex, "person")
    told(cortex, 10.0, stances(10.0, stance(10.0, "avoid", "red_cube")))
    assert share_on_the_rug(cortex, "person") == before
