"""What the robot's sensors say: computed from the physics, with the noise and the gaps of real devices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from anima_sim.config import CameraConfig, CameraNoise, CliffConfig, LidarConfig, RobotConfig
from anima_sim.mjcf_robot import TOUCHED_GROUP

Floats = npt.NDArray[np.float32]
# Beams meet the world (group 0), not the floor's paint; the mask is made of the robot's collision shapes.
_WORLD = np.array([1, 0, 0, 0, 0, 0], np.uint8)
_OWN = np.array([1 if g == TOUCHED_GROUP else 0 for g in range(6)], np.uint8)


@dataclass(frozen=True)
class Imu:
    """In imu_link: angular velocity (rad/s) and acceleration with gravity's reaction (m/s²), x y z."""

    angular_velocity: tuple[float, float, float]
    linear_acceleration: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    """x, y, z, w of roll and pitch as the device's own filter knows them; its heading starts at zero and drifts."""


@dataclass(frozen=True)
class Intrinsics:
    """Pinhole camera in pixels, no distortion: (x, y, z) in the optical frame falls on (fx·x/z + cx, fy·y/z + cy)."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @staticmethod
    def of(config: CameraConfig) -> Intrinsics:
        focal = config.height / 2 / math.tan(math.radians(config.vertical_fov_deg) / 2)
        return Intrinsics(
            config.width, config.height, focal, focal, (config.width - 1) / 2, (config.height - 1) / 2
        )  # fmt: skip


class Lidar:
    """A flat 360° scanner. Beam i points at i · 360°/beams, counted from the robot's x axis to the left.

    Ranges follow REP 117: `+inf` nothing within reach, `-inf` nearer than `range_min_m`, and `NaN` for the beams that
    the robot's own mast and portal always stand in (as a driver's angular mask does). The arm stays above the plane.
    """

    def __init__(self, model: Any, config: LidarConfig, rng: np.random.Generator) -> None:
        self._model, self._config, self._rng = model, config, rng
        self._body = model.body(config.frame).id
        angles = np.arange(config.beams) * (2 * math.pi / config.beams)
        self._beams = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
        self._masked: npt.NDArray[np.bool_] | None = None

    def mask_own_body(self, data: Any) -> None:
        """Finds the beams that end on the robot itself."""
        self._masked = self._cast(data, _OWN) >= 0.0

    def read(self, data: Any) -> Floats:
        """Ranges in metres, shape (beams,), float32."""
        c = self._config
        true = self._cast(data, _WORLD)
        ranges = true + self._rng.normal(0.0, c.noise_m, true.shape)
        ranges[(true < 0.0) | (true > c.range_max_m)] = np.inf
        ranges[(true >= 0.0) & (ranges < c.range_min_m)] = -np.inf
        if self._masked is not None:
            ranges[self._masked] = np.nan
        return ranges.astype(np.float32)

    def _cast(self, data: Any, groups: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        rotation = data.xmat[self._body].reshape(3, 3)
        rays = (self._beams @ rotation.T).reshape(-1, 1)
        count = self._config.beams
        hit, distance = np.zeros((count, 1), np.int32), np.zeros((count, 1))
        mujoco.mj_multiRay(
            m=self._model, d=data, pnt=data.xpos[self._body].reshape(3, 1), vec=rays, geomgroup=groups.reshape(6, 1),
            flg_static=True, bodyexclude=self._body, geomid=hit, dist=distance, normal=None, nray=count,
            cutoff=self._config.range_max_m + 0.5,
        )  # fmt: skip
        distance[hit < 0] = -1.0
        return distance[:, 0]


class Cliffs:
    """Four short beams that slant outwards to the floor. More than the nominal range means: no floor there."""

    def __init__(self, model: Any, config: CliffConfig, rng: np.random.Generator) -> None:
        self._model, self._config, self._rng = model, config, rng
        self._bodies = [model.body(frame).id for frame in config.frames]

    def read(self, data: Any) -> Floats:
        """Ranges in metres (front left, front right, rear left, rear right), float32; `+inf` beyond reach."""
        c = self._config
        out = []
        hit = np.zeros((1, 1), np.int32)
        for body in self._bodies:
            beam = data.xmat[body].reshape(3, 3)[:, 0]
            start = data.xpos[body].reshape(3, 1)
            true = mujoco.mj_ray(self._model, data, start, beam.reshape(3, 1), _WORLD.reshape(6, 1), True, -1, hit)
            measured = true + self._rng.normal(0.0, c.noise_m)
            if true < 0.0 or true > c.range_max_m:
                measured = math.inf
            out.append(-math.inf if measured < c.range_min_m else measured)
        return np.array(out, np.float32)


class InertialUnit:
    """Gyro and accelerometer, with noise and a bias that a seed fixes."""

    def __init__(self, model: Any, config: RobotConfig, rng: np.random.Generator) -> None:
        self._config, self._rng = config.sensors.imu, rng
        self._body = model.body(self._config.frame).id
        self._gyro, self._accel = (int(model.sensor(n).adr[0]) for n in ("gyro", "accelerometer"))
        # A stream of its own for what is drawn at reading, so that reading doesn't change the samples to come.
        self._at_reading = rng.spawn(1)[0]
        self._bias = rng.normal(0.0, self._config.gyro_bias_radps, 3)
        self._heading = 0.0
        self._turning = np.zeros(3)

    def update(self, data: Any, period_s: float) -> float:
        """Takes one sample and returns its rate of turn (rad/s)."""
        true = data.sensordata[self._gyro : self._gyro + 3]
        self._turning = true + self._bias + self._rng.normal(0.0, self._config.gyro_noise_radps, 3)
        self._heading += float(self._turning[2]) * period_s
        return float(self._turning[2])

    def read(self, data: Any) -> Imu:
        """The last sample."""
        shaking = self._at_reading.normal(0.0, self._config.accel_noise_mps2, 3)
        push = data.sensordata[self._accel : self._accel + 3] + shaking
        tilt = data.xmat[self._body].reshape(3, 3)
        roll, pitch = math.atan2(tilt[2, 1], tilt[2, 2]), math.asin(max(-1.0, min(1.0, -float(tilt[2, 0]))))
        return Imu(
            angular_velocity=(float(self._turning[0]), float(self._turning[1]), float(self._turning[2])),
            linear_acceleration=(float(push[0]), float(push[1]), float(push[2])),
            orientation=_quaternion(roll, pitch, self._heading),
        )


def noisy_picture(
    colour: npt.NDArray[np.uint8], depth: Floats, config: CameraConfig, noise: CameraNoise, rng: np.random.Generator
) -> tuple[npt.NDArray[np.uint8], Floats]:
    """What a cheap RGB-D camera makes of a clean picture. Depth is `NaN` where it can't be measured."""
    grain = rng.standard_normal(colour.shape, np.float32) * np.float32(noise.colour_levels)
    seen = np.clip(colour + grain, 0, 255).astype(np.uint8)
    spread = rng.standard_normal(depth.shape, np.float32) * (np.float32(noise.depth_at_1m_m) * depth * depth)
    measured = depth + spread
    measured[(depth < config.depth_min_m) | (depth > config.depth_max_m)] = np.nan
    measured[rng.random(depth.shape, np.float32) < noise.dropout] = np.nan
    return seen, measured


def _quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    cr, sr, cp, sp = math.cos(roll / 2), math.sin(roll / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy,
    )  # fmt: skip
