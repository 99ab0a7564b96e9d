"""Closed judgements: one question, a few possible answers, a calibrated probability, and an honest "unsure".

    judge = load_judge("reaction")
    pending = judge.ask(model, {"robot": "I put the towels away.", "person": "They belong upstairs."})
    ...                                # in later steps
    if (judged := pending.poll()) is not None and judged.is_sure:
        ...                            # judged.label, judged.p

A judgement never writes prose. It is read off the model's own hidden state by a small trained head; where no head
fits the model, `means="weigh"` compares how likely the model finds each answer's word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from anima.config import ConfigError
from anima.planner.judging.head import Head, HeadError, load_head, softmax
from anima.planner.judging.question import Question, load_question
from anima.planner.llm.base import Message, Mind, Pending, Read, Weighed, Weighing

UNSURE = "unsure"


@dataclass(frozen=True)
class Judgement:
    """What came of a judgement.

    `label` is the likeliest answer, or "unsure" when its probability `p` is below the judgement's bar or an `error`
    says why there is none. `best` is the likeliest answer in any case; `probabilities` has them all, likeliest first.
    """

    name: str
    label: str = UNSURE
    best: str = ""
    p: float = 0.0
    probabilities: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether it may be acted on."""
        return self.label != UNSURE


class PendingJudgement:
    """A judgement that is being made."""

    def __init__(self, judge: Judge, pending: Pending[Read] | Pending[Weighed]) -> None:
        self._judge, self._pending = judge, pending
        self._done: Judgement | None = None

    def poll(self) -> Judgement | None:
        """The judgement once it is made; never blocks."""
        if self._done is None and (answer := self._pending.poll()) is not None:
            self._done = self._judge.decide(answer)
        return self._done

    def cancel(self) -> None:
        """Give it up; it ends soon, with an error."""
        self._pending.cancel()


class Judge:
    """A named judgement that is ready to be asked. Without a head it weighs the labels' words instead."""

    def __init__(self, name: str, question: Question, head: Head | None) -> None:
        self.name, self.question, self.head = name, question, head
        self.labels = tuple(question.labels)
        self.slots = question.slots

    def ask(self, model: Mind, slots: Mapping[str, str], background: bool = True) -> PendingJudgement:
        """Begin a judgement of `slots`: name -> words from anywhere, which are data.

        Raises `ConfigError` for names that are not the judgement's.
        """
        if self.head is None:
            return PendingJudgement(self, model.weigh(self.question.weighing(self.name, slots, background)))
        reading = self.question.reading(self.name, slots, self.head.states, background)
        return PendingJudgement(self, model.read(reading))

    def decide(self, answer: Read | Weighed) -> Judgement:
        """The judgement that the model's answer amounts to."""
        if answer.error:
            return Judgement(self.name, seconds=answer.seconds, error=answer.error)
        if isinstance(answer, Weighed):
            found = dict(zip(self.labels, map(float, softmax(np.asarray(answer.log_p))), strict=True))
        elif self.head is None or answer.model != self.head.origin.model:
            return Judgement(self.name, seconds=answer.seconds, error=self._misfit(answer.model))
        else:
            found = self.head.judge(answer.states)
        return self._judgement(found, answer.seconds)

    def _judgement(self, found: dict[str, float], seconds: float) -> Judgement:
        ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
        best, p = next(iter(ordered.items()))
        label = best if p >= self.question.unsure_below else UNSURE
        return Judgement(self.name, label, best, p, ordered, seconds)

    def _misfit(self, model: str) -> str:
        return (
            f"the head of the judgement {self.name!r} was trained on another model than the one in use ({model[:12]}); "
            f"train one with `anima judges train {self.name}`"
        )


def load_judge(name: str, means: Literal["head", "weigh"] = "head") -> Judge:
    """The judgement of that name.

    Raises `ConfigError` when its question can't be used, `HeadError` when its head is missing, damaged, or was trained
    on another wording of the question.
    """
    question = load_question(name)
    if means == "weigh":
        return Judge(name, question, None)
    head = load_head(name)
    if head.origin.question != question.digest or set(head.labels) != set(question.labels):
        raise HeadError(
            f"the head of the judgement {name!r} was trained on another wording of config/judges/{name}.yaml; "
            f"train it with `anima judges train {name}`"
        )
    return Judge(name, question, head)


def compare(
    model: Mind, role: str, messages: Sequence[Message], stable: int, options: Sequence[str], opening: str = "",
    unsure_below: float = 0.6, background: bool = True,
) -> PendingJudgement:
    """Begin a comparison of free options: which of them does the model find the likeliest answer to `messages`?

    The first `stable` messages are the same in every comparison of this `role`. Raises `ConfigError` for fewer than two
    options.
    """
    if len(set(options)) < 2:
        raise ConfigError(f"comparison {role!r}: there have to be two different options at least")
    labels = {option: option for option in options}
    question = Question(
        doc="", question="", turn="{it}", about="it", opening=opening, labels=labels, unsure_below=unsure_below
    )
    words = tuple(f" {option}" if opening else option for option in labels)
    weighing = Weighing(role, tuple(messages), stable, opening, words, background=background)
    return PendingJudgement(Judge(role, question, None), model.weigh(weighing))
