"""The picture shows what rviz would: map, robot, scan, route, and the words of the markers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Annotation

from anima import topics as t
from anima.body.grid_map import load_map
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.types.base import Header, Time
from anima.types.std import (
    LaserScan,
    MapMetaData,
    OccupancyGrid,
    Point,
    Pose,
    PoseStamped,
    PoseWithCovarianceStamped,
    Vector3,
)
from anima.types.std import (
    Path as Route,
)
from anima.types.view import CUBE, DELETE_ALL, TEXT, Marker, MarkerArray
from anima.view.markers import Markers
from anima.view.palette import PALETTE, rgba
from anima.view.picture import SHOWN, View

HERE = Pose.planar(1.0, 2.0, 0.0)


@pytest.fixture
def view() -> View:
    return View(Settings())


def pose() -> PoseWithCovarianceStamped:
    return PoseWithCovarianceStamped.about(1.0, HERE, 0.02, 0.02)


def scan() -> LaserScan:
    nothing = np.zeros(0, np.float32)
    return LaserScan(
        header=Header.at(1.0, "laser_link"), angle_min=-math.pi, angle_max=math.pi, angle_increment=math.pi / 2,
        time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=10.0,
        ranges=np.array([1.0, np.inf, 2.0, np.nan, 1.0], np.float32), intensities=nothing,
    )


def words(*markers: Marker) -> MarkerArray:
    return MarkerArray(markers=[Marker(header=Header.at(0.0), ns="", id=0, type=CUBE, action=DELETE_ALL), *markers])


def test_without_map_position_and_markers_it_says_what_is_missing(view: View) -> None:
    assert view.missing == ["map", "pose", "markers"]
    view.feed(t.POSE.of(pose()))
    assert view.missing == ["map", "markers"]


def test_the_words_of_the_markers_are_in_the_picture_where_they_stand(view: View) -> None:
    there = Marker(
        header=Header.at(0.0, "map"), ns="label", id=0, type=TEXT, pose=Pose(position=Point(x=3.0, y=1.0)),
        scale=Vector3(z=0.1), color=rgba("red"), text="red cube",
    )
    mine = there.model_copy(update={"header": Header.at(0.0, "base_link"), "pose": Pose(), "text": "go_to(desk)"})
    view.feed(t.POSE.of(pose()))
    view.feed(t.MARKERS.of(words(there, mine)))
    (axes,) = view.figure().axes
    found = {text.get_text(): text.xy for text in axes.texts if isinstance(text, Annotation)}
    assert found["red cube"][0] == 3.0
    assert found["go_to(desk)"][0] == HERE.position.x, "what is fixed to the robot stands at the robot"


def test_the_beams_that_hit_something_are_drawn_from_where_the_robot_is(view: View) -> None:
    view.feed(t.POSE.of(pose()))
    view.feed(t.SCAN.of(scan()))
    (axes,) = view.figure().axes
    (line,) = (line for line in axes.lines if line.get_label() == "scan")
    assert len(line.get_xdata()) == 3, "neither nothing seen nor bad beams"  # type: ignore[arg-type]
    assert max(line.get_xdata()) == pytest.approx(3.0, abs=0.3)  # type: ignore[arg-type]


def test_the_route_is_drawn(view: View) -> None:
    poses = [PoseStamped(header=Header.at(1.0, "map"), pose=Pose.planar(float(x), 1.0, 0.0)) for x in range(4)]
    view.feed(t.PLAN.of(Route(header=Header.at(1.0, "map"), poses=poses)))
    (axes,) = view.figure().axes
    (line,) = (line for line in axes.lines if line.get_label() == "route")
    assert list(line.get_xdata()) == [0.0, 1.0, 2.0, 3.0]  # type: ignore[arg-type]


def test_the_whole_view_of_a_robot_that_just_began_becomes_a_file(view: View, tmp_path: Path) -> None:
    height, width = load_map(Settings().map_folder).blocked.shape
    info = MapMetaData(map_load_time=Time.at(0.0), resolution=0.05, width=width, height=height, origin=Pose())
    view.feed(t.MAP.of(OccupancyGrid(header=Header.at(0.0, "map"), info=info, data=np.zeros(width * height, np.int8))))
    view.feed(t.POSE.of(pose()))
    for sent in Markers(Settings()).step(0.0, Inbox()):
        view.feed(sent)
    assert view.missing == []
    view.draw(tmp_path / "deep" / "view.png", "the flat")
    assert (tmp_path / "deep" / "view.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_shown_is_what_the_row_of_markers_and_the_body_give() -> None:
    assert {t.MARKERS, t.PLAN, t.MAP, t.SCAN} <= set(SHOWN)


@pytest.mark.parametrize("word", sorted(PALETTE))
def test_a_word_of_colour_has_its_colour(word: str) -> None:
    assert rgba(word) != rgba("no such colour")
