"""Resolves launch files to what they would start, by play_launch, on machines without `ros2 launch`."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
_PAYLOAD = Path(sys.prefix) / "launch-check" / "play_launch" / "dist" / "humble"
_PROGRAM = _PAYLOAD / "bin" / "play_launch"


class Unavailable(RuntimeError):
    """Launch files can't be resolved on this machine; the message says why."""


class Refused(ValueError):
    """The launch file or its arguments are wrong."""


@dataclass(frozen=True)
class Started:
    """One process that a launch file starts. `namespace` is absolute."""

    package: str
    executable: str
    namespace: str
    arguments: list[str]
    ros_arguments: list[str]
    parameters: dict[str, Any]
    environment: dict[str, str]
    respawn: bool = False


class LaunchResolver:
    """Runs `play_launch resolve`; `folder` takes what its program needs to be loaded.

    The program is linked against Python 3.10's library, of which it uses only what later versions keep stable,
    and against composition_interfaces, which the wheels lack and which resolving never calls.
    """

    def __init__(self, folder: Path) -> None:
        """Raises `Unavailable`."""
        if not _PROGRAM.exists():
            raise Unavailable(f"no launch checker in {_PAYLOAD.parents[2]}; run: make setup-tests")
        library = Path(str(sysconfig.get_config_var("LIBDIR"))) / str(sysconfig.get_config_var("INSTSONAME"))
        if ".so" not in library.name or not library.exists():
            raise Unavailable(f"Python {sys.version.split()[0]} has no shared library ({library})")
        (folder / "libpython3.10.so.1.0").symlink_to(library)
        self._stand_in(folder)
        self._folder = folder

    @staticmethod
    def _stand_in(folder: Path) -> None:
        words = subprocess.run(
            ["nm", "-D", "--undefined-only", _PROGRAM], capture_output=True, text=True, check=True
        ).stdout.split()
        source = "".join(f"void {word}(void) {{}}\n" for word in words if "composition_interfaces" in word)
        for kind in ("typesupport_c", "generator_c"):
            library = folder / f"libcomposition_interfaces__rosidl_{kind}.so"
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"], input=source, text=True, check=True
            )

    def resolve(self, launch_file: Path, /, **arguments: str) -> list[Started]:
        """What `ros2 launch launch_file key:=value …` would start, in order. Raises `Refused`."""
        libraries = [str(_PAYLOAD / "lib"), str(self._folder), os.environ.get("LD_LIBRARY_PATH", "")]
        environment = {
            **os.environ,
            "ROS_DISTRO": "humble",
            "ROS_VERSION": "2",
            "NROS_PYTHON": sys.executable,
            "LD_LIBRARY_PATH": ":".join(libraries),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        environment.pop("VIRTUAL_ENV", None)
        words = [f"{key}:={value}" for key, value in arguments.items()]
        said = subprocess.run(
            [_PROGRAM, "resolve", launch_file, *words, "-o", "-"],
            env=environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if said.returncode != 0:
            raise Refused(said.stderr.strip())
        nodes = yaml.safe_load(said.stdout)["structure"]["nodes"]
        return [_started(key, node) for key, node in nodes.items() if "pkg" in node]  # the rest are plain programs


def _started(key: str, node: dict[str, Any]) -> Started:
    return Started(
        package=node["pkg"],
        executable=node["exec"],
        namespace=key.rpartition("/")[0] or "/",
        arguments=node.get("args", []),
        ros_arguments=node.get("ros_args", []),
        parameters=node.get("params", {}),
        environment={entry["name"]: entry["value"] for entry in node.get("env", [])},
        respawn=node.get("respawn", False),
    )
