"""The navigator gets there, precisely and without touching anything; and says so when it can't."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.flat_world import Cart, fill, room

from anima.body.grid_map import GridMap
from anima.body.navigation.costmap import Costmap
from anima.body.navigation.grid import GridNavigator
from anima.body.navigation.navigator import Goal, Status
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D, wrap

TUNING = NavigationTuning(patience_s=3.0)
LASER = Pose2D(0.0, 0.0, 0.0)
TWO_ROOMS = room(6.0, 4.0, (2.9, 0.0, 3.1, 1.4), (2.9, 2.4, 3.1, 4.0))


def navigator(known: GridMap) -> GridNavigator:
    return GridNavigator(Costmap(known, TUNING, LASER), TUNING)


def with_box(known: GridMap, *boxes: tuple[float, float, float, float]) -> GridMap:
    real = GridMap(known.resolution_m, known.origin, known.blocked.copy())
    for box in boxes:
        fill(real.blocked, box)
    return real


def nearest_obstacle(real: GridMap, way: list[Pose2D]) -> float:
    clearance = Costmap(real, TUNING, LASER)
    return min(clearance.clearance_at(pose.x, pose.y) for pose in way)


POSES = st.builds(Pose2D, st.floats(0.4, 5.6), st.floats(0.4, 3.6), st.floats(-math.pi, math.pi))


@settings(max_examples=25, deadline=None)
@given(start=POSES, goal=POSES)
def test_it_arrives_within_three_centimetres_and_keeps_its_distance(start: Pose2D, goal: Pose2D) -> None:
    room_at = Costmap(TWO_ROOMS, TUNING, LASER).clearance_at
    assume(room_at(start.x, start.y) > 0.3 and room_at(goal.x, goal.y) > 0.3)
    cart = Cart(TWO_ROOMS, start)
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(goal))
    assert cart.follow(nav, see=False).status is Status.ARRIVED
    assert cart.pose.distance(goal) <= 0.03
    assert abs(wrap(cart.pose.yaw - goal.yaw)) <= 0.03
    assert nearest_obstacle(TWO_ROOMS, [start, *cart.way]) >= 0.22


def test_an_unknown_box_on_the_way_is_driven_around() -> None:
    real = with_box(TWO_ROOMS, (1.4, 1.6, 1.8, 2.2))
    cart = Cart(real, Pose2D(0.6, 1.9, 0.0))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(5.0, 1.9, 0.0)))
    assert cart.follow(nav).status is Status.ARRIVED
    assert nearest_obstacle(real, cart.way) >= 0.2


def test_a_closed_door_is_waited_at_and_then_called_blocked() -> None:
    real = with_box(TWO_ROOMS, (2.9, 1.4, 3.1, 2.4))
    cart = Cart(real, Pose2D(1.0, 1.9, 0.0))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(5.0, 1.9, 0.0)))
    found = cart.follow(nav)
    assert found.status is Status.BLOCKED
    assert found.velocity == (0.0, 0.0)
    assert nearest_obstacle(real, cart.way) >= 0.2


def test_a_door_that_opens_again_is_driven_through() -> None:
    real = with_box(TWO_ROOMS, (2.9, 1.4, 3.1, 2.4))
    cart = Cart(real, Pose2D(1.0, 1.9, 0.0))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(5.0, 1.9, 0.0)))
    waited = False
    for step in range(2000):
        found = nav.step(cart.now, cart.pose, cart.odometry(), cart.scan() if step % 2 == 0 else None)
        if found.status is Status.WAITING and not waited:
            waited = True
            cart.real = TWO_ROOMS
        if found.status not in (Status.DRIVING, Status.WAITING):
            break
        cart.drive(found.velocity)
    assert waited and found.status is Status.ARRIVED


def test_wheels_that_do_not_turn_are_called_stalled() -> None:
    cart = Cart(TWO_ROOMS, Pose2D(1.0, 1.9, 0.0), dead=True)
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(5.0, 1.9, 0.0)))
    assert cart.follow(nav).status is Status.STALLED


def test_from_a_tight_spot_it_leaves_straight_before_it_turns() -> None:
    cart = Cart(TWO_ROOMS, Pose2D(0.29, 2.0, math.pi))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(2.0, 2.0, 0.0)))
    assert cart.follow(nav, see=False).status is Status.ARRIVED
    turned_at = next(pose for pose in cart.way if abs(wrap(pose.yaw - math.pi)) > 0.05)
    assert turned_at.x >= 0.05 + TUNING.turning_clearance_m - 0.03


def test_a_goal_inside_a_wall_is_blocked_and_nothing_moves() -> None:
    cart = Cart(TWO_ROOMS, Pose2D(1.0, 1.9, 0.0))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(3.0, 0.5, 0.0)))
    assert cart.follow(nav).status is Status.BLOCKED
    assert all(pose.distance(Pose2D(1.0, 1.9, 0.0)) < 1e-6 for pose in cart.way)


def test_lengths_are_what_is_driven_and_infinite_where_there_is_no_way() -> None:
    closed = room(6.0, 4.0, (2.9, 0.0, 3.1, 4.0))
    start = Pose2D(1.0, 1.9, 0.0)
    near, behind = Pose2D(2.0, 1.9, 0.0), Pose2D(5.0, 1.9, 0.0)
    lengths = navigator(closed).path_lengths(start, [near, behind])
    assert lengths[0] == pytest.approx(1.0, abs=0.1)
    assert math.isinf(lengths[1])
    through = navigator(TWO_ROOMS).path_lengths(start, [behind])
    assert through[0] == pytest.approx(4.0, rel=0.1)


def test_it_says_where_it_could_turn() -> None:
    beside_wall, in_the_open = Pose2D(0.30, 1.9, 0.0), Pose2D(1.0, 1.9, 0.0)
    assert navigator(TWO_ROOMS).can_turn_at([beside_wall, in_the_open]) == [False, True]


def test_stepping_without_a_goal_is_a_mistake_that_is_told() -> None:
    cart = Cart(TWO_ROOMS, Pose2D(1.0, 1.9, 0.0))
    with pytest.raises(RuntimeError, match="set_goal"):
        navigator(TWO_ROOMS).step(0.0, cart.pose, cart.odometry(), None)


def test_the_path_reported_starts_at_the_robot_and_ends_at_the_goal() -> None:
    cart = Cart(TWO_ROOMS, Pose2D(1.0, 1.9, 0.0))
    nav = navigator(TWO_ROOMS)
    nav.set_goal(Goal(Pose2D(5.0, 1.9, 0.0)))
    found = nav.step(0.0, cart.pose, cart.odometry(), None)
    assert np.allclose(found.path[0], (1.0, 1.9)) and np.allclose(found.path[-1], (5.0, 1.9))
    assert np.hypot(*np.diff(found.path, axis=0).T).max() < 0.08
