"""How the tool starts a graph: the settings of a command line as processes with logs."""

from __future__ import annotations

import os
import time
from typing import Any, Protocol

from anima import topics as t
from anima.config import load_settings
from anima.console.folders import state_folder
from anima.runtime.supervisor import Supervisor, commands, started_again
from anima.topics import Sent, Topic
from anima.types.link import LinkState
from anima.types.mind import StopState


def graph(sim: str, seed: int, speed: float, model: str = "", **more: str) -> Supervisor:
    """A supervisor for the whole graph with these settings. It remembers nothing of runs before unless `more` says so:
    trials must not learn from each other."""
    composed = "true" if load_settings().composed else "false"
    settings = {
        "sim": sim, "seed": str(seed), "speed": str(speed), "memory_url": "none", "composed": composed, **more,
    }
    if model:
        settings["llm.model"] = model
    words = commands(settings)
    return Supervisor(words, state_folder() / "log" / f"{os.getpid()}", started_again(words, sim))


class Operator(Protocol):
    """What arming needs of a client."""

    def subscribe(self, *topics: Topic[Any]) -> None:
        """Also hand out what these topics bring."""

    def unsubscribe(self, *topics: Topic[Any]) -> None:
        """Listen to these topics no more."""

    def receive(self, timeout_s: float) -> Sent | None:
        """The next value, or None."""

    def reset(self) -> str:
        """Reset the software stop."""


class NotArmed(RuntimeError):
    """The brainstem didn't arm; the message says why."""


def arm(operator: Operator, limit_s: float = 60.0) -> None:
    """The explicit act that a body behind a serial link waits for: resets the stop until the brainstem is armed.

    Raises `NotArmed` with the driver's reason when it isn't within `limit_s` of the wall clock.
    """
    operator.subscribe(t.STOP_STATE, t.LINK_STATE)
    until, trouble = time.monotonic() + limit_s, "no driver tells how its link is"
    try:
        while time.monotonic() < until:
            sent = operator.receive(0.2)
            match sent.value if sent is not None else None:
                case LinkState() as link:
                    trouble = link.trouble
                    if link.phase == "armed":
                        return
                case StopState() as stop if stop.latched:
                    operator.reset()
    finally:
        operator.unsubscribe(t.STOP_STATE, t.LINK_STATE)
    raise NotArmed(f"the body isn't armed: {trouble}")
