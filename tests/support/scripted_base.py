"""A scripted base of a TurtleBot 3's kind: it does as it is told at once, and its lidar sees the walls of a map.

No masses and no slip: it is there for the wiring between a robot's own drivers and the mind, and owes the mind no code.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

Floats = npt.NDArray[np.float64]

RANGE_MIN_M, RANGE_MAX_M, LASER_X_M, BEAMS = 0.12, 3.5, -0.032, 360
WHEEL_M, TRACK_M = 0.033, 0.160
TIMEOUT_S = 0.5  # without commands it stops, as the board of a TurtleBot does


class Walls:
    """The occupied cells of a map as `map_server` reads it, and the distance to them along a beam."""

    def __init__(self, folder: Path) -> None:
        about = yaml.safe_load((folder / "map.yaml").read_text(encoding="utf-8"))
        data = (folder / about["image"]).read_bytes()
        head = re.match(rb"P5\s(?:#[^\n]*\s)*(\d+)\s(\d+)\s(\d+)\s", data)
        assert head is not None
        width, height = int(head[1]), int(head[2])
        picture = np.frombuffer(data, np.uint8, width * height, head.end()).reshape(height, width)[::-1]
        self._occupied = (255 - picture) / 255.0 > about["occupied_thresh"]
        self._cell_m, self._origin = about["resolution"], about["origin"][:2]

    def ranges(self, x: float, y: float, headings: Floats) -> Floats:
        """Metres to the first wall in each direction, 0 where there is none within reach."""
        along = np.arange(0.0, RANGE_MAX_M, 0.5 * self._cell_m)
        columns = ((x + np.outer(np.cos(headings), along) - self._origin[0]) / self._cell_m).astype(int)
        rows = ((y + np.outer(np.sin(headings), along) - self._origin[1]) / self._cell_m).astype(int)
        height, width = self._occupied.shape
        hit = self._occupied[np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
        return np.where(hit.any(axis=1), along[hit.argmax(axis=1)], 0.0)


class ScriptedBase:
    """Where it is and how fast. `x`, `y`, `yaw` are of odometry, which begins at zero wherever it stands."""

    def __init__(self, walls: Walls, start: tuple[float, float, float]) -> None:
        self.x = self.y = self.yaw = 0.0
        self.linear = self.angular = 0.0
        self._walls, self._start = walls, start
        self._wish, self._heard_s = (0.0, 0.0), -math.inf

    def tell(self, now_s: float, linear: float, angular: float) -> None:
        """A command arrives."""
        self._wish, self._heard_s = (linear, angular), now_s

    def move(self, now_s: float, duration_s: float) -> None:
        """Drive on."""
        self.linear, self.angular = self._wish if now_s - self._heard_s <= TIMEOUT_S else (0.0, 0.0)
        self.yaw += self.angular * duration_s
        self.x += self.linear * duration_s * math.cos(self.yaw)
        self.y += self.linear * duration_s * math.sin(self.yaw)

    @property
    def at(self) -> tuple[float, float, float]:
        """Where it really is on the map."""
        x0, y0, yaw0 = self._start
        c, s = math.cos(yaw0), math.sin(yaw0)
        return x0 + c * self.x - s * self.y, y0 + s * self.x + c * self.y, yaw0 + self.yaw

    @property
    def wheels(self) -> tuple[float, float]:
        """rad/s of left and right wheel."""
        turn = self.angular * TRACK_M / 2
        return (self.linear - turn) / WHEEL_M, (self.linear + turn) / WHEEL_M

    def look(self) -> Floats:
        """The ranges of one scan, shape (BEAMS,), counter-clockwise from straight ahead."""
        x, y, yaw = self.at
        angles = np.arange(BEAMS) * math.tau / BEAMS
        return self._walls.ranges(x + LASER_X_M * math.cos(yaw), y + LASER_X_M * math.sin(yaw), yaw + angles)
