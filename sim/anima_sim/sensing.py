"""What MuJoCo's physics tells the devices: beams, rates of turn and accelerations, before noise."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from anima_sim.config import CliffConfig, LidarConfig
from anima_sim.devices import Reals
from anima_sim.mjcf_robot import MOST_ROBOTS, touched_group


def _groups(*seen: int) -> npt.NDArray[np.uint8]:
    return np.array([g in seen for g in range(6)], np.uint8)


# Beams meet the world (group 0), not the floor's paint.
_WORLD = _groups(0)


class Lidar:
    """A flat 360° scanner. Beam i points at i · 360°/beams, counted from the robot's x axis to the left.

    The arm stays above its plane; beams that end on the robot's own mast and portal are masked. Other robots are seen
    by their collision shapes. `index` and `prefix` say which robot it is on.
    """

    def __init__(self, model: Any, config: LidarConfig, index: int = 0, prefix: str = "") -> None:
        self._model, self._config = model, config
        self._body = model.body(prefix + config.frame).id
        self._own = _groups(touched_group(index))
        self._seen = _groups(0, *(touched_group(other) for other in range(MOST_ROBOTS) if other != index))
        angles = np.arange(config.beams) * (2 * math.pi / config.beams)
        self._beams = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
        self.masked: npt.NDArray[np.bool_] | None = None

    def mask_own_body(self, data: Any) -> None:
        """Finds the beams that end on the robot itself."""
        self.masked = self._cast(data, self._own) >= 0.0

    def look(self, data: Any) -> Reals:
        """True distances in metres, shape (beams,); -1 nothing within reach."""
        return self._cast(data, self._seen)

    def _cast(self, data: Any, groups: npt.NDArray[np.uint8]) -> Reals:
        rotation = data.xmat[self._body].reshape(3, 3)
        rays = (self._beams @ rotation.T).reshape(-1, 1)
        count = self._config.beams
        hit, distance = np.zeros((count, 1), np.int32), np.zeros((count, 1))
        mujoco.mj_multiRay(
            m=self._model, d=data, pnt=data.xpos[self._body].reshape(3, 1), vec=rays, geomgroup=groups.reshape(6, 1),
            flg_static=True, bodyexclude=self._body, geomid=hit, dist=distance, normal=None, nray=count,
            cutoff=self._config.range_max_m + 0.5,
        )
        distance[hit < 0] = -1.0
        return distance[:, 0]


class Cliffs:
    """Four short beams that slant outwards to the floor. More than the nominal range means: no floor there."""

    def __init__(self, model: Any, config: CliffConfig, prefix: str = "") -> None:
        self._model = model
        self._bodies = [model.body(prefix + frame).id for frame in config.frames]

    def look(self, data: Any) -> Reals:
        """True distances in metres (front left, front right, rear left, rear right); -1 nothing at all."""
        hit = np.zeros((1, 1), np.int32)
        out = []
        for body in self._bodies:
            beam = data.xmat[body].reshape(3, 3)[:, 0].reshape(3, 1)
            start = data.xpos[body].reshape(3, 1)
            out.append(mujoco.mj_ray(self._model, data, start, beam, _WORLD.reshape(6, 1), True, -1, hit))
        return np.array(out)


class Inertia:
    """The true rates and accelerations where the inertial unit sits, in its own frame."""

    def __init__(self, model: Any, data: Any, frame: str, prefix: str = "") -> None:
        self._data = data
        self._body = model.body(prefix + frame).id
        self._gyro, self._accel = (int(model.sensor(prefix + n).adr[0]) for n in ("gyro", "accelerometer"))

    def turning(self) -> Reals:
        """Angular velocity (3,), rad/s."""
        return np.array(self._data.sensordata[self._gyro : self._gyro + 3])

    def pushed(self) -> Reals:
        """Acceleration with gravity's reaction (3,), m/s²."""
        return np.array(self._data.sensordata[self._accel : self._accel + 3])

    def tilt(self) -> Reals:
        """Its rotation in the map, (3, 3)."""
        return np.array(self._data.xmat[self._body].reshape(3, 3))
