"""The operating-system processes of the graph. Standard library only: launch files read it with ROS 2's own Python."""

from enum import Enum


class Process(Enum):
    """The operating-system processes that the nodes live in, in order of start."""

    BODY = "body"
    REFLEX = "reflex"
    PERCEPTION = "perception"
    BRAIN = "brain"
    PLANNER = "planner"


RESTARTED = (Process.PERCEPTION, Process.BRAIN, Process.PLANNER)
"""What is started again after its death whatever the body is: meanwhile the reflexes hold the robot still. Reflexes and
body know what a restart would forget: whether the stop was latched, and where a simulated world was."""
