"""The order of tasks: what a person or the body waits for goes first, and nothing that was asked gets lost."""

from __future__ import annotations

import threading

from anima.planner.llm.base import Completion, Message, Request, Slot
from anima.planner.llm.turns import Turns


def slot(role: str, background: bool = False) -> Slot[Completion]:
    return Slot(Request(role, (Message("user", "?"),), 0, 'root ::= "x"', 4, 1.0, 1.0, background=background))


def roles_of(turns: Turns, count: int) -> list[str]:
    taken = [turns.take() for _ in range(count)]
    return [one.task.role for one in taken if one is not None]


def test_background_tasks_come_after_all_others_however_early_they_were_asked() -> None:
    turns = Turns()
    for one in (slot("lesson", True), slot("part", True), slot("listen"), slot("act")):
        turns.put(one)
    assert roles_of(turns, 4) == ["listen", "act", "lesson", "part"]


def test_a_task_that_was_set_aside_is_the_next_of_the_background() -> None:
    turns = Turns()
    aside = slot("lesson", True)
    turns.put(slot("part", True))
    turns.put_back(aside)
    assert roles_of(turns, 2) == ["lesson", "part"]


def test_a_running_background_task_lets_go_only_while_others_wait() -> None:
    turns = Turns()
    running = slot("lesson", True)
    assert not running.must_stop(turns.others_wait)
    turns.put(slot("part", True))
    assert not running.must_stop(turns.others_wait)
    turns.put(slot("act"))
    assert running.must_stop(turns.others_wait)
    assert running.set_aside
    assert not slot("listen").must_stop(turns.others_wait)


def test_a_task_given_up_while_it_waited_ends_with_an_error_and_is_not_begun() -> None:
    turns = Turns()
    given_up, next_one = slot("lesson", True), slot("part", True)
    turns.put(given_up)
    turns.put(next_one)
    given_up.cancel()
    assert turns.take() is next_one
    assert (done := given_up.poll()) is not None
    assert "cancelled" in done.error


def test_after_the_end_every_task_that_waits_or_comes_fails_and_the_worker_is_let_go() -> None:
    turns = Turns()
    waits, late, aside = slot("act"), slot("act"), slot("lesson", True)
    turns.put(waits)
    turns.close()
    turns.put(late)
    turns.put_back(aside)
    assert all((done := one.poll()) is not None and "closed" in done.error for one in (waits, late, aside))
    assert turns.take() is None


def test_many_threads_may_ask_at_once() -> None:
    turns = Turns()
    threads = [
        threading.Thread(target=lambda i=i: [turns.put(slot(f"{i}-{n}", n % 2 == 0)) for n in range(50)])
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = roles_of(turns, 200)
    assert len(set(taken)) == 200
    assert all(int(role.split("-")[1]) % 2 == 1 for role in taken[:100])
