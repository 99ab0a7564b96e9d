"""What navigation costs on this machine: time of a plan and of a step, over the known map."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import permutations

import numpy as np

from anima.body.navigation.grid import GridNavigator
from anima.body.navigation.navigator import Goal
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.types.base import Header
from anima.types.std import LaserScan, Odometry, PoseWithCovariance, Twist, TwistWithCovariance

_BEAMS = 360
_STEPS = 200


def navigation_costs(settings: Settings, progress: Callable[[float], None] = lambda share: None) -> dict[str, float]:
    """Milliseconds of wall time, median and worst: `plan_ms_*` of a first step, which plans, between any two
    places; `step_ms_*` of those that follow, with a scan at 10 Hz.

    `progress` is called with the share done, 0..1.
    """
    places = load_places(settings.map_folder)
    navigator = GridNavigator.for_robot(settings, places)
    poses = [pose for name in places.names for pose in places.poses(name)]
    pairs = list(permutations(poses, 2))
    plans = []
    for k, (start, goal) in enumerate(pairs):
        navigator.set_goal(Goal(goal))
        at_start = _odometry(0.0, start)
        plans.append(_timed(lambda: navigator.step(0.0, start, at_start, None)))  # noqa: B023 - called at once
        progress(0.5 * (k + 1) / len(pairs))
    start = poses[0]
    navigator.set_goal(Goal(poses[-1]))
    steps = []
    for k in range(_STEPS):
        now = 1.0 + 0.05 * k
        scan = _circle(now - now % 0.1)
        odometry = _odometry(now, start)
        steps.append(_timed(lambda: navigator.step(now, start, odometry, scan)))  # noqa: B023 - called at once
        progress(0.5 + 0.5 * (k + 1) / _STEPS)
    return {
        "plan_ms_median": float(np.median(plans)),
        "plan_ms_max": float(np.max(plans)),
        "step_ms_median": float(np.median(steps)),
        "step_ms_max": float(np.max(steps)),
    }


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def _circle(now: float) -> LaserScan:
    """A scan of a round room of 2 m."""
    return LaserScan(
        header=Header.at(now, "laser_link"), angle_min=-math.pi, angle_max=math.pi,
        angle_increment=2 * math.pi / _BEAMS, time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=10.0,
        ranges=np.full(_BEAMS, 2.0, np.float32), intensities=np.zeros(0, np.float32),
    )


def _odometry(now: float, pose: Pose2D) -> Odometry:
    return Odometry(
        header=Header.at(now, "odom"), child_frame_id="base_link",
        pose=PoseWithCovariance(pose=pose.to_msg(), covariance=np.zeros(36)),
        twist=TwistWithCovariance(twist=Twist(), covariance=np.zeros(36)),
    )
