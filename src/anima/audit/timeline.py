"""A journal as what was said, when and by whom: the values that crossed topics, in order, each once."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from anima.audit.codec import decode, topic_of
from anima.audit.recording import Chunk
from anima.topics import Topic
from anima.types.base import Msg

M = TypeVar("M", bound=Msg)


@dataclass(frozen=True)
class Told:
    """A value: when it was sent (or first arrived), by which node (empty: from outside of the recorded processes)."""

    at: float
    node: str
    topic: str
    value: Msg


@dataclass
class Timeline:
    """Everything that was told, oldest first per topic. `of(topic)` is what a topic carried."""

    topics: dict[str, list[Told]] = field(default_factory=dict)

    @classmethod
    def of_chunks(cls, chunks: Iterable[Chunk]) -> Timeline:
        """From the journals of a recording; values that several processes wrote down count once."""
        values: dict[tuple[str, int], tuple[str, dict[str, Any]]] = {}
        sent: dict[tuple[str, str], Told] = {}
        arrived: dict[tuple[str, str], Told] = {}
        for chunk in chunks:
            for line in chunk.lines:
                if "v" in line:
                    values[chunk.process, line["v"]] = (line["t"], line["d"])
                elif "s" in line:
                    _note(sent, chunk.process, line, "out", values)
                    _note(arrived, chunk.process, line, "in", values)
        timeline = cls()
        for told in sorted({**arrived, **sent}.values(), key=lambda told: told.at):
            timeline.topics.setdefault(told.topic, []).append(told)
        return timeline

    def of(self, topic: Topic[M]) -> list[tuple[float, M]]:
        """Times and values of a topic."""
        return [(told.at, cast(M, told.value)) for told in self.topics.get(topic.name, ())]

    def last_before(self, topic: Topic[M], at: float) -> M | None:
        """The newest value of a topic at a time, or None."""
        return next((value for when, value in reversed(self.of(topic)) if when <= at), None)


def _note(
    found: dict[tuple[str, str], Told],
    process: str,
    line: dict[str, Any],
    side: str,
    values: dict[tuple[str, int], tuple[str, dict[str, Any]]],
) -> None:
    for number in line[side]:
        known = values.get((process, number))
        if known is None:
            continue  # told before a gap in the record
        topic, data = known
        key = (topic, json.dumps(data, sort_keys=True))
        if key not in found:
            node = line["s"] if side == "out" else ""
            found[key] = Told(line["at"], node, topic, decode(topic_of(topic), data))
