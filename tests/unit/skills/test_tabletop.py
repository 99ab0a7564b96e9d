"""How a sighting comes together, how close the base goes, and which spot is free."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anima.body.places import Approach, Surface
from anima.body.pose import Pose2D
from anima.skills.programs.pick import Check
from anima.skills.programs.place import free_spot
from anima.skills.tabletop import CLOSEST_M, STANDOFF_M, edges, facing_edge, is_of, merged, stop_distance
from anima.types.mind import Detection
from anima.types.std import Point, Vector3

TABLE = Surface(
    name="table",
    kind="table",
    room="kitchen",
    centre=(3.0, 2.0),
    size_m=(0.6, 1.0),
    height_m=0.4,
    approaches=(
        Approach(side="-x", pose=(2.2, 2.0, 0.0), edge_centre=(2.7, 2.0), edge_length_m=1.0),
        Approach(side="-y", pose=(3.0, 1.0, math.pi / 2), edge_centre=(3.0, 1.5), edge_length_m=0.6),
    ),
    holder="",
)
WEST, SOUTH = edges(TABLE)


def seen(x: float = 2.8, yaw: float = 0.0, shape: str = "cube", colour: str = "red") -> Detection:
    at, size = Point(x=x, y=2.0, z=0.4175), Vector3(x=0.035, y=0.035, z=0.035)
    return Detection(colour=colour, shape=shape, position=at, yaw=yaw, size=size, confidence=0.9)


def test_one_odd_picture_does_not_move_a_sighting() -> None:
    assert merged([seen(2.80), seen(2.801), seen(2.9)], "red_cube").x == pytest.approx(2.801)


def test_headings_of_a_cube_average_across_the_quarter_turn() -> None:
    yaw = merged([seen(yaw=0.77), seen(yaw=-0.78)], "red_cube").yaw
    assert abs(math.remainder(yaw - math.pi / 4, math.pi / 2)) < 0.02


def test_the_known_shape_speaks_when_pictures_disagree() -> None:
    sighting = merged([seen(2.83, shape="cylinder"), seen(2.83, shape="cylinder"), seen(2.80)], "red_cube")
    assert (sighting.shape, sighting.x) == ("cube", 2.80)


def test_a_thing_is_recognized_by_its_colour() -> None:
    assert is_of("red_cube")(seen(shape="block"))
    assert not is_of("red_cube")(seen(colour="pink"))


@given(st.floats(-0.1, 0.6))
def test_the_base_never_stops_closer_than_it_may_nor_farther_than_where_it_looked(depth_m: float) -> None:
    assert CLOSEST_M <= stop_distance(depth_m, 0.139) <= STANDOFF_M


def test_the_faced_edge_is_the_one_that_the_robot_stands_before() -> None:
    assert facing_edge(TABLE, Pose2D(2.25, 2.1, 0.1)) == WEST
    assert facing_edge(TABLE, Pose2D(3.05, 1.0, 1.5)) == SOUTH


def test_a_base_pose_before_an_edge_looks_squarely_at_it() -> None:
    pose = SOUTH.base_at(0.5, 0.1)
    assert (pose.x, pose.y, pose.yaw) == (pytest.approx(2.9), pytest.approx(1.0), math.pi / 2)
    assert SOUTH.base_distance(pose) == pytest.approx(0.5)


@given(
    st.floats(-0.6, 0.6),
    st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(-0.5, 0.5)), max_size=8),
)
def test_a_free_spot_is_inside_the_rim_and_apart_from_everything(
    base_left_m: float, others: list[tuple[float, float]]
) -> None:
    spot = free_spot(WEST, base_left_m, others)
    if spot is None:
        return
    x, y = WEST.frame.point(spot.depth_m, spot.left_m)
    assert TABLE.contains(x, y, -0.039)
    assert all(math.dist((spot.depth_m, spot.left_m), other) >= 0.07 for other in others)
    assert math.hypot(CLOSEST_M - 0.139 + spot.depth_m, spot.left_m - base_left_m) <= 0.34


def test_on_an_empty_table_the_spot_is_straight_ahead() -> None:
    spot = free_spot(WEST, 0.1, [])
    assert spot is not None and spot.left_m == 0.1


def test_a_crowded_table_has_no_free_spot() -> None:
    crowd = [(depth / 20, left / 20) for depth in range(1, 5) for left in range(-10, 11)]
    assert free_spot(WEST, 0.0, crowd) is None


@pytest.mark.parametrize(
    ("closed_on_it", "in_hand", "on_spot", "held"),
    [(True, 5, 0, True), (True, 0, 0, True), (True, 0, 5, False), (False, 5, 0, False), (True, 5, 1, True)],
)
def test_gripper_and_camera_judge_a_grasp_together(closed_on_it: bool, in_hand: int, on_spot: int, held: bool) -> None:
    assert Check(0.4, closed_on_it, in_hand, on_spot).held is held
