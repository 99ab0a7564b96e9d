"""Twins of the messages of `anima_msgs` by which the mind can be watched and recorded."""

from __future__ import annotations

from typing import ClassVar

from .base import Header, Msg


class JournalChunk(Msg):
    """Lines of a process's step journal (`anima.audit.journal`); `sequence` counts, so that a gap is seen."""

    ros: ClassVar[str] = "anima_msgs/msg/JournalChunk"
    header: Header
    process: str
    sequence: int
    lines: str


class RegionStatus(Msg):
    """One node at work: how often it stepped per second of its time, what it last sent and when, and its `why`."""

    ros: ClassVar[str] = "anima_msgs/msg/RegionStatus"
    node: str
    steps_per_s: float
    last_topic: str
    last_sent_s: float
    why: str


class BrainStatus(Msg):
    """The nodes of a process at work, once a second."""

    ros: ClassVar[str] = "anima_msgs/msg/BrainStatus"
    header: Header
    process: str
    regions: list[RegionStatus]
