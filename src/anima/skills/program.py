"""How a motor program is written: a generator that yields commands and sees the body's newest senses after each.

A program is ``def run(arguments, body) -> Program``. Each step of the motor cortex (20 Hz) resumes it once; it reads
`body.senses`, computes for far less than a millisecond, and yields one `Command`. It returns a sentence about what it
achieved, or raises `Failed`. Parts are programs too: ``yield from other(...)`` runs one inside another, and
`body.senses` is fresh when it comes back. A program that is cancelled is closed at its yield (so `finally` runs,
but must not yield again); the motor cortex then brings the body to rest itself.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from anima.body.navigation.navigator import Navigator
from anima.body.places import Places
from anima.body.pose import Pose2D
from anima.config import Settings
from anima.failure import Failure
from anima.skills.arguments import Arguments
from anima.types.mind import Detections, StopState, WorldState
from anima.types.std import JointState, LaserScan, Odometry, Path, TwistStamped

T = TypeVar("T")

# Below these the body counts as being at rest.
REST_MPS = 0.01
REST_RADPS = 0.02
REST_JOINT_RADPS = 0.05


class Failed(Exception):
    """A program can't reach its goal: the typed failure, and a sentence that says what, where and how far it got."""

    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(f"{failure.word}: {detail}")
        self.failure = failure
        self.detail = detail


@dataclass(frozen=True)
class Senses:
    """What the body feels and knows at one moment.

    `pose` is base_link in the map, carried on by odometry since the last localization; `detections` holds only those
    that are new since the step before; `let_through` is the velocity that the reflex kernel really sent to the motors.
    """

    now: float
    pose: Pose2D | None = None
    odometry: Odometry | None = None
    scan: LaserScan | None = None
    joints: JointState | None = None
    world: WorldState | None = None
    detections: Sequence[Detections] = ()
    let_through: TwistStamped | None = None
    stop: StopState | None = None
    has_arm: bool = True

    @property
    def speed(self) -> tuple[float, float]:
        """Forward m/s and counter-clockwise rad/s by odometry; NaN before the first."""
        if self.odometry is None:
            return math.nan, math.nan
        twist = self.odometry.twist.twist
        return twist.linear.x, twist.angular.z

    @property
    def base_at_rest(self) -> bool:
        """Whether odometry shows the base standing still."""
        linear, angular = self.speed
        return abs(linear) < REST_MPS and abs(angular) < REST_RADPS

    @property
    def arm_at_rest(self) -> bool:
        """Whether no joint but the wheels moves; true of a body without an arm."""
        if not self.has_arm:
            return True
        return self.joints is not None and all(
            abs(speed) < REST_JOINT_RADPS
            for name, speed in zip(self.joints.name, self.joints.velocity, strict=True)
            if "wheel" not in name
        )

    def joint(self, name: str) -> float:
        """Position of a joint, radians; raises `Failed` (hardware_fault) if nothing reports it."""
        if self.joints is None or name not in self.joints.name:
            raise Failed(Failure.HARDWARE_FAULT, f"no joint state of {name}: is the body connected?")
        return float(self.joints.position[self.joints.name.index(name)])

    def located(self) -> Pose2D:
        """The pose in the map; raises `Failed` (precondition_unmet) when it is not known."""
        if self.pose is None:
            raise Failed(Failure.PRECONDITION_UNMET, "the robot does not know where it is")
        return self.pose

    def known_world(self) -> WorldState:
        """The state of the world; raises `Failed` (precondition_unmet) before the first one came."""
        if self.world is None:
            raise Failed(Failure.PRECONDITION_UNMET, "nothing is known of the world yet")
        return self.world


@dataclass(frozen=True)
class Command:
    """What a program wants of the body until its next step. Everything left out stays as it is.

    `velocity` is (forward m/s, counter-clockwise rad/s); without one the motor cortex publishes none, and the reflex
    kernel holds the base. `joints` are targets in radians, reached `joint_time_s` from now (0: as fast as the reflex
    kernel allows); a joint keeps its last target, so send one only when it changes. `phase` in words and `progress`
    0..1 are told to whoever watches. `speech` is spoken once. `route` replaces the path on display.
    """

    velocity: tuple[float, float] | None = None
    joints: Mapping[str, float] = field(default_factory=dict)
    joint_time_s: float = 0.0
    phase: str = ""
    progress: float | None = None
    speech: str = ""
    route: Path | None = None


Steps = Generator[Command, None, T]
"""A part of a program that comes back with a `T`."""

Program = Steps[str]
"""A whole program: it comes back with a sentence about what it achieved."""

ProgramStart = Callable[[Any, "Body"], Program]


@dataclass
class Body:
    """What a program works with. `senses` is renewed before every step; the rest stays.

    `first_places` are surfaces that people said to search first, as the guidance of the moment has them.
    """

    settings: Settings
    places: Places
    navigator: Navigator
    senses: Senses
    first_places: Sequence[str] = ()


def load_program(skill: str) -> ProgramStart:
    """The program of a skill: `run` of the module in `anima.skills.programs` that bears the skill's name."""
    return cast(ProgramStart, importlib.import_module(f"anima.skills.programs.{skill}").run)


def start_program(skill: str, arguments: Arguments, body: Body) -> Program:
    """A program ready for its first step."""
    return load_program(skill)(arguments, body)


def hold_still(body: Body, seconds: float, phase: str = "") -> Steps[None]:
    """Stand for a while."""
    until = body.senses.now + seconds
    while body.senses.now < until:
        yield Command(velocity=(0.0, 0.0), phase=phase)


def come_to_rest(body: Body, patience_s: float = 2.0, phase: str = "") -> Steps[None]:
    """Brake until base and arm are still; raises `Failed` (hardware_fault) when they don't within `patience_s`."""
    until = body.senses.now + patience_s
    yield Command(velocity=(0.0, 0.0), phase=phase)
    while not (body.senses.base_at_rest and body.senses.arm_at_rest):
        if body.senses.now > until:
            raise Failed(Failure.HARDWARE_FAULT, f"the body still moves {patience_s:g} s after it was told to stop")
        yield Command(velocity=(0.0, 0.0), phase=phase)


def move_joints(
    body: Body,
    targets: Mapping[str, float],
    *,
    time_s: float = 0.0,
    tolerance_rad: float = 0.05,
    patience_s: float = 4.0,
    phase: str = "",
) -> Steps[bool]:
    """Move joints and wait until all are there and still; False when one is not after `time_s` + `patience_s`."""
    until = body.senses.now + time_s + patience_s
    earliest = body.senses.now + time_s
    yield Command(joints=targets, joint_time_s=time_s, phase=phase)
    while True:
        there = all(abs(body.senses.joint(name) - target) <= tolerance_rad for name, target in targets.items())
        if there and body.senses.arm_at_rest and body.senses.now >= earliest:
            return True
        if body.senses.now > until:
            return False
        yield Command(phase=phase)
