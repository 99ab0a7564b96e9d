"""Fine adjustment: the pose near a guess at which a whole scan lies best on the map's surfaces."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anima.body.localization.field import Field
from anima.body.pose import Pose2D, wrap

Reals = NDArray[np.float64]

_ROUNDS = 8
_SIGMA_M = 0.03              # a beam off by this much counts half of one that is on
_CUT_M = 0.30                # one off by more than this shows something that isn't on the map
_GUESS_SIGMA = (0.10, 0.10, 0.05)  # metres, metres, radians: how far the guess itself is trusted
_DONE_M, _DONE_RAD = 1e-4, 1e-4


def align(field: Field, points: Reals, guess: Pose2D) -> Pose2D:
    """The pose at which `points`, hits in base_link of shape (n, 2), lie best on the map.

    Gauss-Newton on the signed distances of the hits, with Cauchy weights, and the guess as one more measurement, so
    that what the scan doesn't show (the way along a bare corridor) stays as guessed.
    """
    prior = np.diag([1.0 / sigma**2 for sigma in _GUESS_SIGMA])
    x, y, yaw = guess.x, guess.y, guess.yaw
    for _ in range(_ROUNDS):
        c, s = math.cos(yaw), math.sin(yaw)
        turned = np.column_stack([c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]])
        off, by_x, by_y = field.slope(x + turned[:, 0], y + turned[:, 1])
        by_yaw = by_y * turned[:, 0] - by_x * turned[:, 1]
        weights = np.where(np.abs(off) < _CUT_M, 1.0 / (1.0 + (off / _SIGMA_M) ** 2), 0.0) / _SIGMA_M**2
        slopes = np.column_stack([by_x, by_y, by_yaw])
        information = (slopes * weights[:, None]).T @ slopes + prior
        back = np.array([x - guess.x, y - guess.y, wrap(yaw - guess.yaw)])
        step = np.linalg.solve(information, -(slopes.T @ (weights * off)) - prior @ back)
        x, y, yaw = x + float(step[0]), y + float(step[1]), yaw + float(step[2])
        if math.hypot(step[0], step[1]) < _DONE_M and abs(step[2]) < _DONE_RAD:
            break
    return Pose2D(x, y, wrap(yaw))


def fit(field: Field, points: Reals, pose: Pose2D, within_m: float) -> float:
    """The share of the hits that end within `within_m` of a surface of the map; 0 without hits."""
    if not len(points):
        return 0.0
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    x = pose.x + c * points[:, 0] - s * points[:, 1]
    y = pose.y + s * points[:, 0] + c * points[:, 1]
    return float(np.mean(np.abs(field.signed.ravel()[field.cells(x, y)]) <= within_m))
