"""Every topic of the graph, once: its name, its type, its quality of service."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from anima.runtime.processes import NODES, Process
from anima.types import audit, costs, glue, health, learning, link, mind, operator, parts, std, view
from anima.types.base import Msg

M = TypeVar("M", bound=Msg)


class Qos(Enum):
    """How a topic is carried. Depths are per subscriber."""

    SENSOR = "best effort, volatile, depth 5"
    STATE = "reliable, transient local, depth 1"
    COMMAND = "reliable, volatile, depth 1"
    EVENT = "reliable, volatile, depth 50"
    EVENT_LATCHED = "reliable, transient local, depth 50"


@dataclass(frozen=True)
class Sent:
    """A value on its way to a topic."""

    topic: Topic[Msg]
    value: Msg


@dataclass(frozen=True)
class Topic(Generic[M]):
    """A named channel of one type. Names are relative, so that a namespace isolates a robot."""

    name: str
    type: type[M]
    qos: Qos

    def of(self, value: M) -> Sent:
        """`value`, addressed to this topic."""
        return Sent(self, value)  # type: ignore[arg-type]  # Topic is only read through its bound


CLOCK = Topic("clock", std.Clock, Qos.SENSOR)
TF = Topic("tf", std.TFMessage, Qos.EVENT)
TF_STATIC = Topic("tf_static", std.TFMessage, Qos.STATE)
ROBOT_DESCRIPTION = Topic("robot_description", std.String, Qos.STATE)

SCAN = Topic("scan", std.LaserScan, Qos.SENSOR)
IMU = Topic("imu/data", std.Imu, Qos.SENSOR)
ODOM = Topic("odom", std.Odometry, Qos.SENSOR)
JOINT_STATES = Topic("joint_states", std.JointState, Qos.SENSOR)
BATTERY = Topic("battery_state", std.BatteryState, Qos.STATE)
BUMPERS = Topic("bumpers", mind.Bumpers, Qos.SENSOR)
CLIFFS = Topic("cliffs", mind.Cliffs, Qos.SENSOR)
CAMERA_COLOUR = Topic("camera/color/image_raw", std.Image, Qos.SENSOR)
CAMERA_DEPTH = Topic("camera/depth/image_raw", std.Image, Qos.SENSOR)
CAMERA_INFO = Topic("camera/color/camera_info", std.CameraInfo, Qos.SENSOR)
WRIST_IMAGE = Topic("wrist_camera/image_raw", std.Image, Qos.SENSOR)
OVERVIEW = Topic("sim/overview/image_raw", std.Image, Qos.SENSOR)
GROUND_TRUTH = Topic("sim/ground_truth", mind.GroundTruth, Qos.STATE)
FAULT = Topic("sim/fault", mind.Fault, Qos.EVENT)

CMD_VEL = Topic("cmd_vel", std.TwistStamped, Qos.COMMAND)
CMD_VEL_SKILL = Topic("cmd_vel_skill", std.TwistStamped, Qos.COMMAND)
CMD_VEL_TELEOP = Topic("cmd_vel_teleop", std.TwistStamped, Qos.COMMAND)
ARM_COMMAND = Topic("arm_controller/joint_trajectory", std.JointTrajectory, Qos.COMMAND)
ARM_COMMAND_TELEOP = Topic("arm_command_teleop", std.JointTrajectory, Qos.COMMAND)
JOY = Topic("joy", operator.Joy, Qos.SENSOR)
ARM_COMMAND_SKILL = Topic("arm_command_skill", std.JointTrajectory, Qos.COMMAND)
STOP_REQUEST = Topic("software_stop/request", mind.StopRequest, Qos.EVENT)
STOP_STATE = Topic("software_stop/state", mind.StopState, Qos.STATE)
REFLEX_EVENT = Topic("reflex_event", mind.ReflexEvent, Qos.EVENT)

LINK_STATE = Topic("link_state", link.LinkState, Qos.STATE)

INITIAL_POSE = Topic("initialpose", std.PoseWithCovarianceStamped, Qos.EVENT)
POSE = Topic("pose", std.PoseWithCovarianceStamped, Qos.STATE)
PARTICLES = Topic("particles", std.PoseArray, Qos.SENSOR)
MAP = Topic("map", std.OccupancyGrid, Qos.STATE)
SIGNS = Topic("signs", std.String, Qos.EVENT)
DETECTIONS = Topic("detections", mind.Detections, Qos.EVENT)
WORLD_STATE = Topic("world_state", mind.WorldState, Qos.STATE)
ROUTE = Topic("route", mind.Route, Qos.STATE)

UTTERANCE = Topic("utterance", mind.Utterance, Qos.EVENT)
SPEECH = Topic("speech", mind.Speech, Qos.EVENT)
REPLY = Topic("reply", mind.Speech, Qos.EVENT)
OBJECTIVES = Topic("objectives", mind.Objectives, Qos.EVENT)
BACKLOG = Topic("backlog", mind.Backlog, Qos.STATE)
THOUGHT = Topic("thought", mind.Thought, Qos.EVENT)
CONTEXT = Topic("context", glue.ContextPacket, Qos.STATE)
VERDICT = Topic("verdict", mind.Verdict, Qos.EVENT)
OPERATOR_VERDICT = Topic("operator_verdict", mind.Verdict, Qos.EVENT)
OPERATOR_CALL = Topic("operator_call", mind.SkillCall, Qos.EVENT)
LEASE = Topic("lease", mind.Lease, Qos.EVENT)
SKILL_FEEDBACK = Topic("skill_feedback", mind.SkillFeedback, Qos.EVENT)
OUTCOME = Topic("outcome", mind.Outcome, Qos.EVENT)

EVENTS = Topic("events", glue.Event, Qos.EVENT)
SALIENCE = Topic("salience", glue.Salient, Qos.EVENT)
RESOURCES = Topic("resources", glue.Resources, Qos.STATE)
BODY_COSTS = Topic("body_costs", costs.BodyCosts, Qos.STATE)
RISKS = Topic("risks", costs.Risks, Qos.STATE)
CONFLICT = Topic("conflict", glue.Conflict, Qos.EVENT)
CONDITION = Topic("condition", glue.Condition, Qos.STATE)
RECALL = Topic("recall", glue.Recall, Qos.STATE)
EPISODES = Topic("episodes", glue.Episode, Qos.EVENT)
GOAL_TENSION = Topic("goal_tension", glue.GoalTension, Qos.STATE)
FORECAST = Topic("forecast", glue.Forecast, Qos.EVENT)
TEMPERAMENT = Topic("temperament", glue.Temperament, Qos.STATE)
BIDS = Topic("bids", parts.PartBids, Qos.EVENT)
STANCES = Topic("stances", parts.Stances, Qos.STATE)
PART_CHANGES = Topic("part_changes", parts.PartChange, Qos.EVENT)

REACTION = Topic("reaction", learning.Reaction, Qos.EVENT)
GUIDANCE = Topic("guidance", learning.Guidance, Qos.STATE)
REMINDER = Topic("reminder", learning.Reminder, Qos.EVENT)
ENCOUNTER_END = Topic("encounter_end", learning.EncounterEnd, Qos.EVENT)
LEARNING_TURN = Topic("learning_turn", learning.LearningTurn, Qos.EVENT)

MARKERS = Topic("markers", view.MarkerArray, Qos.STATE)
PLAN = Topic("plan", std.Path, Qos.STATE)
COSTMAP = Topic("local_costmap/costmap", std.OccupancyGrid, Qos.STATE)
DIAGNOSTICS = Topic("diagnostics", health.DiagnosticArray, Qos.EVENT)

# For every process that there may be: the five, and one per node. A graph has those of `processes.processes`.
_MIND = (Process.BRAIN, Process.PLANNER)
_THINKING = (*(process.value for process in _MIND), *(node for node, process in NODES.items() if process in _MIND))
_ALL = tuple(dict.fromkeys((*(process.value for process in Process), *NODES)))
HEARTBEATS = {process: Topic(f"heartbeat/{process}", mind.Heartbeat, Qos.SENSOR) for process in _ALL}
BRAIN_STATUS = {process: Topic(f"brain_status/{process}", audit.BrainStatus, Qos.STATE) for process in _ALL}
JOURNALS = {process: Topic(f"journal/{process}", audit.JournalChunk, Qos.EVENT_LATCHED) for process in _THINKING}
