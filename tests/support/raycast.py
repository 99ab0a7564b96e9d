"""Pictures of simple solids, made by casting a ray through every pixel: an eye that owes nothing to what it tests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anima.body.perception.camera import Eye, Pinhole, on_floor
from anima.body.pose import Pose2D
from anima.body.robot_model import Camera, transform

Point = tuple[float, float, float]
Floats = npt.NDArray[np.float64]
RGB = {
    "red": (219, 20, 20), "orange": (245, 120, 10), "yellow": (237, 219, 15), "green": (20, 168, 41),
    "cyan": (15, 204, 214), "blue": (20, 56, 224), "purple": (122, 31, 214), "pink": (242, 41, 158),
    "grey": (140, 140, 145),
}
FLOOR_GREY, TOP_GREY = (168, 158, 145), (184, 173, 158)
CAMERA = Camera(
    frame="camera_optical_frame", width=320, height=240, vertical_fov_deg=58.0, depth_min_m=0.15, depth_max_m=4.0
)
MOUNT = transform((-0.07, 0.0, 0.95), (0.0, math.radians(42), 0.0)) @ transform(
    (0.0, 0.0, 0.0), (-math.pi / 2, 0.0, -math.pi / 2)
)


def eye_at(pose: Pose2D) -> Eye:
    """The mast camera of a robot at a pose."""
    return Eye(Pinhole.of_camera(CAMERA), on_floor(pose) @ MOUNT)


@dataclass
class Picture:
    """What a camera sees: grey floor at z = 0, then what is drawn into it."""

    eye: Eye
    rgb: npt.NDArray[np.uint8] = field(init=False)
    depth: npt.NDArray[np.float64] = field(init=False)
    _rays: Floats = field(init=False)

    def __post_init__(self) -> None:
        v, u = np.mgrid[0 : self.eye.pinhole.height, 0 : self.eye.pinhole.width].astype(float)
        self._rays = self.eye.rays(u, v)
        self.depth = np.full(u.shape, np.inf)
        self.rgb = np.zeros((*u.shape, 3), np.uint8)
        self._paint(self._level(0.0), FLOOR_GREY)

    def top(self, x: float, y: float, width: float, depth: float, z: float) -> Picture:
        """A grey table top."""
        reach = self._level(z)
        at = self.eye.position + self._rays * np.where(np.isfinite(reach), reach, 0.0)[..., None]
        over = (np.abs(at[..., 0] - x) <= width / 2) & (np.abs(at[..., 1] - y) <= depth / 2)
        self._paint(np.where(over, reach, np.inf), TOP_GREY)
        return self

    def box(self, colour: str, centre: Point, size: Point, yaw: float = 0.0) -> Picture:
        """An upright box; its upper face is brighter than its sides."""
        c, s = math.cos(yaw), math.sin(yaw)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        origin, rays = turn @ (self.eye.position - centre), self._rays @ turn.T
        with np.errstate(divide="ignore"):
            near, far = ((np.array(size) / 2 * side - origin) / rays for side in (-1.0, 1.0))
        enter, leave = np.minimum(near, far), np.maximum(near, far)
        first = enter.max(axis=-1)
        hit = np.where((first <= leave.min(axis=-1)) & (first > 0), first, np.inf)
        self._paint(hit, RGB[colour], enter.argmax(axis=-1) == 2)
        return self

    def cylinder(self, colour: str, centre: Point, radius: float, height: float) -> Picture:
        """An upright cylinder."""
        origin = self.eye.position - centre
        a = (self._rays[..., :2] ** 2).sum(axis=-1)
        b = (self._rays[..., :2] * origin[:2]).sum(axis=-1)
        root = b * b - a * (origin[:2] @ origin[:2] - radius**2)
        side = np.where(root >= 0, (-b - np.sqrt(np.maximum(root, 0))) / a, np.inf)
        z = origin[2] + self._rays[..., 2] * np.where(np.isfinite(side), side, 0.0)
        side = np.where(np.abs(z) <= height / 2, side, np.inf)
        lid = (height / 2 - origin[2]) / self._rays[..., 2]
        over = origin[:2] + self._rays[..., :2] * lid[..., None]
        lid = np.where((lid > 0) & ((over**2).sum(axis=-1) <= radius**2), lid, np.inf)
        self._paint(np.minimum(side, lid), RGB[colour], lid < side)
        return self

    def ball(self, colour: str, centre: Point, radius: float) -> Picture:
        """A sphere."""
        origin = self.eye.position - centre
        a, b = (self._rays**2).sum(axis=-1), self._rays @ origin
        root = b * b - a * (origin @ origin - radius**2)
        self._paint(np.where(root >= 0, (-b - np.sqrt(np.maximum(root, 0))) / a, np.inf), RGB[colour])
        return self

    def noisy(self, seed: int) -> Picture:
        """The same picture as a cheap camera would take it: grain, spread of the depth, pixels without depth."""
        rng = np.random.default_rng(seed)
        self.rgb = np.clip(self.rgb + rng.normal(0, 3, self.rgb.shape), 0, 255).astype(np.uint8)
        self.depth = self.depth + rng.normal(0, 0.004, self.depth.shape) * self.depth**2
        self.depth[rng.random(self.depth.shape) < 0.005] = np.nan
        return self

    @property
    def metres(self) -> npt.NDArray[np.float32]:
        """Depth, NaN where nothing is."""
        return np.where(np.isfinite(self.depth), self.depth, np.nan).astype(np.float32)

    def _level(self, z: float) -> Floats:
        fall = self._rays[..., 2]
        with np.errstate(divide="ignore"):
            reach = (z - self.eye.position[2]) / fall
        return np.where(fall < 0, reach, np.inf)

    def _paint(self, reach: Floats, colour: tuple[int, int, int], bright: npt.NDArray[np.bool_] | None = None) -> None:
        nearer = reach < self.depth
        self.depth = np.where(nearer, reach, self.depth)
        shade = np.where(bright, 1.0, 0.6) if bright is not None else np.ones(reach.shape)
        self.rgb[nearer] = (np.array(colour) * shade[..., None])[nearer].astype(np.uint8)
