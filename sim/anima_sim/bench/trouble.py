"""Faults in the middle of an errand: which, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anima_sim.errand import Watcher

DRIVES_MPS = 0.2


@dataclass(frozen=True)
class Trouble:
    """A fault for a body, and what must be so before it is injected: the robot drives, or something is in its hand."""

    kind: str
    target: str
    duration_s: float
    when_holding: bool = False

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()


TROUBLES = (
    Trouble("stalled_wheel", "left_wheel", 6.0),
    Trouble("blocked_path", "", 60.0),
    Trouble("dropped_object", "", 0.0, when_holding=True),
    Trouble("lost_sensor", "camera", 5.0),
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
        held = any(thing.support == "gripper" for thing in truth.objects)
        if held if self._trouble.when_holding else truth.linear_speed > DRIVES_MPS:
            self._inject(self._trouble.kind, self._trouble.target, self._trouble.duration_s)
            self.injected_at = truth.header.stamp.seconds
