"""The URDF of the robot that is simulated."""

from __future__ import annotations

import functools

from anima.body.robot_model import RobotModelError, expand
from anima_sim.errors import RobotError


@functools.lru_cache(maxsize=8)
def urdf(namespace: str = "") -> str:
    """The robot as URDF text; with a namespace every link is called `namespace/link`, joints keep their names.

    Raises `RobotError` when the description isn't found or doesn't expand.
    """
    prefix = f"{namespace.strip('/')}/" if namespace.strip("/") else ""
    try:
        return expand("anima", prefix)
    except RobotModelError as error:
        raise RobotError(str(error)) from error
