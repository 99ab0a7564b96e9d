"""The map that the robot is given, derived from the scene: occupancy grid and named places, in ROS's file formats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from anima_sim.mjcf_scene import DOCK_DEPTH_M, DOCK_WIDTH_M
from anima_sim.paths import map_folder
from anima_sim.scene import Point, Scene, Stairs, load_scene, pose_rad

FREE, OCCUPIED, UNKNOWN = 0, 100, -1
RESOLUTION_M = 0.05
_MARGIN_M = 0.25
_ROBOT_TOP_M = 1.0
# A cell that is touched by less than this isn't occupied; keeps walls on the grid lines from growing.
_TOUCH_M = 0.005
_GREY = {FREE: 254, OCCUPIED: 0, UNKNOWN: 205}

Box = tuple[float, float, float, float]
"""x and y of the lower left, then of the upper right corner."""


@dataclass(frozen=True)
class OccupancyMap:
    """Cells of shape (rows, columns), int8: 0 free, 100 occupied, -1 unknown. Row 0 has the smallest y.

    `origin` is the outer corner of cell (0, 0) in the map frame, metres.
    """

    cells: npt.NDArray[np.int8]
    resolution_m: float
    origin: Point


def occupancy(scene: Scene, resolution_m: float = RESOLUTION_M) -> OccupancyMap:
    """What stands in the scene, as the robot's body meets it.

    Whole table tops are occupied, though a lidar sees only their legs: mast and arm don't pass under. Where there is no
    floor (the stairs, outside) cells are unknown, which planners take for blocked.
    """
    points = [p for room in scene.rooms for p in room.polygon]
    low = (min(p[0] for p in points) - _MARGIN_M, min(p[1] for p in points) - _MARGIN_M)
    high = (max(p[0] for p in points) + _MARGIN_M, max(p[1] for p in points) + _MARGIN_M)
    columns, rows = (round((b - a) / resolution_m) for a, b in zip(low, high, strict=True))
    grid = OccupancyMap(np.full((rows, columns), UNKNOWN, np.int8), resolution_m, low)
    for slab in scene.floor.slabs:
        _fill(grid, (*slab.start, *slab.end), FREE, whole=True)
    inside = np.zeros((rows, columns), bool)
    xs = low[0] + (np.arange(columns) + 0.5) * resolution_m
    ys = low[1] + (np.arange(rows) + 0.5) * resolution_m
    for room in scene.rooms:
        inside |= _within(room.polygon, xs, ys)
    grid.cells[~inside] = UNKNOWN
    _fill(grid, keep_out(scene.stairs), UNKNOWN)
    for box in _obstacles(scene):
        _fill(grid, box, OCCUPIED)
    return grid


def keep_out(stairs: Stairs) -> Box:
    """The stairs with their margin on the side from which they are entered."""
    x0, y0, x1, y1 = *stairs.start, *stairs.end
    m = stairs.keep_out_margin_m
    grow = {"+x": (m, 0, 0, 0), "-x": (0, 0, m, 0), "+y": (0, m, 0, 0), "-y": (0, 0, 0, m)}[stairs.descends]
    return x0 - grow[0], y0 - grow[1], x1 + grow[2], y1 + grow[3]


def places(scene: Scene) -> dict[str, Any]:
    """Named places, ready for YAML. Poses are [x, y, heading] in metres and radians, map frame."""
    return {
        "frame": "map",
        "rooms": [
            {"name": r.name, "polygon": _points(r.polygon), "entry": _pose(pose_rad(r.entry))} for r in scene.rooms
        ],
        "doors": [{"name": n, "centre": _pose(c)} for n, c in scene.doors().items()],
        "surfaces": [
            {
                "name": s.name,
                "kind": s.kind,
                "room": room_at(scene, s.centre),
                "height_m": s.height_m,
                "footprint": _corners(
                    (s.centre[0] - s.size_m[0] / 2, s.centre[1] - s.size_m[1] / 2,
                     s.centre[0] + s.size_m[0] / 2, s.centre[1] + s.size_m[1] / 2)
                ),
                "approaches": [
                    {
                        "side": side,
                        "pose": _pose(s.approach(side, scene.approach_distance_m)),
                        "edge_centre": _pose(s.edge(side)[0]),
                        "edge_length_m": s.edge(side)[1],
                    }
                    for side in s.approach_sides
                ],
            }
            for s in scene.surfaces
        ],
        "people": [
            {
                "name": scene.person.name,
                "position": _pose(scene.person.seat[:2]),
                "room": room_at(scene, scene.person.seat[:2]),
                "surface": scene.person.tray,
            }
        ],
        "dock": {
            "name": scene.dock.name,
            "room": room_at(scene, scene.dock.docked[:2]),
            "docked": _pose(pose_rad(scene.dock.docked)),
            "approach": _pose(scene.dock.approach()),
        },
        "no_go": [{"name": scene.stairs.name, "polygon": _corners(keep_out(scene.stairs))}],
        "coverings": [{"name": rug.name, "polygon": _corners((*rug.start, *rug.end))} for rug in scene.rugs],
    }


def room_at(scene: Scene, point: Point) -> str:
    """Name of the room that holds the point, or empty."""
    x, y = np.array([point[0]]), np.array([point[1]])
    return next((r.name for r in scene.rooms if _within(r.polygon, x, y)[0, 0]), "")


def map_files(scene: Scene) -> dict[str, bytes]:
    """Contents of map.pgm, map.yaml and places.yaml, by file name."""
    grid = occupancy(scene)
    rows, columns = grid.cells.shape
    grey = np.full(grid.cells.shape, _GREY[UNKNOWN], np.uint8)
    grey[grid.cells == FREE], grey[grid.cells == OCCUPIED] = _GREY[FREE], _GREY[OCCUPIED]
    about = {
        "image": "map.pgm",
        "mode": "trinary",
        "resolution": grid.resolution_m,
        "origin": [*grid.origin, 0.0],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
    }
    note = f"# Made from the scene '{scene.name}' by `python -m anima_sim.mapping`; edit the scene, not this file.\n"
    return {
        "map.pgm": f"P5\n{columns} {rows}\n255\n".encode() + np.flipud(grey).tobytes(),
        "map.yaml": (note + yaml.safe_dump(about, sort_keys=False)).encode(),
        "places.yaml": (note + yaml.safe_dump(places(scene), sort_keys=False, default_flow_style=None)).encode(),
    }


def write_map(scene: Scene, folder: Path) -> list[Path]:
    """Writes the map files into `folder` and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in map_files(scene).items():
        (folder / name).write_bytes(content)
        written.append(folder / name)
    return written


def _obstacles(scene: Scene) -> Iterator[Box]:
    half = scene.walls.thickness_m / 2
    for wall in scene.walls.segments:
        for start, end in wall.pieces():
            a = wall.at(start - (half if start == 0.0 else 0.0))
            b = wall.at(end + (half if end >= wall.length_m - 1e-9 else 0.0))
            across = (0.0, half) if wall.start[1] == wall.end[1] else (half, 0.0)
            yield (
                min(a[0], b[0]) - across[0], min(a[1], b[1]) - across[1],
                max(a[0], b[0]) + across[0], max(a[1], b[1]) + across[1],
            )
    for piece in scene.furniture:
        if piece.start[2] < _ROBOT_TOP_M:
            yield piece.start[0], piece.start[1], piece.end[0], piece.end[1]
    for surface in scene.surfaces:
        (x, y), (w, d) = surface.centre, surface.size_m
        yield x - w / 2, y - d / 2, x + w / 2, y + d / 2
    yield _turned(pose_rad(scene.person.seat), (-0.20, -0.28, 0.60, 0.28))
    x, y, yaw = pose_rad(scene.dock.docked)
    rear = _dock_face(scene)
    yield _turned((x, y, yaw), (rear - DOCK_DEPTH_M, -DOCK_WIDTH_M / 2, rear, DOCK_WIDTH_M / 2))


def _dock_face(scene: Scene) -> float:
    from anima_sim.config import load_robot

    return -load_robot().base.footprint_m.rear


def _turned(pose: tuple[float, float, float], box: Box) -> Box:
    """Axis-aligned bounds of a box that is given in a frame at `pose`."""
    x, y, yaw = pose
    c, s = math.cos(yaw), math.sin(yaw)
    corners = [(x + c * u - s * v, y + s * u + c * v) for u in (box[0], box[2]) for v in (box[1], box[3])]
    us, vs = [p[0] for p in corners], [p[1] for p in corners]
    return min(us), min(vs), max(us), max(vs)


def _fill(grid: OccupancyMap, box: Box, value: int, whole: bool = False) -> None:
    """Sets the cells that the box touches, or with `whole` only those that it covers."""
    slack = -_TOUCH_M if whole else _TOUCH_M
    r, (x, y) = grid.resolution_m, grid.origin
    rows, columns = grid.cells.shape
    low, high = (math.ceil, math.floor) if whole else (math.floor, math.ceil)
    x0, x1 = max(0, low((box[0] + slack - x) / r)), min(columns, high((box[2] - slack - x) / r))
    y0, y1 = max(0, low((box[1] + slack - y) / r)), min(rows, high((box[3] - slack - y) / r))
    if x0 < x1 and y0 < y1:
        grid.cells[y0:y1, x0:x1] = value


def _within(polygon: list[Point], xs: npt.NDArray[Any], ys: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which points of the grid ys × xs lie in the polygon (even-odd rule), shape (len(ys), len(xs))."""
    x, y = np.meshgrid(xs, ys)
    inside = np.zeros(x.shape, bool)
    for (x0, y0), (x1, y1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            inside ^= crosses & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside


def _corners(box: Box) -> list[list[float]]:
    x0, y0, x1, y1 = box
    return _points([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def _points(polygon: list[Point]) -> list[list[float]]:
    return [_pose(p) for p in polygon]


def _pose(values: tuple[float, ...]) -> list[float]:
    return [round(float(v), 4) + 0.0 for v in values]


def main() -> None:
    """Writes the map of the flat into the configuration."""
    scene = load_scene("flat")
    for path in write_map(scene, map_folder(scene.name)):
        print(path)


if __name__ == "__main__":
    main()
