"""Closed judgements: one question, a few possible answers, a calibrated probability, and an honest "unsure".

    judge = load_judge("reaction")
    pending = judge.ask(model, {"robot": "I put the towels away.", "person": "They belong upstairs."})
    ...                                # in later steps
    if (judged := pending.poll()) is not None and judged.is_sure:
        ...                            # judged.label, judged.p

A judgement never writes prose. It is read off the model's own hidden state by a small trained head; where no head
fits the model, `means="any"` compares how likely the model finds each answer's word (`means="weigh"` always does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    means: Literal["head", "weighed"] = "head"
    seconds: float = 0.0
    error: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether it may be acted on."""
        return self.label != UNSURE


class PendingJudgement:
    """A judgement that is being made."""

    def __init__(
        self, judge: Judge, pending: Pending[Read] | Pending[Weighed],
        instead: Callable[[], Pending[Weighed]] | None = None,
    ) -> None:
        """`instead` begins the other means, for a model that the head turns out not to fit."""
        self._judge, self._pending, self._instead = judge, pending, instead
        self._done: Judgement | None = None

    def poll(self) -> Judgement | None:
        """The judgement once it is made; never blocks."""
        if self._done is None and (answer := self._pending.poll()) is not None:
            if self._instead is not None and not self._judge.fits(answer):
                self._pending, self._instead = self._instead(), None
                return None
            self._done = self._judge.decide(answer)
        return self._done

    def cancel(self) -> None:
        """Give it up; it ends soon, with an error."""
        self._instead = None
        self._pending.cancel()


class Judge:
    """A named judgement that is ready to be asked. Without a head it weighs the labels' words instead; with
    `may_weigh` it also does so for a model that the head does not fit.
    """

    def __init__(self, name: str, question: Question, head: Head | None, may_weigh: bool = False) -> None:
        self.name, self.question, self.head, self.may_weigh = name, question, head, may_weigh
        self.labels = tuple(question.labels)
        self.slots = question.slots

    def ask(self, model: Mind, slots: Mapping[str, str], background: bool = True) -> PendingJudgement:
        """Begin a judgement of `slots`: name -> words from anywhere, which are data.

        Raises `ConfigError` for names that are not the judgement's.
        """
        weighing = self.question.weighing(self.name, slots, background)
        if self.head is None:
            return PendingJudgement(self, model.weigh(weighing))
        reading = self.question.reading(self.name, slots, self.head.states, background)
        instead = (lambda: model.weigh(weighing)) if self.may_weigh else None
        return PendingJudgement(self, model.read(reading), instead)

    def fits(self, answer: Read | Weighed) -> bool:
        """Whether the answer comes from the model that the head was trained on, or needs no head."""
        return isinstance(answer, Weighed) or (self.head is not None and answer.model == self.head.origin.model)

    def decide(self, answer: Read | Weighed) -> Judgement:
        """The judgement that the model's answer amounts to."""
        if answer.error:
            return Judgement(self.name, seconds=answer.seconds, error=answer.error)
        if isinstance(answer, Weighed):
            found = dict(zip(self.labels, map(float, softmax(np.asarray(answer.log_p))), strict=True))
            return self._judgement(found, answer.seconds, "weighed")
        if self.head is None or not self.fits(answer):
            return Judgement(self.name, seconds=answer.seconds, error=self._misfit(answer.model))
        return self._judgement(self.head.judge(answer.states), answer.seconds, "head")

    def _judgement(self, found: dict[str, float], seconds: float, means: Literal["head", "weighed"]) -> Judgement:
        ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
        best, p = next(iter(ordered.items()))
        label = best if p >= self.question.unsure_below else UNSURE
        return Judgement(self.name, label, best, p, ordered, means, seconds)

    def _misfit(self, model: str) -> str:
        return (
            f"the head of the judgement {self.name!r} was trained on another model than the one in use ({model[:12]}); "
            f"train one with `anima judges train {self.name}`"
        )


def load_judge(name: str, means: Literal["head", "weigh", "any"] = "head") -> Judge:
    """The judgement of that name.

    Raises `ConfigError` when its question can't be used, `HeadError` when its head is missing, damaged, or was trained
    on another wording of the question.
    """
    question = load_question(name)
    if means == "weigh":
        return Judge(name, question, None)
    try:
        return Judge(name, question, _fitting_head(name, question), may_weigh=means == "any")
    except HeadError:
        if means == "head":
            raise
        return Judge(name, question, None)


def _fitting_head(name: str, question: Question) -> Head:
    head = load_head(name)
    if head.origin.question != question.digest or set(head.labels) != set(question.labels):
        raise HeadError(
            f"the head of the judgement {name!r} was trained on another wording of config/judges/{name}.yaml; "
            f"train it with `anima judges train {name}`"
        )
    return head


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
