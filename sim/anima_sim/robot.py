"""The robot's URDF, expanded from the one xacro description."""

from __future__ import annotations

import functools

import xacro

from anima_sim.errors import RobotError
from anima_sim.paths import description_folder


@functools.lru_cache(maxsize=8)
def urdf(namespace: str = "") -> str:
    """The robot as URDF text; with a namespace every link is called `namespace/link`, joints keep their names.

    Raises `RobotError` when the description isn't found or doesn't expand.
    """
    file = description_folder() / "urdf" / "anima.urdf.xacro"
    prefix = f"{namespace.strip('/')}/" if namespace.strip("/") else ""
    try:
        document = xacro.process_file(str(file), mappings={"prefix": prefix})
    except (xacro.XacroException, OSError) as error:
        raise RobotError(f"{file}: doesn't expand: {error}") from error
    return str(document.toprettyxml(indent="  "))
