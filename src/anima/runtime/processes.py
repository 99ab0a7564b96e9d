"""The operating-system processes of the graph. Standard library only: launch files read it with ROS 2's own Python."""

from enum import Enum


class Process(Enum):
    """The operating-system processes that the nodes live in, in order of start."""

    BODY = "body"
    REFLEX = "reflex"
    PERCEPTION = "perception"
    BRAIN = "brain"
    PLANNER = "planner"


NODES = {
    "body": Process.BODY,
    "driver": Process.BODY,
    "state_publisher": Process.BODY,
    "teleop": Process.BODY,
    "diagnostics": Process.BODY,
    "reflex_kernel": Process.REFLEX,
    "localization": Process.PERCEPTION,
    "perception": Process.PERCEPTION,
    "ears": Process.BRAIN,
    "sign_reader": Process.PERCEPTION,
    "markers": Process.PERCEPTION,
    "parietal_affordance": Process.BRAIN,
    "thalamus_router": Process.BRAIN,
    "amygdala_salience": Process.BRAIN,
    "hypothalamus_arbiter": Process.BRAIN,
    "acc_conflict": Process.BRAIN,
    "insula_condition": Process.BRAIN,
    "striatum_tension": Process.BRAIN,
    "prospection": Process.BRAIN,
    "dmn_temperament": Process.BRAIN,
    "memory": Process.BRAIN,
    "basal_ganglia_gate": Process.BRAIN,
    "hippocampus_episodes": Process.BRAIN,
    "motor_cortex": Process.BRAIN,
    "prefrontal_planner": Process.PLANNER,
    "learner": Process.PLANNER,
    "parts_self": Process.PLANNER,
}
"""The nodes of the brain table in its order, as the names of their processes where each has one of its own."""

BEHIND_A_BOARD = ("none", "firmware")
"""The values of `sim` with which a serial driver takes the simulated body's place."""


def processes(composed: bool, sim: str) -> tuple[str, ...]:
    """The processes of a graph in order of start: the five, or one per node."""
    if composed:
        return tuple(process.value for process in Process)
    absent = "body" if sim in BEHIND_A_BOARD else "driver"
    return tuple(node for node in NODES if node != absent)


BODIES = ("body", "driver")
REFLEXES = ("reflex", "reflex_kernel")


def is_restarted(process: str) -> bool:
    """Whether it is started again after its death whatever the body is.

    Reflexes and body know what a restart would forget: whether the stop was latched, and where a simulated world was.
    What else there is may die: the reflexes hold the robot still for as long as it matters.
    """
    return process not in (*BODIES, *REFLEXES)
