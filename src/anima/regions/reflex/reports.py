"""What the reflexes tell: that one began, that it ended, and what holds the body still; never a flood."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from anima.regions.reflex.config import ReportTuning
from anima.types.base import Header
from anima.types.mind import ReflexEvent, StopState

# These are told, but they don't hold the body: the command before, or another stream, may still be in force.
_NOT_HOLDING = frozenset({"stale_command", "invalid_command", "software_stop"})


@dataclass
class _Active:
    detail: str
    noted: float
    count: int = 0


class Reports:
    """Turns what is noted step by step into begin and end events; an end is told when nothing was noted for a while."""

    def __init__(self, tuning: ReportTuning) -> None:
        self._tuning = tuning
        self._active: dict[str, _Active] = {}
        self._begun: list[str] = []
        self._state: tuple[bool, str, tuple[str, ...]] | None = None
        self._state_at: float | None = None

    def note(self, now: float, kind: str, detail: str) -> None:
        """A reflex of this kind is at work, or another command of this kind was refused."""
        if kind not in self._active:
            self._active[kind] = _Active(detail, now)
            self._begun.append(kind)
        known = self._active[kind]
        known.noted, known.detail, known.count = now, detail, known.count + 1

    def detail(self, kind: str) -> str:
        """What was last noted of a kind; empty when it is not at work."""
        return self._active[kind].detail if kind in self._active else ""

    @property
    def holding(self) -> list[str]:
        """The reflexes that hold the body, sorted."""
        return sorted(set(self._active) - _NOT_HOLDING)

    def events(self, now: float) -> list[ReflexEvent]:
        """What began and what ended since the last call."""
        found = [_event(now, kind, True, self._active[kind].detail) for kind in self._begun]
        self._begun.clear()
        for kind, known in list(self._active.items()):
            if now - known.noted >= self._tuning.quiet_s:
                del self._active[kind]
                refused = f" (refused {known.count} times)" if kind in ("stale_command", "invalid_command") else ""
                found.append(_event(now, kind, False, known.detail + refused))
        return found

    def stop_state(self, now: float, latched: bool, source: str) -> StopState | None:
        """The stop state when it changed or is due again, else None."""
        state = (latched, source, tuple(self.holding))
        due = self._state_at is None or now - self._state_at >= self._tuning.state_period_s
        if state == self._state and not due:
            return None
        self._state, self._state_at = state, now
        return StopState(header=Header.at(now), latched=latched, source=source, active=list(state[2]))

    def clock_set_back(self, now: float) -> None:
        """Carry what is active over to the new time."""
        for known in self._active.values():
            known.noted = now
        self._state_at = None

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        state = None if self._state is None else [*self._state[:2], list(self._state[2])]
        active = {kind: asdict(known) for kind, known in self._active.items()}
        return {"active": active, "state": state, "state_at": self._state_at}

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self._active = {kind: _Active(**known) for kind, known in data["active"].items()}
        state = data["state"]
        self._state = None if state is None else (state[0], state[1], tuple(state[2]))
        self._state_at = data["state_at"]


def _event(now: float, kind: str, active: bool, detail: str) -> ReflexEvent:
    return ReflexEvent(header=Header.at(now), kind=kind, active=active, detail=detail)
