"""L-5: a mechanism is wired where it fires. Each signal of the glue, and the decision that it changes."""

from __future__ import annotations

from support.planner_rig import (
    Bench,
    condition,
    conflict,
    episode,
    of,
    recall,
    resources,
    salient,
    world,
)
from support.scripted_model import Answer

from anima import topics as t
from anima.failure import Failure
from anima.planner.llm.base import Request
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Forecast, Temperament
from anima.types.std import Point


def first(request: Request) -> Answer:
    return request.choices[0] if request.choices else "answer(battery)"


def in_reach(now: float, **changes: object) -> Sent:
    """The red cube lies on the shelf in front of the robot."""
    state = world(now, ("red_cube", "shelf"), place="shelf", **changes)
    near = state.objects[0].model_copy(update={"position": Point(x=0.4, y=0.0, z=0.42)})
    return t.WORLD_STATE.of(state.model_copy(update={"objects": [near]}))


def before_the_grasp(*signals: Sent) -> Bench:
    bench = Bench(first)
    bench.give(*signals)
    state = in_reach(bench.now).value
    bench.focus_on("holding(red_cube)", state)  # type: ignore[arg-type]
    return bench


def chosen(bench: Bench) -> str:
    call = of(bench.sent, t.VERDICT)[-1].call
    return str(call.skill)


def test_recall_makes_it_do_first_what_mended_it_last_time() -> None:
    assert chosen(before_the_grasp()) == "pick"
    lived = episode("pick(red_cube)", Failure.SLIP, "approach(red_cube)")
    bench = before_the_grasp(recall(lived, avoid=("pick(red_cube)",), prefer=("approach(red_cube)",)))
    assert chosen(bench) == "approach"
    assert "pick(red_cube)" not in bench.offered
    assert "blocked: pick(red_cube): last time this failed: slip -> approach(red_cube)" in bench.shown
    assert "recall: like before: pick(red_cube) slip -> approach(red_cube) worked" in bench.shown
    bench.end(of(bench.sent, t.VERDICT)[-1].call)  # the fix is done once, not for ever
    assert chosen(bench) == "pick"


def test_recall_forbids_nothing() -> None:
    bench = before_the_grasp(recall(episode("pick(red_cube)", Failure.SLIP), avoid=("pick(red_cube)",)))
    assert bench.offered == ("pick(red_cube)",)
    assert "pick(red_cube), last time this failed: slip" in bench.shown


def test_recall_puts_last_what_failed_where_something_else_can_be_done() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    bench.give(recall(episode("go_to(office)", Failure.PATH_BLOCKED), avoid=("go_to(office)",)))
    bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.PATH_BLOCKED)
    assert bench.offered == ("wait(5)", "go_to(office)")


def test_recall_for_another_objective_is_left_alone() -> None:
    bench = before_the_grasp(recall(avoid=("pick(red_cube)",), prefer=("approach(red_cube)",), objective="u7.0"))
    assert chosen(bench) == "pick"


def test_a_conflict_takes_the_call_out_of_the_choices() -> None:
    bench = Bench(first)
    bench.give(conflict(bench.now, "pick(red_cube)"))
    bench.focus_on("holding(red_cube)", in_reach(bench.now).value)  # type: ignore[arg-type]
    assert "pick(red_cube)" not in bench.offered
    assert {"look_for(red_cube)", "approach(red_cube)"} <= set(bench.offered)  # another tactic is there to begin with
    assert any(choice.startswith("give_up(") for choice in bench.offered)
    assert "[repeated_failure] the same again and again" in bench.shown
    assert "blocked: pick(red_cube): repeated_failure: it leads nowhere" in bench.shown


def test_what_led_nowhere_is_offered_again_once_another_call_has_worked() -> None:
    bench = Bench(first)
    bench.give(conflict(bench.now, "pick(red_cube)"))
    bench.focus_on("holding(red_cube)", in_reach(bench.now).value)  # type: ignore[arg-type]
    bench.end(of(bench.sent, t.VERDICT)[-1].call)
    assert "pick(red_cube)" in bench.offered


def test_a_conflict_about_another_objective_takes_nothing() -> None:
    bench = Bench(first)
    bench.give(conflict(bench.now, "pick(red_cube)", objective="u7.0"))
    bench.focus_on("holding(red_cube)", in_reach(bench.now).value)  # type: ignore[arg-type]
    assert chosen(bench) == "pick"


def test_salience_breaks_off_a_decision_and_puts_the_reason_in_sight() -> None:
    for interrupts, decisions in (("none", 1), ("deliberation", 2), ("execution", 2)):
        bench = Bench(lambda request: None)
        bench.focus_on("at(robot, office)")
        bench.give(salient(bench.now, "the person stands in the door", 0.9, interrupts=interrupts))
        bench.run(1.0)
        assert len(bench.model.requests) == decisions, interrupts
        assert ("the person stands in the door" in bench.shown) == (decisions == 2)


def test_a_storm_of_interrupts_does_not_keep_it_from_ever_deciding() -> None:
    bench = Bench(lambda request: None)
    bench.focus_on("at(robot, office)")
    for number in range(20):
        bench.give(salient(bench.now, f"bang {number}", 0.9, interrupts="deliberation"))
        bench.run(0.5)
    assert len(bench.model.requests) == 4


def test_what_is_told_of_a_call_that_has_just_ended_breaks_nothing_off() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    call = of(bench.sent, t.VERDICT)[-1].call
    bench.model.script = lambda request: None
    bench.end(call, Failure.PATH_BLOCKED)
    asked = len(bench.model.requests)
    bench.give(salient(bench.now, "go_to(office): path_blocked", 0.9, "failure", "deliberation", cause=call.id))
    bench.run(0.5)
    assert len(bench.model.requests) == asked


def test_the_condition_sets_the_mode_and_how_often_the_same_is_tried() -> None:
    for sent, tries in ((condition("FOCUSED"), 3), (condition("RECOVERY", "DEGRADED", 0.4), 1)):
        bench = Bench(first)
        bench.give(sent)
        bench.focus_on("at(robot, office)")
        for _ in range(tries):
            assert "go_to(office)" in bench.offered
            bench.end(of(bench.sent, t.VERDICT)[-1].call, Failure.HARDWARE_FAULT)
        assert "go_to(office)" not in bench.offered
        assert f"mode: {sent.value.mode}" in bench.shown.splitlines()  # type: ignore[attr-defined]
    assert "[condition] DEGRADED: many small failures" in bench.shown


def test_resources_bound_how_long_it_may_think_and_say_when_it_must_dock() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    free = bench.model.requests[-1]
    bench = Bench(first)
    bench.give(resources(think_s=12.0, must_dock=True))
    bench.focus_on("at(robot, office)")
    short = bench.model.requests[-1]
    assert (short.prefill_budget_s, short.decode_budget_s) == (12.0, 12.0)
    assert free.prefill_budget_s > 12.0 < free.decode_budget_s
    assert "concerns: [charge] must dock" in bench.shown


def test_temperament_is_one_word_in_the_mode_line_and_nothing_else() -> None:
    def shown(*sent: Sent) -> list[str]:
        bench = Bench(first)
        bench.give(*sent)
        bench.focus_on("at(robot, office)")
        return bench.shown.splitlines()

    mood = Temperament(header=Header.at(0.0), initiative=0.9, persistence=0.5, caution=0.2, word="driven")
    without, with_it = shown(), shown(t.TEMPERAMENT.of(mood))
    assert [pair for pair in zip(without, with_it, strict=True) if pair[0] != pair[1]] == [
        ("mode: FOCUSED", "mode: FOCUSED driven")
    ]


def test_a_bad_forecast_lets_the_better_call_go_first() -> None:
    def forecast(now: float) -> Sent:
        return t.FORECAST.of(
            Forecast(
                header=Header.at(now), call="pick(red_cube)", rollouts=3, success=0.3, cost_s=9.0, energy=0.01,
                hazard=0.1, advice="rather", rather="approach(red_cube)", why="",
            )
        )

    bench = Bench(first)
    bench.give(forecast(bench.now))
    bench.focus_on("holding(red_cube)", in_reach(bench.now).value)  # type: ignore[arg-type]
    assert chosen(bench) == "approach"
    assert "pick(red_cube)" not in bench.offered


def test_every_call_says_what_it_was_decided_from() -> None:
    bench = before_the_grasp(recall(episode("pick(red_cube)")), salient(10.9, "a trend", 0.5))
    because = of(bench.sent, t.VERDICT)[-1].call.because
    assert because[0] == "u1.0"
    assert {"trend@10.900", "e-pick(red_cube)", bench.context.thought} <= set(because)
