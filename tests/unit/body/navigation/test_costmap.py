"""The costmap believes the lidar, forgets what has gone, and does not mistake a mapped wall for news."""

from __future__ import annotations

import math

import numpy as np
from support.flat_world import Cart, fill, room

from anima.body.grid_map import GridMap
from anima.body.navigation.costmap import Costmap, scan_points
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D

TUNING = NavigationTuning(obstacle_memory_s=5.0)
LASER = Pose2D(0.0, 0.0, 0.0)
EMPTY = room(4.0, 4.0)
HERE = Pose2D(1.0, 2.0, 0.0)


def box_at(x: float, y: float) -> GridMap:
    real = GridMap(EMPTY.resolution_m, EMPTY.origin, EMPTY.blocked.copy())
    fill(real.blocked, (x - 0.1, y - 0.1, x + 0.1, y + 0.1))
    return real


def test_a_known_wall_is_no_news() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    assert not costmap.add_scan(Cart(EMPTY, HERE, now=1.0).scan(), HERE, 1.0)


def test_an_unknown_box_takes_away_clearance() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    before = costmap.clearance_at(2.0, 2.0)
    assert costmap.add_scan(Cart(box_at(2.5, 2.0), HERE, now=1.0).scan(), HERE, 1.0)
    assert before > 1.5
    assert costmap.clearance_at(2.0, 2.0) < 0.5
    assert not np.isfinite(costmap.costs()[costmap.grid.cell(2.4, 2.0)])


def test_a_box_that_is_taken_away_is_forgotten_when_looked_through() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    costmap.add_scan(Cart(box_at(2.5, 2.0), HERE, now=1.0).scan(), HERE, 1.0)
    costmap.add_scan(Cart(EMPTY, HERE, now=1.1).scan(), HERE, 1.1)
    assert costmap.clearance_at(2.0, 2.0) > 1.5


def test_a_box_behind_something_else_is_remembered_for_a_while_only() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    costmap.add_scan(Cart(box_at(3.0, 2.0), HERE, now=1.0).scan(), HERE, 1.0)
    hidden = Cart(box_at(1.6, 2.0), HERE, now=2.0).scan()
    costmap.add_scan(hidden, HERE, 2.0)
    assert costmap.clearance_at(2.7, 2.0) < 0.4
    later = Cart(box_at(1.6, 2.0), HERE, now=8.0).scan()
    costmap.add_scan(later, HERE, 8.0)
    assert costmap.clearance_at(2.7, 2.0) > 0.7


def test_too_close_to_measure_is_an_obstacle_and_nothing_seen_is_none() -> None:
    scan = Cart(EMPTY, HERE).scan(beams=4)
    ranges = np.array([-np.inf, np.inf, np.nan, 1.0], dtype=np.float32)
    points = scan_points(scan.model_copy(update={"ranges": ranges}), 3.0)
    assert len(points) == 2
    assert math.isclose(np.hypot(*points[0]), scan.range_min)
    assert math.isclose(np.hypot(*points[1]), 1.0)


def test_the_same_scan_counts_once() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    scan = Cart(box_at(2.5, 2.0), HERE, now=1.0).scan()
    assert costmap.add_scan(scan, HERE, 1.0)
    assert not costmap.add_scan(scan, Pose2D(1.5, 2.0, 0.0), 1.05)


def test_a_disliked_area_costs_more_and_stays_open_until_the_dislike_ends() -> None:
    costmap = Costmap(EMPTY, TUNING, LASER)
    before = costmap.costs()
    costmap.dislike([(1.5, 1.5, 2.5, 2.5, 0.5), (2.4, 2.4, 2.6, 2.6, 1.0)])
    inside, outside, both = costmap.grid.cell(2.0, 2.0), costmap.grid.cell(1.0, 1.0), costmap.grid.cell(2.45, 2.45)
    assert costmap.costs()[inside] == before[inside] + 0.5 * TUNING.disliked_cost
    assert costmap.costs()[both] == before[both] + TUNING.disliked_cost
    assert costmap.costs()[outside] == before[outside]
    costmap.dislike([])
    assert np.array_equal(costmap.costs(), before)
