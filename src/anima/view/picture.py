"""rviz's view without rviz: the same topics as a picture of the flat from above."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

from anima import topics as t
from anima.body.localization.scans import hits
from anima.body.pose import Pose2D
from anima.body.robot_model import lidar_pose
from anima.brain import AnyTopic
from anima.config import Settings
from anima.regions.reflex.config import load_reflex
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.std import OccupancyGrid, PoseWithCovarianceStamped
from anima.types.view import CUBE, CYLINDER, LINE_STRIP, SPHERE, TEXT, ColorRGBA, Marker

SHOWN: tuple[AnyTopic, ...] = (t.MAP, t.SCAN, t.PARTICLES, t.POSE, t.PLAN, t.MARKERS)
"""What the picture is made of, as config/rviz/anima.rviz shows it."""

# How far over the middle of its thing the words of each namespace of markers stand.
_LIFT_POINTS = {
    "place": -26, "label": 6, "detection": 17, "affordance": -13, "focus": 24, "salience": 52, "stop": 66,
}


class View:
    """Fed with what the topics bring; `draw` writes the picture."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when the robot's files can't be read."""
        self._seen = Inbox()
        self._laser = lidar_pose(settings)
        self._footprint = load_reflex(settings).body.base.footprint_m

    def feed(self, sent: Sent) -> None:
        """Take note of a value."""
        self._seen.deliver(sent)

    @property
    def missing(self) -> list[str]:
        """The topics that nothing has come from and without which there is no picture."""
        needed: tuple[AnyTopic, ...] = (t.MAP, t.POSE, t.MARKERS)
        return [topic.name for topic in needed if self._seen.last(topic) is None]

    def draw(self, file: Path, title: str = "") -> None:
        """Write a PNG; raises `OSError`."""
        figure = self.figure(title)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=110)

    def figure(self, title: str = "") -> Figure:
        """The picture."""
        figure = Figure(figsize=(10, 7.6))
        axes = figure.add_subplot()
        axes.set(title=title, xlabel="x [m]", ylabel="y [m]", aspect="equal")
        if (grid := self._seen.last(t.MAP)) is not None:
            _map(axes, grid)
        if (plan := self._seen.last(t.PLAN)) is not None and plan.poses:
            at = [(one.pose.position.x, one.pose.position.y) for one in plan.poses]
            axes.plot(*zip(*at, strict=True), color="#2ca02c", lw=2.5, zorder=3, label="route")
        if (cloud := self._seen.last(t.PARTICLES)) is not None and cloud.poses:
            at = [(one.position.x, one.position.y) for one in cloud.poses]
            axes.plot(*zip(*at, strict=True), ".", color="#8e44ad", ms=2, alpha=0.5, zorder=3, label="where it may be")
        pose = self._seen.last(t.POSE)
        if pose is not None:
            self._robot(axes, pose)
        for marker in getattr(self._seen.last(t.MARKERS), "markers", ()):
            _marker(axes, marker, Pose2D.of(pose.pose.pose) if pose is not None else Pose2D(0.0, 0.0, 0.0))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right", fontsize=8)
        figure.tight_layout()
        return figure

    def _robot(self, axes: Axes, estimate: PoseWithCovarianceStamped) -> None:
        pose = Pose2D.of(estimate.pose.pose)
        if (scan := self._seen.last(t.SCAN)) is not None:
            points = np.array([pose.point(float(x), float(y)) for x, y in hits(scan, self._laser)]).reshape(-1, 2)
            axes.plot(points[:, 0], points[:, 1], ".", color="#d62728", ms=2.5, zorder=4, label="scan")
        size = self._footprint
        corners = [
            (size.front, size.half_width), (size.front, -size.half_width), (-size.rear, -size.half_width),
            (-size.rear, size.half_width),
        ]
        outline = [pose.point(*corner) for corner in corners]
        axes.add_patch(Polygon(outline, fc="#1f4fd6", ec="#0b2a80", alpha=0.75, zorder=5))
        nose = pose.point(size.front + 0.15, 0.0)
        arrow = {"arrowstyle": "->", "color": "#0b2a80", "lw": 2}
        axes.annotate("", nose, (pose.x, pose.y), arrowprops=arrow, zorder=6)


def _map(axes: Axes, grid: OccupancyGrid) -> None:
    info = grid.info
    cells = grid.data.reshape(info.height, info.width)
    shade = np.where(cells < 0, 0.85, 1.0 - 0.6 * np.clip(cells, 0, 100) / 100)
    left, bottom = info.origin.position.x, info.origin.position.y
    extent = (left, left + info.width * info.resolution, bottom, bottom + info.height * info.resolution)
    axes.imshow(shade, cmap="gray", vmin=0, vmax=1, origin="lower", extent=extent, interpolation="nearest")


def _rgba(colour: ColorRGBA) -> tuple[float, float, float, float]:
    return colour.r, colour.g, colour.b, colour.a


def _marker(axes: Axes, marker: Marker, robot: Pose2D) -> None:
    at = marker.pose.position
    x, y = robot.point(at.x, at.y) if marker.header.frame_id == "base_link" else (at.x, at.y)
    colour, wide, deep = _rgba(marker.color), marker.scale.x, marker.scale.y
    match marker.type:
        case _ if marker.action:
            return
        case kind if kind in (SPHERE, CYLINDER):
            axes.add_patch(Circle((x, y), wide / 2, color=colour, zorder=2 if marker.ns == "stop" else 7))
        case kind if kind == CUBE:
            yaw = math.degrees(marker.pose.orientation.yaw)
            corner = (x - wide / 2, y - deep / 2)
            axes.add_patch(Rectangle(corner, wide, deep, angle=yaw, rotation_point="center", color=colour, zorder=7))
        case kind if kind == LINE_STRIP:
            axes.plot([p.x for p in marker.points], [p.y for p in marker.points], "--", color=colour, lw=1.2, zorder=4)
        case kind if kind == TEXT:
            # From above, what stands over a thing would lie on it: each kind of words has its place around it.
            axes.annotate(
                marker.text, (x, y), (0, _LIFT_POINTS.get(marker.ns, 0)), textcoords="offset points", color=colour,
                fontsize=max(6.5, marker.scale.z * 90), ha="center", va="bottom", zorder=8,
                bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.6},
            )
