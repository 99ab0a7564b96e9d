"""Where Gazebo 11 is on this machine, and the environment that its programs need there."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from anima.config import ConfigError
from anima_sim.errors import SimulationError
from anima_sim.paths import SOURCE_ROOT

INSTALLER = SOURCE_ROOT / "scripts" / "gazebo"
PLUGIN_SOURCES = [SOURCE_ROOT / "sim" / "gazebo" / name for name in ("lockstep.cc", "pictures.hh")]


class GazeboMissing(SimulationError, ConfigError):
    """Gazebo isn't installed here, or can't be."""


@dataclass(frozen=True)
class Prefix:
    """An unpacked Gazebo 11, apart from the system's own files."""

    root: Path

    @classmethod
    def find(cls) -> Prefix:
        """The prefix that `scripts/gazebo` makes. Raises `GazeboMissing` that says how to get it."""
        said = subprocess.run([INSTALLER, "--where"], capture_output=True, text=True, check=True)
        root = Path(said.stdout.strip())
        if not (root / ".complete").exists():
            raise GazeboMissing(f"Gazebo is not installed at {root}: run scripts/gazebo (about a minute, 900 MB)")
        return cls(root)

    @property
    def plugin(self) -> Path:
        """The lock-step plugin, built from the sources as they are now."""
        mark = hashlib.sha256(b"".join(file.read_bytes() for file in PLUGIN_SOURCES)).hexdigest()[:16]
        file = self.root / "anima" / f"lockstep-{mark}.so"
        if not file.exists():
            raise GazeboMissing("the lock-step plugin is not built for this source: run scripts/gazebo (half a minute)")
        return file

    def environment(self, master: str) -> dict[str, str]:
        """The environment of Gazebo's programs. Not for Xvfb: it would load this old driver, and find no GLX."""
        usr = self.root / "usr"
        lib = usr / "lib" / (sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu")
        libraries = [
            lib, self.root / "lib" / lib.name, usr / "lib", lib / "pulseaudio", lib / "gazebo-11" / "plugins",
            lib / "blas", lib / "lapack",
        ]
        wanted = {
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            "LIBGL_DRIVERS_PATH": str(lib / "dri"),
            "GAZEBO_MASTER_URI": master,
            "GAZEBO_IP": "127.0.0.1",
            "IGN_IP": "127.0.0.1",
            "GAZEBO_MODEL_DATABASE_URI": "",
            "GAZEBO_RESOURCE_PATH": str(usr / "share" / "gazebo-11"),
            "GAZEBO_MODEL_PATH": str(usr / "share" / "gazebo-11" / "models"),
            "GAZEBO_PLUGIN_PATH": str(lib / "gazebo-11" / "plugins"),
            "OGRE_RESOURCE_PATH": str(lib / "OGRE-1.9.0"),
            "SDF_PATH": str(usr / "share" / "sdformat9"),
            "ALSOFT_DRIVERS": "null",
            # Many threads for a small picture cost more than they give, and the machine has other work.
            "LP_NUM_THREADS": "1",
        }
        return {**os.environ, **wanted}

    def program(self, name: str) -> Path:
        """One of Gazebo's programs: gzserver, gzclient, gz."""
        return self.root / "usr" / "bin" / name
