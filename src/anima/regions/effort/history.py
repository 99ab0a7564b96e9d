"""The calls for an objective since it last came nearer, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from anima.failure import Failure
from anima.regions.effort.config import ConflictTuning

REPEATED, OSCILLATION, NO_PROGRESS = "repeated_failure", "oscillation", "no_progress"
_CALLS_KEPT = 50
# What may pass by itself: waiting and trying again is a tactic then, for once more.
_MAY_PASS = frozenset({Failure.PATH_BLOCKED, Failure.STALLED, Failure.TIMEOUT, Failure.RESOURCE_DENIED})


class Ended(BaseModel):
    """A call that has ended: its text and id, how (0 for success), the world that it began in, and whether that was
    different after."""

    call: str
    id: str
    failure: int
    ground: str
    changed: bool
    objective: str


@dataclass(frozen=True)
class Finding:
    """What is wrong: the calls to avoid, a sentence, and the ids of the calls that show it."""

    kind: str
    avoid: tuple[str, ...]
    why: str
    because: tuple[str, ...]


class Effort(BaseModel):
    """What was tried for one objective since it last came nearer. `best` is the nearest that it came, 0..1.

    `level` counts the conflicts since then; `told` says how many of `ended` were there at the last one about a round
    of tactics.
    """

    best: float = 0.0
    ended: list[Ended] = []
    since_told: int = 0
    level: int = 0

    def came_nearer(self, closeness: float) -> None:
        """Real progress: what was tried before is forgiven."""
        self.best, self.ended, self.since_told, self.level = closeness, [], 0, 0

    def rested(self) -> None:
        """It was set aside: what is tried after that is seen with fresh eyes, though not forgiven."""
        self.ended, self.since_told = [], 0

    def add(self, ended: Ended, tuning: ConflictTuning) -> Finding | None:
        """Take in a call that has ended; what it shows, the gravest first."""
        self.ended = [*self.ended, ended][-_CALLS_KEPT:]
        self.since_told += 1
        found = rounds(self.ended, tuning.longest_cycle, self.since_told)
        if found is not None:
            self.since_told = 0
            return found
        return self._same_failure(ended, tuning) or self._same_success(ended, tuning) or self._nothing_gained(tuning)

    def _same_failure(self, last: Ended, tuning: ConflictTuning) -> Finding | None:
        """The same deed in the same world came to the same end."""
        sign = (last.call, last.failure, last.ground)
        same = [one for one in self.ended if (one.call, one.failure, one.ground) == sign]
        if not last.failure or len(same) < tuning.same_failures:
            return None
        passing = last.failure in _MAY_PASS and len(same) == tuning.same_failures
        why = f"{last.call} failed {len(same)} times with {_word(last.failure)}"
        return Finding(REPEATED, () if passing else (last.call,), why, _ids(same))

    def _same_success(self, last: Ended, tuning: ConflictTuning) -> Finding | None:
        """The same deed again and again, nothing else in between: rounds of several are another finding."""
        others = (at for at, one in enumerate(reversed(self.ended)) if one.call != last.call or one.failure)
        in_a_row = self.ended[len(self.ended) - next(others, len(self.ended)) :]
        same = [one for one in in_a_row if not one.changed]
        allowed = tuning.same_waits if last.call.startswith("wait(") else tuning.same_successes
        if last.failure or last.changed or len(same) < allowed:
            return None
        why = f"{last.call} succeeded {len(same)} times and changed nothing"
        return Finding(NO_PROGRESS, (last.call,), why, _ids(same))

    def _nothing_gained(self, tuning: ConflictTuning) -> Finding | None:
        calls = len(self.ended)
        if calls < tuning.calls_without_progress or calls % tuning.calls_without_progress:
            return None
        useless = dict.fromkeys(one.call for one in self.ended if one.failure or not one.changed)
        why = f"{calls} calls brought the objective no nearer"
        return Finding(NO_PROGRESS, tuple(useless), why, _ids(self.ended))


def rounds(ended: Sequence[Ended], longest: int, fresh: int) -> Finding | None:
    """A round of 2 to `longest` different calls gone twice, the shortest first (A B A B, A B C A B C).

    `fresh` is how many calls there are that no finding has told yet: a round is told again only after another turn.
    """
    for length in range(2, longest + 1):
        last = ended[-2 * length :]
        texts = [one.call for one in last]
        if len(last) == 2 * length <= fresh + length and texts[:length] == texts[length:] and len(set(texts)) > 1:
            cycle = dict.fromkeys(texts[:length])
            avoid = tuple(call for call in cycle if not call.startswith("wait(")) or tuple(cycle)
            return Finding(OSCILLATION, avoid, f"it goes round in {', '.join(cycle)}", _ids(last))
    return None


def _ids(ended: Sequence[Ended]) -> tuple[str, ...]:
    return tuple(one.id for one in ended)


def _word(code: int) -> str:
    return Failure(code).word if code in set(Failure) else Failure.UNKNOWN.word
