"""The stand-in for a language model's server takes the first way that is open, and reads orders to go somewhere."""

from __future__ import annotations

import time

import pytest

from anima.planner.act import grammar
from anima.planner.llm.base import Completion, Message, Request
from anima.planner.llm.server import Server
from anima_sim.bench.first_choice import FirstChoice, answer

READING = 'root ::= goals0 | "cancel()"\ngoals0 ::= "go(kitchen)"\n'


@pytest.mark.parametrize(
    ("rules", "asked", "said"),
    [
        (grammar(("undock()", "go_to(office)")), "what now?", "undock()"),
        ('root ::= "ok"\n', "ready?", "ok"),
        (READING, '"go to the kitchen"\nnames: kitchen', "go(kitchen)"),
        (READING, '"sing"', "none."),
        ("", "", "none."),
    ],
)
def test_it_answers_by_what_the_grammar_offers(rules: str, asked: str, said: str) -> None:
    assert answer(rules, asked) == said


def test_the_planner_s_client_of_a_server_is_answered() -> None:
    calls = ("go_to(office)", "wait(1.0)")
    with FirstChoice() as served:
        client = Server(served.address, "any")
        turn = client.start(
            Request(
                role="act", messages=(Message("user", "now?"),), stable=0, grammar=grammar(calls), max_tokens=8,
                prefill_budget_s=20.0, decode_budget_s=20.0, choices=calls,
            )
        )
        until = time.monotonic() + 20.0
        while (done := turn.poll()) is None and time.monotonic() < until:
            time.sleep(0.01)
        client.close()
    assert isinstance(done, Completion) and (done.text, done.error) == ("go_to(office)", "")
