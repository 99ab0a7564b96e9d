"""What the robot sees in a picture, told by pictures that are cast ray by ray."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.raycast import Picture, eye_at

from anima.body.perception.detector import Detector, Situation
from anima.body.perception.tuning import load_tuning
from anima.body.perception.views import hidden_by
from anima.body.places import Approach, Surface
from anima.body.pose import Pose2D
from anima.types.mind import Detection

TABLE = Surface(
    name="table", kind="table", room="", centre=(2.0, 1.0), size_m=(0.6, 1.0), height_m=0.40, holder="",
    approaches=(Approach(side="-x", pose=(1.2, 1.0, 0.0), edge_centre=(1.7, 1.0), edge_length_m=1.0),),
)
STAND = Pose2D(1.25, 1.0, 0.0)


def table_seen_from(pose: Pose2D = STAND) -> Picture:
    return Picture(eye_at(pose)).top(*TABLE.centre, *TABLE.size_m, TABLE.height_m)


def look(picture: Picture, tool: tuple[float, float, float] | None = None) -> list[Detection]:
    situation = Situation(picture.eye, [TABLE], None if tool is None else np.array(tool))
    return Detector(load_tuning()).detect(picture.rgb, picture.metres, situation)


def only(detections: list[Detection]) -> Detection:
    assert len(detections) == 1, detections
    return detections[0]


def off(seen: Detection, x: float, y: float) -> float:
    return math.hypot(seen.position.x - x, seen.position.y - y)


@pytest.mark.parametrize("seed", range(12))
def test_a_cube_is_found_where_it_stands_and_how_it_is_turned(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, yaw = rng.uniform(1.74, 1.95), rng.uniform(0.7, 1.3), rng.uniform(-math.pi, math.pi)
    seen = only(look(table_seen_from().box("red", (x, y, 0.4175), (0.035,) * 3, yaw).noisy(seed)))
    assert (seen.colour, seen.shape) == ("red", "cube")
    assert off(seen, x, y) < 0.006
    assert seen.position.z == pytest.approx(0.4175, abs=0.004)
    turned = (seen.yaw - yaw + math.pi / 4) % (math.pi / 2) - math.pi / 4
    assert abs(turned) < math.radians(10)
    assert -math.pi / 4 <= seen.yaw < math.pi / 4, "a cube's heading is only known modulo a quarter turn"
    assert seen.size.x == pytest.approx(0.035, abs=0.006)


@pytest.mark.parametrize("yaw_deg", [-80, -40, 0, 25, 60, 85])
def test_a_block_shows_which_way_its_long_side_lies(yaw_deg: float) -> None:
    yaw = math.radians(yaw_deg)
    seen = only(look(table_seen_from().box("purple", (1.8, 1.05, 0.416), (0.06, 0.03, 0.032), yaw).noisy(1)))
    assert seen.shape == "block"
    assert seen.size.x > 1.5 * seen.size.y
    assert abs((seen.yaw - yaw + math.pi / 2) % math.pi - math.pi / 2) < math.radians(8)
    assert off(seen, 1.8, 1.05) < 0.005


def test_round_things_are_told_from_cubes_and_from_each_other() -> None:
    picture = table_seen_from()
    picture.cylinder("blue", (1.8, 0.8, 0.421), 0.017, 0.042).cylinder("yellow", (1.85, 1.2, 0.418), 0.018, 0.036)
    picture.ball("orange", (1.78, 1.0, 0.418), 0.018)
    shapes = {seen.colour: seen.shape for seen in look(picture.noisy(3))}
    assert shapes == {"blue": "cylinder", "yellow": "cylinder", "orange": "ball"}


def test_every_colour_of_the_palette_is_its_own() -> None:
    for colour in load_tuning().colours.hues_deg:
        assert only(look(table_seen_from().box(colour, (1.8, 1.0, 0.4175), (0.035,) * 3).noisy(2))).colour == colour


def test_grey_things_are_no_objects() -> None:
    assert look(table_seen_from().box("grey", (1.8, 1.0, 0.4175), (0.035,) * 3).noisy(0)) == []


def test_a_red_cushion_is_too_large_to_be_grasped() -> None:
    assert look(table_seen_from().box("red", (1.85, 1.0, 0.45), (0.2, 0.2, 0.1))) == []


def test_a_speck_of_colour_is_not_an_object() -> None:
    assert look(table_seen_from().box("red", (1.8, 1.0, 0.404), (0.008,) * 3)) == []


def test_an_object_cut_by_the_edge_of_the_picture_is_doubtful_but_there() -> None:
    pose = Pose2D(1.25, 1.0, math.radians(24))
    picture = table_seen_from(pose)
    for y in np.linspace(0.55, 0.75, 60):
        picture = table_seen_from(pose).box("red", (1.8, float(y), 0.4175), (0.035,) * 3)
        seen = look(picture)
        if seen and bool((picture.rgb[:, -1, 0] > 2.0 * picture.rgb[:, -1, 1]).any()):
            assert only(seen).confidence <= load_tuning().confidence.border
            assert off(only(seen), 1.8, float(y)) < 0.05
            return
    pytest.fail("no place of the cube was cut by the edge of the picture")


def test_a_half_hidden_object_is_doubtful_but_there() -> None:
    whole = table_seen_from().box("red", (1.8, 1.0, 0.4175), (0.035,) * 3)
    hidden = table_seen_from().box("red", (1.8, 1.0, 0.4175), (0.035,) * 3)
    hidden.box("grey", (1.6, 0.97, 0.5), (0.03, 0.06, 0.3))
    seen = only(look(hidden.noisy(1)))
    assert seen.confidence <= load_tuning().confidence.occluded < only(look(whole)).confidence
    assert off(seen, 1.8, 1.0) < 0.03


def test_an_object_in_the_hand_is_seen_at_the_hand_and_not_on_the_table_below() -> None:
    hand = (1.75, 1.0, 0.60)
    picture = table_seen_from().box("red", hand, (0.035,) * 3).box("grey", (1.75, 1.03, 0.62), (0.03, 0.02, 0.08))
    seen = only(look(picture.noisy(5), tool=hand))
    assert math.dist((seen.position.x, seen.position.y, seen.position.z), hand) < 0.03
    assert seen.confidence > 0.5


def test_missing_depth_on_half_of_the_object_does_not_blind() -> None:
    picture = table_seen_from().box("green", (1.8, 1.0, 0.4175), (0.035,) * 3, 0.3)
    green = (picture.rgb[..., 1] > 1.5 * picture.rgb[..., 0]) & (np.indices(picture.depth.shape).sum(axis=0) % 2 == 0)
    picture.depth[green] = np.nan
    assert off(only(look(picture)), 1.8, 1.0) < 0.006


def test_an_object_on_the_floor_is_found_too() -> None:
    seen = only(look(Picture(eye_at(STAND)).box("cyan", (2.0, 1.1, 0.0175), (0.035,) * 3, 0.4).noisy(4)))
    assert off(seen, 2.0, 1.1) < 0.01
    assert seen.position.z == pytest.approx(0.0175, abs=0.006)


def test_the_same_picture_gives_the_same_detections() -> None:
    picture = table_seen_from().box("red", (1.8, 1.0, 0.4175), (0.035,) * 3, 0.3).noisy(1)
    assert look(picture) == look(picture)


def coverage(picture: Picture) -> float:
    views = Detector(load_tuning()).views(picture.metres, Situation(picture.eye, [TABLE], None))
    return views[0].coverage if views else 0.0


def test_a_table_in_front_is_looked_at_and_one_behind_is_not() -> None:
    assert coverage(table_seen_from()) > 0.7
    assert coverage(table_seen_from(Pose2D(1.25, 1.0, math.pi))) == 0.0


def test_a_table_far_away_is_not_looked_at_well_enough_to_find_something() -> None:
    assert coverage(table_seen_from(Pose2D(-1.0, 1.0, 0.0))) == 0.0


def test_what_the_arm_hides_is_not_looked_at() -> None:
    hidden = table_seen_from().box("grey", (1.6, 1.0, 0.7), (0.1, 0.3, 0.1))
    assert 0.1 < coverage(hidden) < 0.8 * coverage(table_seen_from())


def test_a_limb_in_the_line_of_sight_hides_and_one_beside_it_does_not() -> None:
    eye, point = eye_at(STAND), np.array([1.8, 1.0, 0.4175])
    halfway = (eye.position + point) / 2
    across = np.array([[halfway[0], 0.5, halfway[2]], [halfway[0], 1.5, halfway[2]]])
    assert hidden_by(across, point, eye, clearance_m=0.05)
    assert not hidden_by(across + np.array([0.0, 0.0, 0.2]), point, eye, clearance_m=0.05)
    assert not hidden_by(across + np.array([1.5, 0.0, 0.0]), point, eye, clearance_m=0.05)
