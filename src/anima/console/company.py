"""Several robots in one simulated world, started together: one process for the bodies, a mind for each."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from anima.console.folders import state_folder
from anima.runtime.processes import Process
from anima.runtime.supervisor import AGAIN, Supervisor, commands, started_again

_MINDS = tuple(process for process in Process if process is not Process.BODY)


def company(names: Sequence[str], settings: Mapping[str, str], folder: Path) -> dict[str, Supervisor]:
    """What runs the bodies (under ``""``) and each robot's mind (under its name), none of it started yet.

    Logs go to `folder`. Unless the settings say where, each robot remembers in the file of its namespace.
    """
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    bodies = [
        sys.executable, "-m", "anima_nodes.company", "--robots", ",".join(names), *words,
        "--ros-args", "-p", "use_sim_time:=true",
    ]
    found = {"": Supervisor({Process.BODY.value: bodies}, folder)}
    for name in names:
        mind = commands(settings, _MINDS, namespace=name)
        found[name] = Supervisor(mind, folder / name, started_again(mind, "mujoco"))
    return found


def keep_up(names: Sequence[str], settings: Mapping[str, str], console: Console) -> bool:
    """Run them until Ctrl-C; False when the bodies died, with which everything ends."""
    everything = company(names, settings, state_folder() / "log" / f"{os.getpid()}")
    with ExitStack() as stack:
        for running in everything.values():
            stack.enter_context(running)
        console.print(f"starting {', '.join(names)} in one world; logs in {everything[''].log('body').parent}")
        console.print(f"In another terminal: anima --namespace {names[0]} chat. Ctrl-C stops everything.")
        try:
            while True:
                time.sleep(0.5)
                for name, running in everything.items():
                    for death in running.deaths():
                        console.print(f"[red]{name and f'{name}: '}{death}[/red]", soft_wrap=True)
                        if not name:
                            return False
                    for process in running.revive(time.monotonic()):
                        again = AGAIN.get(process, "")
                        console.print(f"[yellow]{name}: the {process} process is started again[/yellow]{again}")
        except KeyboardInterrupt:
            console.print("stopping")
    return True
