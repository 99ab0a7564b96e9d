"""What people do instead of speaking: they stop the robot, take it over, push it, or leave a question unanswered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field

from anima import topics as t
from anima.config import Tuning
from anima.runtime.component import Inbox

_STILL_MPS, _STILL_RADPS = 0.02, 0.05
_PUSHES = frozenset({"bumper", "tilt"})
_OWN_SOURCES = frozenset({"", "reflex", "watchdog", "process_silent"})
SIGNAL = {"correction": -0.6, "frustration": -0.9, "praise": 0.8, "engagement": 0.5, "disengagement": -0.4}
"""The signal of each kind of reaction; neutral and unsure are 0."""


class SignTuning(Tuning):
    """When a deed counts as a reaction (`config/learning.yaml`).

    Up: `ignored_after_s` leaves people longer to answer, `about_s` still lays a deed to something that the robot did
    that long ago, `repeat_after_s` takes repeated deeds for one, `push_quiet_s` must have passed since the robot moved.
    """

    ignored_after_s: float = Field(ge=5, le=3600)
    about_s: float = Field(ge=1, le=600)
    repeat_after_s: float = Field(ge=0.1, le=600)
    push_quiet_s: float = Field(ge=0, le=60)


@dataclass(frozen=True)
class Act:
    """Something the robot did or said: what people react to. `situation` is the scope of lessons from it."""

    id: str
    text: str
    situation: str
    at: float
    question: bool = False


@dataclass(frozen=True)
class Sign:
    """A deed as a reaction: `source` stop, teleop, push or silence, its kind, and what the robot was doing."""

    source: str
    kind: str
    at: float
    act: Act
    detail: str


class Signs:
    """Reads deeds off topics. What no act of the robot precedes is about nothing and is left out."""

    def __init__(self, tuning: SignTuning) -> None:
        self._tuning = tuning
        self._latched = False
        self._moved = float("-inf")
        self._last: dict[str, float] = {}
        self._question: Act | None = None

    def step(self, now: float, inbox: Inbox, act: Act | None, is_driving: bool) -> list[Sign]:
        """The signs in what came. `act` is the last thing that the robot did, `is_driving` whether a skill moves it."""
        found: list[Sign] = []
        for state in inbox.new(t.STOP_STATE):
            if state.latched and not self._latched and state.source not in _OWN_SOURCES:
                found += self._sign(now, "stop", "correction", act, f"stopped by {state.source}")
            self._latched = state.latched
        for twist in inbox.new(t.CMD_VEL_TELEOP):
            moves = abs(twist.twist.linear.x) > _STILL_MPS or abs(twist.twist.angular.z) > _STILL_RADPS
            if moves and is_driving:
                found += self._sign(now, "teleop", "correction", act, "taken over by hand")
            if moves:
                self._moved = now
        if is_driving:
            self._moved = now
        for event in inbox.new(t.REFLEX_EVENT):
            stood = now - self._moved >= self._tuning.push_quiet_s
            if event.active and event.kind in _PUSHES and stood:
                found += self._sign(
                    now, "push", "frustration", act, f"pushed away ({event.kind} {event.detail})".strip()
                )
        return found + self._unanswered(now)

    def asked(self, act: Act) -> None:
        """The robot has asked a person something."""
        self._question = act

    def answered(self) -> None:
        """The person has spoken."""
        self._question = None

    def _unanswered(self, now: float) -> list[Sign]:
        question = self._question
        if question is None or not now - question.at >= self._tuning.ignored_after_s:
            return []
        self._question = None
        return [Sign("silence", "disengagement", now, question, "the question stayed unanswered")]

    def _sign(self, now: float, source: str, kind: str, act: Act | None, detail: str) -> list[Sign]:
        repeated = 0 <= now - self._last.get(source, float("-inf")) < self._tuning.repeat_after_s
        self._last[source] = now
        if repeated or act is None or not 0 <= now - act.at <= self._tuning.about_s:
            return []
        return [Sign(source, kind, now, act, detail)]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        question = asdict(self._question) if self._question is not None else None
        moved = self._moved if self._moved > float("-inf") else None
        return {"latched": self._latched, "moved": moved, "last": dict(self._last), "question": question}

    def load(self, data: Mapping[str, Any]) -> None:
        """Go on from what `dump` said."""
        self._latched, self._last = bool(data["latched"]), dict(data["last"])
        self._moved = float("-inf") if data["moved"] is None else float(data["moved"])
        self._question = Act(**data["question"]) if data["question"] is not None else None
