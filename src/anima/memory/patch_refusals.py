"""Why a patch is refused: one exception per reason, each saying which operation (counted from 1) and which path."""

from __future__ import annotations

from typing import ClassVar

from anima.memory.errors import BadData


class PatchRefused(BadData):
    """A patch was refused whole and nothing has changed. `code` is the reason for programs, the message for people."""

    code: ClassVar[str] = "refused"

    def __init__(self, reason: str, *, op: int | None = None, path: str = "") -> None:
        self.reason = reason
        self.op = op
        self.path = path
        where = "" if op is None else f"operation {op}"
        if path:
            where += f" at {path[:200]}" if where else path[:200]
        super().__init__(f"patch refused: {where}: {reason}" if where else f"patch refused: {reason}")


class PatchMalformed(PatchRefused):
    """It is no list of operations that are known."""

    code = "malformed"


class PatchTooLarge(PatchRefused):
    """Too many operations, too many bytes, too deep, or too long a text."""

    code = "too_large"


class PathRefused(PatchRefused):
    """It reaches for what never changes, or changes a thing in a way that it can't be."""

    code = "path_refused"


class UnknownTarget(PatchRefused):
    """It names an item or a field that is not there."""

    code = "unknown_target"


class Contradictory(PatchRefused):
    """Two operations touch the same place, or one tells otherwise what was lived."""

    code = "contradictory"


class TestFailed(PatchRefused):
    """What it expects to find is not there."""

    __test__ = False  # not a test, whatever the name
    code = "test_failed"


class NotWhatItHolds(PatchRefused):
    """Applied, the item would no longer be what its kind holds."""

    code = "not_what_it_holds"


class NoCause(PatchRefused):
    """It names no event that it came from."""

    code = "no_cause"
