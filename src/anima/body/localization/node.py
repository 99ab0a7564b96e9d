"""Localization as a row of the brain table: the known map, the pose in it with its covariance, and map → odom."""

from __future__ import annotations

import math

import numpy as np

from anima import topics as t
from anima.body.grid_map import Occupancy, load_occupancy
from anima.body.localization.estimator import Estimator
from anima.body.localization.field import Field
from anima.body.localization.scans import hits
from anima.body.localization.tuning import load_localization
from anima.body.places import load_places
from anima.body.pose import Pose2D, PoseHistory
from anima.body.robot_model import lidar_pose
from anima.config import Settings
from anima.memory.opening import remembered_position
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import std
from anima.types.base import Float64s, Header, Time

_CHARGING, _FULL = 1, 4          # sensor_msgs/BatteryState
_STREAM = 0x10CA                 # its random numbers are its own: (seed, this)
_SCAN_PATIENCE_S = 0.5           # a scan whose odometry hasn't come by then is dropped
_FRAMES = ("", "map")
_FARTHEST_M = 1e6                # odometry beyond this is no odometry
_VAGUEST_M = 5.0                 # a finger on the map is never vaguer than this
_SHOWN_EVERY_S, _SHOWN = 1.0, 300  # particles, for pictures


def tell_map(now: float, drawn: Occupancy) -> Sent:
    """The known map, for its topic."""
    rows, columns = drawn.cells.shape
    about = std.MapMetaData(
        map_load_time=Time.at(now),
        resolution=drawn.resolution_m,
        width=columns,
        height=rows,
        origin=std.Pose.planar(*drawn.origin, 0.0),
    )
    return t.MAP.of(std.OccupancyGrid(header=Header.at(now, "map"), info=about, data=drawn.cells.reshape(-1)))


def tell_pose(stamp: float, to_odom: Pose2D, where: Pose2D, covariance: Float64s) -> list[Sent]:
    """The pose in the map, and map → odom, when odometry is at `where` and its origin at `to_odom` in the map.

    `covariance`: 36 values over x, y, z and three angles, m² and rad².
    """
    header = Header.at(stamp, "map")
    estimate = std.PoseWithCovariance(pose=(to_odom @ where).to_msg(), covariance=covariance)
    transform = std.TransformStamped(
        header=header,
        child_frame_id="odom",
        transform=std.Transform(
            translation=std.Vector3(x=to_odom.x, y=to_odom.y), rotation=std.Quaternion.from_yaw(to_odom.yaw)
        ),
    )
    return [
        t.POSE.of(std.PoseWithCovarianceStamped(header=header, pose=estimate)),
        t.TF.of(std.TFMessage(transforms=[transform])),
    ]


class Localization:
    """Says where the robot is, and when it is lost says that: with a covariance that no one can act on (`is_lost`).

    It begins where it last stood or at the dock when the scan agrees, wherever a person sets it (`initialpose`, as rviz
    does), or else anywhere: then it has to move to find itself (skill `relocalize`). While it charges it may well be
    on the dock.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when map or `config/localization.yaml` can't be used, `StoreUnusable` for the memory."""
        self._drawn = load_occupancy(settings.map_folder)
        self._field = Field(self._drawn)
        self._tuning = load_localization()
        self._seed = settings.seed
        self._dock = Pose2D(*load_places(settings.map_folder).dock.docked)
        self._laser = lidar_pose(settings)
        self._map_sent = False
        last = remembered_position(settings)
        self._likely = ([] if last is None else [Pose2D(last.x, last.y, last.yaw)]) + [self._dock]
        self._begin()

    def _begin(self) -> None:
        self._estimator = Estimator(self._field, self._tuning, np.random.default_rng((self._seed, _STREAM)))
        for place in self._likely:
            self._estimator.offer(place)
        self._odometry = PoseHistory()
        self._scan: std.LaserScan | None = None
        self._charging = False
        self._sent_at = self._shown_at = -math.inf

    @property
    def estimator(self) -> Estimator:
        """What is believed, for pictures and benchmarks."""
        return self._estimator

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take odometry, scans and what people say in; tell the pose, the transform, and once the map."""
        out: list[Sent] = []
        if not self._map_sent:
            out.append(tell_map(now, self._drawn))
            self._map_sent = True
        for odometry in inbox.new(t.ODOM):
            where = Pose2D.of(odometry.pose.pose)
            if not (where.is_finite and math.hypot(where.x, where.y) <= _FARTHEST_M):
                continue
            if not self._odometry.add(odometry.header.stamp.seconds, where):
                self._begin()  # time jumped back: another run of the simulator
                self._odometry.add(odometry.header.stamp.seconds, where)
        for told in inbox.new(t.INITIAL_POSE):
            self._told(told)
        self._feel_dock(inbox)
        self._scan = next(reversed(inbox.new(t.SCAN)), self._scan)
        self._look(now)
        return [*out, *self._tell(now), *self._show(now)]

    def _told(self, told: std.PoseWithCovarianceStamped) -> None:
        pose, covariance = Pose2D.of(told.pose.pose), told.pose.covariance
        variances = max(float(covariance[0]), float(covariance[7])), float(covariance[35])
        sound = pose.is_finite and all(0.0 <= v < math.inf for v in variances) and self._field.holds(pose.x, pose.y)
        if sound and told.header.frame_id in _FRAMES:
            sigma_m, sigma_rad = (math.sqrt(variance) for variance in variances)
            self._estimator.told(pose, min(sigma_m, _VAGUEST_M), min(sigma_rad, math.pi))

    def _feel_dock(self, inbox: Inbox) -> None:
        for battery in inbox.new(t.BATTERY):
            self._charging = battery.power_supply_status in (_CHARGING, _FULL)
        if self._charging and not self._estimator.sure:
            self._estimator.offer(self._dock)

    def _look(self, now: float) -> None:
        """Work the newest scan in, once odometry on both sides of its moment is there."""
        scan = self._scan
        if scan is None:
            return
        stamp = scan.header.stamp.seconds
        where = self._odometry.at(stamp)
        if where is not None:
            self._estimator.feed(stamp, where, hits(scan, self._laser))
        if where is not None or now - stamp > _SCAN_PATIENCE_S or stamp > now + _SCAN_PATIENCE_S:
            self._scan = None

    def _tell(self, now: float) -> list[Sent]:
        newest, to_odom = self._odometry.newest, self._estimator.map_to_odom
        if newest is None or to_odom is None or 0.0 <= newest[0] - self._sent_at < self._tuning.period_s - 1e-3:
            return []
        self._sent_at, where = newest
        return tell_pose(self._sent_at, to_odom, where, self._covariance())

    def _show(self, now: float) -> list[Sent]:
        """The particles, now and then, for rviz."""
        if self._estimator.map_to_odom is None or 0.0 <= now - self._shown_at < _SHOWN_EVERY_S:
            return []
        self._shown_at = now
        poses = [pose.to_msg() for pose in self._estimator.cloud(_SHOWN)]
        return [t.PARTICLES.of(std.PoseArray(header=Header.at(now, "map"), poses=poses))]

    def _covariance(self) -> Float64s:
        full = np.zeros((6, 6))
        full[np.ix_((0, 1, 5), (0, 1, 5))] = self._estimator.covariance
        return full.ravel()

    def why(self) -> str:
        """One sentence: where it is, or that it is lost, and by what."""
        estimator = self._estimator
        seen = f"{estimator.fit:.0%} of the scan lies on the map, {estimator.count} particles"
        newest = self._odometry.newest
        if estimator.map_to_odom is None or newest is None:
            return "it has had no scan and odometry of the same moment yet"
        if not estimator.sure:
            return f"the robot is lost: {seen}; it has to move to find itself"
        at = estimator.map_to_odom @ newest[1]
        return f"the robot is at ({at.x:.2f}, {at.y:.2f}): {seen}"
