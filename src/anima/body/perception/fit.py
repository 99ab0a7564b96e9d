"""What solid of known kind, standing on a level top, has the outline that was seen.

The outline in the image is the sharpest thing that a small picture gives: depth says how high the solid is, then
for each kind of solid its place and width follow from the centroid and the area of the outline, and the kind and
the heading are those whose outline leaves the fewest pixels unexplained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from anima.body.perception.camera import Eye
from anima.body.perception.colours import Blob
from anima.types.base import Float64s

_TURN = np.linspace(0.0, 2 * math.pi, 20, endpoint=False)
_CIRCLE = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=-1)
_SQUARE = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]) / 2
_ASPECTS = (1.5, 2.0)
_CUBE_ASPECT = 1.25  # up to this ratio of its longest to its shortest edge a box is called a cube
_ROUNDS = 3  # place and width are found to well under a pixel in this many corrections

X, Y, YAW, WIDTH, DEPTH, HEIGHT = range(6)
"""Columns of an array of candidates, shape (n, 6): metres and radians."""


@dataclass(frozen=True)
class Solid:
    """A box, cylinder or ball on a top at height `base`; metres, radians, in the frame of the camera's pose.

    `width` is along `yaw` and `depth` across; cylinder and ball have width = depth. `misfit` is the share of the
    outline's area that it leaves unexplained.
    """

    kind: str
    x: float
    y: float
    base: float
    yaw: float
    width: float
    depth: float
    height: float
    misfit: float

    @property
    def shape(self) -> str:
        """cube, cylinder, ball or block."""
        if self.kind != "box":
            return self.kind
        edges = (self.width, self.depth, self.height)
        return "cube" if max(edges) <= _CUBE_ASPECT * min(edges) else "block"

    @property
    def centre(self) -> tuple[float, float, float]:
        """The middle."""
        return self.x, self.y, self.base + self.height / 2


def best_solid(blob: Blob, eye: Eye, base: float, height: float, around: tuple[float, float]) -> Solid:
    """The solid on a top at height `base` that explains the blob's outline best.

    `height` is how high its top seemed from the depth, `around` where it is, roughly. The blob must be whole:
    neither cut by the edge of the image nor partly hidden.
    """
    fit = _Fit(blob, eye, base)
    box = fit.best("box", _boxes(height, around))
    for step in (7.5, 4.0, 2.0):
        turned = np.repeat(box[0][None], 2, axis=0)
        turned[:, YAW] += np.radians([-step, step])
        box = min(box, fit.best("box", turned), key=lambda found: found[1])
    if box[0][WIDTH] > 1.15 * box[0][DEPTH]:
        stretched = np.repeat(box[0][None], 4, axis=0)
        stretched[:, WIDTH] *= (0.85, 0.93, 1.08, 1.18)
        box = min(box, fit.best("box", stretched), key=lambda found: found[1])
    round_one = np.array([[*around, 0.0, height, height, height]])
    found = {"box": box, "cylinder": fit.best("cylinder", round_one), "ball": fit.best("ball", round_one)}
    kind = min(found, key=lambda kind: found[kind][1])
    (x, y, yaw, width, depth, tall), misfit = found[kind]
    return Solid(kind, float(x), float(y), base, float(yaw), float(width), float(depth), float(tall), misfit)


def _boxes(height: float, around: tuple[float, float]) -> Float64s:
    """Boxes of all headings: square ones up to a quarter turn, longer ones up to half a turn."""
    rows = [(*around, yaw, height, height, height) for yaw in np.radians(np.arange(0.0, 90.0, 15.0))]
    for aspect in _ASPECTS:
        rows += [(*around, yaw, height * aspect, height, height) for yaw in np.radians(np.arange(0.0, 180.0, 22.5))]
    return np.array(rows)


class _Fit:
    """One blob, and the solids that are tried on it, many at a time."""

    def __init__(self, blob: Blob, eye: Eye, base: float) -> None:
        rows, columns = blob.mask.shape
        self._eye, self._base = eye, base
        self._mask = blob.mask.astype(np.float64)
        self._columns = np.arange(columns) + float(blob.left)
        self._rows = (np.arange(rows) + float(blob.top))[:, None]
        self._area = float(self._mask.sum())
        self._u = float((self._mask * self._columns).sum()) / self._area
        self._v = float((self._mask * self._rows).sum()) / self._area

    def best(self, kind: str, candidates: Float64s) -> tuple[Float64s, float]:
        """The candidate (6,) that fits best once moved and widened to the seen centroid and area, and its misfit."""
        solids = candidates.copy()
        for _ in range(_ROUNDS):
            moments = [cv2.moments(hull) for hull in self._hulls(kind, solids)]
            area = np.array([max(m["m00"], 1e-3) for m in moments])
            u, v = np.array([m["m10"] for m in moments]) / area, np.array([m["m01"] for m in moments]) / area
            middle = self._base + solids[:, HEIGHT] / 2
            solids[:, :2] += self._on_level(self._u, self._v, middle) - self._on_level(u, v, middle)
            # The outline's area grows with the width a little slower than its square, as the height stays.
            factor = np.clip((self._area / area) ** 0.62, 0.6, 1.6)[:, None]
            solids[:, WIDTH : HEIGHT + (kind == "ball")] *= factor
        misfits = self._misfits(self._hulls(kind, solids))
        first = int(np.argmin(misfits))
        return solids[first], float(misfits[first])

    def _on_level(self, u: Float64s | float, v: Float64s | float, z: Float64s) -> Float64s:
        """Where the pixels' rays meet the level planes at heights `z`, shape (n, 2)."""
        u, v = np.broadcast_arrays(u, v)
        rays = self._eye.rays(u, v)
        reach = (z - self._eye.position[2]) / rays[..., 2]
        return np.asarray(self._eye.position[:2] + rays[..., :2] * np.asarray(reach)[..., None])

    def _hulls(self, kind: str, solids: Float64s) -> list[NDArray[np.float32]]:
        """The outlines in the image, each of shape (k, 1, 2)."""
        pixels = self._eye.project(self._corners(kind, solids))[..., :2].astype(np.float32)
        return [np.asarray(cv2.convexHull(points), dtype=np.float32) for points in pixels]

    def _corners(self, kind: str, solids: Float64s) -> Float64s:
        """Points (n, k, 3) whose projections span the outlines."""
        foot = np.column_stack([solids[:, :2], np.full(len(solids), self._base)])[:, None]
        if kind == "ball":
            return self._rims(foot[:, 0], solids[:, WIDTH] / 2)
        if kind == "cylinder":
            flat = _CIRCLE * (solids[:, WIDTH] / 2)[:, None, None]
        else:
            c, s = np.cos(solids[:, YAW]), np.sin(solids[:, YAW])
            turn = np.stack([np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)], axis=-2)
            flat = (_SQUARE * solids[:, None, WIDTH : DEPTH + 1]) @ turn
        low = foot + np.concatenate([flat, np.zeros((*flat.shape[:2], 1))], axis=-1)
        high = low.copy()
        high[..., 2] += solids[:, None, HEIGHT]
        return np.concatenate([low, high], axis=1)

    def _rims(self, feet: Float64s, radii: Float64s) -> Float64s:
        """The circles on balls that the camera sees as their outlines; they lie a little in front of the middle."""
        centre = feet + radii[:, None] * (0.0, 0.0, 1.0)
        towards = self._eye.position - centre
        distance = np.linalg.norm(towards, axis=-1, keepdims=True)
        towards = towards / distance
        right = np.cross(towards, (0.0, 0.0, 1.0))
        right = right / np.linalg.norm(right, axis=-1, keepdims=True)
        plane = np.stack([right, np.cross(right, towards)], axis=-2)
        sine = radii[:, None] / distance
        rim = centre + towards * (radii[:, None] * sine)
        return np.asarray(rim[:, None] + (radii[:, None] * np.sqrt(1 - sine * sine))[..., None] * (_CIRCLE @ plane))

    def _misfits(self, hulls: list[NDArray[np.float32]]) -> Float64s:
        """Share of the seen area that each hull and the mask don't have in common; pixels on the edge count in part."""
        most = max(len(hull) for hull in hulls)
        # Shorter outlines are filled up with their last corner; an edge without length bounds nothing.
        corners = np.stack([hull[np.minimum(np.arange(most), len(hull) - 1), 0] for hull in hulls]).astype(np.float64)
        edge = np.concatenate([corners[:, 1:], corners[:, :1]], axis=1) - corners
        length = np.hypot(edge[..., 0], edge[..., 1])
        normal = np.stack([-edge[..., 1], edge[..., 0]], axis=-1) / np.maximum(length, 1e-9)[..., None]
        inwards = ((corners.mean(axis=1)[:, None] - corners) * normal).sum(axis=-1)
        normal = normal * np.where(inwards.sum(axis=1) < 0, -1.0, 1.0)[:, None, None]
        offset = -(normal * corners).sum(axis=-1)
        offset[length < 1e-6] = np.inf
        across, down = normal[..., 0, None, None], normal[..., 1, None, None]
        inside = (across * self._columns + down * self._rows + offset[..., None, None]).min(axis=1)
        cover = np.clip(inside + 0.5, 0.0, 1.0)
        return np.asarray(np.abs(cover - self._mask).sum(axis=(1, 2)) / self._area)
