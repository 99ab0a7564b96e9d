"""L-4: salience is not optional. What is new stands at the decision point, marked, right above what can be done."""

from __future__ import annotations

from support.planner_rig import Bench, of, salient, world
from support.scripted_model import Answer

from anima import topics as t
from anima.failure import Failure
from anima.planner.llm.base import Request


def first(request: Request) -> Answer:
    return request.choices[0] if request.choices else "answer(battery)"


def news(bench: Bench) -> str:
    lines = bench.shown.splitlines()
    line = lines[lines.index("can:") - 1]
    assert line.startswith("new: ")
    return line


def test_an_utterance_during_a_task_stands_there_quoted_with_what_came_of_it() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, shelf)")
    bench.say('how is your "battery"?', "u2")
    bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.TIMEOUT)
    assert "person said \"how is your 'battery'?\": answered" in news(bench)


def test_a_new_fact_and_a_fresh_event_stand_there_once_and_the_result_last() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, shelf)")
    call = of(bench.sent, t.VERDICT)[-1].call
    bench.give(salient(bench.now, "left wheel current rising", 0.6))
    bench.give(t.WORLD_STATE.of(world(bench.now, ("red_cube", "kitchen_table"))))
    bench.end(call, 0)
    assert "at(red_cube, kitchen_table)" in news(bench)
    assert "left wheel current rising" in news(bench)
    assert news(bench).endswith("look_for(red_cube) ok")
    assert "left wheel" not in bench.shown.replace(news(bench), "")
    bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.PATH_BLOCKED)
    assert "left wheel" not in news(bench)
    assert "concerns: [trend] left wheel current rising" in bench.shown


def test_nothing_is_lost_when_a_decision_is_broken_off() -> None:
    bench = Bench(lambda request: None if request.role == "act" else "answer(battery)")
    bench.give(salient(bench.now, "the floor is wet", 0.6))
    bench.focus_on("at(robot, office)")
    assert "the floor is wet" in news(bench)
    bench.say("how is your battery?", "u2")
    assert len([r for r in bench.model.requests if r.role == "act"]) == 2
    assert "the floor is wet" in news(bench)
    assert "how is your battery?" in news(bench)
