"""Which ROS 2 the project builds on, and the variables that a program needs to find it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from provision.progress import SetupError

OLDEST_DISTRIBUTION = "jazzy"  # distributions are named in alphabetical order

# Lists of folders that ROS 2's scripts extend, and single words that they set.
_LISTS = ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH")
_WORDS = ("ROS_DISTRO", "ROS_VERSION", "ROS_PYTHON_VERSION", "_ROS_WHEELS_BOOTSTRAP_COMPLETE")


def installed_distribution(environment: Mapping[str, str], root: Path) -> str | None:
    """Name of the full ROS 2 whose set-up script was sourced, or None: then the wheels are used.

    The project's own environment, from which this may have been started, does not count. Raises SetupError when the
    sourced distribution is too old to build on.
    """
    prefixes = [Path(word) for word in environment.get("AMENT_PREFIX_PATH", "").split(":") if word]
    outside = [prefix for prefix in prefixes if not prefix.is_relative_to(root)]
    if not any((prefix / "share" / "rclpy" / "package.xml").is_file() for prefix in outside):
        return None
    name = environment.get("ROS_DISTRO", "")
    if name < OLDEST_DISTRIBUTION:
        raise SetupError(
            f"ROS 2 {name or '(unnamed)'} is sourced; Anima needs {OLDEST_DISTRIBUTION} or newer",
            f"Source ROS 2 {OLDEST_DISTRIBUTION} or newer, or open a terminal without any: then ROS 2 comes as wheels.",
        )
    return name


def environment_script(environment: Mapping[str, str]) -> str:
    """Shell lines that restore what matters of `environment`, added in front of what is set where they are sourced."""
    lines = ["# Written by the set-up from colcon's own scripts. Don't edit: `make build` writes it anew."]
    for name in _LISTS:
        value = environment.get(name, "")
        if not value:
            continue
        quoted = shlex.quote(value)
        lines.append(f'case ":${{{name}:-}}:" in *:{quoted}:*) ;; *) {name}={quoted}"${{{name}:+:${name}}}" ;; esac')
        lines.append(f"export {name}")
    for name in _WORDS:
        if name in environment:
            lines.append(f"export {name}={shlex.quote(environment[name])}")
    return "\n".join(lines) + "\n"
