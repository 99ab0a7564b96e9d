"""The local model: `Engine` in a worker thread, so that no step of the planner ever waits for it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from anima.planner.budgets import estimate
from anima.planner.llm.base import Completion, LlmError, Meter, Read, Reading, Request, Slot, Weighed, Weighing
from anima.planner.llm.engine import Engine
from anima.planner.llm.turns import Turns


def cache_folder() -> Path:
    """Where models and computed prefixes outlive a clone."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anima"


def model_file(model: str) -> Path:
    """The GGUF file of a model that settings name by path or by its name in the manifest."""
    path = Path(model).expanduser()
    return path if path.suffix == ".gguf" else cache_folder() / "models" / f"{model}.gguf"


class LlamaCpp:
    """A GGUF model. It loads in the worker thread at the first task; a failure to load is the error of every task.

    A background task that runs when another comes is aborted within a step of the computation and taken up again
    afterwards, with everything that it had read and written: nobody waits for it, and it loses nothing.
    """

    def __init__(self, file: Path, threads: int, context_tokens: int, prefix_cache: Path | None) -> None:
        self._file, self._threads, self._context_tokens = file, threads, context_tokens
        self._prefix_cache = prefix_cache
        self._turns = Turns()
        self._meter = Meter()
        self._engine: Engine | None = None
        self._worker = threading.Thread(target=self._work, name="llama", daemon=True)
        self._worker.start()

    def start(self, request: Request) -> Slot[Completion]:
        """Queue a turn; returns at once. Any thread may call it."""
        slot = Slot[Completion](request, self._meter)
        self._turns.put(slot)
        return slot

    def read(self, reading: Reading) -> Slot[Read]:
        """Queue a look at hidden states; returns at once."""
        slot = Slot[Read](reading, self._meter)
        self._turns.put(slot)
        return slot

    def weigh(self, weighing: Weighing) -> Slot[Weighed]:
        """Queue a comparison of options; returns at once."""
        slot = Slot[Weighed](weighing, self._meter)
        self._turns.put(slot)
        return slot

    def count(self, text: str) -> int:
        """Tokens of a text: exact once the model is loaded (any thread may read its vocabulary), else estimated."""
        engine = self._engine
        return len(engine.text.tokenize(text)) if engine is not None else estimate(text)

    def close(self) -> None:
        """End the worker after the task at hand, which is aborted."""
        self._turns.close()
        self._worker.join(timeout=10.0)

    def _work(self) -> None:
        while (slot := self._turns.take()) is not None:
            try:
                if self._engine is None:
                    self._engine = Engine(
                        self._file, self._threads, self._context_tokens, self._prefix_cache, self._meter
                    )
                self._answer(self._engine, slot)
            except LlmError as error:
                slot.fail(str(error))
            except Exception as error:  # the thread must outlive any surprise, and the surprise must be seen
                slot.fail(f"{type(error).__name__}: {error}")
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _answer(self, engine: Engine, slot: Slot[Any]) -> None:
        def must_stop() -> bool:
            return slot.must_stop(self._turns.others_wait) or self._turns.is_closed

        slot.begin()
        answer: Completion | Read | Weighed
        match slot.task:
            case Request() as request:
                answer = engine.complete(request, must_stop, slot.written)
            case Reading() as reading:
                answer = engine.read(reading, must_stop)
            case Weighing() as weighing:
                answer = engine.weigh(weighing, must_stop)
            case other:
                raise TypeError(f"{type(other).__name__} is nothing that a model can be asked")
        if answer.error and slot.set_aside and not slot.cancelled:
            slot.mark("set aside")
            self._turns.put_back(slot)
        else:
            slot.end(answer)
