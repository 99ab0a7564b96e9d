"""What solid of known kind, standing on a level top, has the outline that was seen.

The outline in the image is the sharpest thing that a small picture gives: depth says how high the solid is, then
for each kind of solid its place and width follow from the centroid and the area of the outline, and the kind and
the heading are those whose outline leaves the fewest pixels unexplained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

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
    misfit: float = math.inf

    @property
    def shape(self) -> str:
        """cube, cylinder, ball or block."""
        if self.kind != "box":
            return self.kind
        edges = (self.width, self.depth, self.height)
        return "cube" if max(edges) <= _CUBE_ASPECT * min(edges) else "block"

    @property
    def centre(self) -> Float64s:
        """The middle, shape (3,)."""
        return np.array([self.x, self.y, self.base + self.height / 2])

    def corners(self, eye: Eye) -> Float64s:
        """Points (n, 3) whose projections span the outline."""
        if self.kind == "ball":
            towards = eye.position - self.centre
            distance = float(np.linalg.norm(towards))
            towards = towards / distance
            right = np.cross(towards, (0.0, 0.0, 1.0))
            right = right / np.linalg.norm(right)
            # The rim that the camera sees lies a little in front of the middle.
            sine = self.width / 2 / distance
            rim = self.centre + towards * (self.width / 2 * sine)
            plane = np.stack([right, np.cross(right, towards)])
            return np.asarray(rim + (self.width / 2 * math.sqrt(1 - sine * sine)) * (_CIRCLE @ plane))
        if self.kind == "cylinder":
            flat = _CIRCLE * (self.width / 2)
        else:
            c, s = math.cos(self.yaw), math.sin(self.yaw)
            flat = (_SQUARE * (self.width, self.depth)) @ np.array([[c, s], [-s, c]])
        ring = np.column_stack([flat, np.zeros(len(flat))])
        foot = np.array([self.x, self.y, self.base])
        return np.concatenate([ring + foot, ring + foot + np.array([0.0, 0.0, self.height])])

    def moved(self, dx: float, dy: float, factor: float) -> Solid:
        """The same solid farther along and wider by `factor`; a ball's height is its width."""
        height = self.height * factor if self.kind == "ball" else self.height
        width, depth = self.width * factor, self.depth * factor
        return Solid(self.kind, self.x + dx, self.y + dy, self.base, self.yaw, width, depth, height)


def best_solid(blob: Blob, eye: Eye, base: float, height: float, around: tuple[float, float]) -> Solid:
    """The solid on a top at height `base` that explains the blob's outline best.

    `height` is how high its top seemed from the depth, `around` where it is, roughly. The blob must be whole:
    neither cut by the edge of the image nor partly hidden.
    """
    seen = _Outline(blob)
    start = Solid("box", *around, base, 0.0, height, height, height)

    boxes = [_match(replace(start, yaw=yaw), seen, eye) for yaw in np.radians(np.arange(0.0, 90.0, 15.0))]
    for aspect in _ASPECTS:
        long = replace(start, width=height * aspect)
        boxes += [_match(replace(long, yaw=yaw), seen, eye) for yaw in np.radians(np.arange(0.0, 180.0, 22.5))]
    box = min(boxes, key=lambda solid: solid.misfit)
    for step in (7.5, 4.0, 2.0):
        turned = [_match(replace(box, yaw=box.yaw + math.radians(d)), seen, eye) for d in (-step, step)]
        box = min([box, *turned], key=lambda solid: solid.misfit)
    if box.width > 1.15 * box.depth:
        stretched = [_match(replace(box, width=box.width * f), seen, eye) for f in (0.85, 0.93, 1.08, 1.18)]
        box = min([box, *stretched], key=lambda solid: solid.misfit)
    cylinder = _match(replace(start, kind="cylinder"), seen, eye)
    ball = _match(replace(start, kind="ball"), seen, eye)
    return min([box, cylinder, ball], key=lambda solid: solid.misfit)


class _Outline:
    """What was seen: mask of a patch, pixel coordinates of its columns and rows, centroid and area of the blob."""

    def __init__(self, blob: Blob) -> None:
        rows, columns = blob.mask.shape
        self.mask = blob.mask.astype(np.float64)
        self.columns = np.arange(columns) + float(blob.left)
        self.rows = (np.arange(rows) + float(blob.top))[:, None]
        self.area = float(self.mask.sum())
        self.u = float((self.mask * self.columns).sum()) / self.area
        self.v = float((self.mask * self.rows).sum()) / self.area


def _match(solid: Solid, seen: _Outline, eye: Eye) -> Solid:
    """The solid moved and widened until its outline has the seen centroid and area, with its misfit."""
    for _ in range(_ROUNDS):
        moments = cv2.moments(_hull(solid, eye))
        area = max(moments["m00"], 1e-3)
        middle = solid.base + solid.height / 2
        wanted = _on_level(eye, seen.u, seen.v, middle)
        now = _on_level(eye, moments["m10"] / area, moments["m01"] / area, middle)
        # The outline's area grows with the width a little slower than its square, as the height stays.
        factor = min(max((seen.area / area) ** 0.62, 0.6), 1.6)
        solid = solid.moved(wanted[0] - now[0], wanted[1] - now[1], factor)
    return replace(solid, misfit=_misfit(_hull(solid, eye), seen))


def _on_level(eye: Eye, u: float, v: float, z: float) -> tuple[float, float]:
    """Where the pixel's ray meets the level plane at height `z`; in plain numbers, because it runs often."""
    pinhole, pose = eye.pinhole, eye.pose
    right, down = (u - pinhole.cx) / pinhole.fx, (v - pinhole.cy) / pinhole.fy
    x, y, fall = (float(pose[i, 0]) * right + float(pose[i, 1]) * down + float(pose[i, 2]) for i in range(3))
    reach = (z - float(pose[2, 3])) / fall
    return float(pose[0, 3]) + x * reach, float(pose[1, 3]) + y * reach


def _hull(solid: Solid, eye: Eye) -> NDArray[np.float32]:
    """The outline in the image, shape (n, 1, 2)."""
    pixels = eye.project(solid.corners(eye))[:, :2]
    return np.asarray(cv2.convexHull(pixels.astype(np.float32)), dtype=np.float32)


def _misfit(outline: NDArray[np.float32], seen: _Outline) -> float:
    """Share of the seen area that hull and mask don't have in common; pixels on the edge count in part."""
    hull = outline[:, 0].astype(np.float64)
    edge = np.concatenate([hull[1:], hull[:1]]) - hull
    length = np.maximum(np.hypot(edge[:, 0], edge[:, 1]), 1e-9)
    normal = np.stack([-edge[:, 1], edge[:, 0]], axis=-1) / length[:, None]
    if np.dot(normal[0], hull.mean(axis=0) - hull[0]) < 0:
        normal = -normal
    offset = -(normal * hull).sum(axis=1)
    inside = normal[:, 0, None, None] * seen.columns + normal[:, 1, None, None] * seen.rows + offset[:, None, None]
    cover = np.clip(inside.min(axis=0) + 0.5, 0.0, 1.0)
    return float(np.abs(cover - seen.mask).sum()) / seen.area
