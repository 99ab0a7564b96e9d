"""Who may pass: repeats are counted, what goes on and on is told ever more rarely, no source floods the others.

Nothing is lost: what is held back is counted in the `repeats` of the next event of its kind and subject, and when none
comes it is told by itself as soon as its turn comes.
"""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from anima.regions.relay.config import RelayTuning
from anima.types.base import Header
from anima.types.glue import Event

_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_BECAUSE_KEPT = 8


@dataclass(frozen=True)
class Fact:
    """Something that happened, before it is decided whether it is told. `urgent`: it always is, and at once."""

    source: str
    kind: str
    subject: str
    text: str
    because: tuple[str, ...] = ()
    urgent: bool = False


@dataclass
class _Trace:
    """What is remembered of a kind and subject: `held` came since it was last told; `used_to` counts the tellings."""

    fact: Fact
    passed_at: float = -math.inf
    seen_at: float = -math.inf
    used_to: int = 0
    held: int = 0


class Traffic:
    """Habituation per kind and subject, and a token bucket per source."""

    def __init__(self, tuning: RelayTuning) -> None:
        self._tuning = tuning
        self._traces: dict[str, _Trace] = {}
        self._waiting: dict[str, None] = {}  # keys of traces with something held, oldest first
        self._buckets: dict[str, tuple[float, float]] = {}  # source -> tokens, when counted
        self._step = (-math.inf, 0)  # the time of the last event, and how many were told at it

    @property
    def waiting(self) -> int:
        """How many events are held back now."""
        return sum(self._traces[key].held for key in self._waiting)

    def offer(self, now: float, fact: Fact) -> Event | None:
        """The event to tell now, or None when it is held back (and counted)."""
        if fact.urgent:
            return self._event(now, fact, 0)
        habits = self._tuning.habituation
        key = f"{fact.kind}/{fact.subject}"
        trace = self._traces.get(key)
        if trace is None:
            self._forget()
            trace = self._traces[key] = _Trace(fact)
        elif now - trace.seen_at >= habits.forget_after_s or _gist(fact.text) != _gist(trace.fact.text):
            trace.used_to, trace.passed_at = 0, -math.inf
        trace.seen_at = now
        trace.fact = _joined(trace.fact, fact) if trace.held else fact
        trace.held += 1
        self._waiting[key] = None
        return self._pass(now, key, trace)

    def due(self, now: float) -> list[Event]:
        """What was held back and may be told now though nothing new came."""
        events = []
        for key in list(self._waiting):
            trace = self._traces[key]
            if self._has_token(now, trace.fact.source):
                event = self._pass(now, key, trace)
                events += [] if event is None else [event]
        return events

    def clock_set_back(self, now: float) -> None:
        """Carry what is remembered over to the new time."""
        for trace in self._traces.values():
            trace.passed_at, trace.seen_at = min(trace.passed_at, now), min(trace.seen_at, now)
        self._buckets = {source: (tokens, now) for source, (tokens, _) in self._buckets.items()}
        self._step = (-math.inf, 0)

    def _pass(self, now: float, key: str, trace: _Trace) -> Event | None:
        habits = self._tuning.habituation
        pause_s = min(habits.longest_s, habits.window_s * habits.growth ** min(trace.used_to, 64))
        if now - trace.passed_at < pause_s or not self._has_token(now, trace.fact.source):
            return None
        self._buckets[trace.fact.source] = (self._buckets[trace.fact.source][0] - 1.0, now)
        trace.used_to = trace.used_to + 1 if trace.passed_at > -math.inf else 0
        repeats, trace.held, trace.passed_at = trace.held - 1, 0, now
        del self._waiting[key]
        return self._event(now, trace.fact, repeats)

    def _has_token(self, now: float, source: str) -> bool:
        tokens, at = self._buckets.get(source, (math.inf, now))
        if at < now or tokens == math.inf:
            rate = self._tuning.rates.get(source, self._tuning.default_rate)
            tokens = min(float(rate.burst), tokens + (now - at) * rate.per_s)
            self._buckets[source] = (tokens, now)
        return tokens >= 1.0

    def _event(self, now: float, fact: Fact, repeats: int) -> Event:
        self._step = (now, self._step[1] + 1 if self._step[0] == now else 0)
        return Event(
            header=Header.at(now), id=f"{fact.kind}@{now:.3f}.{self._step[1]}", source=fact.source, kind=fact.kind,
            subject=fact.subject, text=fact.text, repeats=repeats, because=list(fact.because),
        )

    def _forget(self) -> None:
        """Keep the memory small: what has been quiet longest goes first; never what is held back."""
        over = len(self._traces) - len(self._waiting) - self._tuning.traces_kept
        if over < 0:
            return
        told = sorted((trace.seen_at, key) for key, trace in self._traces.items() if not trace.held)
        for _, key in told[: 1 + over + self._tuning.traces_kept // 8]:
            del self._traces[key]

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {
            "traces": {key: _finite(asdict(trace)) for key, trace in self._traces.items()},
            "waiting": list(self._waiting),
            "buckets": {source: list(bucket) for source, bucket in self._buckets.items()},
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        for key, saved in data["traces"].items():
            fields: dict[str, Any] = {name: -math.inf if value is None else value for name, value in saved.items()}
            fields["fact"] = Fact(**{**saved["fact"], "because": tuple(saved["fact"]["because"])})
            self._traces[key] = _Trace(**fields)
        self._waiting = dict.fromkeys(data["waiting"])
        self._buckets = {source: (tokens, at) for source, (tokens, at) in data["buckets"].items()}


def _gist(text: str) -> str:
    """The text without its numbers: a reading that wavers is no new content."""
    return _NUMBERS.sub("#", text)


def _joined(old: Fact, new: Fact) -> Fact:
    because = dict.fromkeys((*old.because, *new.because))
    return replace(new, because=tuple(because)[-_BECAUSE_KEPT:])


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == -math.inf else value for name, value in values.items()}
