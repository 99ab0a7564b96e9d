"""Encounters: with whom the robot is dealing, since when, and when that is over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field

from anima.config import Tuning

_WORDS = re.compile(r"[^a-z' ]+")


class EncounterTuning(Tuning):
    """When an encounter ends (`config/learning.yaml`).

    `silence_s` up: a later word still counts as the same encounter, so what was learned in it guides later.
    """

    silence_s: float = Field(ge=10, le=86400)
    goodbyes: list[str]


@dataclass(frozen=True)
class Encounter:
    """One time of being together with a person."""

    id: str
    person: str
    began: float
    last: float


@dataclass(frozen=True)
class Ended:
    """An encounter that is over, and why."""

    encounter: Encounter
    at: float
    why: str


def is_goodbye(text: str, tuning: EncounterTuning) -> bool:
    """Whether the utterance is nothing but a goodbye, with a name or thanks around it."""
    words = " ".join(_WORDS.sub(" ", text.lower().replace("’", "'")).split())
    for phrase in sorted(tuning.goodbyes, key=len, reverse=True):
        found = re.search(rf"(^|\b){re.escape(phrase)}(\b|$)", words)
        if found and len((words[: found.start()] + words[found.end() :]).split()) <= 3:
            return True
    return False


class Encounters:
    """The open encounters, one per person. Times are of the caller's clock, seconds."""

    def __init__(self, tuning: EncounterTuning) -> None:
        self._tuning = tuning
        self.open: dict[str, Encounter] = {}
        self._goodbye: set[str] = set()

    def meet(self, now: float, person: str, id: str) -> Encounter | None:
        """`person` says or does something. Returns the encounter if this began it; `id` names it then."""
        known = self.open.get(person)
        if known is not None and now >= known.last:
            self.open[person] = Encounter(known.id, person, known.began, now)
            return None
        begun = Encounter(id, person, now, now)
        self.open[person] = begun
        return begun

    def said(self, person: str, text: str) -> None:
        """Take note of a goodbye: the encounter ends once the robot has answered, or at the next look."""
        if is_goodbye(text, self._tuning):
            self._goodbye.add(person)

    def end(self, now: float, docked_at: float, person: str | None = None, why: str = "") -> list[Ended]:
        """What has ended: by silence, goodbye, docking with nothing left to do, or because somebody says so (`why`).

        `docked_at` is when the robot came to rest on its dock (-inf: it has something to do): that ends the encounters
        in which nobody has spoken since. `person` empty with a `why` ends all.
        """
        ended = []
        for name, one in list(self.open.items()):
            reason = ""
            if why and person in ("", name, None):
                reason = why
            elif name in self._goodbye:
                reason = "goodbye"
            elif now - one.last >= self._tuning.silence_s:
                reason = f"silent for {self._tuning.silence_s:g} s"
            elif docked_at >= one.last:
                reason = "docked, and nothing left to do"
            if reason:
                del self.open[name]
                self._goodbye.discard(name)
                ended.append(Ended(one, now, reason))
        return ended

    def dump(self) -> dict[str, Any]:
        """The state, as JSON."""
        return {
            "open": [asdict(one) for one in self.open.values()],
            "goodbye": sorted(self._goodbye),
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Go on from what `dump` said."""
        self.open = {one["person"]: Encounter(**one) for one in data["open"]}
        self._goodbye = set(data["goodbye"])
