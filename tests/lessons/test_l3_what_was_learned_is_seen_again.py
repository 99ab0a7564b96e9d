"""L-3: write-only memory causes amnesia loops. What was learned stands in every packet that it bears on."""

from __future__ import annotations

from support.planner_rig import Bench, backlog, episode, objective, of, recall, world
from support.scripted_model import Answer

from anima import topics as t
from anima.failure import Failure
from anima.planner.llm.base import Request
from anima.types.base import Time
from anima.types.mind import SurfaceState


def first(request: Request) -> Answer:
    return request.choices[0] if request.choices else "answer(battery)"


def line(text: str, head: str) -> str:
    return next((one for one in text.splitlines() if one.startswith(f"{head}:")), "")


def test_a_failure_of_an_earlier_task_is_seen_in_the_next_one() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    (verdict,) = of(bench.sent, t.VERDICT)
    bench.end(verdict.call, Failure.PATH_BLOCKED)
    other = objective("at(robot, office)").model_copy(update={"id": "u2.0"})
    bench.give(t.BACKLOG.of(backlog(other)))
    bench.run(1.0)
    assert "go_to(office) path_blocked in an earlier task" in line(bench.shown, "recall")
    unrelated = objective("at(robot, kitchen)").model_copy(update={"id": "u3.0"})
    bench.give(t.BACKLOG.of(backlog(unrelated)))
    bench.run(1.0)
    assert "path_blocked" not in line(bench.shown, "recall")


def test_where_it_has_looked_is_known_at_every_decision() -> None:
    bench = Bench(first)
    looked = SurfaceState(name="shelf", coverage=0.9, last_viewed=Time.at(1.0))
    bench.focus_on("at(red_cube, kitchen_table)", world(bench.now, surfaces=[looked]))
    for _ in range(3):
        assert "red_cube not seen; searched shelf" in line(bench.shown, "know")
        bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.TIMEOUT)


def test_what_came_to_mind_stays_in_sight_until_something_else_does() -> None:
    bench = Bench(first)
    bench.give(recall(episode("look_for(red_cube)", Failure.PERCEPTION_MISS, "go_to(office)")))
    bench.focus_on("at(red_cube, shelf)")
    expected = "like before: look_for(red_cube) perception_miss -> go_to(office) worked"
    for _ in range(2):
        assert expected in line(bench.shown, "recall")
        bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.TIMEOUT)
