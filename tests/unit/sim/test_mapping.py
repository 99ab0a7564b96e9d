"""The map that the robot is given is the flat that it lives in."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml

from anima.body.grid_map import load_map
from anima_sim.config import load_robot
from anima_sim.mapping import FREE, OCCUPIED, UNKNOWN, OccupancyMap, map_files, occupancy, places
from anima_sim.paths import map_folder
from anima_sim.scene import load_scene, pose_rad

FLAT = load_scene("flat")
GRID = occupancy(FLAT)


def _at(grid: OccupancyMap, x: float, y: float) -> int:
    column, row = (math.floor((v - o) / grid.resolution_m) for v, o in zip((x, y), grid.origin, strict=True))
    return int(grid.cells[row, column])


def test_the_committed_map_files_are_those_of_the_scene() -> None:
    for name, content in map_files(FLAT).items():
        committed = (map_folder("flat") / name).read_bytes()
        assert committed == content, f"{name} is out of date: run python -m anima_sim.mapping"


def test_walls_and_furniture_are_occupied_and_rooms_are_free() -> None:
    assert _at(GRID, 2.5, 0.0) == OCCUPIED  # a wall
    assert _at(GRID, 6.0, 5.7) == OCCUPIED  # the kitchen counter
    assert _at(GRID, 2.5, 4.2) == FREE  # the living room
    assert _at(GRID, 6.0, 0.5) == UNKNOWN  # outside


def test_a_table_blocks_with_its_whole_top_because_mast_and_arm_do_not_pass_under() -> None:
    for surface in FLAT.surfaces:
        assert _at(GRID, *surface.centre) == OCCUPIED


@pytest.mark.parametrize("door", list(FLAT.doors()))
def test_every_door_is_open(door: str) -> None:
    assert _at(GRID, *FLAT.doors()[door]) == FREE


def test_the_stairs_and_their_edge_are_no_place_to_drive() -> None:
    x0, y0 = FLAT.stairs.start
    assert _at(GRID, x0 + 0.3, y0 + 0.5) == UNKNOWN
    assert _at(GRID, x0 - 0.1, y0 + 0.5) == UNKNOWN
    assert [n["name"] for n in places(FLAT)["no_go"]] == ["stairs"]


def test_wherever_the_map_is_free_there_is_floor() -> None:
    rows, columns = np.nonzero(GRID.cells == FREE)
    for x, y in zip(GRID.origin[0] + (columns + 0.5) * 0.05, GRID.origin[1] + (rows + 0.5) * 0.05, strict=True):
        assert any(s.start[0] <= x <= s.end[0] and s.start[1] <= y <= s.end[1] for s in FLAT.floor.slabs)


def test_the_robot_fits_at_every_place_that_it_may_be_sent_to() -> None:
    feet = load_robot().base.footprint_m
    named = places(FLAT)
    poses = [room["entry"] for room in named["rooms"]]
    poses += [a["pose"] for s in named["surfaces"] for a in s["approaches"]]
    poses += [named["dock"]["approach"]]
    for x, y, heading in poses:
        for ahead in np.linspace(-feet.rear, feet.front, 9):
            for aside in np.linspace(-feet.half_width, feet.half_width, 9):
                corner_x = x + ahead * math.cos(heading) - aside * math.sin(heading)
                corner_y = y + ahead * math.sin(heading) + aside * math.cos(heading)
                assert _at(GRID, corner_x, corner_y) == FREE, f"blocked at pose {(x, y, heading)}"


def test_an_approach_pose_faces_its_surface() -> None:
    for surface in FLAT.surfaces:
        for side in surface.approach_sides:
            x, y, heading = surface.approach(side, 0.5)
            towards = math.atan2(surface.centre[1] - y, surface.centre[0] - x)
            assert abs(math.remainder(towards - heading, 2 * math.pi)) < 1e-6


def test_the_dock_is_approached_straight_ahead_of_where_the_robot_stands_docked() -> None:
    x, y, heading = pose_rad(FLAT.dock.docked)
    ax, ay, a_heading = FLAT.dock.approach()
    assert (ax, ay) == pytest.approx((x + 0.6 * math.cos(heading), y + 0.6 * math.sin(heading)))
    assert a_heading == heading


def test_surfaces_know_their_rooms() -> None:
    rooms = {s["name"]: s["room"] for s in places(FLAT)["surfaces"]}
    assert rooms == {
        "kitchen_table": "kitchen",
        "office_table": "office",
        "shelf": "living_room",
        "person_tray": "living_room",
    }


def test_the_files_read_back_as_the_same_cells() -> None:
    read = load_map(map_folder("flat"))
    assert read.resolution_m == GRID.resolution_m
    assert read.origin == pytest.approx(GRID.origin)
    assert np.array_equal(read.blocked, GRID.cells != FREE)
    assert yaml.safe_load((map_folder("flat") / "places.yaml").read_text(encoding="utf-8"))["frame"] == "map"
