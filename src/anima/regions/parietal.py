"""Posterior parietal: what is known of the world now, out of sightings, pose, gripper and battery."""

from __future__ import annotations

import json
import math
from collections import deque
from typing import Any

import numpy as np
from pydantic import JsonValue

from anima.body.arm.poses import GRIPPER_JOINT, load_poses
from anima.body.equipment import load_equipment
from anima.body.perception.camera import Eye, Pinhole, on_floor
from anima.body.perception.tuning import load_tuning
from anima.body.perception.views import grid, hidden_by, in_sight
from anima.body.places import Surface, load_places
from anima.body.pose import Pose2D, PoseTracker, wrap
from anima.body.robot_model import TOOL_LINK, Matrix, load_robot_file, load_robot_model
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import BATTERY, DETECTIONS, JOINT_STATES, ODOM, OUTCOME, POSE, STOP_STATE, WORLD_STATE, Sent
from anima.types.base import Float64s, Header, Time
from anima.types.mind import Detection, Detections, Outcome, SurfaceState, WorldState
from anima.types.std import JointState, Pose
from anima.world.hand import Hand
from anima.world.state import facts_of, means_the_same
from anima.world.tracks import GRIPPER, Tracker
from anima.world.tuning import load_world_tuning

FLOOR = "floor"
_JOINTS_KEPT = 32  # joint states kept to find the one of a picture: 0.6 s at 50 Hz
_ON_TOP_M = (-0.03, 0.08)  # the middle of an object on a top is this far below to above it
_CHARGING, _FULL = 1, 4  # sensor_msgs/BatteryState POWER_SUPPLY_STATUS_*

Point3 = tuple[float, float, float]


class ParietalAffordance:
    """Keeps the world state: objects, hand, place, coverage of surfaces, facts.

    `step` is pure in (state, now, inbox). It speaks when the meaning of the state has changed, and at least once a
    second.
    """

    def __init__(self, settings: Settings) -> None:
        self._tuning = load_world_tuning()
        self._seeing = load_tuning()
        self._places = load_places(settings.map_folder)
        self._model = load_robot_model(settings)
        self._equipment = load_equipment(settings)
        self._limbs: list[str] = []
        self._camera: tuple[Pinhole, Matrix] | None = None
        if self._equipment.camera:
            robot = load_robot_file(settings.robot_file)
            camera = robot.sensors.mast_camera
            self._camera = Pinhole.of_camera(camera), self._model.pose(camera.frame)
            if robot.arm is not None:
                self._limbs = [*(self._model.joints[name].child for name in robot.arm.joints), TOOL_LINK]
        self._gripper = load_poses().gripper
        self._start_over()

    def _start_over(self) -> None:
        self._where = PoseTracker()
        self._tracker = Tracker(self._tuning.tracks, self._seeing.shape_of)
        self._hand = Hand(self._tuning.hand, self._gripper.held_above_rad, self._gripper.open_rad)
        self._joints: deque[tuple[float, dict[str, float]]] = deque(maxlen=_JOINTS_KEPT)
        self._pose_stamp_s: float | None = None
        self._looked: dict[str, tuple[float, float]] = {}
        self._last: WorldState | None = None

    # -- the step ----------------------------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in what came, and say the world state if it means something new or was not said for a while."""
        if self._last is not None and now < self._last.header.stamp.seconds:
            self._start_over()  # time jumped back: what was known belongs to another run
        for odometry in inbox.new(ODOM):
            self._where.add_odometry(odometry)
        for pose in inbox.new(POSE):
            self._where.add_localization(pose)
            if Pose2D.of(pose.pose.pose).is_finite:
                self._pose_stamp_s = pose.header.stamp.seconds
        for joints in inbox.new(JOINT_STATES):
            self._feel(joints)
        for outcome in inbox.new(OUTCOME):
            self._hear(outcome)
        for detections in inbox.new(DETECTIONS):
            self._see(detections)
        self._carry(now)
        state = self._state(now, inbox)
        last = self._last
        recent = last is not None and now - last.header.stamp.seconds < self._tuning.publish_s
        if last is not None and recent and means_the_same(last, state):
            return []
        self._last = state
        return [WORLD_STATE.of(state)]

    def why(self) -> str:
        """One sentence: what it knows."""
        if self._last is None:
            return "It knows nothing yet."
        known = sum(thing.status == "confirmed" for thing in self._last.objects)
        hand = f"holds {self._last.holding}" if self._last.holding else "holds nothing"
        return f"It knows where {known} objects are, and that the robot {hand}."

    def dump(self) -> dict[str, JsonValue]:
        """What it remembers, as JSON; pose and joints come back with the next messages."""
        return {
            "tracks": self._tracker.dump(),
            "hand": self._hand.dump(),
            "looked": {name: [coverage, stamp] for name, (coverage, stamp) in self._looked.items()},
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> ParietalAffordance:
        """One that remembers what `dump` gave."""
        out = cls(settings)
        out._tracker.restore(data["tracks"])
        out._hand.restore(data["hand"])
        out._looked = {name: (coverage, stamp) for name, (coverage, stamp) in data["looked"].items()}
        return out

    # -- hand --------------------------------------------------------------------------------------------------------

    def _tool(self, stamp: float | None = None) -> Point3 | None:
        """The tool point in the map, now or at a time just gone by; None while pose or joints are unknown."""
        pose = self._where.pose if stamp is None else self._where.at(stamp) or self._where.pose
        if pose is None or not self._joints or not self._equipment.arm:
            return None
        _, at = self._joints[-1] if stamp is None else min(self._joints, key=lambda kept: abs(kept[0] - stamp))
        x, y, z = (on_floor(pose) @ self._model.pose(TOOL_LINK, at))[:3, 3]
        return float(x), float(y), float(z)

    def _arm(self, stamp: float, base: Pose2D) -> Float64s | None:
        """Shoulder to tool point as a chain of points (n, 3) in the map; None without arm or joint state."""
        if not self._joints or not self._limbs:
            return None
        _, at = min(self._joints, key=lambda kept: abs(kept[0] - stamp))
        return np.stack([(on_floor(base) @ self._model.pose(link, at))[:3, 3] for link in self._limbs])

    @property
    def _opening_rad(self) -> float:
        """How far the gripper is open."""
        return self._joints[-1][1].get(GRIPPER_JOINT, 0.0) if self._joints else 0.0

    def _feel(self, joints: JointState) -> None:
        at = dict(zip(joints.name, (float(p) for p in joints.position), strict=True))
        if not all(map(math.isfinite, at.values())):
            return
        self._joints.append((joints.header.stamp.seconds, at))
        held = self._tracker.find(self._hand.holding) if self._hand.holding else None
        lost = self._hand.feel(joints.header.stamp.seconds, self._opening_rad)
        if lost and held is not None:
            self._release(held.colour, joints.header.stamp.seconds, just_under_hand=lost == "opened")

    def _release(self, colour: str, stamp: float, just_under_hand: bool) -> None:
        """What was held is out of the hand: on the top just below, or nobody knows where."""
        track = next((t for t in self._tracker.tracks if t.colour == colour and t.place == GRIPPER), None)
        tool = self._tool()
        if track is None:
            return
        at = tool or (track.x, track.y, track.z)
        under = self._surface_at(*at[:2]) if just_under_hand else None
        if under is not None and at[2] - under.height_m <= self._tuning.hand.release_height_m:
            lying = (at[0], at[1], under.height_m + track.size[2] / 2)
            self._tracker.release(track, lying, under.holder or under.name, stamp)
        else:
            self._tracker.release(track, at, "", stamp)

    def _hear(self, outcome: Outcome) -> None:
        if not outcome.success:
            return
        stamp = outcome.header.stamp.seconds
        name = _object_of(outcome.call.arguments)
        if outcome.call.skill == "pick" and name:
            tool, before = self._tool(), self._tracker.find(self._hand.holding)
            if tool is not None and self._hand.picked(name, self._opening_rad):
                if before is not None and self._tracker.name(before) != name:
                    self._release(before.colour, stamp, just_under_hand=False)
                self._tracker.hold(name, tool, stamp)
        elif outcome.call.skill in ("place", "hand_over") and self._hand.holding == name:
            held = self._tracker.find(name)
            self._hand.empty()
            if held is not None:
                self._release(held.colour, stamp, just_under_hand=True)

    def _carry(self, now: float) -> None:
        held = self._tracker.find(self._hand.holding) if self._hand.holding else None
        tool = self._tool()
        if held is None and self._hand.holding:
            self._hand.empty()
        elif held is not None and held.place != GRIPPER:
            self._hand.empty()  # it was seen elsewhere, often enough to be known there
        elif held is not None and tool is not None:
            self._tracker.carry(held, tool, now)

    # -- eyes --------------------------------------------------------------------------------------------------------

    def _see(self, detections: Detections) -> None:
        stamp = detections.header.stamp.seconds
        pose = self._where.at(stamp) or self._where.pose
        if pose is None or self._camera is None:
            return
        pinhole, mount = self._camera
        eye = Eye(pinhole, on_floor(pose) @ mount)
        shares = {view.surface: view.coverage for view in detections.views}
        for name, coverage in shares.items():
            if not 0.0 <= coverage <= 1.0:
                continue
            known, when = self._looked.get(name, (0.0, -math.inf))
            kept = known if stamp - when <= self._tuning.surfaces.memory_s else 0.0
            self._looked[name] = (max(kept, coverage), stamp)
        arm = self._arm(stamp, pose)
        elsewhere = [d for d in detections.detections if _is_sound(d) and not self._in_hand(stamp, d)]

        def watched(x: float, y: float, z: float) -> bool:
            if arm is not None and hidden_by(arm, np.array([x, y, z]), eye, self._tuning.surfaces.arm_clearance_m):
                return False
            return self._watched(x, y, z, eye, shares)

        self._tracker.see(stamp, elsewhere, self._locate, watched)

    def _in_hand(self, stamp: float, detection: Detection) -> bool:
        """Whether the sighting is of the held object; one near an empty hand that may hold it is counted."""
        tool = self._tool(stamp)
        if tool is None:
            return False
        at = detection.position
        distance = math.dist((at.x, at.y, at.z), tool)
        held = self._tracker.find(self._hand.holding) if self._hand.holding else None
        if held is not None:
            return held.colour == detection.colour and distance <= self._tuning.hand.reach_m
        if distance > self._tuning.hand.seen_in_hand_m:
            return False
        under = self._surface_at(tool[0], tool[1])
        lifted = tool[2] - (under.height_m if under is not None else 0.0) >= self._tuning.hand.lifted_m
        name = f"{detection.colour}_{self._seeing.shape_of.get(detection.colour, detection.shape)}"
        if self._hand.looked(stamp, name, self._opening_rad, lifted):
            self._tracker.hold(name, tool, stamp)
            return True
        return False

    def _watched(self, x: float, y: float, z: float, eye: Eye, shares: dict[str, float]) -> bool:
        """Whether the picture showed the point well: in sight, and nothing hides a part of its surface."""
        surface = self._surface_at(x, y)
        if surface is None or np.isnan(in_sight(np.array([[x, y, z]]), eye, self._seeing.views)).any():
            return False
        # The message says how much of the surface was seen; how much could have been, geometry says.
        pixels = in_sight(grid(surface, self._seeing.views.grid_m), eye, self._seeing.views)
        possible = float(np.count_nonzero(~np.isnan(pixels[:, 0]))) / len(pixels)
        return shares.get(surface.name, 0.0) >= self._tuning.surfaces.watched_share * possible > 0.0

    def _surface_at(self, x: float, y: float) -> Surface | None:
        return next((s for s in self._places.surfaces if s.contains(x, y, margin_m=0.01)), None)

    def _locate(self, x: float, y: float, z: float) -> str:
        low, high = _ON_TOP_M
        surface = self._surface_at(x, y)
        if surface is not None and surface.height_m + low <= z <= surface.height_m + high:
            return surface.holder or surface.name
        return FLOOR if low <= z <= high else ""

    # -- state -------------------------------------------------------------------------------------------------------

    def _state(self, now: float, inbox: Inbox) -> WorldState:
        pose = self._where.pose
        battery, stop = inbox.last(BATTERY), inbox.last(STOP_STATE)
        charging = battery is not None and battery.power_supply_status in (_CHARGING, _FULL)
        docked = self._equipment.dock and charging
        # A charge that nothing measures counts as full: it hurries nobody, and a person looks after it.
        unknown = 0.0 if self._equipment.has("battery_state") else 1.0
        charge = battery.percentage if battery is not None else unknown
        age_s = math.inf if self._pose_stamp_s is None else now - self._pose_stamp_s
        state = WorldState(
            header=Header.at(now, "map"),
            robot=pose.to_msg() if pose is not None else Pose(),
            room=self._places.room_at(pose.x, pose.y) if pose is not None else "",
            place=self._place(pose, docked) if pose is not None else "",
            holding=self._hand.holding,
            docked=docked,
            battery=min(max(charge, 0.0), 1.0) if math.isfinite(charge) else 0.0,
            stopped=stop is not None and stop.latched,
            localized=pose is not None and age_s < self._tuning.localized_s,
            objects=self._tracker.objects(),
            surfaces=[self._surface_state(now, name) for name in sorted(s.name for s in self._places.surfaces)],
            facts=[],
        )
        return state.model_copy(update={"facts": facts_of(state, self._equipment.lacks)})

    def _surface_state(self, now: float, name: str) -> SurfaceState:
        coverage, stamp = self._looked.get(name, (0.0, 0.0))
        fresh = now - stamp <= self._tuning.surfaces.memory_s
        return SurfaceState(name=name, coverage=coverage if fresh else 0.0, last_viewed=Time.at(stamp))

    def _place(self, pose: Pose2D, docked: bool) -> str:
        """The surface (or the person who holds it) or the dock that the robot stands at, or empty."""
        tuning = self._tuning.place
        if docked:
            return self._places.dock.name
        for surface in self._places.surfaces:
            for approach in surface.approaches:
                at = Pose2D(*approach.pose)
                along, beside = at.seen(pose.x, pose.y)
                near = abs(along) <= tuning.along_m and abs(beside) <= max(tuning.beside_m, approach.edge_length_m / 2)
                if near and abs(wrap(pose.yaw - at.yaw)) <= tuning.turn_rad:
                    return surface.holder or surface.name
        for dock in (Pose2D(*self._places.dock.approach), Pose2D(*self._places.dock.docked)):
            if dock.distance(pose) <= tuning.along_m and abs(wrap(pose.yaw - dock.yaw)) <= tuning.turn_rad:
                return self._places.dock.name
        return ""


def _is_sound(seen: Detection) -> bool:
    """Whether all that was measured is a number, and the confidence a share."""
    at, size = seen.position, seen.size
    numbers = (at.x, at.y, at.z, seen.yaw, size.x, size.y, size.z)
    return all(map(math.isfinite, numbers)) and 0.0 <= seen.confidence <= 1.0


def _object_of(arguments: str) -> str:
    """The object that a call is about, or empty when it names none."""
    try:
        data = json.loads(arguments)
    except ValueError:
        return ""
    name = data.get("object", "") if isinstance(data, dict) else ""
    return name if isinstance(name, str) else ""
