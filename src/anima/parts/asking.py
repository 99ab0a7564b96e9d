"""How a train of thought asks the model: a turn to write, or a closed judgement; it waits, and is sent the answer."""

from __future__ import annotations

import functools
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from anima.config import ConfigError
from anima.planner.judge import Judge, Judgement, PendingJudgement, load_judge
from anima.planner.judging.head import HeadError
from anima.planner.llm.base import Completion, Mind, Pending, Request

Given = TypeVar("Given")


@dataclass(frozen=True)
class Ask:
    """A closed judgement by its name, about these slots."""

    name: str
    slots: Mapping[str, str]


Wish: TypeAlias = Request | Ask
Train: TypeAlias = Generator[Wish, Any, Given]
"""A train of thought: yields what it wants to know, is sent a `Completion` or a `Judgement`."""


def write(request: Request) -> Train[str]:
    """Have the model write; empty when it could not."""
    done = yield request
    return done.text if isinstance(done, Completion) and not done.error else ""


def judge(name: str, **slots: str) -> Train[Judgement]:
    """Have the model judge; unsure when it could not."""
    done = yield Ask(name, slots)
    return done if isinstance(done, Judgement) else Judgement(name, error="it was not judged")


# What these say is only heard from a trained head: without one the model's own words decide, as they did before.
_NEED_A_HEAD = frozenset({"concerns", "follow", "planted"})


@functools.lru_cache(maxsize=32)
def ready_judge(name: str) -> Judge | None:
    """The judgement by its trained head; by weighing words where no head fits; None where neither will do."""
    try:
        return load_judge(name)
    except HeadError:
        return None if name in _NEED_A_HEAD else load_judge(name, means="weigh")
    except ConfigError:
        return None


class Answering:
    """A wish on its way to being answered."""

    def __init__(self, wish: Wish, model: Mind) -> None:
        self.wish = wish
        self._turn: Pending[Completion] | PendingJudgement | None = None
        self._lost: Judgement | None = None
        if isinstance(wish, Request):
            self._turn = model.start(wish)
        elif (known := ready_judge(wish.name)) is None:
            self._lost = Judgement(wish.name, error=f"there is no judgement {wish.name!r}")
        else:
            self._turn = known.ask(model, wish.slots)

    def poll(self) -> Completion | Judgement | None:
        """The answer once there is one."""
        return self._lost if self._turn is None else self._turn.poll()

    def cancel(self) -> None:
        """Give it up."""
        if self._turn is not None:
            self._turn.cancel()


def cost_s(answer: Completion | Judgement) -> float:
    """Wall seconds of the model that an answer took."""
    return answer.prefill_s + answer.decode_s if isinstance(answer, Completion) else answer.seconds
