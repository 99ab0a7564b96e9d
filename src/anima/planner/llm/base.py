"""What every language model back end is asked, and what it answers."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal, Protocol


class LlmError(RuntimeError):
    """A model that can't be used; the message says which, why, and what to do."""


@dataclass(frozen=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One turn of the model.

    The first `stable` messages are the same bytes in every request of this `role`: the back end keeps what it
    computed for them. `grammar` is GBNF with the start symbol `root`; the text obeys it or the turn is an error.
    `choices`, when given, are all the texts that the grammar admits: decoding ends as soon as only one is left.
    Budgets are wall seconds for reading the prompt and for writing the answer.
    """

    role: str
    messages: tuple[Message, ...]
    stable: int
    grammar: str
    max_tokens: int
    prefill_budget_s: float
    decode_budget_s: float
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Completion:
    """What came of a turn. `error` is empty or says what went wrong and `text` must not be used then.

    `cached_tokens` of the `prompt_tokens` were not computed again. `confidence` is the probability (0..1) of the
    text among all that the grammar admitted, 0 when the back end can't tell.
    """

    text: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    confidence: float = 0.0
    error: str = ""


class Pending(Protocol):
    """A turn that runs elsewhere."""

    def poll(self) -> Completion | None:
        """The completion once there is one; never blocks."""
        ...

    def cancel(self) -> None:
        """Give the turn up; it ends soon, with an error."""
        ...


class LanguageModel(Protocol):
    """A model that works off turns one after the other, without holding up the caller."""

    def start(self, request: Request) -> Pending:
        """Queue a turn; returns at once."""
        ...

    def close(self) -> None:
        """Free what it holds; pending turns end with an error."""
        ...


class Slot:
    """A `Pending` filled by a worker thread. Assigning `done` is atomic, so no lock is needed.

    A worker that does not answer within the budgets and a grace for loading and queueing counts as hung.
    """

    def __init__(self, request: Request, grace_s: float = 120.0) -> None:
        self.request = request
        self.done: Completion | None = None
        self.cancelled = False
        self._patience_s = request.prefill_budget_s + request.decode_budget_s + grace_s
        self._began = time.monotonic()

    def poll(self) -> Completion | None:
        """The completion once there is one."""
        if self.done is None and time.monotonic() - self._began > self._patience_s:
            self.cancelled = True
            self.done = Completion(error=f"the model gave no answer in {self._patience_s:g} s")
        return self.done

    def cancel(self) -> None:
        """The worker sees this at its next check."""
        self.cancelled = True
