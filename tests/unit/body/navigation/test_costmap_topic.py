"""The costmap that people see is the one that the robot drives by."""

from __future__ import annotations

import numpy as np

from anima import topics as t
from anima.body.grid_map import GridMap
from anima.body.navigation.costmap import Costmap
from anima.body.navigation.costmap_topic import NO_ROOM, OBSTACLE, PERIOD_S, TIGHT, CostmapTopic
from anima.body.navigation.tuning import NavigationTuning
from anima.body.pose import Pose2D
from anima.types.std import OccupancyGrid

HERE = Pose2D(5.0, 5.0, 0.0)


def costmap() -> Costmap:
    """10 m by 10 m of floor with one wall along x = 6 m."""
    blocked = np.zeros((200, 200), dtype=bool)
    blocked[:, 120] = True
    return Costmap(GridMap(0.05, (0.0, 0.0), blocked), NavigationTuning(), Pose2D(0.0, 0.0, 0.0))


def said(topic: CostmapTopic, now: float, pose: Pose2D | None = HERE) -> OccupancyGrid | None:
    sent = topic.step(now, pose)
    assert [item.topic for item in sent] in ([], [t.COSTMAP])
    return sent[0].value if sent else None  # type: ignore[return-value]


def value(grid: OccupancyGrid, x: float, y: float) -> int:
    column = int((x - grid.info.origin.position.x) / grid.info.resolution)
    row = int((y - grid.info.origin.position.y) / grid.info.resolution)
    return int(grid.data[row * grid.info.width + column])


def test_it_shows_what_is_near_in_the_frame_of_the_map() -> None:
    grid = said(CostmapTopic(costmap()), 1.0)
    assert grid is not None and grid.header.frame_id == "map"
    assert grid.data.size == grid.info.width * grid.info.height and grid.data.dtype == np.int8
    assert grid.info.width * grid.info.resolution < 6.2
    assert value(grid, 6.02, 5.0) == OBSTACLE
    assert value(grid, 5.9, 5.0) == NO_ROOM
    assert value(grid, 5.77, 5.0) == TIGHT
    assert 0 < value(grid, 5.6, 5.0) < TIGHT
    assert value(grid, 4.0, 5.0) == 0


def test_it_is_cut_at_the_edge_of_the_map() -> None:
    grid = said(CostmapTopic(costmap()), 1.0, Pose2D(0.1, 9.9, 0.0))
    assert grid is not None and grid.data.size == grid.info.width * grid.info.height
    assert grid.info.origin.position.x == 0.0


def test_it_says_nothing_new_twice_nor_before_it_knows_where_it_is() -> None:
    topic = CostmapTopic(costmap())
    assert said(topic, 1.0, None) is None
    assert said(topic, 1.1) is not None
    assert said(topic, 1.2) is None
    assert said(topic, 1.2 + PERIOD_S) is None
    assert said(topic, 2.5 + PERIOD_S, Pose2D(4.0, 5.0, 0.0)) is not None


def test_what_it_came_to_dislike_is_dearer() -> None:
    there = costmap()
    there.dislike([(3.0, 4.0, 3.5, 6.0, 1.0)])
    grid = said(CostmapTopic(there), 1.0)
    assert grid is not None and value(grid, 3.2, 5.0) > value(grid, 4.0, 5.0)
