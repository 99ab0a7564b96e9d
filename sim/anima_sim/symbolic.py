"""The flat as facts, without physics: driving takes time, grasping can fail, the battery drains, senses can fail.

It takes the place of body, perception, parietal cortex, motor cortex and reflex kernel, so that the glue and the
planner run with it alone in one process, hundreds of times faster than with physics. Seeded: the same seed and the same
leases give the same course.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, field

import numpy as np

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.runtime.component import Inbox
from anima.skills.registry import InvalidArguments, UnknownSkill, skill
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import (
    Lease,
    ObjectState,
    Outcome,
    ReflexEvent,
    SkillFeedback,
    Speech,
    StopState,
    SurfaceState,
    WorldState,
)
from anima.types.std import (
    BatteryState,
    JointState,
    Point,
    Pose,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Vector3,
)
from anima.world.predicates import PERSON
from anima.world.state import facts_of

DRIVE_MPS = 0.5
REST_S = 0.2  # from a taken-back lease to the body at rest
PUBLISH_S, BATTERY_S, FEEDBACK_S = 0.5, 1.0, 0.5
LASTS_S = {
    "look_for": 6.0, "approach": 4.0, "pick": 5.0, "place": 4.0, "hand_over": 4.0, "dock": 4.0, "undock": 2.0,
    "say": 1.0, "stop": 0.2,
}
IDLE_DRAIN, DRIVE_DRAIN, CHARGE_GAIN = 1.0 / 7200, 1.0 / 1800, 1.0 / 60  # of the battery, per second
MOVING = frozenset({"base", "arm", "gripper"})
_COVARIANCE = np.zeros(36)
_JOINTS = ["left_wheel_joint", "right_wheel_joint", "shoulder_pan", "gripper"]
_NONE = np.zeros(0, np.float32)


@dataclass
class _Run:
    lease: Lease
    ends: float
    told: float
    began: float


@dataclass
class Trouble:
    """What is wrong in the flat: chances 0..1 per call, and names of what is broken, each until a time in seconds."""

    grasp_fails: float = 0.1
    search_fails: float = 0.05
    drive_fails: float = 0.03
    blocked: dict[str, float] = field(default_factory=dict)
    stalled_until: float = -math.inf
    blind_until: float = -math.inf
    lost_until: float = -math.inf
    silent_until: float = -math.inf
    mute_skill_until: float = -math.inf


class SymbolicFlat:
    """Robot, things and person as names. Methods change the world in the middle of a run."""

    def __init__(
        self, settings: Settings, seed: int | None = None, trouble: Trouble | None = None, pace: float = 1.0
    ) -> None:
        """`seed` defaults to that of the settings; it says where things lie and which calls fail. What is done takes
        `pace` times as long as it usually would."""
        self._pace = pace
        self._luck = random.Random(settings.seed if seed is None else seed)
        self._names = known_names(settings)
        self._places = load_places(settings.map_folder)
        self.trouble = trouble or Trouble()
        tops = [name for name in self._names.surfaces if name not in self._names.holders]
        self.lies = {name: self._luck.choice(tops) for name in self._names.objects if self._luck.random() < 0.85}
        self.seen: dict[str, str] = {}
        self._looked_at: dict[str, float] = {}  # when it last stood before each surface
        self.place, self.near, self.holding = "", "", ""
        dock = self._places.dock
        self.docked, self.battery = True, 0.9
        self.xy = (dock.docked[0], dock.docked[1])
        self.latched, self.latched_by = False, ""
        self.runs: dict[str, _Run] = {}
        self.granted: list[Lease] = []
        self.overlaps: list[str] = []
        self.moved_at = -math.inf
        self._active: set[str] = set()
        self._events: list[Sent] = []
        self._now = 0.0
        self._next = {"state": 0.0, "battery": 0.0, "stop": 0.0}
        self._changed = True

    # --- what a test does to the world -------------------------------------------------------------

    def latch(self, by: str = "person") -> None:
        """Somebody presses the software stop."""
        self.latched, self.latched_by = True, by
        self._next["stop"] = 0.0

    def unlatch(self) -> None:
        """Somebody resets the software stop."""
        self.latched, self.latched_by = False, ""
        self._next["stop"] = 0.0

    def reflex(self, kind: str, active: bool, detail: str = "") -> None:
        """A reflex begins or ends."""
        self._events.append(
            t.REFLEX_EVENT.of(ReflexEvent(header=Header.at(self._now), kind=kind, active=active, detail=detail))
        )
        (self._active.add if active else self._active.discard)(kind)
        self._next["stop"] = 0.0

    def carry_off(self, thing: str, to: str) -> None:
        """Somebody takes a thing elsewhere; the robot doesn't see it."""
        if thing != self.holding:
            self.lies[thing] = to
            self.near = "" if self.near == thing else self.near

    def drop(self) -> None:
        """The hand loses what it holds; it lies where the robot stands, or on the floor."""
        if self.holding:
            lost, self.holding = self.holding, ""
            self.lies[lost] = self.place if self.place in self._names.surfaces else "floor"
            self.seen[lost] = self.lies[lost]
            self._changed = True

    # --- the step ----------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Move what is leased, drain the battery, say what is sensed."""
        dt = max(0.0, now - self._now)
        self._now = now
        sent, self._events = self._events, []
        moving = any(MOVING & set(run.lease.resources) for run in self.runs.values())
        if moving and not self.latched:
            self.moved_at = now
        self._use_battery(dt, moving)
        for lease in inbox.new(t.LEASE):
            sent += self._take(now, lease)
        for run in list(self.runs.values()):
            sent += self._run(now, run)
        return sent + self._sense(now)

    def why(self) -> str:
        """What it carries out."""
        return ", ".join(run.lease.call.skill for run in self.runs.values()) or "Nothing is leased."

    def _use_battery(self, dt: float, moving: bool) -> None:
        if self.docked:
            self.battery = min(1.0, self.battery + CHARGE_GAIN * dt)
        else:
            self.battery = max(0.0, self.battery - (DRIVE_DRAIN if moving else IDLE_DRAIN) * dt)

    def _take(self, now: float, lease: Lease) -> list[Sent]:
        run = self.runs.get(lease.id)
        if not lease.granted:
            if run is not None:
                self._end_at(run, now + REST_S, lease.reason or "taken back")
            return []
        self.granted.append(lease)
        held = {part: other.lease.id for other in self.runs.values() for part in other.lease.resources}
        self.overlaps += [f"{lease.id} and {held[part]} hold {part}" for part in lease.resources if part in held]
        self.runs[lease.id] = _Run(lease, now + self._pace * self._lasts(lease), now, now)
        return [self._feedback(now, self.runs[lease.id])]

    def _end_at(self, run: _Run, at: float, reason: str) -> None:
        if reason and not run.lease.reason:
            run.lease = run.lease.model_copy(update={"reason": reason})
            run.ends = at

    def _lasts(self, lease: Lease) -> float:
        call = lease.call
        values = json.loads(call.arguments or "{}")
        if call.skill == "go_to":
            return self._drive_s(values.get("place", ""))
        if call.skill == "wait":
            return float(values.get("seconds", 5.0))
        if call.skill in ("approach", "dock"):
            to = self.lies.get(values.get("object", ""), "dock" if call.skill == "dock" else "")
            return LASTS_S[call.skill] + self._drive_s(to)
        return LASTS_S.get(call.skill, 3.0)

    def _at(self, place: str) -> tuple[float, float]:
        if place not in self._places.names:
            return self.xy
        pose = self._places.poses(place)[0]
        return pose.x, pose.y

    def _drive_s(self, place: str) -> float:
        x, y = self._at(place)
        return 1.0 + 1.4 * math.hypot(x - self.xy[0], y - self.xy[1]) / DRIVE_MPS

    def _run(self, now: float, run: _Run) -> list[Sent]:
        lease, trouble = run.lease, self.trouble
        moves = bool(MOVING & set(lease.resources)) and lease.call.skill not in ("wait", "stop")
        if self.latched and moves:
            self._end_at(run, now + REST_S, f"the software stop was latched by {self.latched_by}")
        if now < trouble.mute_skill_until:
            return []
        if lease.reason:
            return [self._over(now, run, Failure.INTERRUPTED, lease.reason)] if now >= run.ends else []
        if now >= lease.deadline.seconds:
            return [self._over(now, run, Failure.TIMEOUT, "not done by its deadline")]
        if moves and now < trouble.stalled_until:
            return [self._over(now, run, Failure.STALLED, "the left wheel does not turn")]
        if now >= run.ends:
            return self._finish(now, run)
        if now - run.told >= FEEDBACK_S:
            run.told = now
            return [self._feedback(now, run)]
        return []

    def _finish(self, now: float, run: _Run) -> list[Sent]:
        call = run.lease.call
        try:
            unmet = skill(call.skill).unmet(skill(call.skill).parse(call.arguments), self.state(now))
        except UnknownSkill as error:
            return [self._over(now, run, Failure.TOOL_MISMATCH, str(error))]
        except InvalidArguments as error:
            return [self._over(now, run, Failure.PARSE_ERROR, str(error))]
        if unmet and call.skill != "relocalize":  # it may have been found meanwhile
            return [self._over(now, run, Failure.PRECONDITION_UNMET, unmet[0].reason)]
        failure, detail = self._do(now, call.skill, json.loads(call.arguments or "{}"))
        said = []
        if call.skill in ("say", "hand_over") and failure is Failure.NONE:
            said.append(t.SPEECH.of(Speech(header=Header.at(now), text=call.arguments, cause=call.id)))
        return [*said, self._over(now, run, failure, detail)]

    def _do(self, now: float, name: str, values: dict[str, str]) -> tuple[Failure, str]:
        trouble, thing = self.trouble, values.get("object", "")
        if name in ("go_to", "dock", "approach"):
            place = values.get("place") or ("dock" if name == "dock" else self.lies.get(thing, ""))
            if now < trouble.blocked.get(place, -math.inf) or self._luck.random() < trouble.drive_fails:
                return Failure.PATH_BLOCKED, f"something stands before {place}"
            self._arrive(place, docked=name == "dock")
            if name == "approach":
                if self.lies.get(thing) != self.seen.get(thing):
                    self.seen.pop(thing, None)
                    return Failure.PERCEPTION_MISS, f"{thing} is no longer there"
                self.near = thing
        elif name == "relocalize":
            trouble.lost_until = now
        elif name == "undock":
            self._arrive("corridor", docked=False)
        elif name == "look_for":
            if now < trouble.blind_until:
                return Failure.PERCEPTION_MISS, "the camera is silent"
            if thing not in self.lies or self._luck.random() < trouble.search_fails:
                return Failure.PERCEPTION_MISS, f"{thing} was not seen"
            self._arrive(self.lies[thing], docked=False)
            self.seen |= {name: place for name, place in self.lies.items() if place == self.lies[thing]}
        elif name == "pick":
            if self.lies.get(thing) != self.place:
                self.seen.pop(thing, None)
                return Failure.PERCEPTION_MISS, f"{thing} is no longer there"
            if self._luck.random() < trouble.grasp_fails:
                return Failure.GRASP_FAILED, "the gripper closed on nothing"
            self.holding, self.near = thing, ""
        elif name in ("place", "hand_over"):
            self.lies[thing] = self.seen[thing] = values.get("surface") or PERSON
            self.holding = ""
        return Failure.NONE, ""

    def _arrive(self, place: str, docked: bool) -> None:
        self._looked_at[self.place] = self._now
        self.near = ""
        self.xy = self._at(place)
        self.docked = docked
        self.place = self._names.holders.get(place, place)

    def _over(self, now: float, run: _Run, failure: Failure, detail: str) -> Sent:
        self.runs.pop(run.lease.id, None)
        self._changed = True
        return t.OUTCOME.of(
            Outcome.model_construct(
                header=Header.at(now), lease=run.lease.id, call=run.lease.call, success=failure is Failure.NONE,
                failure=int(failure), detail=detail, duration_s=now - run.began,
            )
        )

    def _feedback(self, now: float, run: _Run) -> Sent:
        progress = min(1.0, (now - run.began) / max(run.ends - run.began, 1e-3))
        return t.SKILL_FEEDBACK.of(
            SkillFeedback.model_construct(
                header=Header.at(now), lease=run.lease.id, call=run.lease.call.id, skill=run.lease.call.skill,
                phase="at it", progress=progress,
            )
        )

    # --- what is sensed ----------------------------------------------------------------------------

    def _sense(self, now: float) -> list[Sent]:
        sent: list[Sent] = []
        if now >= self._next["stop"]:
            self._next["stop"] = now + PUBLISH_S
            sent.append(t.STOP_STATE.of(self._stop_state(now)))
        if now < self.trouble.silent_until:
            return sent
        if now >= self._next["battery"]:
            self._next["battery"] = now + BATTERY_S
            sent += [t.BATTERY.of(self._battery(now)), t.JOINT_STATES.of(self._joints(now)), t.POSE.of(self._pose(now))]
        if self._changed or now >= self._next["state"]:
            self._changed = False
            self._next["state"] = now + PUBLISH_S
            sent.append(t.WORLD_STATE.of(self.state(now)))
        return sent

    def _stop_state(self, now: float) -> StopState:
        return StopState(
            header=Header.at(now), latched=self.latched, source=self.latched_by, active=sorted(self._active)
        )

    def state(self, now: float) -> WorldState:
        """What is known of the flat now."""
        stamp = Header.at(now, "map")
        place = self.place if self.place not in self._names.rooms else ""
        room = self.place if self.place in self._names.rooms else self._places.room_at(*self.xy)
        tops = [s for s in self._names.surfaces if now >= self.trouble.blind_until]
        state = WorldState.model_construct(
            header=stamp, robot=Pose.planar(*self.xy, 0.0), room=room, place=place, holding=self.holding,
            docked=self.docked, battery=self.battery, stopped=self.latched, localized=now >= self.trouble.lost_until,
            objects=[self._object(now, name) for name in sorted({*self.seen, *filter(None, [self.holding])})],
            surfaces=[
                SurfaceState.model_construct(
                    name=name, coverage=1.0 if name == place else 0.0,
                    last_viewed=stamp.stamp if name == place else Time.at(self._looked_at.get(name, 0.0)),
                )
                for name in tops
            ],
            facts=[],
        )
        return state.model_copy(update={"facts": facts_of(state)})

    def _object(self, now: float, name: str) -> ObjectState:
        held = name == self.holding
        x, y = self.xy
        if held or name == self.near:
            position = Point(x=x + 0.39, y=y, z=0.42)
        else:
            at = self._at(self.seen[name])
            position = Point(x=at[0] + 1.0, y=at[1], z=0.42)
        colour, shape = name.split("_")
        return ObjectState.model_construct(
            name=name, colour=colour, shape=shape, status="confirmed", position=position, yaw=0.0,
            size=Vector3(x=0.04, y=0.04, z=0.04), place="gripper" if held else self.seen[name], last_seen=Time.at(now),
            confidence=0.9,
        )

    def _battery(self, now: float) -> BatteryState:
        nan = math.nan
        return BatteryState.model_construct(
            header=Header.at(now), voltage=12.0, temperature=30.0, current=nan, charge=nan, capacity=nan,
            design_capacity=nan, percentage=self.battery, power_supply_status=1 if self.docked else 2,
            power_supply_health=1, power_supply_technology=2, present=True, cell_voltage=_NONE, cell_temperature=_NONE,
            location="", serial_number="",
        )

    def _joints(self, now: float) -> JointState:
        effort = np.array([0.1, 0.1, 0.0, 0.0])
        return JointState.model_construct(
            header=Header.at(now), name=_JOINTS, position=np.zeros(4), velocity=np.zeros(4), effort=effort
        )

    def _pose(self, now: float) -> PoseWithCovarianceStamped:
        pose = PoseWithCovariance(pose=Pose.planar(*self.xy, 0.0), covariance=_COVARIANCE)
        return PoseWithCovarianceStamped(header=Header.at(now, "map"), pose=pose)
