"""The belief where the robot might be: a particle filter (Monte Carlo localization), by numpy all particles at once.

Sampling from odometry and weighing by a likelihood field as in Thrun, Burgard and Fox, Probabilistic Robotics,
chapters 5, 6 and 8: augmented MCL for the kidnapped robot, KLD sampling for the number of particles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anima.body.localization.field import Field
from anima.body.localization.tuning import LocalizationTuning
from anima.body.pose import Pose2D, wrap

Reals = NDArray[np.float64]

_PEAK_M, _PEAK_RAD = 0.5, 0.6      # particles this close to the heaviest spot are of one mind with it
_SPOT_M, _SPOT_RAD = 0.5, math.pi / 6
_CHUNK = 2000                      # particles weighed at once: keeps the arrays in the processor's cache
_NEAR_SHARE = 0.2                  # of a search, around where the robot was last believed to be
_NEAR_M, _NEAR_RAD = 0.4, 0.4


@dataclass(frozen=True)
class Belief:
    """Where most particles agree: mean pose, covariance of shape (3, 3) (x, y, yaw), and the share that agrees."""

    pose: Pose2D
    covariance: Reals
    share: float


class Particles:
    """Poses of shape (n, 3) and their weights, which sum to 1. Random numbers come from `luck` alone."""

    def __init__(self, field: Field, tuning: LocalizationTuning, luck: np.random.Generator) -> None:
        self._field, self._tuning, self._luck = field, tuning, luck
        sensor = tuning.sensor
        self._sharp = field.likelihoods(sensor.hit_sigma_m, sensor.stray_share).ravel()
        self._blunt = field.likelihoods(sensor.search_sigma_m, sensor.stray_share).ravel()
        self._slow = self._fast = 0.0
        self._belief: Belief | None = None
        self.poses: Reals = np.zeros((tuning.particles.least, 3))
        self.weights: Reals = np.full(len(self.poses), 1.0 / len(self.poses))

    # --- where from ------------------------------------------------------------------------------

    def settle(self, pose: Pose2D, sigma_m: float, sigma_rad: float) -> None:
        """Believe in one pose, more or less."""
        wide = sigma_m > self._tuning.particles.bin_m or sigma_rad > self._tuning.particles.bin_rad
        count = self._tuning.particles.most if wide else self._tuning.particles.least
        self._set(self._around(pose, count, sigma_m, sigma_rad))
        self._slow = self._fast = 0.0

    def search(self, points: Reals, last: Pose2D | None) -> None:
        """Try poses all over the map, and around the last one, against one scan; keep those that explain it best."""
        count = self._tuning.particles.search
        near = round(_NEAR_SHARE * count) if last is not None else 0
        tried = self._field.random_poses(self._luck, count - near)
        if last is not None:
            tried = np.concatenate([tried, self._around(last, near, _NEAR_M, _NEAR_RAD)])
        self._set(tried)
        self._weigh(self._log_likelihoods(points, self._blunt))
        self._resample(self._tuning.particles.most, 0.0)
        self._jitter(0.05, 0.05)
        self._slow = self._fast = 0.0

    def _around(self, pose: Pose2D, count: int, sigma_m: float, sigma_rad: float) -> Reals:
        spread = self._luck.standard_normal((count, 3)) * (sigma_m, sigma_m, sigma_rad)
        return np.asarray(spread + np.array([pose.x, pose.y, pose.yaw]))

    def _set(self, poses: Reals) -> None:
        self._belief = None
        self.poses = poses
        self.weights = np.full(len(poses), 1.0 / len(poses))

    # --- motion and measurement ------------------------------------------------------------------

    def move(self, step: Pose2D) -> None:
        """Move every particle by odometry (`step` in the base's frame before it), each with an error of its own."""
        self._belief = None
        motion, count = self._tuning.motion, len(self.poses)
        way, turn = math.hypot(step.x, step.y), abs(step.yaw)
        sigma_m = motion.least_m + motion.drive_m_per_m * way + motion.drive_m_per_rad * turn
        sigma_rad = motion.least_rad + motion.turn_rad_per_rad * turn + motion.turn_rad_per_m * way
        ahead = step.x + sigma_m * self._luck.standard_normal(count)
        aside = step.y + sigma_m * self._luck.standard_normal(count)
        c, s = np.cos(self.poses[:, 2]), np.sin(self.poses[:, 2])
        self.poses[:, 0] += c * ahead - s * aside
        self.poses[:, 1] += s * ahead + c * aside
        self.poses[:, 2] += step.yaw + sigma_rad * self._luck.standard_normal(count)

    def look(self, points: Reals) -> None:
        """Weigh by a scan's hits (shape (n, 2), base_link), then draw anew: more where it fits.

        When scans come to fit worse than they used to, some particles are drawn anywhere on the map.
        """
        logs = self._log_likelihoods(points, self._sharp)
        # The mean likelihood of a beam, so that scans with more or fewer beams compare.
        mean = float(np.dot(self.weights, np.exp(logs / max(1, len(points)))))
        particles = self._tuning.particles
        if self._slow == 0.0:
            self._slow = self._fast = mean
        self._slow += particles.forget_slowly * (mean - self._slow)
        self._fast += particles.forget_fast * (mean - self._fast)
        self._weigh(logs)
        self._resample(self._wanted(), max(0.0, 1.0 - self._fast / self._slow))

    def _log_likelihoods(self, points: Reals, table: NDArray[np.float32]) -> Reals:
        logs = np.zeros(len(self.poses))
        for start in range(0, len(self.poses), _CHUNK):
            part = self.poses[start : start + _CHUNK]
            c, s = np.cos(part[:, 2:]), np.sin(part[:, 2:])
            x = part[:, :1] + c * points[:, 0] - s * points[:, 1]
            y = part[:, 1:2] + s * points[:, 0] + c * points[:, 1]
            logs[start : start + _CHUNK] = table[self._field.cells(x, y)].sum(axis=1)
        return logs

    def _weigh(self, logs: Reals) -> None:
        tempered = self._tuning.sensor.trust * logs
        weights = self.weights * np.exp(tempered - tempered.max())
        self.weights = weights / weights.sum()

    # --- drawing anew ----------------------------------------------------------------------------

    def _wanted(self) -> int:
        """How many particles the spread of the belief asks for (KLD sampling; Fox 2003, equation 7)."""
        particles = self._tuning.particles
        heavy = self.weights > 0.01 / len(self.weights)
        k = len(np.unique(_bins(self.poses[heavy], particles.bin_m, particles.bin_rad)))
        if k <= 1:
            return particles.least
        a = 2.0 / (9.0 * (k - 1))
        count = (k - 1) / (2.0 * particles.kld_error) * (1.0 - a + math.sqrt(a) * particles.kld_z) ** 3
        return int(min(max(count, particles.least), particles.most))

    def _resample(self, count: int, elsewhere: float) -> None:
        """Draw `count` particles by weight (low variance), a share of them anywhere on the map."""
        steps = (np.arange(count) + self._luck.random()) / count
        drawn = np.searchsorted(np.cumsum(self.weights), steps).clip(0, len(self.weights) - 1)
        poses = self.poses[drawn]
        new = round(elsewhere * count)
        if new:
            poses[self._luck.permutation(count)[:new]] = self._field.random_poses(self._luck, new)
        self._set(poses)

    def _jitter(self, sigma_m: float, sigma_rad: float) -> None:
        self._belief = None
        self.poses += self._luck.standard_normal(self.poses.shape) * (sigma_m, sigma_m, sigma_rad)

    # --- what follows ----------------------------------------------------------------------------

    def belief(self) -> Belief:
        """The heaviest spot, and what of the particles is around it."""
        if self._belief is not None:
            return self._belief
        _, which = np.unique(_bins(self.poses, _SPOT_M, _SPOT_RAD), return_inverse=True)
        members = which == int(np.argmax(np.bincount(which, self.weights)))
        pose = self._mean(members)
        for _ in range(2):
            members = self._near(pose)
            pose = self._mean(members)
        weights = self.weights[members]
        share = float(weights.sum())
        off = self.poses[members] - (pose.x, pose.y, pose.yaw)
        off[:, 2] = np.remainder(off[:, 2] + math.pi, 2 * math.pi) - math.pi
        covariance = (off * (weights / share)[:, None]).T @ off
        self._belief = Belief(pose, covariance, share)
        return self._belief

    def spread(self) -> Reals:
        """The covariance of all particles, shape (3, 3), headings about their mean direction."""
        pose = self._mean(np.ones(len(self.poses), bool))
        off = self.poses - (pose.x, pose.y, pose.yaw)
        off[:, 2] = np.remainder(off[:, 2] + math.pi, 2 * math.pi) - math.pi
        return (off * self.weights[:, None]).T @ off

    def _near(self, pose: Pose2D) -> NDArray[np.bool_]:
        turn = np.remainder(self.poses[:, 2] - pose.yaw + math.pi, 2 * math.pi) - math.pi
        close = np.hypot(self.poses[:, 0] - pose.x, self.poses[:, 1] - pose.y) <= _PEAK_M
        return close & (np.abs(turn) <= _PEAK_RAD)

    def _mean(self, members: NDArray[np.bool_]) -> Pose2D:
        weights = self.weights[members] / self.weights[members].sum()
        x, y = weights @ self.poses[members, :2]
        yaw = math.atan2(weights @ np.sin(self.poses[members, 2]), weights @ np.cos(self.poses[members, 2]))
        return Pose2D(float(x), float(y), wrap(yaw))


def _bins(poses: Reals, side_m: float, side_rad: float) -> NDArray[np.int64]:
    """One number per pose, the same for poses in the same cell of a grid over x, y and heading."""
    heading = np.remainder(poses[:, 2], 2 * math.pi) / side_rad
    x, y, turn = (np.floor(part).astype(np.int64) for part in (poses[:, 0] / side_m, poses[:, 1] / side_m, heading))
    key: NDArray[np.int64] = ((x << 20) + y) * 1024 + turn
    return key
