"""Whose robot a command is about, where several are up: the ROS namespace."""

from __future__ import annotations

import os
import re
from typing import Annotated

import typer

from anima.runtime.supervisor import NAMESPACE_VARIABLE

_NAME = re.compile(r"/?[A-Za-z]\w*(/[A-Za-z]\w*)*", re.ASCII)


def for_every_command(
    namespace: Annotated[
        str, typer.Option(envvar=NAMESPACE_VARIABLE, help="Whose robot: the ROS namespace, where there are several.")
    ] = "",
) -> None:
    """Options before the command, e.g. `anima --namespace ada say "come here"`."""
    if namespace and not _NAME.fullmatch(namespace):
        raise typer.BadParameter(f"{namespace}: letters, digits and _ with / between, and a letter first, e.g. ada")
    os.environ[NAMESPACE_VARIABLE] = namespace
