"""Puts together where the robot is: particles for what may be, alignment for what is, and whether it is sure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from anima.body.localization.alignment import align, fit
from anima.body.localization.field import Field
from anima.body.localization.particles import Particles
from anima.body.localization.scans import some
from anima.body.localization.tuning import LocalizationTuning
from anima.body.pose import LOST_SIGMA_M, Pose2D, wrap

Reals = NDArray[np.float64]

_JUMP_M, _JUMP_MPS = 0.1, 1.5      # no base moves farther than this between two scans: its odometry began anew
_JUMP_RAD, _JUMP_RADPS = 0.2, 4.0
_ELSEWHERE_M, _ELSEWHERE_RAD = 0.30, 0.30
_CLEARLY = 0.05                    # so much more of the scan explained is a better explanation
_SETTLED_M, _SETTLED_RAD = 0.05, 0.05
_HINT_RADIUS_M = 0.35              # a place that is offered counts when the scan lies well this close to it


class Estimator:
    """Where the base is, from hits and odometry of the same moments.

    While it is sure, the pose follows the alignment of each scan smoothly, and the particles stand by for the case that
    it goes astray. When too little of the scans lies on the map for a while, it is lost: it searches the whole map, and
    is sure again only when its particles agree, a scan fits, and it has moved enough to tell like places apart.
    """

    def __init__(self, field: Field, tuning: LocalizationTuning, luck: np.random.Generator) -> None:
        self._field, self._tuning = field, tuning
        self._particles = Particles(field, tuning, luck)
        self._hints: list[Pose2D] = []
        self._pointed = False                     # the particles stand around where a person pointed
        self._now = 0.0                           # of the last scan, and odometry then
        self._odometry: Pose2D | None = None
        self._looked_from: Pose2D | None = None   # odometry when the particles last took a scan in
        self._low_since: float | None = None
        self._searched_at = -math.inf
        self._moves, self._turned = 0, 0.0
        self._carried_m = 0.0
        self._begun = False
        self.map_to_odom: Pose2D | None = None
        """The pose of odom in the map by the best guess; None before the first scan."""
        self.sure = False
        self.fit = 0.0
        """Share of the last scan that lies on the map."""
        self._covariance: Reals = np.diag([LOST_SIGMA_M**2, LOST_SIGMA_M**2, math.pi**2])

    # --- what is known from elsewhere ------------------------------------------------------------

    def offer(self, pose: Pose2D) -> None:
        """The robot may be here (its dock, where it was switched off): believed only when the next scan agrees."""
        if pose not in self._hints:
            self._hints.append(pose)

    def told(self, pose: Pose2D, sigma_m: float, sigma_rad: float) -> None:
        """A person says that the robot is about here; until scans agree it isn't sure."""
        self._particles.settle(pose, sigma_m, sigma_rad)
        self.sure, self._begun, self._low_since = False, True, None
        self._moves, self._turned = 0, 0.0
        self._hints, self._pointed = [pose], True
        self._anchor(pose)

    def _anchor(self, pose: Pose2D) -> None:
        if self._odometry is not None:
            self.map_to_odom = pose @ self._odometry.inverse()

    # --- the step --------------------------------------------------------------------------------

    def feed(self, now: float, odometry: Pose2D, points: Reals) -> None:
        """A scan's hits in base_link, shape (n, 2), and base_link in odom at its moment."""
        self._follow(now, odometry)
        if len(points) < self._tuning.sureness.least_beams:
            return
        if self._hints:
            self._try_hints(now, points)
        if not self._begun:
            self._search(now, points)
        elif self._look(odometry, points) or self.sure:
            self._judge(now, odometry, points)
        if not self.sure:
            self._find(now, points)

    def _follow(self, now: float, odometry: Pose2D) -> None:
        """Carry everything on by odometry; a leap of it is no motion of the robot."""
        before, self._odometry = self._odometry, odometry
        dt, self._now = max(0.0, now - self._now), now
        if before is None:
            return
        step = before.inverse() @ odometry
        way = math.hypot(step.x, step.y)
        if way > _JUMP_M + _JUMP_MPS * dt or abs(step.yaw) > _JUMP_RAD + _JUMP_RADPS * dt:
            if self.map_to_odom is not None:
                self.map_to_odom = (self.map_to_odom @ before) @ odometry.inverse()
            self._looked_from = odometry
        else:
            self._carried_m += way

    def _look(self, odometry: Pose2D, points: Reals) -> bool:
        """Let the particles take the scan in, if the base has moved enough for it to tell anything new."""
        particles = self._tuning.particles
        if self._looked_from is None:
            self._looked_from = odometry
        step = self._looked_from.inverse() @ odometry
        if math.hypot(step.x, step.y) < particles.move_m and abs(step.yaw) < particles.turn_rad:
            return False
        self._looked_from = odometry
        self._particles.move(step)
        self._particles.look(some(points, self._tuning.sensor.beams))
        self._moves += 1
        self._turned += abs(step.yaw)
        return True

    # --- while it is sure ------------------------------------------------------------------------

    def _judge(self, now: float, odometry: Pose2D, points: Reals) -> None:
        if not self.sure or self.map_to_odom is None:
            return
        sureness = self._tuning.sureness
        guess = self.map_to_odom @ odometry
        pose = align(self._field, points, guess)
        self.fit = fit(self._field, points, pose, sureness.within_m)
        belief = self._particles.belief()
        gain = sureness.gain
        if _far(belief.pose, pose):
            other = align(self._field, points, belief.pose)
            explained = fit(self._field, points, other, sureness.within_m)
            if explained > max(self.fit + _CLEARLY, sureness.sure_fit):
                pose, self.fit, gain = other, explained, 1.0
            elif self.fit >= sureness.sure_fit:
                self._particles.settle(pose, _SETTLED_M, _SETTLED_RAD)
                belief = self._particles.belief()
        if self.fit < sureness.lost_fit:
            self._low_since = now if self._low_since is None else self._low_since
            if now - self._low_since >= sureness.lost_after_s:
                self._search(now, points)
            return
        self._low_since = None
        off = guess.inverse() @ pose
        self._anchor(guess @ Pose2D(gain * off.x, gain * off.y, gain * off.yaw))
        self._covariance, self._carried_m = belief.covariance, 0.0

    # --- while it is not -------------------------------------------------------------------------

    def _search(self, now: float, points: Reals) -> None:
        last = None if self.map_to_odom is None or self._odometry is None else self.map_to_odom @ self._odometry
        self._particles.search(some(points, self._tuning.sensor.beams), last)
        self.sure, self._begun, self._low_since = False, True, None
        self._searched_at, self._moves, self._turned = now, 0, 0.0
        self._looked_from = self._odometry

    def _find(self, now: float, points: Reals) -> None:
        sureness = self._tuning.sureness
        belief = self._particles.belief()
        pose = align(self._field, points, belief.pose)
        self.fit = fit(self._field, points, pose, sureness.within_m)
        self._anchor(pose)
        agreed = belief.share >= sureness.sure_share and self.fit >= sureness.sure_fit
        if agreed and self._moves >= sureness.sure_moves and self._turned >= sureness.sure_turn_rad:
            self._believe(pose)
        elif self.fit < sureness.sure_fit and self._moves and now - self._searched_at >= sureness.search_again_after_s:
            self._search(now, points)

    def _try_hints(self, now: float, points: Reals) -> None:
        sureness = self._tuning.sureness
        if self._pointed:  # a finger on a map is not exact: what of it fits the scan best is a hint too
            self._particles.look(some(points, self._tuning.sensor.beams))
            self._hints.append(self._particles.belief().pose)
            self._pointed = False
        for hint in self._hints:
            pose = align(self._field, points, hint)
            explained = fit(self._field, points, pose, sureness.within_m)
            if explained >= sureness.sure_fit and pose.distance(hint) <= _HINT_RADIUS_M:
                self.fit = explained
                self._believe(pose)
                break
        self._hints = []

    def _believe(self, pose: Pose2D) -> None:
        self._particles.settle(pose, _SETTLED_M, _SETTLED_RAD)
        self._covariance = self._particles.belief().covariance
        self.sure, self._begun, self._low_since, self._carried_m = True, True, None, 0.0
        self._looked_from = self._odometry
        self._anchor(pose)

    # --- what follows ----------------------------------------------------------------------------

    @property
    def covariance(self) -> Reals:
        """Of x, y and yaw, shape (3, 3). While it is lost, the spread of x and y is at least `LOST_SIGMA_M`."""
        motion = self._tuning.motion
        if self.sure:
            drift = np.array([motion.drive_m_per_m, motion.drive_m_per_m, motion.turn_rad_per_m]) * self._carried_m
            return self._covariance + np.diag(drift**2)
        spread = self._particles.spread()
        return np.asarray(spread + np.diag([LOST_SIGMA_M**2, LOST_SIGMA_M**2, 0.0]))

    @property
    def count(self) -> int:
        """How many particles there are."""
        return len(self._particles.poses)

    def cloud(self, count: int) -> Sequence[Pose2D]:
        """At most so many of the particles, for pictures."""
        poses = self._particles.poses
        every = max(1, -(-len(poses) // count))
        return [Pose2D(float(x), float(y), wrap(float(yaw))) for x, y, yaw in poses[::every]]


def _far(one: Pose2D, other: Pose2D) -> bool:
    return one.distance(other) > _ELSEWHERE_M or abs(wrap(one.yaw - other.yaw)) > _ELSEWHERE_RAD
