"""What a model answered is written down and comes back bit by bit: words, hidden states, weighed options."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anima.audit.journal import answered, asked, told
from anima.audit.replay import RecordedModel
from anima.planner.llm.base import Completion, Message, Read, Reading, Request, State, Weighed, Weighing

ASK = (Message("user", "?"),)
TURN = Request("act", ASK, 0, 'root ::= "x"', 4, 1.0, 1.0)
READING = Reading("judge.x", ASK, 0, "?", "It is:", (State(0.5, "last"),))
WEIGHING = Weighing("judge.y", ASK, 0, "It is:", (" a", " b"))


@given(st.integers(1, 3), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_hidden_states_come_back_bit_by_bit(rows: int, width: int, seed: int) -> None:
    states = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    back = answered(READING, json.loads(json.dumps(told(Read(states, "model-a", 7, 3, 0.25)))))
    assert back.states.tobytes() == states.tobytes()
    assert (back.states.shape, back.model, back.prompt_tokens, back.seconds) == (states.shape, "model-a", 7, 0.25)


def test_words_weights_and_errors_come_back() -> None:
    for task, answer in (
        (TURN, Completion("x", 9, 4, 1, 0.5, 0.1, 0.75)),
        (TURN, Completion(error="cancelled")),
        (WEIGHING, Weighed((-0.25, -1.5), 9, 4, 0.125)),
        (WEIGHING, Weighed(error="no")),
    ):
        assert answered(task, json.loads(json.dumps(told(answer)))) == answer
    assert answered(READING, json.loads(json.dumps(told(Read(error="no"))))).error == "no"


def test_a_replay_gives_each_of_several_questions_its_own_answer() -> None:
    model = RecordedModel()
    reading, weighing = model.read(READING), model.weigh(WEIGHING)
    assert reading.poll() is None
    model.ready = [{"asked": asked(WEIGHING), **told(Weighed((-1.0, -2.0)))}]
    assert reading.poll() is None
    weighed = weighing.poll()
    assert weighed is not None
    assert weighed.log_p == (-1.0, -2.0)
    assert model.surprises == []


def test_a_replay_that_asks_for_something_else_is_noticed() -> None:
    model = RecordedModel()
    weighing = model.weigh(WEIGHING)
    model.ready = [{"asked": asked(TURN), **told(Completion("x"))}]
    weighed = weighing.poll()
    assert weighed is not None
    assert weighed.error != ""
    assert len(model.surprises) == 1
