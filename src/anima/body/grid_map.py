"""A known map as a grid of cells, read from the files that ROS's map_server reads (`map.yaml`, `map.pgm`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from anima.config import ConfigError, Tuning, parse, read_yaml

Cells = NDArray[np.intp]
Blocked = NDArray[np.bool_]

FREE, OCCUPIED, UNKNOWN = 0, 100, -1


@dataclass(frozen=True)
class Occupancy:
    """The known map as it was drawn: `cells` is int8 of shape (rows, columns), row 0 is the smallest y.

    Its values are those of `nav_msgs/OccupancyGrid`: 0 free, 100 occupied, -1 unknown. `origin` is the corner of
    cell (0, 0) in the map frame, metres.
    """

    resolution_m: float
    origin: tuple[float, float]
    cells: NDArray[np.int8]


@dataclass(frozen=True)
class GridMap:
    """Which cells the robot's body can't be in. `blocked` has shape (rows, columns); row 0 is the smallest y.

    `origin` is the corner of cell (0, 0) in the map frame, metres.
    """

    resolution_m: float
    origin: tuple[float, float]
    blocked: Blocked

    def cells(self, points: NDArray[np.float64]) -> Cells:
        """(row, column) of points of shape (n, 2), metres; clipped to the map."""
        columns = np.floor((points[:, 0] - self.origin[0]) / self.resolution_m).astype(np.intp)
        rows = np.floor((points[:, 1] - self.origin[1]) / self.resolution_m).astype(np.intp)
        height, width = self.blocked.shape
        return np.stack([np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)], axis=1)

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """(row, column) of a point; clipped to the map."""
        height, width = self.blocked.shape
        row = int((y - self.origin[1]) // self.resolution_m)
        column = int((x - self.origin[0]) // self.resolution_m)
        return min(max(row, 0), height - 1), min(max(column, 0), width - 1)

    def centres(self, cells: Cells) -> NDArray[np.float64]:
        """Middles of cells of shape (n, 2), metres."""
        return np.stack(
            [
                self.origin[0] + (cells[:, 1] + 0.5) * self.resolution_m,
                self.origin[1] + (cells[:, 0] + 0.5) * self.resolution_m,
            ],
            axis=1,
        )


class _MapFile(Tuning):
    image: str
    resolution: float = Field(gt=0)
    origin: tuple[float, float, float]
    negate: int = Field(default=0, ge=0, le=1)
    occupied_thresh: float = Field(default=0.65, gt=0, lt=1)
    free_thresh: float = Field(default=0.196, gt=0, lt=1)
    mode: str = "trinary"


def load_map(folder: Path) -> GridMap:
    """The map in `folder`; unknown cells count as blocked. Raises `ConfigError` that names the file and the fault."""
    drawn = load_occupancy(folder)
    return GridMap(drawn.resolution_m, drawn.origin, drawn.cells != FREE)


def load_occupancy(folder: Path) -> Occupancy:
    """The map in `folder`, cell by cell. Raises `ConfigError` that names the file and the fault."""
    source = folder / "map.yaml"
    described: _MapFile = parse(_MapFile, read_yaml(source), str(source))
    if described.origin[2] != 0.0:
        raise ConfigError(f"{source}: origin: a turned map is not supported, yaw must be 0")
    grey = _read_pgm(folder / described.image)
    darkness = grey / 255.0 if described.negate else 1.0 - grey / 255.0
    cells = np.full(grey.shape, UNKNOWN, np.int8)
    cells[darkness < described.free_thresh] = FREE
    cells[darkness > described.occupied_thresh] = OCCUPIED
    return Occupancy(described.resolution, (described.origin[0], described.origin[1]), np.flipud(cells).copy())


def _read_pgm(path: Path) -> NDArray[np.uint8]:
    """A binary 8-bit PGM, shape (rows, columns), as it lies in the file: the top row is the largest y."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error}") from error
    head = re.match(rb"P5\s+(?:#[^\n]*\n\s*)*(\d+)\s+(?:#[^\n]*\n\s*)*(\d+)\s+(?:#[^\n]*\n\s*)*(\d+)\s", data)
    if head is None or int(head[3]) != 255:
        raise ConfigError(f"{path}: not an 8-bit binary PGM (P5, maximum 255)")
    width, height = int(head[1]), int(head[2])
    pixels = np.frombuffer(data, dtype=np.uint8, offset=head.end())
    if pixels.size < width * height:
        raise ConfigError(f"{path}: {pixels.size} pixels for {width} x {height}: the file is cut off")
    return pixels[: width * height].reshape(height, width)
