"""What every train of thought works with: the library, the Self, what was sensed, what holds; and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anima import topics as t
from anima.body.places import Places
from anima.memory.errors import StoreError
from anima.memory.opening import RunClock
from anima.memory.patch_refusals import PatchRefused
from anima.parts.happening import Diary
from anima.parts.leaning import Leanings
from anima.parts.library import Cause, KeptPart, PartLibrary
from anima.parts.roles import PartsTuning
from anima.parts.selves import SelfProfile
from anima.planner.names import KnownNames
from anima.topics import Sent
from anima.types.base import Header
from anima.types.parts import PartChange

REFUSED = (PatchRefused, StoreError)


@dataclass
class Tally:
    """What was written and how much of it could be read; what the doors refused, newest last."""

    written: int = 0
    unread: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass
class Context:
    """What every train of thought works with. `now` is the time of the step, seconds."""

    library: PartLibrary
    clock: RunClock
    profile: SelfProfile
    tuning: PartsTuning
    names: KnownNames
    places: Places
    diary: Diary
    leanings: Leanings
    isolated: bool = False
    now: float = 0.0
    bids: int = 0
    sent: list[Sent] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    echoes: dict[tuple[str, str], tuple[str, str, str]] = field(default_factory=dict)
    """Pairs of parts that bid about the same event and don't lean apart -> their words, and the event."""
    touched: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Parts that were changed or spoke and were not yet looked at since: version, and the event."""

    @property
    def utc_s(self) -> float:
        """UTC of the step."""
        return self.clock.epoch_utc_s + self.now

    def cause(self, why: str, *because: str, who: str = "parts") -> Cause:
        """A cause of a change now."""
        return Cause(who, why, self.clock.stamp(self.now), tuple(because))

    def tell(self, kept: KeptPart, what: str, event: str) -> None:
        """Say that a part has a new version."""
        change = PartChange(
            header=Header.at(self.now), part=kept.id, version=kept.version, name=kept.part.name, what=what,
            event=event, why=kept.why,
        )
        self.sent.append(t.PART_CHANGES.of(change))
        if what in ("created", "updated", "predicted", "evaluated", "merged"):
            self.touched[kept.id] = (kept.version, event)

    def change(self, act: Callable[[], KeptPart], what: str, event: str) -> KeptPart | None:
        """Have a door change something; what it refuses stays as it was, and is counted."""
        try:
            kept = act()
        except REFUSED as error:
            self.tally.refused = [*self.tally.refused, f"{what}: {error}"][-20:]
            return None
        self.tell(kept, what, event)
        return kept
