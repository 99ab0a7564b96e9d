"""Faults in the middle of an errand: which, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from anima_sim.errand import Watcher

DRIVES_MPS = 0.2
Moment = Literal["driving", "holding", "carrying"]


@dataclass(frozen=True)
class Trouble:
    """A fault for a body, and the moment for it: the robot drives, something is in its hand, or both."""

    kind: str
    target: str
    duration_s: float
    moment: Moment = "driving"

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.target, self.moment if self.moment != "driving" else "")))


TROUBLES = (
    Trouble("stalled_wheel", "left_wheel", 6.0),
    Trouble("blocked_path", "", 60.0),
    Trouble("dropped_object", "", 0.0, "holding"),
    Trouble("lost_sensor", "camera", 5.0),
    Trouble("dropped_object", "", 0.0, "carrying"),
)


class Troublemaker:
    """Injects its trouble once, as soon as the moment has come."""

    def __init__(self, watcher: Watcher, inject: Callable[[str, str, float], str], trouble: Trouble) -> None:
        self._watcher = watcher
        self._inject = inject
        self._trouble = trouble
        self.injected_at: float | None = None

    def poll(self) -> None:
        """Inject if it is time."""
        truth = self._watcher.truth
        if truth is None or self.injected_at is not None:
            return
        holds = any(thing.support == "gripper" for thing in truth.objects)
        drives = truth.linear_speed > DRIVES_MPS
        if {"driving": drives, "holding": holds, "carrying": drives and holds}[self._trouble.moment]:
            self._inject(self._trouble.kind, self._trouble.target, self._trouble.duration_s)
            self.injected_at = truth.header.stamp.seconds
