"""The bids in a recording."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anima import topics as t
from anima.audit.command import recordings_folder
from anima.audit.recording import NoRecording, newest, read_journals
from anima.audit.timeline import Timeline
from anima.types.parts import PartBid, PartBids


@dataclass(frozen=True)
class BidTold:
    """A bid, the choice that it was part of, and when that was told, seconds of the run."""

    at: float
    bid: PartBid
    choice: PartBids

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        choice = self.choice
        about = {"event": choice.event, "about": choice.about, "origin": choice.origin, "self": choice.self_name}
        return {"at": self.at, **self.bid.model_dump(mode="json"), **about, "mode": choice.mode,
                "first": choice.focus == self.bid.id}


def bids_of(timeline: Timeline) -> Iterator[BidTold]:
    """Every bid that was told, oldest first."""
    for at, choice in timeline.of(t.BIDS):
        for bid in choice.bids:
            yield BidTold(at, bid, choice)


def told_bids(file: Path | None) -> list[BidTold]:
    """The bids in a recording, the newest one without a file. Raises LookupError that says what is missing."""
    try:
        return list(bids_of(Timeline.of_chunks(read_journals(file or newest(recordings_folder())))))
    except NoRecording as error:
        raise LookupError(str(error)) from error
