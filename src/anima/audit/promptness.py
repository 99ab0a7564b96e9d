"""What must never wait for a turn in the background: stops and the robot's own words, timed in a recording."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anima import topics as t
from anima.audit.codec import decode, topic_of
from anima.audit.recording import Chunk
from anima.audit.turns import ENDS, Turn
from anima.regions.basal_ganglia import SAID_STOP
from anima.topics import Sent
from anima.types.mind import Backlog, Lease, Speech, StopRequest, StopState, Utterance
from anima.world.stop_words import is_stop

TOPICS = (t.UTTERANCE, t.REPLY, t.BACKLOG, t.LEASE, t.STOP_REQUEST, t.STOP_STATE, t.REMINDER)
PROMPT_S = 0.5  # the shortest call to a model takes about as long
STOP_WITHIN_S = 10.0  # what is let go of later has another reason
_CAUSES = frozenset({t.UTTERANCE.name, t.BACKLOG.name, t.REMINDER.name})


@dataclass(frozen=True)
class Prompt:
    """A stop, or words of the robot: `took_s` went by from its cause until it was on its topic, both as the recorder
    got them. `beside` is the role of a background turn that was with the model meanwhile, empty if none was.
    """

    kind: Literal["stop", "words"]
    text: str
    cause: str
    took_s: float
    beside: str

    @property
    def is_late(self) -> bool:
        """Whether the turn in the background may have held it up."""
        return bool(self.beside) and self.took_s > PROMPT_S


def clocks_of(chunks: Iterable[Chunk]) -> dict[str, float]:
    """By process how far the wall's clock is ahead of the monotonic one, s; none for records that don't tell."""
    found: dict[str, float] = {}
    for chunk in chunks:
        for line in chunk.lines:
            if "session" in line and "clocks" in line:
                found[chunk.process] = line["clocks"]["wall_s"] - line["clocks"]["monotonic_s"]
    return found


def prompts_of(chunks: Sequence[Chunk], told: Iterable[tuple[float, Sent]], turns: Sequence[Turn]) -> list[Prompt]:
    """The stops and the robot's words of a recording in the order in which they came. `told` are the values of `TOPICS`
    with the wall's time at which each was recorded, s."""
    ahead = clocks_of(chunks)
    spans = [
        (start.at_s + ahead[turn.process], end.at_s + ahead[turn.process], turn.role)
        for turn in turns
        if turn.background and turn.process in ahead
        for start, end in turn.spans()
    ]
    heard = sorted(told, key=lambda one: one[0])
    found = [*_stops(heard), *_words(chunks, heard, ahead)]
    return [
        Prompt(kind, text, cause, end - start, next((role for a, b, role in spans if a <= end and start <= b), ""))
        for start, end, kind, text, cause in sorted(found)
    ]


_Timed = tuple[float, float, Literal["stop", "words"], str, str]


def _stops(heard: Sequence[tuple[float, Sent]]) -> list[_Timed]:
    """From the word to the first lease that is taken back for it; from the request to the latched stop."""
    found: list[_Timed] = []
    for number, (at, sent) in enumerate(heard):
        value, later = sent.value, heard[number + 1 :]
        if isinstance(value, Utterance) and is_stop(value.text):
            ends = (
                end for end, one in later
                if isinstance(one.value, Lease) and not one.value.granted and one.value.reason == SAID_STOP
            )
            cause = f"«{value.text}»"
        elif isinstance(value, StopRequest):
            ends = (end for end, one in later if isinstance(one.value, StopState) and one.value.latched)
            cause = f"a request of {value.source}"
        else:
            continue
        end = next(ends, None)
        if end is not None and end - at <= STOP_WITHIN_S:
            found.append((at, end, "stop", "let go", cause))
    return found


def _words(chunks: Sequence[Chunk], heard: Sequence[tuple[float, Sent]], ahead: dict[str, float]) -> list[_Timed]:
    """From what made the planner speak (a turn's end, or what it had heard) to the words."""
    found: list[_Timed] = []
    values: dict[tuple[str, int], tuple[str, dict[str, Any]]] = {}
    for chunk in chunks:
        for line in chunk.lines:
            if "v" in line:
                values[chunk.process, line["v"]] = (line["t"], line["d"])
            if "s" not in line or chunk.process not in ahead:
                continue
            sent = [values[key] for number in line["out"] if (key := (chunk.process, number)) in values]
            for name, data in sent:
                if name != t.REPLY.name:
                    continue
                said = decode(t.REPLY, data)
                end = next((at for at, one in heard if one.topic.name == name and one.value == said), None)
                came = [values[key] for number in line["in"] if (key := (chunk.process, number)) in values]
                start = _cause(line, came, heard, ahead[chunk.process], end)
                if end is not None and start is not None and isinstance(said, Speech):
                    found.append((min(start[0], end), end, "words", said.text, start[1]))
    return found


def _cause(
    line: dict[str, Any], came: Sequence[tuple[str, dict[str, Any]]], heard: Sequence[tuple[float, Sent]],
    ahead_s: float, end: float | None,
) -> tuple[float, str] | None:
    """When that came which the step answered, and what it was."""
    ended = [
        (mark["at_s"] + ahead_s, f"a turn {turn['role']}")
        for turn in line.get("turns", ())
        if not turn["background"]
        for mark in turn.get("marks", ())
        if mark["what"] in ENDS
    ]
    if ended:
        return max(ended)
    causes = [decode(topic_of(name), data) for name, data in came if name in _CAUSES]
    arrived = [
        (at, "an utterance" if isinstance(one.value, Utterance) else
         "an errand's end" if isinstance(one.value, Backlog) else "a reminder")
        for at, one in heard
        if one.topic.name in _CAUSES and one.value in causes and (end is None or at <= end)
    ]
    return max(arrived, default=None)
