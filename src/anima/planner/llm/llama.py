"""The local model: `Engine` in a worker thread, so that no step of the planner ever waits for it."""

from __future__ import annotations

import os
import queue
import threading
from pathlib import Path

from anima.planner.budgets import estimate
from anima.planner.llm.base import Completion, LlmError, Request, Slot
from anima.planner.llm.engine import Engine


def cache_folder() -> Path:
    """Where models and computed prefixes outlive a clone."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anima"


def model_file(model: str) -> Path:
    """The GGUF file of a model that settings name by path or by its name in the manifest."""
    path = Path(model).expanduser()
    return path if path.suffix == ".gguf" else cache_folder() / "models" / f"{model}.gguf"


class LlamaCpp:
    """A GGUF model. It loads in the worker thread at the first turn; a failure to load is the error of every turn."""

    def __init__(self, file: Path, threads: int, context_tokens: int, prefix_cache: Path | None) -> None:
        self._file, self._threads, self._context_tokens = file, threads, context_tokens
        self._prefix_cache = prefix_cache
        self._queue: queue.SimpleQueue[Slot | None] = queue.SimpleQueue()
        self._closed = False
        self._engine: Engine | None = None
        self._worker = threading.Thread(target=self._work, name="llama", daemon=True)
        self._worker.start()

    def start(self, request: Request) -> Slot:
        """Queue a turn; returns at once."""
        slot = Slot(request)
        if self._closed:
            slot.done = Completion(error="the model is closed")
        else:
            self._queue.put(slot)
        return slot

    def count(self, text: str) -> int:
        """Tokens of a text: exact once the model is loaded (any thread may read its vocabulary), else estimated."""
        engine = self._engine
        return len(engine.tokenize(text)) if engine is not None else estimate(text)

    def close(self) -> None:
        """End the worker after the turn at hand, which is aborted."""
        self._closed = True
        self._queue.put(None)
        self._worker.join(timeout=10.0)

    def _work(self) -> None:
        while (slot := self._queue.get()) is not None:
            try:
                if self._engine is None:
                    self._engine = Engine(self._file, self._threads, self._context_tokens, self._prefix_cache)
                slot.done = self._engine.complete(slot.request, lambda s=slot: s.cancelled or self._closed)  # type: ignore[misc]
            except LlmError as error:
                slot.done = Completion(error=str(error))
            except Exception as error:  # the thread must outlive any surprise, and the surprise must be seen
                slot.done = Completion(error=f"{type(error).__name__}: {error}")
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
