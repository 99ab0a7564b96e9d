"""Twins of `anima_msgs`: what dynamic parts bid for, what the Self follows, and what that makes the body lean to."""

from __future__ import annotations

from typing import ClassVar

from .base import Float64s, Header, Msg, Time


class PartBid(Msg):
    """What one part wants about one event, in the first person, and what the Self made of it.

    `focus` is one condition of the closed vocabulary (``at(robot, dock)``) or empty. `stance`: none, avoid, prefer,
    speak, hold_back, about `target` (a place, an area or an object of the map; ``here`` is where the event happened;
    of speak it is the words, which are the part's own). `confidence`: tentative, likely, certain; `within_s` is when
    the prediction is due. `followed` with the `reason` of the Self.
    """

    ros: ClassVar[str] = "anima_msgs/msg/PartBid"
    id: str
    part: str
    version: int
    name: str
    focus: str
    recommendation: str
    stance: str
    target: str
    prediction: str
    confidence: str
    within_s: float
    followed: bool
    reason: str


class PartBids(Msg):
    """Every bid about one event, and what the Self chose: `focus` is the id of the bid that it follows first, or empty.

    `origin` says where the event came from (see `anima.parts.origins`); `mode`: standard or isolated.
    """

    ros: ClassVar[str] = "anima_msgs/msg/PartBids"
    header: Header
    event: str
    about: str
    origin: str
    self_name: str
    mode: str
    bids: list[PartBid]
    focus: str


class Stance(Msg):
    """A lean that a followed bid gives to mechanisms below, until it runs out: avoid, prefer or hold_back.

    `area` is x0, y0, x1, y1 in the map frame, metres, or empty. `weight` 0..1.
    """

    ros: ClassVar[str] = "anima_msgs/msg/Stance"
    bid: str
    part: str
    name: str
    kind: str
    target: str
    area: Float64s
    weight: float
    until: Time
    why: str


class Stances(Msg):
    """All stances that hold now. An empty list ends what held."""

    ros: ClassVar[str] = "anima_msgs/msg/Stances"
    header: Header
    stances: list[Stance]


class PartChange(Msg):
    """A part's new version. `what`: created, predicted, evaluated, updated, split, merged, archived or loaded.

    `event` is the id of the event that it came from.
    """

    ros: ClassVar[str] = "anima_msgs/msg/PartChange"
    header: Header
    part: str
    version: int
    name: str
    what: str
    event: str
    why: str
