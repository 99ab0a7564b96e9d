"""How well the robot sees: from each surface's approach poses, what perception says against where things really are."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from rich.console import Console
from rich.table import Table

from anima import topics as t
from anima.body.arm.poses import ARM_JOINTS, load_poses
from anima.body.perception.camera import Eye, Pinhole, on_floor
from anima.body.perception.tuning import load_tuning
from anima.body.perception.views import in_sight
from anima.body.places import load_places
from anima.body.pose import Pose2D
from anima.body.robot_model import load_robot_file, load_robot_model
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.local_graph import LocalGraph, Logged
from anima.topics import Topic
from anima.types.base import Duration, Header, Msg
from anima.types.mind import Detection, Detections, WorldState
from anima.types.std import JointTrajectory, JointTrajectoryPoint, Odometry, PoseWithCovarianceStamped
from anima_sim.bench.options import BenchParser
from anima_sim.bench.run import Figures
from anima_sim.body import SimulatedBody
from anima_sim.scene import SceneObject
from anima_sim.world import World

_ROWS = ("body", "perception", "parietal_affordance")
_LOOK_S = 1.0  # long enough for an object to be confirmed or found absent
_SEEDS = 4
_QUARTER = {"cube": math.pi / 2, "block": math.pi}


class Lookout:
    """A robot that is lifted from place to place and looks: body, perception and world state.

    It is told where it truly stands, so that what is measured is what it sees.
    """

    def __init__(self, seed: int) -> None:
        settings = Settings(seed=seed)
        rows = [row for row in TABLE if row.node in _ROWS]
        self.graph = LocalGraph(settings, rows=rows, record=(cast("Topic[Msg]", t.JOINT_STATES),))
        self.graph.tap(self._locate)
        self.places = load_places(settings.map_folder)
        self._views = load_tuning().views
        camera = load_robot_file(settings.robot_file).sensors.mast_camera
        self._pinhole, self._mount = Pinhole.of_camera(camera), load_robot_model(settings).pose(camera.frame)

    def _locate(self, logged: Logged) -> None:
        """The true pose, at the moment of each odometry."""
        if isinstance(logged.sent.value, Odometry):
            where = Pose2D(*self.world.truth.robot_pose()).to_msg()
            stamp = logged.sent.value.header.stamp.seconds
            self.graph.send(t.POSE.of(PoseWithCovarianceStamped.about(stamp, where, 0.001, 0.001)))

    @property
    def world(self) -> World:
        """The simulated world."""
        body = self.graph.component("body")
        assert isinstance(body, SimulatedBody)
        return body.world

    @property
    def state(self) -> WorldState:
        """What the robot knows."""
        state = self.graph.last(t.WORLD_STATE)
        assert state is not None
        return state

    def arm(self, posture: str, gripper_rad: float = 0.0) -> None:
        """Send the arm to a named posture and the gripper to an opening."""
        self.joints({**dict(zip(ARM_JOINTS, load_poses().joints(posture), strict=True)), "gripper": gripper_rad})

    def joints(self, goal: dict[str, float]) -> None:
        """Send joints to angles."""
        empty = np.zeros(0)
        point = JointTrajectoryPoint(
            positions=np.array(list(goal.values())), velocities=empty, accelerations=empty, effort=empty,
            time_from_start=Duration.of(0.0),
        )
        command = JointTrajectory(header=Header.at(self.graph.now), joint_names=list(goal), points=[point])
        self.graph.send(t.ARM_COMMAND.of(command))

    def run(self, seconds: float) -> list[Detections]:
        """Let time pass; returns what was detected meanwhile."""
        start = self.graph.now
        while self.graph.now < start + seconds:
            self.graph.tick()
        return [seen for seen in self.graph.sent(t.DETECTIONS) if seen.header.stamp.seconds > start + 0.1]

    def look_from(self, pose: Pose2D, seconds: float = _LOOK_S) -> list[Detections]:
        """Stand at a pose and look."""
        self.world.place_robot(pose.x, pose.y, pose.yaw)
        return self.run(seconds)

    def in_good_view(self) -> list[SceneObject]:
        """Objects on a surface, near enough and well inside the picture, from where the robot stands now."""
        eye = Eye(self._pinhole, on_floor(Pose2D(*self.world.truth.robot_pose())) @ self._mount)
        inner = self._views.model_copy(update={"border_px": 12.0})
        found = []
        for thing in self.world.scene.objects:
            at, _ = self.world.truth.object_pose(thing.name)
            shown = not np.isnan(in_sight(np.array([at]), eye, inner)).any()
            if shown and self.world.truth.on_surface(thing.name) in {s.name for s in self.places.surfaces}:
                found.append(thing)
        return found

    def errors(self, thing: SceneObject, seen: Detection) -> tuple[float, float]:
        """Metres and radians between a detection and the truth, on the floor plane; heading only up to symmetry."""
        (x, y, _), (w, _, _, qz) = self.world.truth.object_pose(thing.name)
        off = math.hypot(seen.position.x - x, seen.position.y - y)
        turn = _QUARTER.get(thing.name.split("_")[1])
        if turn is None:
            return off, 0.0
        return off, abs((seen.yaw - 2 * math.atan2(qz, w) + turn / 2) % turn - turn / 2)


@dataclass
class Score:
    """What was in good view, and how it was seen. Distances in metres, angles in radians."""

    wanted: int = 0
    found: int = 0
    shaped: int = 0
    off_m: list[float] = field(default_factory=list)
    turned_rad: list[float] = field(default_factory=list)
    known_off_m: list[float] = field(default_factory=list)
    false_names: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def score_perception(seeds: range) -> dict[str, Score]:
    """Object -> score over all approach poses of all surfaces, a world for each seed."""
    scores: dict[str, Score] = {}
    sure = load_tuning().confidence.occluded
    for seed in seeds:
        lookout = Lookout(seed)
        lookout.arm("look_right")
        lookout.run(2.0)
        for surface in lookout.places.surfaces:
            for approach in surface.approaches:
                pictures = lookout.look_from(Pose2D(*approach.pose))
                wanted = lookout.in_good_view()
                for thing in wanted:
                    _score(scores.setdefault(thing.name, Score()), thing, pictures, lookout)
                real = {thing.name for thing in lookout.world.scene.objects}
                for known in lookout.state.objects:
                    if known.status == "confirmed" and known.name not in real:
                        scores.setdefault(known.name, Score()).false_names.append(f"seed {seed}, {surface.name}")
                for picture in pictures:
                    for seen in picture.detections:
                        near = [
                            o for o in lookout.world.scene.objects
                            if o.name.startswith(seen.colour) and lookout.errors(o, seen)[0] < 0.05
                        ]
                        if not near and seen.confidence >= sure:
                            scores.setdefault(f"{seen.colour}_{seen.shape}", Score()).false_names.append(surface.name)
        lookout.world.close()
    return scores


def _score(score: Score, thing: SceneObject, pictures: list[Detections], lookout: Lookout) -> None:
    colour, shape = thing.name.split("_")
    for picture in pictures:
        score.wanted += 1
        seen = max((d for d in picture.detections if d.colour == colour), key=lambda d: d.confidence, default=None)
        if seen is None:
            score.missed.append(f"{lookout.state.place}, seed {lookout.world.seed}")
            continue
        score.found += 1
        score.shaped += seen.shape == shape
        off, turned = lookout.errors(thing, seen)
        score.off_m.append(off)
        if shape in _QUARTER:
            score.turned_rad.append(turned)
    known = next((o for o in lookout.state.objects if o.name == thing.name and o.status == "confirmed"), None)
    if known is not None:
        at, _ = lookout.world.truth.object_pose(thing.name)
        score.known_off_m.append(math.hypot(known.position.x - at[0], known.position.y - at[1]))


def bench_perception(seed: int, arguments: list[str], console: Console) -> tuple[Figures, bool]:
    """Accuracy over four worlds; limits: 95 % of pictures of objects in good view, 10 mm median, 20 mm worst, 10°."""
    BenchParser("perception", bench_perception.__doc__).parse_args(arguments)
    scores = score_perception(range(seed, seed + _SEEDS))
    table = Table("object", "in view", "found", "shape", "off median", "off worst", "known worst", "turned median")
    for name, s in sorted(scores.items()):
        table.add_row(
            name, str(s.wanted), _share(s.found, s.wanted), _share(s.shaped, s.found), _mm(s.off_m, 50),
            _mm(s.off_m, 100), _mm(s.known_off_m, 100), _degrees(s.turned_rad),
        )
    console.print(table)
    off = [e for s in scores.values() for e in s.off_m]
    known = [e for s in scores.values() for e in s.known_off_m]
    turned = [e for s in scores.values() for e in s.turned_rad]
    wanted = sum(s.wanted for s in scores.values())
    figures: Figures = {
        "pictures_of_objects_in_good_view": wanted,
        "recall": sum(s.found for s in scores.values()) / max(1, wanted),
        "shape_right": sum(s.shaped for s in scores.values()) / max(1, sum(s.found for s in scores.values())),
        "false_sightings": sum(len(s.false_names) for s in scores.values()),
        "position_error_median_mm": 1000 * float(np.median(off)),
        "position_error_worst_mm": 1000 * max(off),
        "tracked_position_error_worst_mm": 1000 * max(known),
        "heading_error_median_deg": math.degrees(float(np.median(turned))),
        "heading_error_p95_deg": math.degrees(float(np.percentile(turned, 95))),
    }
    met = (
        figures["recall"] >= 0.95
        and figures["false_sightings"] == 0
        and figures["position_error_median_mm"] <= 10
        and figures["tracked_position_error_worst_mm"] <= 20
        and figures["heading_error_median_deg"] <= 10
    )
    return figures, met


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else ""


def _mm(errors: list[float], percentile: int) -> str:
    return f"{1000 * float(np.percentile(errors, percentile)):.1f} mm" if errors else ""


def _degrees(angles: list[float]) -> str:
    return f"{np.degrees(np.median(angles)):.1f}°" if angles else ""
