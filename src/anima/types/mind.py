"""Twins of `anima_msgs`: what the mind's own nodes say to each other."""

from __future__ import annotations

from typing import ClassVar

from .base import Float64s, Header, Msg, Time
from .std import Path, Point, Pose, Range, Vector3

# --- body -------------------------------------------------------------------------------------


class Bumpers(Msg):
    """Which bumpers are pressed."""

    ros: ClassVar[str] = "anima_msgs/msg/Bumpers"
    header: Header
    front_left: bool
    front_right: bool


class Cliffs(Msg):
    """Downward ranges to the floor, one per sensor; the sensor is the range's `header.frame_id`."""

    ros: ClassVar[str] = "anima_msgs/msg/Cliffs"
    header: Header
    ranges: list[Range]


class ObjectTruth(Msg):
    """Where the simulator has an object: `support` is a surface, `gripper`, `floor` or empty."""

    ros: ClassVar[str] = "anima_msgs/msg/ObjectTruth"
    name: str
    pose: Pose
    support: str


class GroundTruth(Msg):
    """The simulator's own truth, frame map: for the judge alone, never for the mind."""

    ros: ClassVar[str] = "anima_msgs/msg/GroundTruth"
    header: Header
    robot: Pose
    linear_speed: float
    angular_speed: float
    wheel_speeds: Float64s
    objects: list[ObjectTruth]
    collisions: int
    worst_collision_speed: float
    docked: bool


class Fault(Msg):
    """A fault to inject into a simulated body; an empty `kind` clears all."""

    ros: ClassVar[str] = "anima_msgs/msg/Fault"
    kind: str
    target: str = ""
    duration_s: float = 0.0


# --- reflex -----------------------------------------------------------------------------------


class StopRequest(Msg):
    """Latches the software stop, or resets it; a reset never restarts motion."""

    ros: ClassVar[str] = "anima_msgs/msg/StopRequest"
    header: Header
    stop: bool
    source: str


class StopState(Msg):
    """What keeps the body from the mind: `latched` by the software stop, or `active` (names of reflexes, `teleop`)."""

    ros: ClassVar[str] = "anima_msgs/msg/StopState"
    header: Header
    latched: bool
    source: str
    active: list[str]


class ReflexEvent(Msg):
    """A reflex began (`active`) or ended. `kind`: obstacle, bumper, cliff, tilt, stall, stale_command,
    invalid_command, software_stop, process_silent, sensor_silent; teleop: a person drives base or arm by hand."""

    ros: ClassVar[str] = "anima_msgs/msg/ReflexEvent"
    header: Header
    kind: str
    active: bool
    detail: str


class Heartbeat(Msg):
    """A process lives and has worked through its inputs up to the stamp."""

    ros: ClassVar[str] = "anima_msgs/msg/Heartbeat"
    header: Header
    process: str


# --- perception and world ----------------------------------------------------------------------


class Detection(Msg):
    """One object seen in one image, placed in the map: metres; `shape` cube, cylinder, ball or block."""

    ros: ClassVar[str] = "anima_msgs/msg/Detection"
    colour: str
    shape: str
    position: Point
    yaw: float
    size: Vector3
    confidence: float


class View(Msg):
    """How much of a surface the image covered well enough to have seen a graspable object, 0..1."""

    ros: ClassVar[str] = "anima_msgs/msg/View"
    surface: str
    coverage: float


class Detections(Msg):
    """All that one image showed, frame map. `views` names the surfaces looked at, seen objects or not."""

    ros: ClassVar[str] = "anima_msgs/msg/Detections"
    header: Header
    detections: list[Detection]
    views: list[View]


class ObjectState(Msg):
    """A tracked object. `status`: tentative, confirmed, absent (looked again and it was gone).

    `name` is colour and shape (``red_cube``); `place` a surface, ``gripper``, ``floor`` or empty.
    """

    ros: ClassVar[str] = "anima_msgs/msg/ObjectState"
    name: str
    colour: str
    shape: str
    status: str
    position: Point
    yaw: float
    size: Vector3
    place: str
    last_seen: Time
    confidence: float


class SurfaceState(Msg):
    """A surface of the known map and how much of it has been looked at since `since`."""

    ros: ClassVar[str] = "anima_msgs/msg/SurfaceState"
    name: str
    coverage: float
    last_viewed: Time


class WorldState(Msg):
    """What is known now, compact and diffable, frame map.

    `place` is the named place that the robot stands at (surface, dock, person) or empty, `room` the room.
    `facts` are the true predicates in canonical text, e.g. ``at(red_cube, kitchen_table)``,
    ``holding(red_cube)``, ``at(robot, kitchen)``, ``docked``: sorted, no duplicates.
    """

    ros: ClassVar[str] = "anima_msgs/msg/WorldState"
    header: Header
    robot: Pose
    room: str
    place: str
    holding: str
    docked: bool
    battery: float
    stopped: bool
    localized: bool
    objects: list[ObjectState]
    surfaces: list[SurfaceState]
    facts: list[str]


# --- intent ------------------------------------------------------------------------------------


class Utterance(Msg):
    """What a person said."""

    ros: ClassVar[str] = "anima_msgs/msg/Utterance"
    header: Header
    id: str
    speaker: str
    text: str


class Speech(Msg):
    """What the robot says. `cause` is the id of the utterance or call that it comes from."""

    ros: ClassVar[str] = "anima_msgs/msg/Speech"
    header: Header
    text: str
    cause: str


class Objective(Msg):
    """Something to bring about, with a done-condition that a machine can check over `WorldState`.

    `condition` is one predicate in canonical text; `order` objectives of one utterance are done in turn.
    `state`: pending, focused, done, parked, declined, failed, cancelled.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Objective"
    id: str
    condition: str
    said: str
    source: str
    order: int
    state: str
    reason: str
    created: Time


class Objectives(Msg):
    """New objectives from one source. `replace` drops what was pending before (a new order replaces an old one)."""

    ros: ClassVar[str] = "anima_msgs/msg/Objectives"
    header: Header
    objectives: list[Objective]
    replace: bool


class Backlog(Msg):
    """Every objective that the gate keeps, and the one in focus (empty id: none), with the reason.

    `recovery` is what is being done about the focus's last failure (``after grasp_failed: rescan``), or empty.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Backlog"
    header: Header
    objectives: list[Objective]
    focus: str
    why: str
    failures: list[str]
    recovery: str = ""


class SkillCall(Msg):
    """A proposed or accepted call of a skill; `arguments` is a JSON object of the skill's parameters.

    `source`: planner, operator, reflex, or the gate itself: playbook, hypothalamus. `because` holds ids of what it was
    decided from.
    """

    ros: ClassVar[str] = "anima_msgs/msg/SkillCall"
    header: Header
    id: str
    skill: str
    arguments: str
    objective: str
    source: str
    because: list[str]


class Verdict(Msg):
    """What the validator says of a call: accepted (perhaps corrected, then `call` is the corrected one) or refused."""

    ros: ClassVar[str] = "anima_msgs/msg/Verdict"
    header: Header
    call: SkillCall
    accepted: bool
    correction: str
    failure: int
    reason: str
    repair: str


class Lease(Msg):
    """The gate lets a call hold resources until the deadline (`granted`), or takes them back."""

    ros: ClassVar[str] = "anima_msgs/msg/Lease"
    header: Header
    id: str
    call: SkillCall
    resources: list[str]
    deadline: Time
    granted: bool
    reason: str


class SkillFeedback(Msg):
    """Where a running skill is: `phase` in words, `progress` 0..1."""

    ros: ClassVar[str] = "anima_msgs/msg/SkillFeedback"
    header: Header
    lease: str
    call: str
    skill: str
    phase: str
    progress: float


class Outcome(Msg):
    """How a call ended; the body has stopped before it is said. `failure` is a `Failure` code, 0 for success."""

    ros: ClassVar[str] = "anima_msgs/msg/Outcome"
    header: Header
    lease: str
    call: SkillCall
    success: bool
    failure: int
    detail: str
    duration_s: float


class Thought(Msg):
    """One turn of the language model, for people and the audit: what it was asked, said, and what that cost."""

    ros: ClassVar[str] = "anima_msgs/msg/Thought"
    header: Header
    id: str
    role: str
    prompt: str
    text: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    prefill_s: float
    decode_s: float
    error: str


class Route(Msg):
    """The path that the navigator follows now, frame map, and its goal place (for pictures and rviz)."""

    ros: ClassVar[str] = "anima_msgs/msg/Route"
    header: Header
    goal: str
    path: Path
