"""What the amygdala knows of the moment: the focus, what runs, and how often each thing came of late."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from anima.skills.registry import Resource, render
from anima.types.glue import Event
from anima.types.mind import Backlog, Lease, Objective, Outcome, SkillCall

_WORDS = re.compile(r"[a-z0-9_]+")
_MOTION = frozenset({Resource.BASE.value, Resource.ARM.value, Resource.GRIPPER.value})
_LATE_S = 15.0  # after its deadline a lease whose end was never told counts as over
_SPEAKERS_KEPT = 100
_RECENT_KEPT = 64


class Situation:
    """Kept from what comes by; cheap to ask."""

    def __init__(self, repeat_window_s: float) -> None:
        self._window_s = repeat_window_s
        self._leases: dict[str, Lease] = {}
        self._recent: dict[str, list[tuple[float, int]]] = {}
        self._speakers: dict[str, str] = {}  # utterance -> who said it
        self.focus: Objective | None = None

    def take_backlog(self, backlog: Backlog) -> None:
        """Take in what is in focus."""
        self.focus = next((o for o in backlog.objectives if o.id == backlog.focus), None)

    def take_leases(self, leases: Iterable[Lease]) -> None:
        """Take in what begins; what is taken back runs until its outcome is told."""
        for lease in leases:
            if lease.granted:
                self._leases[lease.id] = lease

    def take_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Take in what has ended."""
        for outcome in outcomes:
            self._leases.pop(outcome.lease, None)

    def running(self, now: float) -> list[SkillCall]:
        """The calls that move the body now."""
        for lease in list(self._leases.values()):
            if now > lease.deadline.seconds + _LATE_S:
                del self._leases[lease.id]
        return [lease.call for lease in self._leases.values() if _MOTION & set(lease.resources)]

    def count(self, now: float, event: Event) -> int:
        """How often such an event came within the window, this one and the repeats that it carries included."""
        key = f"{event.kind}/{event.subject}"
        kept = [(at, times) for at, times in self._recent.pop(key, ()) if 0 <= now - at <= self._window_s]
        kept.append((now, 1 + event.repeats))
        self._recent[key] = kept
        while len(self._recent) > _RECENT_KEPT:
            del self._recent[next(iter(self._recent))]
        return sum(times for _, times in kept)

    def note_speaker(self, event: Event) -> None:
        """Remember who said what."""
        for utterance in event.because:
            self._speakers[utterance] = event.subject
        while len(self._speakers) > _SPEAKERS_KEPT:
            del self._speakers[next(iter(self._speakers))]

    def gave_the_focus(self, event: Event) -> bool:
        """Whether the speaker of this utterance is who gave the order in focus."""
        return self.focus is not None and self._speakers.get(self.focus.source) == event.subject

    def concerns_focus(self, event: Event) -> bool:
        """Whether the event is about the objective in focus: a name in its condition, or a call that names one."""
        focus = self.focus
        if focus is None:
            return False
        return event.subject == focus.id or bool(_names(event.subject) & _names(focus.condition))

    def serves_to_release(self, now: float, name: str) -> bool:
        """Whether a running call is about putting this object out of the hand."""
        running = self.running(now)
        return any(call.skill in ("place", "hand_over") and name in _names(_text(call)) for call in running)

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {
            "leases": [lease.model_dump(mode="json") for lease in self._leases.values()],
            "recent": {key: [list(one) for one in times] for key, times in self._recent.items()},
            "speakers": dict(self._speakers),
            "focus": None if self.focus is None else self.focus.model_dump(mode="json"),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Take over a dumped state."""
        self.take_leases(Lease.model_validate(lease) for lease in data["leases"])
        self._recent = {key: [(at, times) for at, times in kept] for key, kept in data["recent"].items()}
        self._speakers = dict(data["speakers"])
        self.focus = None if data["focus"] is None else Objective.model_validate(data["focus"])


def _text(call: SkillCall) -> str:
    return render(call.skill, call.arguments)


def _names(text: str) -> set[str]:
    """The names in a condition, a call or a subject, without the vocabulary's own words."""
    return set(_WORDS.findall(text)) - {"at", "robot", "seen", "holding", "told", "charged"}
