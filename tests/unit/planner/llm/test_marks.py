"""Whom the model lets go first, told by marks: their order and the tokens between them, never by the clock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from anima.planner.llm import llama as local
from anima.planner.llm.base import Completion, Message, Meter, Request, Slot, Written, wait

WAIT_S = 60.0


class ScriptedEngine:
    """Computes a token at a time and asks before each whether to stop, as the real one; holds before the fourth token
    of a background turn until it is let go on."""

    def __init__(self, _file: Path, _threads: int, _context: int, _cache: Path | None, meter: Meter) -> None:
        self.meter = meter
        self.is_writing, self.may_go_on = threading.Event(), threading.Event()
        engines.append(self)

    def complete(self, request: Request, must_stop: Callable[[], bool], written: Written) -> Completion:
        while len(written.tokens) < request.max_tokens:
            if request.background and len(written.tokens) == 3:
                self.is_writing.set()
                assert self.may_go_on.wait(WAIT_S)
            if must_stop():
                return Completion(error="decode cancelled")
            self.meter.tokens += 1
            written.add(len(written.tokens), 0.0)
        return Completion(text="x" * request.max_tokens, completion_tokens=len(written.tokens))

    def close(self) -> None:
        """Nothing is held."""


engines: list[ScriptedEngine] = []


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[local.LlamaCpp]:
    engines.clear()
    monkeypatch.setattr(local, "Engine", ScriptedEngine)
    model = local.LlamaCpp(Path("scripted"), 1, 64, None)
    yield model
    for engine in engines:
        engine.may_go_on.set()
    model.close()


def request(role: str, background: bool = False, tokens: int = 8) -> Request:
    return Request(role, (Message("user", "?"),), 0, 'root ::= "x"', tokens, 60.0, 60.0, background=background)


def writing(model: local.LlamaCpp, role: str) -> Slot[Completion]:
    """A turn of the background that has written three tokens."""
    turn = model.start(request(role, background=True))
    while not engines:
        threading.Event().wait(0.001)
    assert engines[0].is_writing.wait(WAIT_S)
    return turn


@pytest.mark.parametrize("role", ["parts.bid", "belief"])
def test_a_planner_turn_that_comes_while_the_inner_life_writes_is_begun_before_another_token(
    role: str, model: local.LlamaCpp
) -> None:
    background = writing(model, role)
    act = model.start(request("act"))
    engines[0].may_go_on.set()
    done, after = wait(act), wait(background)
    first = {mark.what: mark for mark in done.marks}
    assert [mark.what for mark in done.marks] == ["queued", "begun", "first token", "ended"]
    assert [mark.what for mark in after.marks] == ["queued", "begun", "first token", "set aside", "begun", "ended"]
    aside, again = after.marks[3:5]
    assert first["queued"].order < aside.order < first["begun"].order < first["ended"].order < again.order
    assert aside.tokens - first["queued"].tokens == 0
    assert (first["begun"].tokens, first["ended"].tokens) == (3, 11)
    assert after.error == "" and after.completion_tokens == 8 and after.marks[-1].tokens == 16  # nothing was lost


def test_what_is_given_up_computes_no_further_token(model: local.LlamaCpp) -> None:
    turn = writing(model, "lesson")
    turn.cancel()
    engines[0].may_go_on.set()
    *_, asked, ended = wait(turn).marks
    assert (asked.what, ended.what) == ("given up", "cancelled")
    assert ended.tokens == asked.tokens == 3


def test_planner_turns_are_begun_in_the_order_in_which_they_were_asked(model: local.LlamaCpp) -> None:
    background = writing(model, "lesson")
    turns = [model.start(request(role)) for role in ("listen", "act")]
    engines[0].may_go_on.set()
    begun = [{mark.what: mark.order for mark in wait(turn).marks}["begun"] for turn in turns]
    assert begun == sorted(begun)
    assert [mark.what for mark in wait(background).marks].count("set aside") == 1
