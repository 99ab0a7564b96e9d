"""Bids and stances as the Self sends them."""

from __future__ import annotations

from typing import Any

import numpy as np

from anima import topics as t
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.parts import PartBid, PartBids, Stance, Stances


def bid(id: str = "b1", **update: Any) -> PartBid:
    """A followed bid that wants nothing yet; `update` changes fields."""
    fields: dict[str, Any] = {
        "part": "p1", "version": 1, "name": "Fear of the rug", "focus": "", "recommendation": "I want to keep off it",
        "stance": "none", "target": "", "prediction": "I get stuck", "confidence": "likely", "within_s": 300.0,
        "followed": True, "reason": "I value arriving",
    } | update
    return PartBid(id=id, **fields)


def bids(now: float, *given: PartBid, focus: str = "") -> Sent:
    """What the Self chose."""
    return t.BIDS.of(
        PartBids(
            header=Header.at(now), event="e1", about="it stalled", origin="lived", self_name="helper", mode="standard",
            bids=list(given), focus=focus,
        )
    )


def stance(now: float, kind: str, target: str, area: tuple[float, ...] = (), lasts_s: float = 600.0) -> Stance:
    """One lean."""
    return Stance(
        bid="b1", part="p1", name="Fear of the rug", kind=kind, target=target, area=np.array(area, dtype=np.float64),
        weight=1.0, until=Time.at(now + lasts_s), why="it stalled there twice",
    )


def stances(now: float, *given: Stance) -> Sent:
    """All that holds now."""
    return t.STANCES.of(Stances(header=Header.at(now), stances=list(given)))
