"""The navigator that needs nothing but this package: Dijkstra and pure pursuit over the known map and the lidar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anima.body.navigation.costmap import Costmap, DislikedArea, scan_points
from anima.body.navigation.follower import Follower, Stage
from anima.body.navigation.navigator import Goal, Navigation, Status
from anima.body.navigation.planner import Planner, path_length
from anima.body.navigation.tuning import NavigationTuning, load_tuning
from anima.body.places import Places
from anima.body.pose import Pose2D, wrap
from anima.body.robot_model import lidar_pose
from anima.config import Settings
from anima.types.std import LaserScan, Odometry

_REPLAN_PERIOD_S = 0.6
_RETRY_PERIOD_S = 1.0
_OFF_PATH_M = 0.25
# A path is given up when an obstacle came this much closer to it than when it was planned: less is lidar noise.
_CLOSER_M = 0.06
_CHECK_AHEAD_M = 2.5
_PROGRESS_M = 0.05
_PROGRESS_RAD = 0.1
_NO_PROGRESS_S = 12.0
_BACK_OFF_MPS = 0.12
_BACK_OFF_S = 1.6
_BACK_OFFS = 3
_SET_OUT_AGAIN = 2
_ESCAPE_MPS = 0.15
_ESCAPE_REACH_M = 0.6
_NEAR_M = 0.40
_OFF_GOAL_M = 0.02
# Behind and before the robot, from its centre, that must be free of lidar points to back off or out.
_HALF_WIDTH_M = 0.21
_BEHIND_M = 0.27


@dataclass
class _Drive:
    """What happens on the way to one goal."""

    goal: Goal
    planned_at: float = -math.inf
    planned: bool = False
    room: np.ndarray = field(default_factory=lambda: np.zeros(0))  # clearance along the path when it was planned
    stuck_since: float | None = None
    waiting_since: float | None = None
    best_m: float = math.inf
    best_rad: float = math.inf
    progress_at: float | None = None
    back_off_until: float = -math.inf
    back_off_mps: float = 0.0
    back_offs: int = 0
    again: int = 0  # times that it came to rest too far off and set out again
    escape: float = 0.0  # m/s while leaving a tight spot straight
    ended: Navigation | None = None


class GridNavigator:
    """Drives to one goal at a time; see `Navigator`. Obstacles that the lidar showed outlive a goal."""

    def __init__(self, costmap: Costmap, tuning: NavigationTuning) -> None:
        self.costmap = self._costmap = costmap
        self._tuning = tuning
        self._planner = Planner(costmap, tuning)
        self._follower = Follower(tuning)
        self._drive: _Drive | None = None
        self._commanded = (0.0, 0.0)

    @classmethod
    def for_robot(cls, settings: Settings, places: Places) -> GridNavigator:
        """The navigator of the configured robot on the known map."""
        tuning = load_tuning(settings)
        laser = lidar_pose(settings)
        return cls(Costmap(places.grid, tuning, laser), tuning)

    def set_goal(self, goal: Goal) -> None:
        """Start over towards `goal`."""
        self._drive = _Drive(goal)
        self._commanded = (0.0, 0.0)

    def dislike(self, areas: Sequence[DislikedArea]) -> None:
        """From the next plan on drive round these areas where that is not too far."""
        self._costmap.dislike(areas)

    def path_lengths(self, start: Pose2D, goals: Sequence[Pose2D]) -> list[float]:
        """Metres to drive from `start` to each goal by what is known now; `inf` where there is no way."""
        return self._planner.lengths(start, goals)

    def can_turn_at(self, goals: Sequence[Pose2D]) -> list[bool]:
        """Whether the base could turn on the spot at each goal, by what is known now, a little off it too."""
        enough = self._tuning.turning_clearance_m + _OFF_GOAL_M
        return [self._costmap.clearance_at(goal.x, goal.y) >= enough for goal in goals]

    def step(self, now: float, pose: Pose2D, odometry: Odometry, scan: LaserScan | None) -> Navigation:
        """One step of the drive; raises RuntimeError without a goal."""
        drive = self._drive
        if drive is None:
            raise RuntimeError("set_goal comes before step")
        if drive.ended is not None:
            return drive.ended
        twist = odometry.twist.twist
        if scan is not None:
            late = min(max(0.0, now - scan.header.stamp.seconds), 0.5)
            self._costmap.add_scan(scan, pose @ Pose2D(-twist.linear.x * late, 0.0, -twist.angular.z * late), now)
        found = self._work(now, drive, pose, scan, (twist.linear.x, twist.angular.z))
        self._commanded = found.velocity
        if found.status in (Status.ARRIVED, Status.BLOCKED, Status.STALLED):
            drive.ended = found
        return found

    # --- the order of things ---------------------------------------------------------------------

    def _work(
        self, now: float, drive: _Drive, pose: Pose2D, scan: LaserScan | None, speed: tuple[float, float]
    ) -> Navigation:
        if now < drive.back_off_until:
            return self._moving(Status.DRIVING, (drive.back_off_mps, 0.0), "backing off")
        if (ended := self._stuck(now, drive, scan, speed)) is not None:
            return ended
        if drive.escape:
            if self._still_tight(pose, drive):
                return self._moving(Status.DRIVING, (drive.escape, 0.0), "leaving a tight spot")
            drive.escape, drive.planned = 0.0, False
        if self._needs_plan(now, drive, pose):
            self._plan(now, drive, pose)
        if not drive.planned:
            return self._wait(now, drive)
        drive.waiting_since = None
        linear, angular = self._follower.step(pose, self._costmap.clearance_at(pose.x, pose.y))
        if self._follower.stage is Stage.DONE:
            return self._arrive(drive, pose, speed)
        if self._follower.stage is Stage.DRIVE and linear == 0.0 and (out := self._way_out(pose)):
            drive.escape = out
            return self._moving(Status.DRIVING, (out, 0.0), "leaving a tight spot")
        if (ended := self._no_progress(now, drive, pose)) is not None:
            return ended
        return self._moving(Status.DRIVING, (linear, angular), self._follower.stage.value)

    def _moving(self, status: Status, velocity: tuple[float, float], detail: str) -> Navigation:
        return Navigation(status, velocity, self._follower.ahead, self._follower.remaining_m, detail)

    def _arrive(self, drive: _Drive, pose: Pose2D, speed: tuple[float, float]) -> Navigation:
        if abs(speed[0]) > 0.01 or abs(speed[1]) > 0.02:
            return self._moving(Status.DRIVING, (0.0, 0.0), "coming to rest at the goal")
        goal = drive.goal
        off_m, off_rad = pose.distance(goal.pose), abs(wrap(goal.pose.yaw - pose.yaw))
        if goal.heading_tolerance_rad is not None and off_rad > goal.heading_tolerance_rad:
            self._follower.stage = Stage.ALIGN
            return self._moving(Status.DRIVING, (0.0, 0.0), "turning to the goal's heading")
        turned = "" if goal.heading_tolerance_rad is None else f" and {math.degrees(off_rad):.1f} degrees"
        detail = f"{off_m * 100:.1f} cm{turned} off the goal"
        if off_m > goal.position_tolerance_m:
            if drive.again >= _SET_OUT_AGAIN:
                return Navigation(Status.STALLED, detail=f"came to rest {detail}, at every try")
            # Wheels slipped, or the localization moved: set out again from here.
            drive.again, drive.planned, drive.planned_at = drive.again + 1, False, -math.inf
            return self._moving(Status.DRIVING, (0.0, 0.0), "setting out again")
        return Navigation(Status.ARRIVED, detail=detail)

    # --- planning ----------------------------------------------------------------------------------

    def _needs_plan(self, now: float, drive: _Drive, pose: Pose2D) -> bool:
        since = now - drive.planned_at
        if not drive.planned:
            return since >= _RETRY_PERIOD_S or since < 0
        if since < _REPLAN_PERIOD_S or self._follower.stage is not Stage.DRIVE:
            return False
        return self._follower.off_path_m(pose) > _OFF_PATH_M or self._obstructed(drive)

    def _obstructed(self, drive: _Drive) -> bool:
        points = self._follower.ahead[: int(_CHECK_AHEAD_M / 0.05)]
        room = drive.room[self._follower.passed :][: len(points)]
        limit = np.minimum(room, self._tuning.turning_clearance_m) - _CLOSER_M
        return bool(np.any(self._costmap.clearance_along(points) < limit))

    def _plan(self, now: float, drive: _Drive, pose: Pose2D) -> None:
        path = self._planner.plan(pose, drive.goal.pose)
        drive.planned_at, drive.planned = now, len(path) > 0
        if drive.planned:
            self._follower.follow(path, drive.goal)
            drive.room = self._costmap.clearance_along(path)
            drive.best_m, drive.best_rad = path_length(path), math.inf
            if drive.progress_at is None:
                drive.progress_at = now

    def _wait(self, now: float, drive: _Drive) -> Navigation:
        if drive.waiting_since is None:
            drive.waiting_since = now
        waited = now - drive.waiting_since
        drive.progress_at = now
        if waited > self._tuning.patience_s:
            return Navigation(Status.BLOCKED, detail=f"no free way found within {waited:.0f} s")
        return Navigation(Status.WAITING, detail="the way is blocked; waiting for it to clear")

    # --- trouble -----------------------------------------------------------------------------------

    def _stuck(
        self, now: float, drive: _Drive, scan: LaserScan | None, speed: tuple[float, float]
    ) -> Navigation | None:
        """Notices that the base does not do what it is told; backs off and plans anew, a few times."""
        linear, angular = self._commanded
        told = abs(linear) > 0.02 or abs(angular) > 0.05
        moves = abs(speed[0]) > 0.01 or abs(speed[1]) > 0.03
        if not told or moves:
            drive.stuck_since = None
            return None
        if drive.stuck_since is None:
            drive.stuck_since = now
        if now - drive.stuck_since < self._tuning.stall_after_s:
            return None
        drive.stuck_since, drive.planned, drive.planned_at, drive.escape = None, False, -math.inf, 0.0
        forwards = linear >= 0
        near = scan is not None and _gap(scan, forwards) < _NEAR_M
        if drive.back_offs >= _BACK_OFFS:
            if near:
                return Navigation(Status.BLOCKED, detail=f"an obstacle holds the base after {_BACK_OFFS} tries")
            return Navigation(Status.STALLED, detail="the base does not move though commanded to")
        drive.back_offs += 1
        if scan is not None and _gap(scan, not forwards) > _BEHIND_M + _BACK_OFF_MPS * _BACK_OFF_S:
            drive.back_off_until = now + _BACK_OFF_S
            drive.back_off_mps = -_BACK_OFF_MPS if forwards else _BACK_OFF_MPS
        return None

    def _no_progress(self, now: float, drive: _Drive, pose: Pose2D) -> Navigation | None:
        """Notices that effort brings the goal no closer: a slipping or dead wheel turns the base on the spot."""
        left = self._follower.remaining_m
        if self._follower.stage is not Stage.DRIVE:
            left = pose.distance(drive.goal.pose)
        turn = abs(wrap(drive.goal.pose.yaw - pose.yaw)) if self._follower.stage is Stage.ALIGN else math.inf
        if left < drive.best_m - _PROGRESS_M or turn < drive.best_rad - _PROGRESS_RAD:
            drive.best_m, drive.best_rad = min(left, drive.best_m), min(turn, drive.best_rad)
            drive.progress_at = now
        if drive.progress_at is not None and now - drive.progress_at > _NO_PROGRESS_S:
            detail = f"no closer to the goal for {_NO_PROGRESS_S:g} s, {left:.2f} m left"
            return Navigation(Status.STALLED, detail=detail)
        return None

    def _still_tight(self, pose: Pose2D, drive: _Drive) -> bool:
        return (
            self._costmap.clearance_at(pose.x, pose.y) < self._tuning.turning_clearance_m
            and (self._way_out(pose) or 0.0) * drive.escape > 0
        )

    def _way_out(self, pose: Pose2D) -> float | None:
        """Speed to leave a spot where the robot can't turn, straight along its heading; None where it can turn."""
        here = self._costmap.clearance_at(pose.x, pose.y)
        enough = self._tuning.turning_clearance_m
        if here >= enough:
            return None
        steps = np.arange(0.05, _ESCAPE_REACH_M, 0.05)
        best, speed = math.inf, None
        for sign in (-1.0, 1.0):
            line = np.stack(
                [pose.x + sign * steps * math.cos(pose.yaw), pose.y + sign * steps * math.sin(pose.yaw)], axis=1
            )
            room = self._costmap.clearance_along(line)
            reached = np.nonzero(room >= enough)[0]
            if reached.size and room[: reached[0] + 1].min() >= here - 0.03 and reached[0] < best:
                best, speed = float(reached[0]), sign * _ESCAPE_MPS
        return speed


def _gap(scan: LaserScan, forwards: bool) -> float:
    """Metres from the lidar to the nearest hit in the robot's straight way, before or behind it; `inf` if free."""
    points = scan_points(scan, 2.0)
    ahead = points[:, 0] if forwards else -points[:, 0]
    in_way = (ahead > 0.0) & (np.abs(points[:, 1]) < _HALF_WIDTH_M)
    return float(ahead[in_way].min()) if in_way.any() else math.inf


