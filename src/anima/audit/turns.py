"""The turns of the language model in a recording: who asked when, who gave way to whom, and what that cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from anima.audit.recording import Chunk
from anima.planner.llm.base import Mark

ENDS = ("ended", "failed", "cancelled")


@dataclass(frozen=True)
class Turn:
    """One task of a model: `taken_at` is when its answer was taken, seconds of the run; `node` is who had asked."""

    process: str
    node: str
    role: str
    background: bool
    taken_at: float
    error: str
    marks: tuple[Mark, ...]

    def mark(self, what: str) -> Mark | None:
        """The first mark of that name."""
        return next((mark for mark in self.marks if mark.what == what), None)

    @property
    def set_aside(self) -> int:
        """How often it gave way to others."""
        return sum(mark.what == "set aside" for mark in self.marks)

    def spans(self) -> list[tuple[Mark, Mark]]:
        """When the model was at it: from each beginning to its setting aside or end."""
        found, begun = [], None
        for mark in self.marks:
            if mark.what == "begun":
                begun = mark
            elif begun is not None and mark.what in ("set aside", *ENDS):
                found.append((begun, mark))
                begun = None
        return found


@dataclass(frozen=True)
class Meeting:
    """A turn that somebody waits for came while a turn of the background ran.

    `gave_way`: that turn was let go of before the newcomer began. `tokens` were computed, `wait_s` went by, from the
    request until then.
    """

    turn: Turn
    ran: Turn
    gave_way: bool
    tokens: int
    wait_s: float


def turns_of(chunks: Iterable[Chunk]) -> list[Turn]:
    """Every turn whose answer was taken, in the order in which they were queued. Those of records without marks are
    left out."""
    found = []
    for chunk in chunks:
        for line in chunk.lines:
            for told in line.get("turns", ()) if "s" in line else ():
                marks = tuple(Mark(**mark) for mark in told.get("marks", ()))
                if marks:
                    found.append(
                        Turn(
                            chunk.process, line["s"], told["role"], told["background"], line["at"], told["error"],
                            marks,
                        )
                    )
    return sorted(found, key=lambda turn: (turn.marks[0].at_s, turn.marks[0].order))


def meetings(turns: Iterable[Turn]) -> list[Meeting]:
    """Every time that a turn which somebody waits for met one of the background at work."""
    all_turns = list(turns)
    background = [(turn, span) for turn in all_turns if turn.background for span in turn.spans()]
    found = []
    for turn in all_turns:
        queued, begun = turn.mark("queued"), turn.mark("begun")
        if turn.background or queued is None or begun is None:
            continue
        for ran, (start, end) in background:
            if ran.process == turn.process and start.at_s <= queued.at_s < end.at_s and _follows(start, queued):
                gave_way = _follows(queued, end) and _follows(end, begun)
                found.append(Meeting(turn, ran, gave_way, end.tokens - queued.tokens, end.at_s - queued.at_s))
    return found


def _follows(one: Mark, other: Mark) -> bool:
    return one.order < other.order


def as_data(turn: Turn) -> dict[str, Any]:
    """For programs: each mark with its seconds since the turn was queued."""
    began = turn.marks[0]
    marks = [
        {"what": mark.what, "order": mark.order, "after_s": mark.at_s - began.at_s, "tokens": mark.tokens}
        for mark in turn.marks
    ]
    return {
        "process": turn.process, "node": turn.node, "role": turn.role, "background": turn.background,
        "taken_at": turn.taken_at, "set_aside": turn.set_aside, "error": turn.error, "marks": marks,
    }
