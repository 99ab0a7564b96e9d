"""Reads a drive out of its recording: ticks, and the hazards that the record itself shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mcap.reader import NonSeekingReader

from anima import topics as t
from anima.audit.interfaces import from_cdr
from anima.audit.recording import files_of
from anima_sim.acceptance.numbers import Hazard, Kind, Sample, Velocity
from anima_sim.config import RobotConfig
from anima_sim.mjcf_scene import OBSTACLE_HALF_M

# A body that goes on at the speed it was asked for has to stand before this much is left in front of an obstacle.
STOP_ZONE_M = 0.10
# Farther than this beyond the level floor is no floor (m), whatever the reflexes take for it.
DROP_M = 0.05
# After so long without a command a stream has let go.
LET_GO_S = 0.3
_HEARD_S = 0.3
# A body that is pushed on bumps again after a while: that is the same obstacle.
_BUMPS_S = 1.0


@dataclass(frozen=True)
class Message:
    """One recorded message: when it was sent, on which topic (without a namespace), and its fields."""

    at_s: float
    topic: str
    value: Any


def read_messages(path: Path) -> Iterator[Message]:
    """All messages of a recording (a folder or an .mcap file), in order. Raises `NoRecording`."""
    for file in files_of(path):
        with file.open("rb") as stream:
            for schema, channel, message in NonSeekingReader(stream).iter_messages(log_time_order=False):
                assert schema is not None
                yield Message(message.log_time * 1e-9, channel.topic.lstrip("/"), from_cdr(schema.name, message.data))


@dataclass
class Drive:
    """What a recording holds of a drive."""

    samples: list[Sample] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)


class _Open:
    """A hazard that is being read: it is there, then it isn't. What flickers within `gap_s` is one."""

    def __init__(self, kind: Kind, gap_s: float = 0.0) -> None:
        self.kind, self._gap_s = kind, gap_s
        self.done: list[Hazard] = []
        self.now: Hazard | None = None
        self._last_s = -math.inf

    def see(self, at_s: float, there: bool) -> None:
        """Take one look at it in."""
        if there:
            self._last_s = at_s
            self.now = self.now or Hazard(self.kind, at_s)
        elif self.now is not None and at_s - self._last_s > self._gap_s:
            self.end(self._last_s if self._gap_s else at_s)

    def touched(self) -> None:
        """Something was touched while it was there."""
        if self.now is not None:
            self.now = replace(self.now, touches=self.now.touches + 1)

    def end(self, at_s: float) -> None:
        """It is over."""
        if self.now is not None:
            self.done.append(replace(self.now, ended_s=at_s))
            self.now = None

    def all(self) -> list[Hazard]:
        """Those that are over, and the one that isn't."""
        return [*self.done, *([self.now] if self.now else [])]


def read_drive(messages: Iterable[Message], robot: RobotConfig) -> Drive:
    """The drive in a recording.

    A tick is a velocity that was let through. Wishes are the newest command that isn't older than 0.3 s, a person's
    before a skill's; motion is what the wheels turned. Hazards are read from causes, never from what the reflexes say:
    a box that was put there, less than `STOP_ZONE_M` before the chassis by the simulator's truth, unless the lidar was
    made blind; a pressed bumper, until it isn't pressed any more; a cliff sensor without floor; a stop that was
    asked for, until a stream that let go after its reset asks for motion again.
    """
    return _Reader(robot).read(messages)


class _Reader:
    def __init__(self, robot: RobotConfig) -> None:
        self._robot = robot
        self._commands: dict[str, tuple[float, Velocity]] = {}
        self._moved: Velocity = (0.0, 0.0)
        self._boxes: list[tuple[float, float]] = []
        self._blind = False
        self._reset_s: float | None = None
        self._let_go = False
        self._collisions = 0
        self._looked_s = 0.0
        self._obstacle, self._cliff = _Open("obstacle"), _Open("cliff")
        self._bumper, self._stop = _Open("bumper", gap_s=_BUMPS_S), _Open("software_stop")
        self._drive = Drive()

    def read(self, messages: Iterable[Message]) -> Drive:
        """Everything, in order."""
        takers = {
            t.CMD_VEL.name: self._tick, t.JOINT_STATES.name: self._joints, t.GROUND_TRUTH.name: self._truth,
            t.BUMPERS.name: self._bumpers, t.CLIFFS.name: self._cliffs, t.FAULT.name: self._fault,
            t.STOP_REQUEST.name: self._request,
        }
        for message in messages:
            if message.topic in (t.CMD_VEL_TELEOP.name, t.CMD_VEL_SKILL.name):
                self._command(message)
            elif message.topic in takers:
                takers[message.topic](message.at_s, message.value)
        for hazard in (self._obstacle, self._cliff, self._bumper, self._stop):
            self._drive.hazards += hazard.all()
        return self._drive

    def _command(self, message: Message) -> None:
        velocity = (message.value.twist.linear.x, message.value.twist.angular.z)
        last = max((at for at, _ in self._commands.values()), default=-math.inf)
        if self._reset_s is not None and message.at_s - max(last, self._reset_s) > LET_GO_S:
            self._let_go = True
        if velocity == (0.0, 0.0):
            self._let_go = self._reset_s is not None
        elif self._let_go:
            self._stop.end(message.at_s)
            self._reset_s, self._let_go = None, False
        self._commands[message.topic] = (message.at_s, velocity)

    def _tick(self, at_s: float, value: Any) -> None:
        wished: Velocity = (0.0, 0.0)
        for topic in (t.CMD_VEL_SKILL.name, t.CMD_VEL_TELEOP.name):
            heard_s, velocity = self._commands.get(topic, (-math.inf, wished))
            if at_s - heard_s <= _HEARD_S:
                wished = velocity
        allowed = (value.twist.linear.x, value.twist.angular.z)
        self._drive.samples.append(Sample(at_s, wished, allowed, self._moved))

    def _joints(self, _: float, value: Any) -> None:
        base = self._robot.base
        left, right = (
            value.velocity[value.name.index(name)] * base.wheel_radius_m
            for name in ("left_wheel_joint", "right_wheel_joint")
        )
        self._moved = (float(left + right) / 2, float(right - left) / base.track_m)

    def _truth(self, at_s: float, value: Any) -> None:
        q = value.robot.orientation
        pose = (value.robot.position.x, value.robot.position.y, 2 * math.atan2(q.z, q.w))
        near = not self._blind and any(self._gap(pose, box) < STOP_ZONE_M for box in self._boxes)
        # The truth comes every 40 ms: it may have been in the zone since the look before.
        self._obstacle.see(self._looked_s if near else at_s, near)
        self._looked_s = at_s
        if value.collisions > self._collisions:
            self._obstacle.touched()
        self._collisions = value.collisions

    def _gap(self, pose: tuple[float, float, float], box: tuple[float, float]) -> float:
        extent = self._robot.base.footprint_m
        ours = _corners(-extent.rear, extent.front, extent.half_width) @ _turned(pose[2]).T + np.array(pose[:2])
        half = OBSTACLE_HALF_M
        return gap(ours, _corners(-half[0], half[0], half[1]) + np.array(box))

    def _bumpers(self, at_s: float, value: Any) -> None:
        self._bumper.see(at_s, value.front_left or value.front_right)

    def _cliffs(self, at_s: float, value: Any) -> None:
        limit = self._robot.sensors.cliffs.nominal_range_m + DROP_M
        self._cliff.see(at_s, any(math.isnan(one.range) or one.range > limit for one in value.ranges))

    def _fault(self, at_s: float, value: Any) -> None:
        if not value.kind:
            self._boxes, self._blind = [], False
            self._obstacle.end(at_s)
        elif value.kind == "blocked_path":
            x, y = (float(word) for word in value.target.split(","))
            self._boxes.append((x, y))
            self._looked_s = at_s
        elif value.kind == "lost_sensor" and value.target.startswith("lidar"):
            self._blind = True

    def _request(self, at_s: float, value: Any) -> None:
        if value.stop:
            self._reset_s, self._let_go = None, False
            self._stop.see(at_s, True)
        elif self._stop.now is not None:
            self._reset_s = at_s


Corners = npt.NDArray[np.float64]


def _corners(low: float, high: float, half_width: float) -> Corners:
    return np.array([[low, -half_width], [high, -half_width], [high, half_width], [low, half_width]])


def _turned(angle: float) -> Corners:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def gap(a: Corners, b: Corners) -> float:
    """Distance in metres between two convex outlines (N, 2), counter-clockwise; 0 when they overlap."""
    if not (_apart(a, b) or _apart(b, a)):
        return 0.0
    return min(_nearest(a, b), _nearest(b, a))


def _apart(a: Corners, b: Corners) -> bool:
    """Whether an edge of `a` has all of `b` on its outer side."""
    edges = np.roll(a, -1, axis=0) - a
    normals = np.stack((edges[:, 1], -edges[:, 0]), axis=1)
    out = (b[None] - a[:, None]) @ normals[:, :, None]
    return bool((out[..., 0].min(axis=1) > 0).any())


def _nearest(a: Corners, b: Corners) -> float:
    """The least distance of a corner of `b` to an edge of `a`."""
    edges = np.roll(a, -1, axis=0) - a
    along = ((b[None] - a[:, None]) * edges[:, None]).sum(axis=2) / (edges**2).sum(axis=1)[:, None]
    foot = a[:, None] + np.clip(along, 0.0, 1.0)[..., None] * edges[:, None]
    return float(np.linalg.norm(b[None] - foot, axis=2).min())
