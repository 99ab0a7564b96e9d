"""Motor cortex: runs the leased skill's motor program, and says how it ended once the body is at rest."""

from __future__ import annotations

import json
import math
import traceback
from collections import deque
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from anima import topics as t
from anima.body.equipment import load_equipment
from anima.body.navigation.costmap import DislikedArea
from anima.body.navigation.costmap_topic import CostmapTopic
from anima.body.navigation.grid import GridNavigator
from anima.body.places import load_places
from anima.body.pose import PoseTracker
from anima.config import Settings
from anima.failure import Failure
from anima.learning.manners import Manners
from anima.learning.tuning import load_learning_tuning
from anima.runtime.component import Inbox
from anima.skills.program import Body, Command, Failed, Program, Senses, load_program
from anima.skills.registry import SKILLS, InvalidArguments, Resource, UnknownSkill, skill
from anima.topics import Sent
from anima.types.base import Duration, Header
from anima.types.mind import Lease, Outcome, Route, SkillFeedback, Speech
from anima.types.std import JointTrajectory, JointTrajectoryPoint, TwistStamped

FEEDBACK_PERIOD_S = 0.5
# A zero has to go through the reflex kernel and the wheels before rest can be believed, and a body that still moves
# after the limit is broken or pushed: waiting longer would only hide it.
REST_AT_LEAST_S = 0.12
REST_LIMIT_S = 4.0
LETS_GO_S = 0.15  # longer than the reflexes may lag behind, so that one of these zeros comes to them
# Ids of leases that were taken back before they arrived.
_REVOKED_KEPT = 64
# These move nothing, so a latched stop or a silent process does not end them.
MOTIONLESS = frozenset({"say", "wait", "stop"})


class _State(Enum):
    QUEUED = "waiting for the body"
    RUNNING = "running"
    ENDING = "coming to rest"


@dataclass
class _Run:
    """A lease and what became of it."""

    lease: Lease
    since: float
    state: _State = _State.QUEUED
    program: Program | None = None
    phase: str = ""
    progress: float = 0.0
    fed_back: float = -math.inf
    resumes_at: float = -math.inf
    ending_since: float = 0.0
    failure: Failure = Failure.NONE
    detail: str = ""
    hold_arm: bool = False

    @property
    def resources(self) -> set[str]:
        return set(self.lease.resources)

    @property
    def moves_base(self) -> bool:
        return Resource.BASE.value in self.lease.resources

    @property
    def moves_arm(self) -> bool:
        return Resource.ARM.value in self.lease.resources

    @property
    def name(self) -> str:
        return self.lease.call.skill

    @property
    def goal(self) -> str:
        """What the call is about: its first argument, or the skill itself (``dock``)."""
        return str(next(iter(json.loads(self.lease.call.arguments or "{}").values()), self.name))


class MotorCortex:
    """Runs one motor program per lease; leases of different parts of the body run side by side.

    Every end goes one way: the program is closed, zero velocity is sent (and after a cancel the arm is told to hold
    where it is) until odometry and joint states show rest, and only then the `Outcome` is said. A program's command is
    looked at after the cancel flag, so none can overwrite the zero. With no lease on the base no velocity is published
    at all: the reflex kernel holds the base then. A program that moves the base begins with zero velocity: after a
    reset of the stop the kernel wants to see that nothing is left of what moved before.
    """

    def __init__(self, settings: Settings) -> None:
        for name in SKILLS:
            load_program(name)  # now: what a program imports would hold up the first step that leases it
        places = load_places(settings.map_folder)
        people = [person.position for person in places.people]
        self._manners = Manners(load_learning_tuning().manners, people)
        navigator = GridNavigator.for_robot(settings, places)
        self._costmap = CostmapTopic(navigator.costmap)
        self._body = Body(settings, places, navigator, Senses(0.0))
        self._has_arm = load_equipment(settings).arm
        self._tracker = PoseTracker()
        self._runs: dict[str, _Run] = {}
        self._disliked: tuple[DislikedArea, ...] = ()
        self._revoked: deque[str] = deque(maxlen=_REVOKED_KEPT)
        self._done: deque[str] = deque(maxlen=_REVOKED_KEPT)
        self._now = -math.inf

    def why(self) -> str:
        """One sentence: what runs, and in which phase."""
        if not self._runs:
            return "no skill holds a lease, so nothing is commanded"
        return "; ".join(
            f"{run.name} is {run.state.value}" + (f": {run.phase}" if run.phase else "") for run in self._runs.values()
        )

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take leases in, resume every program once, and bring to rest what has ended."""
        sent: list[Sent] = []
        if now < self._now:
            self._set_back(now)
        self._now = now
        self._sense(now, inbox)
        self._lean(now, inbox)
        sent += self._costmap.step(now, self._body.senses.pose)
        for lease in inbox.new(t.LEASE):
            sent += self._take(now, lease)
        self._end_what_must(now)
        sent += self._start_what_can(now)
        for run in list(self._runs.values()):
            if run.state is _State.RUNNING:
                sent += self._resume(now, run) if now >= run.resumes_at else self._let_go(now)
            if run.state is _State.ENDING:
                sent += self._settle(now, run)
        return sent

    def _set_back(self, now: float) -> None:
        """The clock was set back (a simulator was reset): what ran belongs to another time."""
        for run in self._runs.values():
            self._end(now, run, Failure.INTERRUPTED, "the clock was set back")
            run.since = run.ending_since = now

    # --- senses and leases ---------------------------------------------------------------------

    def _sense(self, now: float, inbox: Inbox) -> None:
        for odometry in inbox.new(t.ODOM):
            self._tracker.add_odometry(odometry)
        for pose in inbox.new(t.POSE):
            self._tracker.add_localization(pose)
        self._manners = replace(self._manners, guidance=inbox.last(t.GUIDANCE))
        self._body.first_places = self._manners.first_places()
        self._body.senses = Senses(
            now=now,
            pose=self._tracker.pose,
            odometry=inbox.last(t.ODOM),
            scan=inbox.last(t.SCAN),
            joints=inbox.last(t.JOINT_STATES),
            world=inbox.last(t.WORLD_STATE),
            detections=inbox.new(t.DETECTIONS),
            let_through=inbox.last(t.CMD_VEL),
            stop=inbox.last(t.STOP_STATE),
            has_arm=self._has_arm,
        )

    def _lean(self, now: float, inbox: Inbox) -> None:
        """Have the navigator keep off what a part has come to avoid, from the next drive on, until that runs out."""
        stances = inbox.last(t.STANCES)
        areas: tuple[DislikedArea, ...] = ()
        for stance in () if stances is None else stances.stances:
            if stance.kind == "avoid" and stance.area.size == 4 and now < stance.until.seconds:
                x0, y0, x1, y1 = (float(edge) for edge in stance.area)
                areas = (*areas, (x0, y0, x1, y1, stance.weight))
        if areas != self._disliked:
            self._disliked = areas
            self._body.navigator.dislike(areas)

    def _take(self, now: float, lease: Lease) -> list[Sent]:
        run = self._runs.get(lease.id)
        if lease.granted:
            if run is not None or lease.id in self._done:
                return []
            run = _Run(lease, now)
            if lease.id in self._revoked:
                return self._say(now, run, Failure.INTERRUPTED, "taken back before it arrived")
            self._runs[lease.id] = run
            return []
        if run is None:
            self._revoked.append(lease.id)
        else:
            self._end(now, run, Failure.INTERRUPTED, lease.reason or "the lease was taken back")
        return []

    def _end_what_must(self, now: float) -> None:
        stop = self._body.senses.stop
        reason = ""
        if stop is not None and stop.latched:
            reason = f"the software stop was latched by {stop.source}"
        elif stop is not None and "process_silent" in stop.active:
            # It may be the gate that is gone, and with it the lease: a new one knows nothing of it.
            reason = "a process of the robot gives no sign of life"
        for run in self._runs.values():
            if now >= run.lease.deadline.seconds:
                self._end(now, run, Failure.TIMEOUT, f"not done by its deadline, in phase: {run.phase or 'not begun'}")
            elif reason and run.name not in MOTIONLESS:
                self._end(now, run, Failure.INTERRUPTED, reason)

    def _start_what_can(self, now: float) -> list[Sent]:
        sent: list[Sent] = []
        held = {part for run in self._runs.values() if run.state is not _State.QUEUED for part in run.resources}
        for run in list(self._runs.values()):
            if run.state is not _State.QUEUED:
                continue
            busy = held & run.resources
            held |= run.resources
            if not busy:
                sent += self._begin(now, run)
        return sent

    def _begin(self, now: float, run: _Run) -> list[Sent]:
        call = run.lease.call
        run.state = _State.RUNNING
        try:
            known = skill(call.skill)
            missing = {part.value for part in known.resources} - run.resources
            if missing:
                return self._say(
                    now, run, Failure.RESOURCE_DENIED, f"{call.skill} needs {', '.join(sorted(missing))} in its lease"
                )
            run.program = load_program(call.skill)(known.parse(call.arguments), self._body)
        except UnknownSkill as error:
            return self._say(now, run, Failure.TOOL_MISMATCH, str(error))
        except InvalidArguments as error:
            return self._say(now, run, Failure.PARSE_ERROR, str(error))
        if run.moves_base:
            run.resumes_at = now + LETS_GO_S
        return []

    # --- running and ending --------------------------------------------------------------------

    @staticmethod
    def _let_go(now: float) -> list[Sent]:
        return [t.CMD_VEL_SKILL.of(TwistStamped.planar(now, 0.0, 0.0))]

    def _resume(self, now: float, run: _Run) -> list[Sent]:
        assert run.program is not None
        try:
            command = next(run.program)
            self._check(run, command)
        except StopIteration as stop:
            self._end(now, run, Failure.NONE, stop.value or "", hold_arm=False)
        except Failed as failed:
            self._end(now, run, failed.failure, failed.detail)
        except OSError as error:
            self._end(now, run, Failure.HARDWARE_FAULT, f"{type(error).__name__}: {error}")
        except Exception as error:  # a fault in a program must never keep the body moving
            where = traceback.extract_tb(error.__traceback__)[-1]
            detail = f"{type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})"
            self._end(now, run, Failure.UNKNOWN, detail)
        else:
            return self._send(now, run, command)
        return []

    @staticmethod
    def _check(run: _Run, command: Command) -> None:
        """Raises ValueError for a command that no program may give."""
        if command.velocity is not None and not run.moves_base:
            raise ValueError(f"{run.name} commands the base without holding it")
        if command.joints and not run.moves_arm:
            raise ValueError(f"{run.name} commands the arm without holding it")
        if command.speech and Resource.VOICE.value not in run.lease.resources:
            raise ValueError(f"{run.name} speaks without holding the voice")
        numbers = (*(command.velocity or ()), *command.joints.values(), command.joint_time_s)
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError(f"{run.name} commands a number that is not finite: {command}")

    def _send(self, now: float, run: _Run, command: Command) -> list[Sent]:
        sent: list[Sent] = []
        if command.velocity is not None:
            pose = self._body.senses.pose
            velocity = self._manners.slowed(command.velocity, None if pose is None else (pose.x, pose.y))
            sent.append(t.CMD_VEL_SKILL.of(TwistStamped.planar(now, *velocity)))
        if command.joints:
            sent.append(t.ARM_COMMAND_SKILL.of(_arm(now, dict(command.joints), command.joint_time_s)))
        if command.speech:
            speech = Speech(header=Header.at(now), text=command.speech, cause=run.lease.call.id)
            sent.append(t.SPEECH.of(speech))
        if command.route is not None:
            sent.append(t.ROUTE.of(Route(header=Header.at(now, "map"), goal=run.goal, path=command.route)))
        changed = bool(command.phase) and command.phase != run.phase
        run.phase = command.phase or run.phase
        if command.progress is not None:
            run.progress = min(1.0, max(0.0, command.progress))
        if changed or now - run.fed_back >= FEEDBACK_PERIOD_S:
            sent.append(self._feedback(now, run))
        return sent

    def _feedback(self, now: float, run: _Run) -> Sent:
        run.fed_back = now
        call = run.lease.call
        feedback = SkillFeedback(
            header=Header.at(now), lease=run.lease.id, call=call.id, skill=call.skill, phase=run.phase,
            progress=run.progress,
        )
        return t.SKILL_FEEDBACK.of(feedback)

    def _end(self, now: float, run: _Run, failure: Failure, detail: str, hold_arm: bool = True) -> None:
        """Close the program; the first reason to end stands."""
        if run.state is _State.ENDING:
            return
        if run.program is not None:
            try:
                run.program.close()
            except Exception as error:  # as above: whatever a program does, the body stops
                detail += f"; and its clean-up failed with {type(error).__name__}: {error}"
        begun = run.state is _State.RUNNING
        run.state, run.failure, run.detail, run.ending_since = _State.ENDING, failure, detail, now
        run.hold_arm = begun and hold_arm and run.moves_arm and self._has_arm
        if not begun:
            run.lease = run.lease.model_copy(update={"resources": []})

    def _settle(self, now: float, run: _Run) -> list[Sent]:
        """Command zero until the body is seen at rest, then say the outcome."""
        sent: list[Sent] = []
        if run.moves_base:
            sent += self._let_go(now)
        if run.hold_arm and self._body.senses.joints is not None:
            joints = self._body.senses.joints
            # The gripper keeps its last target: holding it where it is would let go of what it grips.
            here = {
                name: float(position)
                for name, position in zip(joints.name, joints.position, strict=True)
                if "wheel" not in name and name != "gripper"
            }
            sent.append(t.ARM_COMMAND_SKILL.of(_arm(now, here, 0.0)))
            run.hold_arm = False
        if self._at_rest(now, run):
            return [*sent, *self._say(now, run, run.failure, run.detail)]
        if now - run.ending_since > REST_LIMIT_S:
            detail = f"{self._unrest(run)}; before: {run.detail}"
            return [*sent, *self._say(now, run, Failure.HARDWARE_FAULT, detail)]
        return sent

    def _at_rest(self, now: float, run: _Run) -> bool:
        senses = self._body.senses
        if not (run.moves_base or run.moves_arm):
            return True
        if now - run.ending_since < REST_AT_LEAST_S:
            return False
        if run.moves_arm and not senses.arm_at_rest:
            return False
        if not run.moves_base:
            return True
        if senses.odometry is None or senses.odometry.header.stamp.seconds <= run.ending_since:
            return False
        through = senses.let_through
        if through is None or through.header.stamp.seconds < run.ending_since:
            return False
        halted = through.twist.linear.x == 0.0 and through.twist.angular.z == 0.0
        return halted and senses.base_at_rest

    def _unrest(self, run: _Run) -> str:
        """Why rest can't be believed."""
        senses = self._body.senses
        if run.moves_base and (senses.odometry is None or senses.odometry.header.stamp.seconds <= run.ending_since):
            return "odometry is silent, so nobody can tell whether the body is at rest"
        through = senses.let_through
        if run.moves_base and (through is None or through.header.stamp.seconds < run.ending_since):
            return "the reflex kernel is silent, so nobody can tell what the motors are told"
        if run.moves_arm and not senses.arm_at_rest:
            return "the arm does not come to rest"
        linear, angular = senses.speed
        return f"the base does not come to rest ({linear:.2f} m/s, {angular:.2f} rad/s)"

    def _say(self, now: float, run: _Run, failure: Failure, detail: str) -> list[Sent]:
        """The run is over."""
        self._runs.pop(run.lease.id, None)
        self._done.append(run.lease.id)
        outcome = Outcome(
            header=Header.at(now), lease=run.lease.id, call=run.lease.call, success=failure is Failure.NONE,
            failure=int(failure), detail=detail, duration_s=now - run.since,
        )
        return [t.OUTCOME.of(outcome)]


def _arm(now: float, targets: dict[str, float], time_s: float) -> JointTrajectory:
    nothing = np.zeros(0)
    point = JointTrajectoryPoint(
        positions=np.array(list(targets.values()), dtype=np.float64), velocities=nothing, accelerations=nothing,
        effort=nothing, time_from_start=Duration.of(time_s),
    )
    return JointTrajectory(header=Header.at(now), joint_names=list(targets), points=[point])
