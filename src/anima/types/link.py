"""Twins of `anima_msgs` about the serial link to the brainstem."""

from __future__ import annotations

from typing import ClassVar

from .base import Header, Msg


class LinkState(Msg):
    """How the serial link is. `phase`: closed, linking, ready, arming, armed; `trouble` is why it isn't armed.

    `heard_share` is the share of our frames that the brainstem understood lately, NaN when unknown, as the round trip.
    Counts are since the line was opened: telemetry frames that never came are `lost`, spoiled ones `bad`.
    """

    ros: ClassVar[str] = "anima_msgs/msg/LinkState"
    header: Header
    phase: str
    trouble: str
    faults: list[str]
    round_trip_s: float
    heard_share: float
    frames_sent: int
    frames_received: int
    frames_lost: int
    frames_bad: int
