"""The thin writer: takes changes without waiting and writes them behind the back of whoever steps."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence

from anima.memory.errors import StoreError, StoreUnusable
from anima.memory.rows import Change
from anima.memory.store import Store

RETRY_S = 2.0
LAST_WORDS_S = 5.0


class _Queue:
    """What is to be written, and how that goes. Shared by the writer and its thread, and by nothing else."""

    def __init__(self, store: Store, most: int) -> None:
        self.store = store
        self.most = most
        self.changed = threading.Condition()
        self.waiting: deque[Change] = deque()
        self.busy = False
        self.closing = False
        self.lost = 0
        self.fault = ""

    def work(self) -> None:
        """The thread: write what waits in one transaction, until closed and empty."""
        while True:
            with self.changed:
                while not self.waiting and not self.closing:
                    self.changed.wait()
                if not self.waiting:
                    return
                batch = list(self.waiting)
                self.busy = True
            stuck = self._write(batch)
            with self.changed:
                for _ in range(0 if stuck else len(batch)):
                    self.waiting.popleft()
                self.busy = False
                self.changed.notify_all()
                if stuck and self.closing:
                    return
                if stuck:
                    self.changed.wait(RETRY_S)

    def _write(self, batch: Sequence[Change]) -> bool:
        """Write all; a change that can't be kept is left out and counted. True when the database itself is stuck."""
        try:
            self.store.write(batch)
            self.fault = ""
            return False
        except StoreUnusable as error:
            self.fault = str(error)
            return True
        except StoreError as error:
            if len(batch) == 1:
                self.lost += 1
                self.fault = str(error)
                return False
        # Should the database get stuck on the way, the batch comes again: at worst history says a thing twice.
        return any(self._write([change]) for change in batch)

    def close(self) -> None:
        """Let the thread write what waits, then let go of the database."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: not self.waiting and not self.busy, LAST_WORDS_S)
        self.store.close()


class Writer:
    """Writes changes in their order, in a thread of its own. `submit` never waits for the disk.

    What can't be kept is dropped and told (`fault`, `lost`). While the database is stuck up to `most` changes wait,
    then the oldest are lost. What waits is written when the writer is closed or the process ends in order.
    """

    def __init__(self, store: Store, most: int) -> None:
        self._queue = _Queue(store, most)
        threading.Thread(target=self._queue.work, name="memory", daemon=True).start()
        # Also runs when the interpreter ends; the thread is a daemon so that a stuck disk can't keep the process.
        self.close = weakref.finalize(self, self._queue.close)

    def submit(self, changes: Sequence[Change]) -> None:
        """Have these written soon."""
        queue = self._queue
        with queue.changed:
            queue.waiting.extend(changes)
            surplus = 0 if queue.busy else len(queue.waiting) - queue.most
            for _ in range(surplus):
                queue.waiting.popleft()
                queue.lost += 1
            queue.changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until all is written; False when it is not within the time."""
        queue = self._queue
        with queue.changed:
            return queue.changed.wait_for(lambda: not queue.waiting and not queue.busy, timeout_s)

    @property
    def fault(self) -> str:
        """What was last wrong with writing; empty while all is well."""
        return self._queue.fault

    @property
    def lost(self) -> int:
        """How many changes could not be kept."""
        return self._queue.lost
