"""Insula: how the robot is. Chronic small failures become one label and one mode, and shorten its patience."""

from __future__ import annotations

from collections import deque
from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.regions.strain.config import load_insula
from anima.regions.strain.integrator import Strain
from anima.runtime.component import Inbox
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Condition
from anima.types.mind import Outcome

_EASY = frozenset({"say", "wait", "stop"})  # their success is no relief
_SLIPS = frozenset({Failure.SLIP, Failure.GRASP_FAILED})
_HARMLESS = frozenset({"stale_command", "invalid_command", "software_stop", "teleop"})  # no reflex of the body
_LONG_AGO = float("-inf")


class Insula:
    """Integrates what goes wrong into `Condition`: strain 0..1, a label, a mode, and the scales of the gate's budgets.

    Within a step successes are felt before failures. What a person or a stop broke off is no failure of the robot.
    `step` is pure in (state, now, inbox).
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/insula.yaml` can't be used."""
        del settings
        self._tuning = load_insula()
        self._strain = Strain(self._tuning)
        self._failed: deque[str] = deque(maxlen=self._tuning.retry_window)
        self._now: float | None = None
        self._focus = ""
        self._hurt_at = _LONG_AGO  # the last failure or conflict that no success has followed
        self._startled_at = _LONG_AGO
        self._turns = 0  # of the planner since the last deed
        self._told: Condition | None = None
        self._told_at = _LONG_AGO
        self._worst = ""  # what weighed last, in words

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Let time pass, take in what came, say how the robot is when that changed or was not said for a while."""
        if self._now is not None and now < self._now:
            self._hurt_at, self._startled_at, self._told_at = min(self._hurt_at, now), min(self._startled_at, now), now
        self._strain.rest(0.0 if self._now is None else now - self._now)
        self._now = now
        for backlog in inbox.new(t.BACKLOG):
            if backlog.focus != self._focus:
                self._focus, self._turns = backlog.focus, 0
        outcomes = inbox.new(t.OUTCOME)
        for outcome in outcomes:
            if outcome.success and outcome.call.skill not in _EASY:
                self._strain.ease()
                self._hurt_at = _LONG_AGO
        for outcome in outcomes:
            if not outcome.success and outcome.failure != Failure.INTERRUPTED:
                self._feel_failure(now, outcome)
        self._feel(now, inbox)
        self._think(inbox)
        return self._tell(now, self._condition(now, inbox))

    def _feel_failure(self, now: float, outcome: Outcome) -> None:
        weights = self._tuning.weights
        call = render(outcome.call.skill, outcome.call.arguments)
        self._strain.add(weights.slip if outcome.failure in _SLIPS else weights.failure)
        if call in self._failed:
            self._strain.add(weights.retry)
        self._failed.append(call)
        self._hurt_at, self._worst = now, f"{call} failed"

    def _feel(self, now: float, inbox: Inbox) -> None:
        weights = self._tuning.weights
        for event in inbox.new(t.REFLEX_EVENT):
            if event.active and event.kind not in _HARMLESS:
                self._strain.add(weights.reflex)
                self._startled_at, self._worst = now, f"reflex {event.kind}"
        for verdict in inbox.new(t.VERDICT):
            if not verdict.accepted:
                self._strain.add(weights.refusal)
                self._worst = f"{render(verdict.call.skill, verdict.call.arguments)} was refused"
        for conflict in inbox.new(t.CONFLICT):
            self._strain.add(weights.conflict)
            self._hurt_at, self._worst = now, conflict.why

    def _think(self, inbox: Inbox) -> None:
        """Count the planner's turns that led to no deed."""
        self._turns += sum(thought.role == "act" and not thought.error for thought in inbox.new(t.THOUGHT))
        if any(lease.granted for lease in inbox.new(t.LEASE)) or inbox.new(t.OUTCOME):
            self._turns = 0

    def _mode(self, now: float, label: str, inbox: Inbox) -> str:
        if not self._focus:
            return "IDLE_SOCIAL"
        if self._turns >= self._tuning.ruminate_turns:
            return "RUMINATING"
        if label in ("WORN", "DEGRADED") or now - self._hurt_at < self._tuning.recovery_s:
            return "RECOVERY"
        resources = inbox.last(t.RESOURCES)
        needs_power = resources is not None and (
            resources.must_dock or resources.charge_drive >= self._tuning.charge_caution
        )
        if label == "STRAINED" or needs_power or now - self._startled_at < self._tuning.startle_s:
            return "CAUTIOUS"
        return "FOCUSED"

    def _condition(self, now: float, inbox: Inbox) -> Condition:
        tuning, strain = self._tuning, self._strain
        label = strain.label()
        mode = self._mode(now, label, inbox)
        why = "little has gone wrong of late"
        if label != "STABLE":
            why = f"small failures add up, the last: {self._worst}"
        if mode == "RUMINATING":
            why = f"{self._turns} turns of thought led to no deed"
        return Condition.model_construct(
            header=Header.model_construct(stamp=Header.at(now).stamp, frame_id=""), label=label, mode=mode,
            strain=round(strain.value, 2), retry_scale=round(strain.scale(tuning.retry_drop), 2),
            persistence_scale=round(strain.scale(tuning.persistence_drop), 2), why=why,
        )

    def _tell(self, now: float, condition: Condition) -> list[Sent]:
        told = self._told
        if (
            told is not None
            and 0 <= now - self._told_at < self._tuning.repeat_s
            and (told.label, told.mode) == (condition.label, condition.mode)
            and abs(told.strain - condition.strain) < 0.02
        ):
            return []
        self._told, self._told_at = condition, now
        return [t.CONDITION.of(condition)]

    def why(self) -> str:
        """One sentence: label, mode, and what weighs."""
        if self._told is None:
            return "It has not felt anything yet."
        return f"{self._told.label}, {self._told.mode}, because {self._told.why}."

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "strain": self._strain.value,
            "level": self._strain.level,
            "failed": list(self._failed),
            "now": self._now,
            "focus": self._focus,
            "hurt_at": _or_none(self._hurt_at),
            "startled_at": _or_none(self._startled_at),
            "turns": self._turns,
            "told": None if self._told is None else self._told.model_dump(mode="json"),
            "told_at": _or_none(self._told_at),
            "worst": self._worst,
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Insula:
        """One that goes on from a dumped state."""
        out = cls(settings)
        out._strain.value, out._strain.level = data["strain"], data["level"]
        out._failed.extend(data["failed"])
        out._now, out._focus, out._turns, out._worst = data["now"], data["focus"], data["turns"], data["worst"]
        out._hurt_at, out._startled_at, out._told_at = (
            _LONG_AGO if data[key] is None else data[key] for key in ("hurt_at", "startled_at", "told_at")
        )
        out._told = None if data["told"] is None else Condition.model_validate(data["told"])
        return out


def _or_none(at: float) -> float | None:
    return None if at == _LONG_AGO else at
