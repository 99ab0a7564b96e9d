"""How fast simulated time may run: never ahead of its slowest node, and fast only while the body moves."""

from __future__ import annotations


class Pacer:
    """Says when the next tick of simulated time may be.

    Simulated time runs at `speed` times the wall clock while the body was commanded to move within the last
    `hold_s` of simulated time, else at 1, because people and language models think in real time. It waits for any
    process whose last heartbeat is more than `lag_s` of simulated time behind; one for which it has waited `patience_s`
    of the wall clock counts as gone until it beats again, so that a dead one slows nothing down for long. While time
    stands still for another, nobody's patience runs: on a busy machine they take turns.
    Wall times are passed in as seconds of any steady clock.
    """

    def __init__(
        self, tick_s: float, speed: float, lag_s: float = 0.1, patience_s: float = 4.0, hold_s: float = 0.5
    ) -> None:
        self._tick_s = tick_s
        self._speed = speed
        self._lag_s = lag_s
        self._patience_s = patience_s
        self._hold_s = hold_s
        self._ticks = 0
        self._moved_at = -hold_s
        self._beats: dict[str, float] = {}
        self._owes_since: dict[str, float] = {}
        self._due: float | None = None

    @property
    def now(self) -> float:
        """Simulated time, seconds since the start."""
        return self._ticks * self._tick_s

    def beat(self, process: str, stamp: float, wall: float) -> None:
        """A process has worked up to `stamp`."""
        self._beats[process] = stamp
        self._owes_since.pop(process, None)
        self._note(wall)

    def moving(self, moves: bool) -> None:
        """The body was commanded to move, or to stand."""
        if moves:
            self._moved_at = self.now

    def waits_for(self, wall: float) -> list[str]:
        """The processes that hold the time back."""
        self._note(wall)
        return [name for name, since in self._owes_since.items() if wall - since < self._patience_s]

    def _note(self, wall: float) -> None:
        for name, stamp in self._beats.items():
            if self.now - stamp > self._lag_s:
                self._owes_since.setdefault(name, wall)

    def ready(self, wall: float) -> bool:
        """Whether the next tick may be now."""
        if self._due is None:
            self._due = wall
        if wall < self._due or self.waits_for(wall):
            return False
        fast = self.now - self._moved_at < self._hold_s
        # Lost time is not caught up: a burst of ticks would outrun the nodes that just fell behind.
        self._due = max(self._due + self._tick_s / (self._speed if fast else 1.0), wall - self._tick_s)
        return True

    def advance(self) -> float:
        """Take the tick; returns the new time."""
        self._ticks += 1
        return self.now
