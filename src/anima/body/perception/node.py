"""Perception as a row of the brain table: pairs images, finds the pose of their moment, says what they show."""

from __future__ import annotations

from collections import deque

import numpy as np

from anima.body.perception.camera import Eye, ImageError, Pinhole, colour_image, depth_image, on_floor
from anima.body.perception.detector import Detector, Situation
from anima.body.perception.tuning import load_tuning
from anima.body.places import load_places
from anima.body.pose import PoseTracker
from anima.body.robot_model import TOOL_LINK, Matrix, load_robot_file, load_robot_model
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import CAMERA_COLOUR, CAMERA_DEPTH, CAMERA_INFO, DETECTIONS, JOINT_STATES, ODOM, POSE, Sent
from anima.types.base import Float64s, Header
from anima.types.mind import Detections
from anima.types.std import Image, JointState

_SAME_S = 0.002  # colour and depth this close in time are one picture
_PICTURES_KEPT = 3  # that wait for the odometry of their moment, which may come later than the next picture
_JOINTS_KEPT = 64  # joint states kept to find the one of a picture: 1.3 s at 50 Hz


class Perception:
    """Detects objects in each RGB-D picture, in the map as the robot stood when the picture was taken."""

    def __init__(self, settings: Settings) -> None:
        self._tuning = load_tuning()
        self._detector = Detector(self._tuning)
        self._surfaces = load_places(settings.map_folder).surfaces
        self._model = load_robot_model(settings)
        self._mount: Matrix = self._model.pose(load_robot_file(settings.robot_file).sensors.mast_camera.frame)
        self._where = PoseTracker()
        self._turning_radps = 0.0
        self._joints: deque[JointState] = deque(maxlen=_JOINTS_KEPT)
        self._colour: Image | None = None
        self._depth: Image | None = None
        self._pictures: deque[tuple[Image, Image]] = deque(maxlen=_PICTURES_KEPT)
        self._said = "It waits for a picture."

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """The detections of the newest picture for which the robot's pose at its moment is known."""
        self._take_in(inbox)
        info = inbox.last(CAMERA_INFO)
        if info is None or not self._pictures:
            if self._colour is not None or self._depth is not None:
                self._said = "It waits for the other half of a picture."
            return []
        known = [(where, picture) for picture in self._pictures if (where := self._where.at(_stamp(picture)))]
        if not known:
            self._said = "It has a picture, but doesn't know where the robot stood when it was taken."
            while self._pictures and now - _stamp(self._pictures[0]) > self._tuning.confidence.pose_max_age_s:
                self._pictures.popleft()
            return []
        pose, (colour, depth) = known[-1]
        stamp = colour.header.stamp.seconds
        while self._pictures and _stamp(self._pictures[0]) <= stamp:
            self._pictures.popleft()
        steadiness = self._steadiness()
        if steadiness <= 0.0:
            self._said = "The base turns too fast to tell where things are."
            return []
        try:
            eye = Eye(Pinhole.of_info(info), on_floor(pose) @ self._mount)
            rgb, metres = colour_image(colour), depth_image(depth)
            if rgb.shape[:2] != metres.shape or metres.shape != (info.height, info.width):
                raise ImageError(f"colour {rgb.shape[:2]}, depth {metres.shape} and camera_info differ in size")
        except ImageError as error:
            self._said = f"It can't read the picture: {error}."
            return []
        situation = Situation(eye, self._surfaces, self._tool(stamp, on_floor(pose)))
        found = [
            detection.model_copy(update={"confidence": detection.confidence * steadiness})
            for detection in self._detector.detect(rgb, metres, situation)
        ]
        views = self._detector.views(metres, situation)
        looked = ", ".join(view.surface for view in views) or "no surface"
        self._said = f"It sees {len(found)} objects and looks at {looked}."
        return [DETECTIONS.of(Detections(header=Header.at(stamp, "map"), detections=found, views=views))]

    def why(self) -> str:
        """One sentence: what it sees at this moment, or why it sees nothing."""
        return self._said

    def _take_in(self, inbox: Inbox) -> None:
        for odometry in inbox.new(ODOM):
            self._where.add_odometry(odometry)
            self._turning_radps = odometry.twist.twist.angular.z
        for pose in inbox.new(POSE):
            self._where.add_localization(pose)
        self._joints.extend(inbox.new(JOINT_STATES))
        if news := inbox.new(CAMERA_COLOUR):
            self._colour = news[-1]
        if news := inbox.new(CAMERA_DEPTH):
            self._depth = news[-1]
        if self._colour is None or self._depth is None:
            return
        if abs(self._colour.header.stamp.seconds - self._depth.header.stamp.seconds) <= _SAME_S:
            self._pictures.append((self._colour, self._depth))
            self._colour = self._depth = None

    def _steadiness(self) -> float:
        """1 while the base is as good as still, falling to 0 when it turns too fast."""
        free, blind = self._tuning.confidence.turn_free_radps, self._tuning.confidence.turn_blind_radps
        return min(1.0, max(0.0, (blind - abs(self._turning_radps)) / (blind - free)))

    def _tool(self, stamp: float, base: Matrix) -> Float64s | None:
        """The tool point in the map when the picture was taken, shape (3,); None before the first joint state."""
        if not self._joints:
            return None
        state = min(self._joints, key=lambda state: abs(state.header.stamp.seconds - stamp))
        at = dict(zip(state.name, (float(p) for p in state.position), strict=True))
        return np.asarray((base @ self._model.pose(TOOL_LINK, at))[:3, 3])


def _stamp(picture: tuple[Image, Image]) -> float:
    return picture[0].header.stamp.seconds
