"""The brain table: every node, its region, process, rate, topics. Launch, console, docs and tests derive from it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from anima import topics as t
from anima.config import Settings
from anima.runtime.component import Component
from anima.runtime.processes import BEHIND_A_BOARD, processes
from anima.runtime.processes import Process as Process

AnyTopic = t.Topic[Any]


@dataclass(frozen=True)
class Row:
    """One node. It steps at `rate_hz` of ROS time and besides whenever a topic in `wakes` brings something.

    `component` is ``module:Class``, called with the `Settings`; `region` is the brain region of the doctrine's
    table, empty for what stands beside the table. `steers`: while its process gives no sign of life, no skill moves
    the body; what is done without the others is poorer, but safe.
    """

    node: str
    region: str
    process: Process
    rate_hz: float
    component: str
    takes: tuple[AnyTopic, ...]
    gives: tuple[AnyTopic, ...]
    doc: str
    wakes: tuple[AnyTopic, ...] = ()
    steers: bool = False

    def home(self, composed: bool) -> str:
        """The name of the process that it lives in: a shared one, or one of its own."""
        return self.process.value if composed else self.node

    def load(self) -> Callable[..., Component]:
        """The class of this row's component."""
        module, _, name = self.component.partition(":")
        return cast("Callable[..., Component]", getattr(importlib.import_module(module), name))

    def build(self, settings: Settings) -> Component:
        """The component of this row."""
        return self.load()(settings)


_ROWS: tuple[Row, ...] = (
    Row(
        "body", "", Process.BODY, 50, "anima_sim.body:SimulatedBody",
        takes=(t.CMD_VEL, t.ARM_COMMAND, t.FAULT),
        gives=(
            t.CLOCK, t.ODOM, t.JOINT_STATES, t.IMU, t.SCAN, t.BUMPERS, t.CLIFFS, t.BATTERY, t.CAMERA_COLOUR,
            t.CAMERA_DEPTH, t.CAMERA_INFO, t.WRIST_IMAGE, t.GROUND_TRUTH, t.OVERVIEW,
        ),
        doc="the simulated robot in its flat",
        steers=True,
    ),
    Row(
        "state_publisher", "", Process.BODY, 20, "anima.body.state_publisher:StatePublisher",
        takes=(t.JOINT_STATES, t.ODOM),
        gives=(t.TF, t.TF_STATIC, t.ROBOT_DESCRIPTION),
        doc="the robot model and the transforms of its links and odometry",
    ),
    Row(
        "teleop", "", Process.BODY, 20, "anima.body.teleop.node:Teleop",
        takes=(t.JOY, t.JOINT_STATES),
        gives=(t.CMD_VEL_TELEOP, t.ARM_COMMAND_TELEOP),
        doc="a person's hands: gamepad or keyboard, while a dead-man button is held",
        wakes=(t.JOY,),
    ),
    Row(
        "diagnostics", "", Process.BODY, 1, "anima.body.diagnostics.node:Diagnostics",
        takes=(t.BATTERY, t.LINK_STATE, t.STOP_STATE, t.POSE, t.THOUGHT),
        gives=(t.DIAGNOSTICS,),
        doc="how every node, the battery, the link, the stop, the position and the language model are",
    ),
    Row(
        "reflex_kernel", "brainstem", Process.REFLEX, 50, "anima.regions.brainstem:ReflexKernel",
        takes=(
            t.SCAN, t.BUMPERS, t.CLIFFS, t.IMU, t.ODOM, t.JOINT_STATES, t.CMD_VEL_SKILL, t.CMD_VEL_TELEOP,
            t.ARM_COMMAND_SKILL, t.ARM_COMMAND_TELEOP, t.STOP_REQUEST,
        ),
        gives=(t.CMD_VEL, t.ARM_COMMAND, t.STOP_STATE, t.REFLEX_EVENT),
        doc="the only way to the motors: mux, limits, reflexes, software stop",
    ),
    Row(
        "localization", "", Process.PERCEPTION, 20, "anima.body.localization.node:Localization",
        takes=(t.SCAN, t.ODOM, t.BATTERY, t.INITIAL_POSE),
        gives=(t.POSE, t.TF, t.MAP, t.PARTICLES),
        doc="where the robot is on the map by lidar and odometry, or that it is lost",
        steers=True,
    ),
    Row(
        "perception", "", Process.PERCEPTION, 10, "anima.body.perception.node:Perception",
        takes=(t.CAMERA_COLOUR, t.CAMERA_DEPTH, t.CAMERA_INFO, t.POSE, t.ODOM, t.JOINT_STATES),
        gives=(t.DETECTIONS,),
        doc="objects seen in the RGB-D image, placed in the map",
    ),
    Row(
        "ears", "", Process.BRAIN, 1, "anima.voice.ears:Ears",
        takes=(),
        gives=(t.UTTERANCE,),
        doc="what people say to the robot (service `say`)",
        steers=True,
    ),
    Row(
        "sign_reader", "", Process.PERCEPTION, 1, "anima.body.perception.signs:SignReader",
        takes=(t.CAMERA_COLOUR,),
        gives=(t.SIGNS,),
        doc="what is written on signs (QR codes) in the camera image",
    ),
    Row(
        "markers", "", Process.PERCEPTION, 2, "anima.view.markers:Markers",
        takes=(
            t.WORLD_STATE, t.DETECTIONS, t.BACKLOG, t.LEASE, t.OUTCOME, t.SALIENCE, t.STOP_STATE, t.ROUTE,
        ),
        gives=(t.MARKERS, t.PLAN),
        doc="what rviz and Foxglove show of the mind",
    ),
    Row(
        "parietal_affordance", "parietal", Process.BRAIN, 5, "anima.regions.parietal:ParietalAffordance",
        takes=(t.DETECTIONS, t.POSE, t.ODOM, t.JOINT_STATES, t.BATTERY, t.STOP_STATE, t.OUTCOME),
        gives=(t.WORLD_STATE,),
        doc="what is known of the world now",
        wakes=(t.DETECTIONS, t.OUTCOME),
        steers=True,
    ),
    Row(
        "thalamus_router", "thalamus", Process.BRAIN, 10, "anima.regions.thalamus:Thalamus",
        takes=(
            t.UTTERANCE, t.OUTCOME, t.VERDICT, t.OPERATOR_VERDICT, t.REFLEX_EVENT, t.STOP_STATE, t.BATTERY,
            t.WORLD_STATE, t.CONFLICT, t.JOINT_STATES, t.SIGNS,
        ),
        gives=(t.EVENTS,),
        doc="what happened, once: routed, de-duplicated, habituated, rate-limited per source",
        wakes=(t.UTTERANCE, t.OUTCOME, t.REFLEX_EVENT),
    ),
    Row(
        "amygdala_salience", "amygdala", Process.BRAIN, 10, "anima.regions.amygdala:Amygdala",
        takes=(t.EVENTS, t.WORLD_STATE, t.BACKLOG, t.LEASE, t.OUTCOME, t.RESOURCES, t.TEMPERAMENT),
        gives=(t.SALIENCE,),
        doc="how much an event matters now, and whether it interrupts",
        wakes=(t.EVENTS,),
    ),
    Row(
        "hypothalamus_arbiter", "hypothalamus", Process.BRAIN, 1, "anima.regions.hypothalamus:Hypothalamus",
        takes=(t.BATTERY, t.JOINT_STATES, t.WORLD_STATE, t.STOP_STATE, t.BACKLOG, t.OUTCOME, t.POSE),
        gives=(t.RESOURCES, t.BODY_COSTS),
        doc="what the body can afford: charge drive, thinking time, range",
    ),
    Row(
        "acc_conflict", "acc", Process.BRAIN, 5, "anima.regions.acc:ConflictMonitor",
        takes=(t.OUTCOME, t.BACKLOG, t.WORLD_STATE, t.SKILL_FEEDBACK, t.LEASE),
        gives=(t.CONFLICT,),
        doc="effort that does not turn into progress",
        wakes=(t.OUTCOME, t.WORLD_STATE),
    ),
    Row(
        "insula_condition", "insula", Process.BRAIN, 1, "anima.regions.insula:Insula",
        takes=(
            t.OUTCOME, t.REFLEX_EVENT, t.CONFLICT, t.VERDICT, t.THOUGHT, t.LEASE, t.BACKLOG, t.RESOURCES,
        ),
        gives=(t.CONDITION,),
        doc="chronic small failures folded into one label and one mode",
        wakes=(t.OUTCOME, t.CONFLICT),
    ),
    Row(
        "striatum_tension", "striatum", Process.BRAIN, 1, "anima.regions.striatum:Striatum",
        takes=(t.BACKLOG, t.OUTCOME, t.WORLD_STATE, t.RESOURCES, t.CONDITION, t.TEMPERAMENT, t.UTTERANCE),
        gives=(t.GOAL_TENSION,),
        doc="the pressure of what is unfinished; initiative when idle",
    ),
    Row(
        "prospection", "prospection", Process.BRAIN, 5, "anima.regions.prospection:Prospection",
        takes=(t.VERDICT, t.WORLD_STATE, t.RESOURCES, t.CONDITION, t.RECALL, t.TEMPERAMENT, t.OUTCOME),
        gives=(t.FORECAST, t.RISKS),
        doc="two or three short rollouts of a doubtful or risky call before it begins",
        wakes=(t.VERDICT,),
    ),
    Row(
        "dmn_temperament", "dmn", Process.BRAIN, 0.5, "anima.regions.temperament:TemperamentDrift",
        takes=(t.OUTCOME, t.BACKLOG, t.CONFLICT, t.OPERATOR_VERDICT),
        gives=(t.TEMPERAMENT,),
        doc="slow drift of initiative, persistence and caution",
    ),
    Row(
        "memory", "", Process.BRAIN, 2, "anima.memory.node:MemoryKeeper",
        takes=(t.EPISODES, t.TEMPERAMENT, t.BACKLOG, t.BODY_COSTS, t.RISKS, t.POSE),
        gives=(),
        doc="writes down what must survive a restart: episodes, objectives, temperament, costs and risks, place",
    ),
    Row(
        "basal_ganglia_gate", "basal_ganglia", Process.BRAIN, 10, "anima.regions.basal_ganglia:BasalGanglia",
        takes=(
            t.OBJECTIVES, t.VERDICT, t.OPERATOR_CALL, t.OUTCOME, t.WORLD_STATE, t.UTTERANCE, t.STOP_STATE,
            t.SKILL_FEEDBACK, t.SALIENCE, t.RESOURCES, t.CONFLICT, t.CONDITION, t.GOAL_TENSION, t.FORECAST,
            t.TEMPERAMENT, t.BIDS, t.STANCES,
        ),
        gives=(t.BACKLOG, t.LEASE, t.OPERATOR_VERDICT),
        doc="one focus, one lease per body resource, deadlines and retry budgets",
        wakes=(t.OBJECTIVES, t.VERDICT, t.OPERATOR_CALL, t.OUTCOME, t.UTTERANCE),
        steers=True,
    ),
    Row(
        "hippocampus_episodes", "hippocampus", Process.BRAIN, 5, "anima.regions.hippocampus:Hippocampus",
        takes=(t.WORLD_STATE, t.BACKLOG, t.LEASE, t.OUTCOME, t.CONDITION, t.REFLEX_EVENT),
        gives=(t.RECALL, t.EPISODES),
        doc="what was lived, and what comes to mind by itself before acting",
        wakes=(t.BACKLOG, t.OUTCOME, t.WORLD_STATE),
    ),
    Row(
        "motor_cortex", "motor_cortex", Process.BRAIN, 20, "anima.regions.motor_cortex:MotorCortex",
        takes=(
            t.LEASE, t.WORLD_STATE, t.POSE, t.ODOM, t.SCAN, t.JOINT_STATES, t.DETECTIONS, t.CMD_VEL, t.STOP_STATE,
            t.GUIDANCE, t.STANCES,
        ),
        gives=(t.CMD_VEL_SKILL, t.ARM_COMMAND_SKILL, t.OUTCOME, t.SKILL_FEEDBACK, t.SPEECH, t.ROUTE, t.COSTMAP),
        doc="runs the leased skill's motor program and says how it ended",
        wakes=(t.LEASE,),
        steers=True,
    ),
    Row(
        "prefrontal_planner", "prefrontal", Process.PLANNER, 10, "anima.planner.prefrontal:PrefrontalPlanner",
        takes=(
            t.UTTERANCE, t.BACKLOG, t.WORLD_STATE, t.OUTCOME, t.VERDICT, t.SKILL_FEEDBACK, t.SALIENCE, t.RESOURCES,
            t.CONFLICT, t.CONDITION, t.RECALL, t.FORECAST, t.TEMPERAMENT, t.GUIDANCE, t.REMINDER, t.STANCES,
        ),
        gives=(t.OBJECTIVES, t.VERDICT, t.REPLY, t.THOUGHT, t.CONTEXT),
        doc="turns words into objectives and the focus into one skill call at a time",
        wakes=(t.UTTERANCE, t.BACKLOG, t.OUTCOME, t.VERDICT),
        steers=True,
    ),
    Row(
        "learner", "", Process.PLANNER, 5, "anima.learning.learner:Learner",
        takes=(
            t.UTTERANCE, t.REPLY, t.SPEECH, t.LEASE, t.OUTCOME, t.BACKLOG, t.WORLD_STATE, t.STOP_STATE,
            t.CMD_VEL_TELEOP, t.REFLEX_EVENT, t.ENCOUNTER_END,
        ),
        gives=(t.REACTION, t.GUIDANCE, t.REMINDER, t.LEARNING_TURN),
        doc="observes how people take what the robot does, and keeps what to do differently next time",
        wakes=(t.UTTERANCE, t.ENCOUNTER_END),
    ),
    Row(
        "parts_self", "", Process.PLANNER, 5, "anima.parts.node:PartsSelf",
        takes=(t.EVENTS, t.SALIENCE, t.WORLD_STATE, t.BACKLOG, t.RESOURCES),
        gives=(t.BIDS, t.STANCES, t.PART_CHANGES),
        doc="parts that bid about what happens, and a Self that chooses which of them to follow",
    ),
)

SERIAL_BODY = Row(
    "driver", "", Process.BODY, 50, "anima.body.link.driver:SerialBody",
    takes=(t.CMD_VEL, t.ARM_COMMAND, t.STOP_STATE),
    gives=(
        t.ODOM, t.JOINT_STATES, t.IMU, t.BUMPERS, t.CLIFFS, t.BATTERY, t.LINK_STATE, t.STOP_REQUEST,
    ),
    doc="the robot's body over the serial link to its brainstem",
    steers=True,
)
"""Takes the simulated body's place where a board drives the body: on a robot, and with `sim: firmware`."""

WORLD = Row(
    "world", "", Process.BODY, 50, "anima_sim.board.plant:FirmwareWorld",
    takes=(t.FAULT,),
    gives=(
        t.CLOCK, t.SCAN, t.CAMERA_COLOUR, t.CAMERA_DEPTH, t.CAMERA_INFO, t.WRIST_IMAGE, t.GROUND_TRUTH, t.OVERVIEW,
    ),
    doc="with `sim: firmware`, in a process of its own: the simulated world, and the emulated board in it",
)


TRUE_POSE = Row(
    "localization", "", Process.PERCEPTION, 20, "anima_sim.true_pose:TruePose",
    takes=(t.GROUND_TRUTH, t.ODOM),
    gives=(t.POSE, t.TF, t.MAP),
    doc="where the simulated robot really is",
    steers=True,
)
"""Takes localization's place with `pose: truth`, to measure what the errors of localization cost."""


def _told_of(names: Iterable[str], rows: Sequence[Row], composed: bool) -> tuple[Row, ...]:
    """`rows` with what the reflexes and the diagnostics hear of the processes."""
    told: dict[str, tuple[AnyTopic, ...]] = {
        "reflex_kernel": tuple(t.HEARTBEATS[name] for name in _steering(rows, composed)),
        "diagnostics": tuple(t.BRAIN_STATUS[name] for name in names),
    }
    return tuple(replace(row, takes=(*row.takes, *told.get(row.node, ()))) for row in rows)


def _steering(rows: Iterable[Row], composed: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.home(composed) for row in rows if row.steers))


@cache
def table(sim: str = "mujoco", composed: bool = True, pose: str = "own") -> tuple[Row, ...]:
    """The rows of a robot whose body is simulated by `sim`; ``none`` and ``firmware`` have a board behind a line.

    `composed`: several nodes share a process (`Row.process`), else each has one of its own. `pose`: ``own`` is what
    localization finds, ``truth`` the simulator's.
    """
    rows = (SERIAL_BODY, *_ROWS[1:]) if sim in BEHIND_A_BOARD else _ROWS
    if pose == "truth":
        rows = tuple(TRUE_POSE if row.node == TRUE_POSE.node else row for row in rows)
    return _told_of(processes(composed, sim), rows, composed)


TABLE = table()


def rows_of(process: str, sim: str = "mujoco", composed: bool = True, pose: str = "own") -> list[Row]:
    """The rows that live in a process, in the table's order; none if the graph has no such process."""
    return [row for row in table(sim, composed, pose) if row.home(composed) == process]


def steering(sim: str = "mujoco", composed: bool = True) -> tuple[str, ...]:
    """The processes whose silence takes the body out of the skills' hands."""
    return _steering(table(sim, composed), composed)


def publishers(rows: Iterable[Row] = TABLE) -> dict[str, list[str]]:
    """Topic name -> the nodes that publish it."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for topic in row.gives:
            found.setdefault(topic.name, []).append(row.node)
    return found
