"""What every language model back end is asked, and what it answers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

LOADING_GRACE_S = 120.0  # for loading the model and for the turns before it
POLL_S = 0.005
QUEUE_GRACE_S = 6 * 3600.0  # a background task waits as long as the planner keeps the model busy

Answer = TypeVar("Answer", covariant=True)
Given = TypeVar("Given")


class LlmError(RuntimeError):
    """A model that can't be used; the message says which, why, and what to do."""


@dataclass(frozen=True)
class Mark:
    """Something that became of a task: queued, begun, first token, set aside, given up (by who asked),
    ended, failed, cancelled.

    `order` counts the marks of all tasks of one model; `at_s` is the machine's monotonic clock; `tokens` is how many
    tokens the model had computed by then, for whatever task: between two marks that is the time that a slow machine
    can't stretch.
    """

    order: int
    what: str
    at_s: float
    tokens: int


class Meter:
    """Counts what one model computes, and puts in order what becomes of its tasks. Any thread may mark."""

    def __init__(self) -> None:
        self.tokens = 0
        self._order = 0
        self._lock = threading.Lock()

    def mark(self, what: str) -> Mark:
        """The next mark."""
        with self._lock:
            self._order += 1
            return Mark(self._order, what, time.monotonic(), self.tokens)


@dataclass(frozen=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


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
    marks: tuple[Mark, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Request:
    """One turn of the model.

    The first `stable` messages are the same bytes in every request of this `role`: the back end keeps what it
    computed for them. `grammar` is GBNF with the start symbol `root`; the text obeys it or the turn is an error.
    `choices`, when given, are all the texts that the grammar admits: decoding ends as soon as only one is left.
    Budgets are seconds for reading the prompt and for writing the answer: of computing where the back end can tell, so
    that a busy machine makes a turn late and does not cost it, else by the clock. A `background` task gives way to
    every other at once, and goes on where it was when none of them is left.
    """

    role: str
    messages: tuple[Message, ...]
    stable: int
    grammar: str
    max_tokens: int
    prefill_budget_s: float
    decode_budget_s: float
    choices: tuple[str, ...] = ()
    background: bool = False

    @property
    def budget_s(self) -> float:
        """Seconds that the turn may take once it has begun."""
        return self.prefill_budget_s + self.decode_budget_s

    def failed(self, error: str) -> Completion:
        """The answer that says why there is none."""
        return Completion(error=error)


@dataclass(frozen=True)
class State:
    """A hidden state to read: of the layer at `depth` (0..1) of the model, of the last token or meant over the span."""

    depth: float
    over: Literal["last", "span"]


@dataclass(frozen=True)
class Read:
    """Hidden states: one row per `State` that was asked for, each of the model's width; empty after an `error`.

    `model` identifies the model file: what was learned from one model's states means nothing to another.
    """

    states: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    model: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    marks: tuple[Mark, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Reading:
    """A look into the model's middle layers instead of a turn.

    `messages` and `stable` as in `Request`. `opening` begins the assistant's answer: the states of its last token are
    read. `span` is a part of the last message (its last occurrence there): the states of its tokens are averaged,
    always of all of them, whatever was computed before.
    """

    role: str
    messages: tuple[Message, ...]
    stable: int
    span: str
    opening: str
    states: tuple[State, ...]
    budget_s: float = 120.0
    background: bool = True

    def failed(self, error: str) -> Read:
        """The answer that says why there is none."""
        return Read(error=error)


@dataclass(frozen=True)
class Weighed:
    """How likely the model finds each option (natural logarithm of its probability); empty after an `error`."""

    log_p: tuple[float, ...] = ()
    prompt_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    marks: tuple[Mark, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Weighing:
    """A comparison of ways to go on: how likely is each of `options` after `messages` and the answer's `opening`?"""

    role: str
    messages: tuple[Message, ...]
    stable: int
    opening: str
    options: tuple[str, ...]
    budget_s: float = 120.0
    background: bool = True

    def failed(self, error: str) -> Weighed:
        """The answer that says why there is none."""
        return Weighed(error=error)


class Task(Protocol[Answer]):
    """Anything that a model can be asked: a `Request`, a `Reading`, a `Weighing`."""

    @property
    def role(self) -> str: ...
    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def background(self) -> bool: ...
    @property
    def budget_s(self) -> float: ...
    def failed(self, error: str) -> Answer:
        """The answer that says why there is none."""
        ...


class Pending(Protocol[Answer]):
    """A task that runs elsewhere."""

    def poll(self) -> Answer | None:
        """The answer once there is one; never blocks."""
        ...

    def cancel(self) -> None:
        """Give the task up; it ends soon, with an error."""
        ...


def wait(pending: Pending[Given]) -> Given:
    """The answer, waited for: for commands and measurements, never for a step of the mind."""
    while (answer := pending.poll()) is None:
        time.sleep(POLL_S)
    return answer


class LanguageModel(Protocol):
    """A model that works off turns one after the other, without holding up the caller."""

    def start(self, request: Request) -> Pending[Completion]:
        """Queue a turn; returns at once. Any thread may call it."""
        ...

    def close(self) -> None:
        """Free what it holds; pending turns end with an error."""
        ...


class Mind(LanguageModel, Protocol):
    """A model whose judgement can be asked for too, not only its words."""

    def read(self, reading: Reading) -> Pending[Read]:
        """Queue a look at hidden states; returns at once."""
        ...

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        """Queue a comparison of options; returns at once."""
        ...


@dataclass
class Written:
    """What a turn that was set aside had written: its tokens, and the logarithm of their probability.

    `begins` is called with the first of them.
    """

    tokens: list[int] = field(default_factory=list)
    log_p: float = 0.0
    begins: Callable[[], object] = lambda: None

    def add(self, token: int, log_p: float) -> None:
        """One more token; `log_p` is that of all until now."""
        self.tokens.append(token)
        self.log_p = log_p
        if len(self.tokens) == 1:
            self.begins()


class Slot(Generic[Given]):
    """A `Pending` filled by a worker thread. Assigning `done` is atomic, so no lock is needed.

    A worker that does not answer within the budget and a grace for loading and queueing counts as hung. The time
    of a background task counts from its last beginning, for the planner may keep it waiting for long.
    """

    def __init__(self, task: Task[Given], meter: Meter | None = None) -> None:
        self.task = task
        self.done: Given | None = None
        self._meter = meter or Meter()
        self._marks: list[Mark] = []
        self.cancelled = False
        self.set_aside = False
        self.written = Written(begins=lambda: self.mark("first token"))
        self._patience_s = task.budget_s + (QUEUE_GRACE_S if task.background else LOADING_GRACE_S)
        self._began = time.monotonic()
        self.mark("queued")

    def mark(self, what: str) -> None:
        """Note what becomes of the task; the answer tells it."""
        self._marks.append(self._meter.mark(what))

    def begin(self) -> None:
        """The worker takes the task up."""
        self.mark("begun")
        self.set_aside = False
        if self.task.background:
            self._patience_s, self._began = self.task.budget_s + QUEUE_GRACE_S, time.monotonic()

    def poll(self) -> Given | None:
        """The answer once there is one."""
        if self.done is None and time.monotonic() - self._began > self._patience_s:
            self.cancelled = True
            self.fail(f"the model gave no answer in {self._patience_s:g} s")
        return self.done

    def cancel(self) -> None:
        """The worker sees this at its next check."""
        if self.done is None and not self.cancelled:
            self.mark("given up")
        self.cancelled = True

    def end(self, answer: Given) -> None:
        """This came of it; a task ends once."""
        if self.done is None:
            error = getattr(answer, "error", "")
            self.mark("ended" if not error else "cancelled" if self.cancelled else "failed")
            told = replace(cast(Any, answer), marks=tuple(self._marks))
            self.done = cast(Given, told)

    def fail(self, error: str) -> None:
        """End without an answer."""
        self.end(self.task.failed(error))

    def must_stop(self, others_wait: Callable[[], bool]) -> bool:
        """Whether the worker has to let go of the task now: given up, or others go before it."""
        if self.task.background and not self.set_aside and others_wait():
            self.set_aside = True
        return self.cancelled or self.set_aside
