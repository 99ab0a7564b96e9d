"""What the devices on the robot make of what truly is: noise, gaps and limits, whichever physics stands behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anima_sim.config import CameraConfig, CameraNoise, CliffConfig, ImuConfig, LidarConfig

Floats = npt.NDArray[np.float32]
Reals = npt.NDArray[np.float64]


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
        )


def measured_scan(
    true: Reals, masked: npt.NDArray[np.bool_] | None, config: LidarConfig, rng: np.random.Generator
) -> Floats:
    """A scan in metres, float32, from the true distances along the beams (negative: nothing was hit).

    Ranges follow REP 117: `+inf` nothing within reach, `-inf` nearer than `range_min_m`, and `NaN` for the beams that
    the robot's own mast and portal always stand in (as a driver's angular mask does).
    """
    ranges = true + rng.normal(0.0, config.noise_m, true.shape)
    ranges[(true < 0.0) | (true > config.range_max_m)] = np.inf
    ranges[(true >= 0.0) & (ranges < config.range_min_m)] = -np.inf
    if masked is not None:
        ranges[masked] = np.nan
    return ranges.astype(np.float32)


def measured_cliffs(true: Reals, config: CliffConfig, rng: np.random.Generator) -> Floats:
    """Distances to the floor, metres, float32, of the true ones (negative: nothing was hit); `+inf` beyond reach."""
    out = []
    for distance in true:
        measured = float(distance) + rng.normal(0.0, config.noise_m)
        if distance < 0.0 or distance > config.range_max_m:
            measured = math.inf
        out.append(-math.inf if measured < config.range_min_m else measured)
    return np.array(out, np.float32)


class InertialUnit:
    """Gyro and accelerometer, with noise and a bias that a seed fixes."""

    def __init__(self, config: ImuConfig, rng: np.random.Generator) -> None:
        self._config, self._rng = config, rng
        # A stream of its own for what is drawn at reading, so that reading doesn't change the samples to come.
        self._at_reading = rng.spawn(1)[0]
        self._bias = rng.normal(0.0, config.gyro_bias_radps, 3)
        self._heading = 0.0
        self._turning = np.zeros(3)

    def update(self, true_radps: Reals, period_s: float) -> float:
        """Takes one sample of the true rates (3,) in imu_link and returns its rate of turn (rad/s)."""
        self._turning = true_radps + self._bias + self._rng.normal(0.0, self._config.gyro_noise_radps, 3)
        self._heading += float(self._turning[2]) * period_s
        return float(self._turning[2])

    def read(self, true_push_mps2: Reals, tilt: Reals) -> Imu:
        """The last sample, with the true acceleration (3,) in imu_link and its rotation (3, 3) in the map now."""
        push = true_push_mps2 + self._at_reading.normal(0.0, self._config.accel_noise_mps2, 3)
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
    )
