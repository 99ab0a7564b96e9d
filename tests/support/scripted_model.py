"""A language model for tests that answers from a script, hangs or fails on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anima.planner.llm.base import Completion, Request

Answer = str | Completion | None


@dataclass
class Turn:
    """A turn that is answered at the first poll; never, when the script says None and nobody cancels."""

    answer: Answer
    cancelled: bool = False

    def poll(self) -> Completion | None:
        if self.cancelled:
            return Completion(error="cancelled")
        return Completion(text=self.answer) if isinstance(self.answer, str) else self.answer

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class ScriptedModel:
    """`script` gets each request (warm-ups excepted) and says what to answer."""

    script: Callable[[Request], Answer]
    wakes: bool = True
    requests: list[Request] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def start(self, request: Request) -> Turn:
        if request.choices == ("ok",):
            turn = Turn("ok" if self.wakes else None)
        else:
            self.requests.append(request)
            turn = Turn(self.script(request))
        self.turns.append(turn)
        return turn

    def wake(self) -> None:
        """Let the warm-ups end that are under way."""
        self.wakes = True
        for turn in self.turns:
            turn.answer = turn.answer or "ok"

    def close(self) -> None:
        pass
