"""How much of a surface a picture showed."""

from __future__ import annotations

import numpy as np

from anima.body.perception.camera import Eye
from anima.body.perception.tuning import Views
from anima.body.places import Surface
from anima.types.base import Float32s, Float64s


def grid(surface: Surface, spacing_m: float) -> Float64s:
    """Points (n, 3) evenly over the top of a surface, at most `spacing_m` apart, map frame."""
    (x, y), (width, depth) = surface.centre, surface.size_m
    columns, rows = max(1, int(np.ceil(width / spacing_m))), max(1, int(np.ceil(depth / spacing_m)))
    xs = x + width * ((np.arange(columns) + 0.5) / columns - 0.5)
    ys = y + depth * ((np.arange(rows) + 0.5) / rows - 0.5)
    grid_x, grid_y = np.meshgrid(xs, ys)
    return np.column_stack([grid_x.ravel(), grid_y.ravel(), np.full(grid_x.size, surface.height_m)])


def in_sight(points: Float64s, eye: Eye, tuning: Views) -> Float64s:
    """Which of the points (n, 3) are in the frustum and near enough to tell an object, as pixels (n, 3) or NaN."""
    pixels = eye.project(points)
    u, v, depth = pixels.T
    b = tuning.border_px
    inside = (u >= b) & (u <= eye.pinhole.width - 1 - b) & (v >= b) & (v <= eye.pinhole.height - 1 - b)
    near = (depth > 0) & (eye.pinhole.fx * tuning.object_m >= tuning.min_object_px * depth)
    return np.where((inside & near)[:, None], pixels, np.nan)


def hidden_by(chain: Float64s, point: Float64s, eye: Eye, clearance_m: float) -> bool:
    """Whether the line of sight to `point` (3,) passes a chain of straight limbs (n, 3) within `clearance_m`."""
    limb = np.diff(chain, axis=0)
    pieces = int(np.ceil(2.0 * np.linalg.norm(limb, axis=1).max() / clearance_m)) + 1
    limbs = (chain[:-1] + np.linspace(0.0, 1.0, pieces)[:, None, None] * limb).reshape(-1, 3)
    sight = point - eye.position
    along = np.clip((limbs - eye.position) @ sight / float(sight @ sight), 0.0, 1.0)
    nearest = eye.position + along[:, None] * sight
    return bool((np.linalg.norm(limbs - nearest, axis=1) < clearance_m).any())


def coverage(surface: Surface, depth: Float32s, eye: Eye, tuning: Views) -> float:
    """Share of a top that was seen: in sight, and with nothing nearer in front than an object on it would be.

    `depth` has shape (height, width), metres, NaN where unknown; a pixel without depth lets its neighbours speak.
    """
    pixels = in_sight(grid(surface, tuning.grid_m), eye, tuning)
    u, v, wanted = pixels[~np.isnan(pixels[:, 0])].T
    if not len(u):
        return 0.0
    column, row = np.round(u).astype(int), np.round(v).astype(int)
    shifts = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
    measured = np.stack([depth[row + dv, column + du] for du, dv in shifts])
    found = ~np.isnan(measured)
    first = np.argmax(found, axis=0)
    seen = measured[first, np.arange(len(u))]
    # An object that stands on the top hides a little of it; that is not a place where another could hide.
    return float(np.count_nonzero(seen > wanted - tuning.depth_tolerance_m)) / len(pixels)
