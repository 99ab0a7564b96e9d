"""From one RGB-D image to the objects in it, placed in the map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from anima.body.perception.camera import Eye
from anima.body.perception.colours import Blob, find_blobs
from anima.body.perception.fit import Solid, best_solid
from anima.body.perception.tuning import PerceptionTuning
from anima.body.perception.views import coverage
from anima.body.places import Surface
from anima.types.base import Bytes, Float32s, Float64s
from anima.types.mind import Detection, View
from anima.types.std import Point, Vector3

_TOP_BAND_M = 0.008  # points this far below the highest belong to the upper face, for the noise of the depth
_FILL_M = 0.01  # how far behind its visible points the middle of a hidden or held object lies


@dataclass(frozen=True)
class Situation:
    """What is known when a picture is taken: where the camera is, the surfaces, and the tool point in the map."""

    eye: Eye
    surfaces: Sequence[Surface]
    tool: Float64s | None


class Detector:
    """Finds objects of the known colours. Pure: the same picture gives the same detections."""

    def __init__(self, tuning: PerceptionTuning) -> None:
        self._tuning = tuning

    def detect(self, rgb: Bytes, depth: Float32s, at: Situation) -> list[Detection]:
        """The objects in an image (height, width, 3) with depth (height, width; metres, NaN unknown), frame map."""
        found = []
        for blob in find_blobs(rgb, self._tuning.colours, self._tuning.blobs):
            detection = self._look_at(blob, depth, at)
            if detection is not None:
                found.append(detection)
        return found

    def views(self, depth: Float32s, at: Situation) -> list[View]:
        """How much of each surface the image shows; surfaces out of sight are left out."""
        shares = ((surface.name, coverage(surface, depth, at.eye, self._tuning.views)) for surface in at.surfaces)
        return [View(surface=name, coverage=share) for name, share in shares if share > 0]

    def _look_at(self, blob: Blob, depth: Float32s, at: Situation) -> Detection | None:
        objects, weights = self._tuning.objects, self._tuning.confidence
        patch = depth[blob.window]
        cloud = _cloud(blob, patch, at.eye, objects.max_size_m)
        if len(cloud) < self._tuning.blobs.min_area_px / 2:
            return None
        middle = np.median(cloud, axis=0)
        if float(np.linalg.norm(middle - at.eye.position)) > objects.max_range_m:
            return None
        occluded = _occluded(blob, patch, objects.occluder_m)
        confidence = min(1.0, blob.area / weights.coarse_below_px)
        base = self._base(cloud, at.surfaces)
        if base is None and at.tool is not None and float(np.linalg.norm(middle - at.tool)) < objects.hand_radius_m:
            return self._partial(blob, cloud, at.eye, confidence)
        if blob.cut or occluded or base is None:
            doubt = (weights.border if blob.cut else 1.0) * (weights.occluded if occluded else 1.0)
            return self._partial(blob, cloud, at.eye, confidence * (doubt if base is not None else doubt * 0.5))
        solid = best_solid(blob, at.eye, base, _top_height(cloud) - base, (float(middle[0]), float(middle[1])))
        edges = (solid.width, solid.depth, solid.height)
        if min(edges) < objects.min_size_m or max(edges) > objects.max_size_m:
            return None
        return _detection(blob.colour, solid, confidence * max(0.0, 1.0 - solid.misfit))

    def _base(self, cloud: Float64s, surfaces: Sequence[Surface]) -> float | None:
        """Height of what the object stands on: a known top under it, or the floor; None when it hangs in the air."""
        low, high = np.percentile(cloud[:, 2], (5.0, 95.0))
        x, y = np.median(cloud[:, :2], axis=0)
        under, over = self._tuning.objects.on_top_m
        heights = [s.height_m for s in surfaces if s.contains(x, y, margin_m=0.02)] or [0.0]
        for z in heights:
            if z + under <= low <= z + over and high <= z + self._tuning.objects.max_size_m:
                return z
        return None

    def _partial(self, blob: Blob, cloud: Float64s, eye: Eye, confidence: float) -> Detection | None:
        """An object of which a part is hidden: roughly where it is; its shape is that of the known object."""
        size = np.ptp(cloud, axis=0)
        if float(size.max()) > 1.5 * self._tuning.objects.max_size_m:
            return None
        ahead = np.median(cloud, axis=0) - eye.position
        at = np.median(cloud, axis=0) + ahead * (_FILL_M / float(np.linalg.norm(ahead)))
        return Detection(
            colour=blob.colour,
            shape=self._tuning.shape_of.get(blob.colour, "block"),
            position=Point(x=float(at[0]), y=float(at[1]), z=float(at[2])),
            yaw=0.0,
            size=Vector3(x=float(size[0]), y=float(size[1]), z=float(size[2])),
            confidence=confidence,
        )


def _detection(colour: str, solid: Solid, confidence: float) -> Detection:
    x, y, z = (float(c) for c in solid.centre)
    # A square looks the same after a quarter turn, a longer block after half of one, a round thing after any.
    turn = {"cube": math.pi / 2, "block": math.pi}.get(solid.shape)
    yaw = 0.0 if turn is None else solid.yaw - turn * math.floor(solid.yaw / turn + 0.5)
    return Detection(
        colour=colour,
        shape=solid.shape,
        position=Point(x=x, y=y, z=z),
        yaw=yaw,
        size=Vector3(x=solid.width, y=solid.depth, z=solid.height),
        confidence=confidence,
    )


def _cloud(blob: Blob, patch: Float32s, eye: Eye, max_size_m: float) -> Float64s:
    """World points (n, 3) of the blob's pixels that have depth, without what lies far before or behind it."""
    v, u = np.nonzero(blob.mask & ~np.isnan(patch))
    depth = patch[v, u].astype(np.float64)
    if not len(depth):
        return np.empty((0, 3))
    keep = np.abs(depth - np.median(depth)) <= max_size_m
    column, row = (u[keep] + blob.left).astype(np.float64), (v[keep] + blob.top).astype(np.float64)
    return eye.points(column, row, depth[keep])


def _top_height(cloud: Float64s) -> float:
    """Height of the upper face: the median of the points near the highest ones."""
    z = cloud[:, 2]
    return float(np.median(z[z > np.percentile(z, 97.0) - _TOP_BAND_M]))


def _occluded(blob: Blob, patch: Float32s, occluder_m: float) -> bool:
    """Whether something nearer than the blob borders on it."""
    kernel = np.ones((5, 5), np.uint8)
    own = np.where(blob.mask & ~np.isnan(patch), patch, np.float32(0.0))
    beside = cv2.dilate(own, kernel)  # the farthest depth of the blob within two pixels
    ring = (beside > 0) & ~blob.mask & ~np.isnan(patch)
    nearer = ring & (patch < beside - occluder_m)
    return int(np.count_nonzero(nearer)) > max(3, 0.06 * np.count_nonzero(ring))
