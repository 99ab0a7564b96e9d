"""The pinhole camera: rays, points and pixels, in any frame that its pose is given in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anima.body.pose import Pose2D
from anima.body.robot_model import Camera, Matrix, about
from anima.types.base import Bytes, Float32s, Float64s
from anima.types.std import CameraInfo, Image


class ImageError(ValueError):
    """An image that can't be read; the message says what was expected."""


@dataclass(frozen=True)
class Pinhole:
    """Focal lengths and principal point in pixels; pixel (0, 0) is the centre of the top left one."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def of_info(cls, info: CameraInfo) -> Pinhole:
        """The camera that a `CameraInfo` describes. Raises `ImageError` when its focal length is not positive."""
        k = info.k
        if len(k) != 9 or not np.all(np.isfinite(k)) or k[0] <= 0 or k[4] <= 0:
            raise ImageError(f"camera_info of {info.header.frame_id!r}: k must be 9 numbers, focal lengths positive")
        return cls(info.width, info.height, float(k[0]), float(k[4]), float(k[2]), float(k[5]))

    @classmethod
    def of_camera(cls, camera: Camera) -> Pinhole:
        """The ideal camera of the robot's configuration."""
        f = camera.height / 2 / np.tan(np.radians(camera.vertical_fov_deg) / 2)
        return cls(camera.width, camera.height, f, f, (camera.width - 1) / 2, (camera.height - 1) / 2)

    def rays(self, u: Float64s, v: Float64s) -> Float64s:
        """Directions of pixels in the optical frame with z = 1, shape (..., 3)."""
        return np.stack([(u - self.cx) / self.fx, (v - self.cy) / self.fy, np.ones_like(u)], axis=-1)

    def project(self, points: Float64s) -> Float64s:
        """Pixels (u, v) and depth in metres, shape (..., 3), of points (..., 3) in the optical frame."""
        z = np.maximum(points[..., 2], 1e-6)  # behind the camera: far outside the image, with its depth kept
        u = self.fx * points[..., 0] / z + self.cx
        v = self.fy * points[..., 1] / z + self.cy
        return np.stack([u, v, points[..., 2]], axis=-1)


@dataclass(frozen=True)
class Eye:
    """A camera at a place: `pose` (4, 4) has the optical frame in the world frame that is reckoned in."""

    pinhole: Pinhole
    pose: Matrix

    @property
    def position(self) -> Float64s:
        """The centre of projection, shape (3,)."""
        return self.pose[:3, 3]

    def rays(self, u: Float64s, v: Float64s) -> Float64s:
        """Directions of pixels in the world frame, of optical depth 1, shape (..., 3)."""
        return np.asarray(self.pinhole.rays(u, v) @ self.pose[:3, :3].T)

    def points(self, u: Float64s, v: Float64s, depth: Float64s) -> Float64s:
        """World points (..., 3) of pixels with the given optical depth."""
        return np.asarray(self.position + self.rays(u, v) * depth[..., None])

    def project(self, points: Float64s) -> Float64s:
        """Pixels (u, v) and depth, shape (..., 3), of world points (..., 3)."""
        return self.pinhole.project((points - self.position) @ self.pose[:3, :3])

    def on_plane(self, u: Float64s, v: Float64s, z: float) -> Float64s:
        """World points (..., 3) where the pixels' rays meet the level plane at height `z`."""
        rays = self.rays(u, v)
        return np.asarray(self.position + rays * ((z - self.position[2]) / rays[..., 2])[..., None])


def on_floor(pose: Pose2D) -> Matrix:
    """The transform of a pose on the floor."""
    out = about((0.0, 0.0, 1.0), pose.yaw)
    out[0, 3], out[1, 3] = pose.x, pose.y
    return out


def colour_image(image: Image) -> Bytes:
    """The pixels of an rgb8 image, shape (height, width, 3). Raises `ImageError` for anything else."""
    _check(image, "rgb8", 3)
    return np.asarray(image.data, dtype=np.uint8).reshape(image.height, image.width, 3)


def depth_image(image: Image) -> Float32s:
    """Metres along the optical axis, shape (height, width), NaN where unknown. Raises `ImageError` if not 32FC1."""
    _check(image, "32FC1", 4)
    depth = np.ascontiguousarray(image.data, dtype=np.uint8).view(">f4" if image.is_bigendian else "<f4")
    depth = depth.reshape(image.height, image.width).astype(np.float32)
    return np.where(np.isfinite(depth) & (depth > 0), depth, np.float32(np.nan))


def _check(image: Image, encoding: str, pixel_bytes: int) -> None:
    wanted = image.height * image.width * pixel_bytes
    if image.encoding != encoding or image.data.size != wanted:
        raise ImageError(
            f"expected {image.height} x {image.width} pixels of {encoding} in {wanted} bytes, "
            f"got {image.encoding} in {image.data.size} bytes"
        )
