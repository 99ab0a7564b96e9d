"""The order in which tasks come to a model's worker thread: what a person or the body waits for goes first."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from anima.planner.llm.base import Slot


class Turns:
    """Two queues behind one lock. Any thread may put, one thread takes."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._first: deque[Slot[Any]] = deque()
        self._background: deque[Slot[Any]] = deque()
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether no more tasks are taken."""
        return self._closed

    def others_wait(self) -> bool:
        """Whether a task waits that goes before every background task."""
        return bool(self._first)

    def put(self, slot: Slot[Any]) -> None:
        """Queue a task; after `close` it fails at once."""
        with self._change:
            if self._closed:
                slot.fail("the model is closed")
                return
            (self._background if slot.task.background else self._first).append(slot)
            self._change.notify()

    def put_back(self, slot: Slot[Any]) -> None:
        """Queue a task that was set aside, before all others of the background."""
        with self._change:
            if self._closed:
                slot.fail("the model is closed")
                return
            self._background.appendleft(slot)

    def take(self) -> Slot[Any] | None:
        """The next task; waits for one. None once closed. Tasks given up meanwhile end here."""
        with self._change:
            while True:
                for queue in (self._first, self._background):
                    while queue:
                        slot = queue.popleft()
                        if not slot.cancelled:
                            return slot
                        slot.fail("cancelled")
                if self._closed:
                    return None
                self._change.wait()

    def close(self) -> None:
        """Take no more tasks; those that wait fail."""
        with self._change:
            self._closed = True
            for slot in (*self._first, *self._background):
                slot.fail("the model is closed")
            self._first.clear()
            self._background.clear()
            self._change.notify_all()
