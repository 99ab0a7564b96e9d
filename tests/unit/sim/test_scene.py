"""A scene file says what a place is like, and its reader says what is wrong with it."""

from __future__ import annotations

import colorsys
from pathlib import Path
from typing import Any

import pytest
import yaml

from anima_sim.errors import SceneError
from anima_sim.paths import scene_file
from anima_sim.scene import load_scene


def _flat() -> dict[str, Any]:
    data = yaml.safe_load(scene_file("flat").read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


def _write(tmp_path: Path, data: dict[str, Any]) -> Path:
    file = tmp_path / "place.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return file


def test_the_flat_has_all_that_the_errands_speak_of() -> None:
    scene = load_scene("flat")
    assert {r.name for r in scene.rooms} == {"kitchen", "living_room", "office", "corridor"}
    assert {s.name for s in scene.surfaces} == {"kitchen_table", "office_table", "shelf", "person_tray"}
    assert len(scene.objects) == 8
    assert all(s.height_m == 0.40 for s in scene.surfaces), "the arm reaches tops at 0.40 m"
    assert all(d.width_m >= 0.9 for w in scene.walls.segments for d in w.doors)


def test_an_unknown_scene_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(SceneError, match=r"no scene 'palace'.*flat"):
        load_scene("palace")


def test_a_wrong_value_is_reported_with_file_key_and_what_is_allowed(tmp_path: Path) -> None:
    data = _flat()
    data["walls"]["height_m"] = 0.3
    file = _write(tmp_path, data)
    with pytest.raises(SceneError) as refused:
        load_scene(file)
    assert str(file) in str(refused.value)
    assert "walls.height_m" in str(refused.value)
    assert "greater than or equal to 1" in str(refused.value)


def test_a_misspelt_key_is_an_error_and_not_ignored(tmp_path: Path) -> None:
    data = _flat()
    data["furnitur"] = []
    with pytest.raises(SceneError, match="furnitur"):
        load_scene(_write(tmp_path, data))


def test_a_door_that_the_robot_does_not_fit_through_is_refused(tmp_path: Path) -> None:
    data = _flat()
    data["walls"]["segments"][5]["doors"][0]["width_m"] = 0.6
    with pytest.raises(SceneError, match="width_m"):
        load_scene(_write(tmp_path, data))


def test_two_things_of_one_name_are_refused(tmp_path: Path) -> None:
    data = _flat()
    data["objects"][1]["name"] = "red_cube"
    with pytest.raises(SceneError, match="used twice: red_cube"):
        load_scene(_write(tmp_path, data))


def test_objects_placed_on_a_surface_that_is_not_there_are_refused(tmp_path: Path) -> None:
    data = _flat()
    data["placements"]["surfaces"] = ["piano"]
    with pytest.raises(SceneError, match="'piano' is not a surface"):
        load_scene(_write(tmp_path, data))


def test_a_file_that_is_not_there_is_reported_by_name(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"nowhere\.yaml"):
        load_scene(tmp_path / "nowhere.yaml")


def test_the_objects_colours_are_told_apart_from_each_other_and_from_everything_else() -> None:
    scene = load_scene("flat")
    hues = sorted(colorsys.rgb_to_hsv(*o.colour)[0] * 360 for o in scene.objects)
    gaps = [b - a for a, b in zip(hues, [*hues[1:], hues[0] + 360], strict=True)]
    assert min(gaps) > 20
    assert all(colorsys.rgb_to_hsv(*o.colour)[1] > 0.75 for o in scene.objects)
    rest = [*scene.surfaces, *scene.furniture, *scene.rugs, *scene.rooms, scene.walls, scene.floor, scene.dock]
    assert all(colorsys.rgb_to_hsv(*part.colour)[1] < 0.25 for part in rest)
