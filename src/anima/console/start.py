"""How the tool starts a graph: the settings of a command line as processes with logs."""

from __future__ import annotations

import os

from anima.console.folders import state_folder
from anima.runtime.supervisor import Supervisor, commands


def graph(sim: str, seed: int, speed: float, model: str = "", **more: str) -> Supervisor:
    """A supervisor for the whole graph with these settings. It remembers nothing of runs before unless `more` says so:
    trials must not learn from each other."""
    settings = {"sim": sim, "seed": str(seed), "speed": str(speed), "memory_url": "none", **more}
    if model:
        settings["llm.model"] = model
    return Supervisor(commands(settings), state_folder() / "log" / f"{os.getpid()}")
