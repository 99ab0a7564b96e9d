"""Where scenes, robot configuration and maps lie."""

from __future__ import annotations

from pathlib import Path

from anima_sim.errors import RobotError, SceneError

SOURCE_ROOT = Path(__file__).resolve().parents[2]


def scene_file(name: str) -> Path:
    """File of the scene called `name`. Raises `SceneError` that lists the scenes there are."""
    folder = SOURCE_ROOT / "sim" / "scenes"
    file = folder / f"{name}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(f.stem for f in folder.glob("*.yaml"))) or "none"
        raise SceneError(f"no scene '{name}' in {folder} (there are: {known})")
    return file


def robot_config_file(name: str = "anima") -> Path:
    """Configuration of the robot called `name`."""
    folder = SOURCE_ROOT / "config" / "robots"
    file = folder / f"{name}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(f.stem for f in folder.glob("*.yaml"))) or "none"
        raise RobotError(f"no robot '{name}' in {folder} (there are: {known})")
    return file


def map_folder(scene: str) -> Path:
    """Folder that holds the map files of a scene."""
    return SOURCE_ROOT / "config" / "maps" / scene
