"""A judge and its model: the head where it fits, words weighed where it doesn't, errors where that is not wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from anima.config import ConfigError
from anima.planner.judge import Judge, compare
from anima.planner.judging.head import Head, Origin
from anima.planner.judging.question import Question
from anima.planner.llm.base import Completion, Message, Read, Reading, Request, Slot, State, Weighed, Weighing

QUESTION = Question(
    doc="", question="Well?", turn="It: {it}", about="it", opening="It is:", labels={"yes": "right", "no": "wrong"}
)
WIDTH = 4
HEAD = Head(
    labels=("yes", "no"),
    states=(State(0.5, "last"),),
    mean=np.zeros(WIDTH, np.float32),
    scale=np.ones(WIDTH, np.float32),
    weights=np.array([[3, 0, 0, 0], [-3, 0, 0, 0]], np.float32),
    bias=np.zeros(2, np.float32),
    temperature=1.0,
    origin=Origin("model-a", QUESTION.digest, "cases", 60, 0.9, 0.1, 0.95, 0.03),
)


class ScriptedMind:
    """Answers at once: hidden states of `model` (none for a server), and the log-probabilities `log_p`."""

    def __init__(self, model: str, log_p: Sequence[float]) -> None:
        self.model, self.log_p = model, tuple(log_p)
        self.asked: list[Reading | Weighing] = []

    def start(self, request: Request) -> Slot[Completion]:
        raise AssertionError("a judgement writes nothing")

    def read(self, reading: Reading) -> Slot[Read]:
        self.asked.append(reading)
        slot = Slot[Read](reading)
        states = np.array([[1, 0, 0, 0]], np.float32)
        slot.done = Read(states, self.model) if self.model else Read(error="a server shows no hidden states")
        return slot

    def weigh(self, weighing: Weighing) -> Slot[Weighed]:
        self.asked.append(weighing)
        slot = Slot[Weighed](weighing)
        slot.done = Weighed(self.log_p)
        return slot

    def close(self) -> None:
        """Nothing is held."""


def test_the_head_judges_the_model_that_it_was_trained_on() -> None:
    judged = Judge("x", QUESTION, HEAD, may_weigh=True).ask(ScriptedMind("model-a", (-9, -1)), {"it": "so"}).poll()
    assert judged is not None
    assert (judged.label, judged.means) == ("yes", "head")


@pytest.mark.parametrize("model", ["model-b", ""])
def test_another_model_or_a_server_is_weighed_if_that_is_wanted_and_refused_if_not(model: str) -> None:
    mind = ScriptedMind(model, (-9, -1))
    pending = Judge("x", QUESTION, HEAD, may_weigh=True).ask(mind, {"it": "so"})
    assert pending.poll() is None
    judged = pending.poll()
    assert judged is not None
    assert (judged.label, judged.means, judged.error) == ("no", "weighed", "")
    refused = Judge("x", QUESTION, HEAD).ask(mind, {"it": "so"}).poll()
    assert refused is not None
    assert refused.label == "unsure"
    assert refused.error != ""


def test_each_answers_own_word_is_what_is_weighed() -> None:
    mind = ScriptedMind("", (-1, -9))
    Judge("x", QUESTION, None).ask(mind, {"it": "so"})
    assert isinstance(mind.asked[0], Weighing)
    assert mind.asked[0].options == (" right", " wrong")
    assert mind.asked[0].background


def test_free_options_are_compared_with_the_same_kind_of_result() -> None:
    ask = (Message("system", "Which room?"), Message("user", "the kettle"))
    judged = compare(ScriptedMind("", (-0.2, -3, -2.5)), "rooms", ask, 1, ("kitchen", "bath", "hall")).poll()
    assert judged is not None
    assert judged.label == "kitchen"
    assert list(judged.probabilities) == ["kitchen", "hall", "bath"]
    with pytest.raises(ConfigError, match="two"):
        compare(ScriptedMind("", ()), "rooms", ask, 1, ("kitchen", "kitchen"))
