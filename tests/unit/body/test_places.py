"""The named places of the shipped map, and what is said when a map's files are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anima.body.grid_map import load_map
from anima.body.places import UnknownPlace, load_places
from anima.config import ConfigError, Settings

FLAT = Settings().map_folder


def test_every_place_has_poses_on_free_floor() -> None:
    places = load_places(FLAT)
    for name in places.names:
        for pose in places.poses(name):
            row, column = places.grid.cell(pose.x, pose.y)
            assert not places.grid.blocked[row, column], name


def test_the_person_is_met_at_the_tray() -> None:
    places = load_places(FLAT)
    assert places.poses("person") == places.poses("person_tray")
    assert places.surface("person").name == "person_tray"
    assert places.surface("person_tray").holder == "person"


def test_rooms_hold_the_surfaces_that_stand_in_them() -> None:
    places = load_places(FLAT)
    for surface in places.surfaces:
        assert places.room_at(*surface.centre) == surface.room
        assert places.surface_at(*surface.centre) == surface.name
        assert surface.distance_m(*surface.centre) == 0.0


def test_near_means_in_the_room_or_close_to_the_thing() -> None:
    places = load_places(FLAT)
    pose = places.poses("shelf")[0]
    assert places.near("shelf", pose.x, pose.y, 0.8)
    assert places.near("living_room", pose.x, pose.y, 0.0)
    assert not places.near("kitchen", pose.x, pose.y, 5.0)
    assert places.near("dock", *places.dock.docked[:2], 0.1)


def test_an_unknown_place_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownPlace, match=r"garage.*kitchen"):
        load_places(FLAT).poses("garage")


def test_the_stairs_are_blocked_on_the_map() -> None:
    places = load_places(FLAT)
    for area in places.no_go:
        x, y = np.mean(np.array(area.polygon), axis=0)
        assert places.grid.blocked[places.grid.cell(float(x), float(y))]


def test_the_map_stands_the_right_way_up(tmp_path: Path) -> None:
    """The file's first row is the map's top; unknown counts as blocked."""
    (tmp_path / "map.yaml").write_text("image: m.pgm\nresolution: 0.5\norigin: [1.0, 2.0, 0.0]\n")
    pixels = bytes([254, 254, 254, 0, 254, 205])  # top: free free free; bottom: wall free unknown
    (tmp_path / "m.pgm").write_bytes(b"P5\n# made by hand\n3 2\n255\n" + pixels)
    grid = load_map(tmp_path)
    assert grid.blocked.tolist() == [[True, False, True], [False, False, False]]
    assert grid.cell(1.1, 2.1) == (0, 0)
    assert np.allclose(grid.centres(np.array([[1, 2]])), [[2.25, 2.75]])


@pytest.mark.parametrize(
    ("yaml", "pgm", "told"),
    [
        ("image: m.pgm\nresolution: 0\norigin: [0, 0, 0]\n", b"P5\n1 1\n255\n\xff", "resolution"),
        ("image: m.pgm\nresolution: 0.1\norigin: [0, 0, 1.0]\n", b"P5\n1 1\n255\n\xff", "turned"),
        ("image: m.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n", b"P2\n1 1\n255\n255", "P5"),
        ("image: m.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n", b"P5\n9 9\n255\n\xff", "cut off"),
        ("image: none.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n", b"", "none.pgm"),
    ],
)
def test_a_broken_map_is_told_by_file_and_fault(tmp_path: Path, yaml: str, pgm: bytes, told: str) -> None:
    (tmp_path / "map.yaml").write_text(yaml)
    (tmp_path / "m.pgm").write_bytes(pgm)
    with pytest.raises(ConfigError, match=told):
        load_map(tmp_path)


def test_a_rug_is_known_as_a_part_of_the_floor_and_is_no_place_to_drive_to() -> None:
    places = load_places(FLAT)
    assert places.covering_at(2.4, 4.2) == "rug" and places.covering_at(4.2, 3.2) == ""
    assert places.covering_at(1.6, 4.2, margin_m=0.2) == "rug"
    assert places.area_of("rug") == (1.7, 3.6, 3.2, 4.85)
    assert places.area_of("dock") is None and "rug" not in places.names
