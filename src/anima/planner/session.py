"""One turn of the language model at a time: started, watched, told as a thought, and slowed down when it fails."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from anima.config import LlmSettings
from anima.planner.budgets import estimate
from anima.planner.llm.base import Completion, LanguageModel, Message, Mind, Pending, Request
from anima.planner.llm.llama import LlamaCpp, cache_folder, model_file
from anima.planner.llm.server import Server
from anima.types.base import Header
from anima.types.mind import Thought

WARM_UP_BUDGET_S = 900.0
FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 2.0, 60.0


def open_model(settings: LlmSettings) -> Mind:
    """The model that the settings name; it loads at the first turn. Raises `LlmError` for a bad address."""
    if settings.server:
        return Server(settings.server, settings.model)
    return LlamaCpp(
        model_file(settings.model), settings.threads, settings.context_tokens, cache_folder() / "prefixes"
    )


@functools.cache
def shared_model(settings: LlmSettings) -> Mind:
    """The one model of this process for these settings: every role asks the same weights. Nobody closes it."""
    return open_model(settings)


def warm_up(role: str, stable: tuple[Message, ...]) -> Request:
    """A turn that only makes the role's prefix ready, so that the first real one is quick.

    Nobody waits for it, and its result is kept on disk: it has all the time that a busy machine may need.
    """
    return Request(
        role=role,
        messages=(*stable, Message("user", "ready?")),
        stable=len(stable),
        grammar='root ::= "ok"\n',
        max_tokens=4,
        prefill_budget_s=WARM_UP_BUDGET_S,
        decode_budget_s=WARM_UP_BUDGET_S,
        choices=("ok",),
    )


@dataclass(frozen=True)
class Ended:
    """A turn that is over: which it was, what came of it, and the thought that tells it."""

    request: Request
    completion: Completion
    thought: Thought


class Session:
    """Keeps at most one turn running, and holds off new ones for a while after failures (twice as long each time)."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._pending: Pending[Completion] | None = None
        self._request: Request | None = None
        self._cancelled = False
        self._turns = 0
        self._failures = 0
        self._not_before = float("-inf")
        self._prefixes: dict[tuple[Message, ...], int] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self._pending is not None

    @property
    def role(self) -> str:
        """The role of the turn that runs, or empty."""
        return self._request.role if self._request is not None else ""

    @property
    def failures(self) -> int:
        """How many turns failed in a row."""
        return self._failures

    def may_start(self, now: float) -> bool:
        """Whether a turn can begin."""
        if self._not_before - now > LONGEST_BACKOFF_S:
            self._not_before = now  # time jumped back
        return not self.is_busy and now >= self._not_before

    def start(self, request: Request) -> str:
        """Begin a turn; only when `may_start`. Returns the id that its thought will bear."""
        self._pending, self._request, self._cancelled = self._model.start(request), request, False
        return f"{request.role}-{self._turns + 1}"

    def count(self, text: str) -> int:
        """How many tokens a text has: by the model's tokenizer once it is loaded, else estimated."""
        return self._model.count(text) if isinstance(self._model, LlamaCpp) else estimate(text)

    def prefix_tokens(self, stable: tuple[Message, ...]) -> int:
        """How many tokens the unchanging part of a role's turns has, the marks of the turns left out."""
        if stable not in self._prefixes:
            self._prefixes[stable] = sum(self.count(message.content) for message in stable)
        return self._prefixes[stable]

    def cancel(self) -> None:
        """Give up the turn that runs; its end comes as one without thought of failure."""
        if self._pending is not None:
            self._pending.cancel()
            self._cancelled = True

    def poll(self, now: float) -> Ended | None:
        """The turn that has ended since the last look, or None."""
        if self._pending is None or self._request is None:
            return None
        completion = self._pending.poll()
        if completion is None:
            return None
        request, self._pending, self._request = self._request, None, None
        self._turns += 1
        if completion.error and not self._cancelled:
            wait = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2.0**self._failures)
            self._failures, self._not_before = self._failures + 1, now + wait
        elif not completion.error:
            self._failures, self._not_before = 0, now
        return Ended(request, completion, self._thought(now, request, completion))

    def was_cancelled(self) -> bool:
        """Whether the last turn was given up by us."""
        return self._cancelled

    def _thought(self, now: float, request: Request, done: Completion) -> Thought:
        return Thought(
            header=Header.at(now),
            id=f"{request.role}-{self._turns}",
            role=request.role,
            prompt=request.messages[-1].content,
            text=done.text,
            prompt_tokens=done.prompt_tokens,
            cached_tokens=done.cached_tokens,
            completion_tokens=done.completion_tokens,
            prefill_s=done.prefill_s,
            decode_s=done.decode_s,
            error=done.error,
        )
