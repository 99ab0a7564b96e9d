"""The known map as a lidar meets it: how far from a surface any point is, how likely a beam ends there."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from anima.body.grid_map import FREE, OCCUPIED, Occupancy

Reals = NDArray[np.float64]

_FINER = 2           # cells of the field per cell of the map, along each side
_FAR_M = 1.0         # farther from everything than this is simply far


class Field:
    """Signed distances to the surfaces of what stands on the map: positive in the open, negative inside of it.

    Inside counts too, because a table's top is drawn on a map for driving, while the lidar sees its legs.
    Unknown cells are open: a beam may cross them.
    """

    def __init__(self, drawn: Occupancy) -> None:
        solid = np.kron(drawn.cells == OCCUPIED, np.ones((_FINER, _FINER), bool))
        cell = drawn.resolution_m / _FINER
        outside = ndimage.distance_transform_edt(~solid) - 0.5 if solid.any() else np.full(solid.shape, math.inf)
        inside = ndimage.distance_transform_edt(solid) - 0.5
        self.signed: Reals = np.clip(np.where(solid, -inside, outside) * cell, -_FAR_M, _FAR_M)
        self._cell, self._origin = cell, np.asarray(drawn.origin, dtype=np.float64)
        free = np.argwhere(drawn.cells == FREE)
        self._free: Reals = free[:, ::-1] * drawn.resolution_m + self._origin
        self._free_side = drawn.resolution_m

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies on the map."""
        rows, columns = self.signed.shape
        u, v = (x - self._origin[0]) / self._cell, (y - self._origin[1]) / self._cell
        return bool(0.0 <= u <= columns and 0.0 <= v <= rows)

    def random_poses(self, luck: np.random.Generator, count: int) -> Reals:
        """Poses anywhere on the map's free floor, shape (count, 3): x, y, yaw."""
        corners = self._free[luck.integers(len(self._free), size=count)]
        where = corners + luck.random((count, 2)) * self._free_side
        return np.column_stack([where, luck.uniform(-math.pi, math.pi, count)])

    def likelihoods(self, sigma_m: float, stray_share: float) -> NDArray[np.float32]:
        """log p of a beam that ends in a cell, shape of `signed` (likelihood field; Thrun, Probabilistic Robotics 6.4).

        A beam hits what is on the map with a Gaussian error, or something that is not on it (`stray_share`).
        """
        hit = np.exp(-0.5 * (self.signed / sigma_m) ** 2)
        return np.log((1.0 - stray_share) * hit + stray_share).astype(np.float32)

    def cells(self, x: Reals, y: Reals) -> NDArray[np.intp]:
        """Flat indices into `signed` of points of any shape, metres; clipped to the map."""
        rows, columns = self.signed.shape
        column = np.clip((x - self._origin[0]) / self._cell, 0, columns - 1).astype(np.intp)
        row = np.clip((y - self._origin[1]) / self._cell, 0, rows - 1).astype(np.intp)
        flat: NDArray[np.intp] = row * columns + column
        return flat

    def slope(self, x: Reals, y: Reals) -> tuple[Reals, Reals, Reals]:
        """Signed distance at points of shape (n,), and its derivatives by x and y: bilinear between cells."""
        rows, columns = self.signed.shape
        u = np.clip((x - self._origin[0]) / self._cell - 0.5, 0.0, columns - 1.001)
        v = np.clip((y - self._origin[1]) / self._cell - 0.5, 0.0, rows - 1.001)
        i, j = u.astype(np.intp), v.astype(np.intp)
        a, b = u - i, v - j
        at, flat = j * columns + i, self.signed.ravel()
        low_left, low_right, high_left, high_right = flat[at], flat[at + 1], flat[at + columns], flat[at + columns + 1]
        low, high = low_left + a * (low_right - low_left), high_left + a * (high_right - high_left)
        by_x = ((1 - b) * (low_right - low_left) + b * (high_right - high_left)) / self._cell
        return low + b * (high - low), by_x, (high - low) / self._cell
