"""The planner's manners: people first, one call at a time, idle and honest when its model fails."""

from __future__ import annotations

import json

import pytest
from support.planner_rig import Bench, backlog, objective, of, world
from support.scripted_model import Answer

from anima import topics as t
from anima.failure import Failure
from anima.planner.llm.base import Completion, Request
from anima.types.base import Header
from anima.types.mind import Outcome, SkillFeedback


def first(request: Request) -> Answer:
    """Answers like a model that always takes the first thing offered."""
    return request.choices[0] if request.choices else "bring(red_cube, person)"


def test_an_order_becomes_an_objective_and_is_said_back() -> None:
    sent = Bench("bring(red_cube, kitchen_table)").say("Bring the red cube to the kitchen table.")
    (objectives,) = of(sent, t.OBJECTIVES)
    assert [o.condition for o in objectives.objectives] == ["at(red_cube, kitchen_table)"]
    assert objectives.replace
    (reply,) = of(sent, t.REPLY)
    assert reply.text == "OK: I'll put the red cube on the kitchen table."
    assert reply.cause == "u1"


def test_an_addition_does_not_replace_what_is_under_way() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    sent = bench.say("And then bring me the red cube.", "u2")
    assert not of(sent, t.OBJECTIVES)[0].replace


def test_an_impossible_order_is_declined_with_the_reason_in_the_persons_words() -> None:
    sent = Bench("decline(unknown_object)").say("Bring me the guitar!")
    assert "guitar" in of(sent, t.REPLY)[0].text
    (declined,) = of(sent, t.OBJECTIVES)[0].objectives
    assert declined.state == "declined"
    assert declined.reason.startswith("unknown_object")


def test_a_question_back_is_answered_by_the_next_words() -> None:
    bench = Bench(lambda request: "bring(cube, person)" if "red" not in request.messages[-1].content
                  else "bring(red_cube, person)")
    sent = bench.say("bring me the cube")
    assert of(sent, t.REPLY)[0].text.startswith("Which cube do you mean")
    assert not of(sent, t.OBJECTIVES)
    sent = bench.say("the red one", "u2")
    assert of(sent, t.OBJECTIVES)[0].objectives[0].condition == "at(red_cube, person)"


def test_who_speaks_while_the_model_wakes_up_is_told_and_then_heard() -> None:
    bench = Bench(first, wakes=False)
    replies = of(bench.say("bring me the red cube"), t.REPLY)
    assert [r.text for r in replies] == ["One moment, I am still waking up."]
    bench.model.wake()
    assert of(bench.run(1.0), t.OBJECTIVES)


def test_stop_is_not_for_the_planner() -> None:
    bench = Bench(first)
    assert not bench.say("Stop!")
    assert not bench.model.requests


def test_the_focus_becomes_one_validated_call_and_no_other_until_it_has_ended() -> None:
    bench = Bench(first)
    sent = bench.focus_on("at(red_cube, kitchen_table)")
    (verdict,) = of(sent, t.VERDICT)
    assert verdict.accepted
    assert (verdict.call.skill, json.loads(verdict.call.arguments)) == ("look_for", {"object": "red_cube"})
    bench.give(t.SKILL_FEEDBACK.of(feedback(verdict.call.id)))
    bench.give(t.WORLD_STATE.of(world(bench.now, ("red_cube", "shelf"))))
    assert not of(bench.run(20.0), t.VERDICT)
    sent = bench.end(verdict.call)
    assert [v.call.skill for v in of(sent, t.VERDICT)] == ["approach"]


def feedback(call: str) -> SkillFeedback:
    return SkillFeedback(
        header=Header.at(0.0), lease="l", call=call, skill="look_for", phase="driving", progress=0.5
    )


def test_a_call_that_the_gate_does_not_begin_is_decided_again() -> None:
    bench = Bench(first)
    assert len(of(bench.focus_on("at(robot, office)"), t.VERDICT)) == 1
    assert len(of(bench.run(6.0), t.VERDICT)) == 1


def test_feedback_that_comes_after_the_outcome_blocks_nothing() -> None:
    bench = Bench(first)
    (verdict,) = of(bench.focus_on("at(red_cube, shelf)"), t.VERDICT)
    bench.end(verdict.call, Failure.PERCEPTION_MISS)
    (verdict,) = of(bench.sent, t.VERDICT)[-1:]
    bench.give(t.SKILL_FEEDBACK.of(feedback(verdict.call.id)))
    sent = bench.end(verdict.call, Failure.PERCEPTION_MISS)
    bench.give(t.SKILL_FEEDBACK.of(feedback(verdict.call.id)))
    assert len(of(sent + bench.run(6.0), t.VERDICT)) >= 1


def test_a_call_is_waited_for_as_long_as_it_tells_of_itself_and_not_when_who_ran_it_has_died() -> None:
    bench = Bench(first)
    (verdict,) = of(bench.focus_on("at(robot, office)"), t.VERDICT)
    for _ in range(10):
        bench.give(t.SKILL_FEEDBACK.of(feedback(verdict.call.id)))
        assert not of(bench.run(20.0), t.VERDICT)
    assert of(bench.run(15.0), t.VERDICT)


def test_what_another_had_running_is_waited_for() -> None:
    bench = Bench(first)
    bench.give(t.SKILL_FEEDBACK.of(feedback("operator-1")))
    bench.run(0.2)
    assert not of(bench.focus_on("at(robot, office)"), t.VERDICT)


def test_giving_up_is_told_to_the_gate_with_the_reason() -> None:
    bench = Bench(lambda request: request.choices[-1])
    (verdict,) = of(bench.focus_on("at(robot, office)"), t.VERDICT)
    for _ in range(2):
        (verdict,) = of(bench.end(verdict.call, Failure.HARDWARE_FAULT, "no odometry"), t.VERDICT)
    sent = bench.end(verdict.call, Failure.HARDWARE_FAULT, "no odometry")
    (given_up,) = of(sent, t.OBJECTIVES)[0].objectives
    assert (given_up.id, given_up.state) == ("u1.0", "failed")
    assert given_up.reason == "something in my body does not work"
    assert not of(sent, t.VERDICT)


def test_garbage_from_the_model_is_refused_and_after_three_times_given_up() -> None:
    bench = Bench("rm -rf /")
    sent = bench.focus_on("at(robot, office)")
    assert not of(sent, t.VERDICT)
    assert of(sent, t.OBJECTIVES)[0].objectives[0].state == "failed"
    assert len(bench.model.requests) == 3


def test_the_end_of_an_objective_is_told_once() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, kitchen_table)")
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, kitchen_table)", "done"))))
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, kitchen_table)", "done"))))
    assert [r.text for r in of(bench.run(1.0), t.REPLY)] == ["Done: the red cube is on the kitchen table."]


def test_a_failure_is_told_with_its_reason() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, person)")
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, person)", "failed", "I looked and did not find it"))))
    assert of(bench.run(0.2), t.REPLY)[0].text == "I could not bring you the red cube: I looked and did not find it."


def test_a_declined_order_that_comes_back_in_the_backlog_is_not_told_again() -> None:
    bench = Bench("decline(unknown_object)")
    bench.say("Bring me the guitar!")
    bench.give(t.BACKLOG.of(backlog()))
    bench.run(0.2)
    bench.give(t.BACKLOG.of(backlog(objective("", "declined", "unknown_object: no guitar"))))
    assert not of(bench.run(1.0), t.REPLY)


def test_what_ended_before_the_planner_started_is_not_told_again() -> None:
    bench = Bench(first)
    bench.give(t.BACKLOG.of(backlog(objective("at(red_cube, person)", "done"))))
    assert not of(bench.run(1.0), t.REPLY)


def test_a_pause_is_told_once_per_reason() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    parked = objective("at(robot, office)", "parked", "a person drives by hand")
    for one in (parked, objective("at(robot, office)"), parked):
        bench.give(t.BACKLOG.of(backlog(one)))
        bench.run(0.2)
    texts = [r.text for r in of(bench.sent, t.REPLY)]
    assert texts == ["I have paused before I could go to the office: a person drives by hand."]


@pytest.mark.parametrize("broken", [Completion(error="decode over its budget of 30 s"), Completion(error="boom")])
def test_a_failing_model_leaves_the_robot_idle_and_says_so_once(broken: Completion) -> None:
    bench = Bench(broken)
    sent = bench.focus_on("at(robot, office)") + bench.run(30.0)
    assert not of(sent, t.VERDICT)
    replies = [r.text for r in of(sent, t.REPLY)]
    assert len(replies) == 1
    assert broken.error in replies[0]
    thoughts = of(sent, t.THOUGHT)
    assert all(thought.error for thought in thoughts)
    assert 2 <= len(thoughts) <= 6  # it tries again, ever more slowly


def test_a_hanging_model_yields_no_call_and_does_not_block() -> None:
    bench = Bench(lambda request: None)
    assert not of(bench.focus_on("at(robot, office)") + bench.run(10.0), t.VERDICT)
    assert len(bench.model.requests) == 1
    assert "chooses" in bench.planner.why()


def test_a_person_is_heard_before_a_decision_is_finished() -> None:
    bench = Bench(lambda request: None if request.role == "act" else "answer(battery)")
    bench.focus_on("at(robot, office)")
    sent = bench.say("how is your battery?", "u2")
    assert [r.text for r in of(sent, t.REPLY)] == ["My battery is at 80%."]


def test_the_planner_waits_for_the_senses_to_catch_up_with_an_outcome() -> None:
    bench = Bench(first)
    (verdict,) = of(bench.focus_on("at(red_cube, shelf)"), t.VERDICT)
    outcome = Outcome(
        header=Header.at(bench.now), lease="l", call=verdict.call, success=True, failure=0, detail="", duration_s=1.0
    )
    bench.give(t.OUTCOME.of(outcome))
    assert not of(bench.run(0.5), t.VERDICT)
    bench.give(t.WORLD_STATE.of(world(bench.now, ("red_cube", "kitchen_table"))))
    assert [v.call.skill for v in of(bench.run(0.5), t.VERDICT)] == ["approach"]


def test_what_is_reached_already_is_left_to_the_gate() -> None:
    bench = Bench(first)
    assert not of(bench.focus_on("at(robot, living_room)"), t.VERDICT)


def test_both_prefixes_are_the_same_bytes_in_every_turn() -> None:
    bench = Bench(first)
    bench.say("bring me the red cube")
    bench.say("go to the office", "u2")
    bench.focus_on("at(red_cube, shelf)")
    bench.focus_on("at(red_cube, shelf)", world(bench.now, ("red_cube", "shelf"), battery=0.3))
    stable = {(r.role, r.messages[: r.stable]) for r in bench.model.requests}
    assert len(stable) == 2
    assert {role for role, _ in stable} == {"listen", "act"}


def test_only_a_person_opens_the_reply() -> None:
    bench = Bench(first)
    bench.say("hello")
    bench.focus_on("at(robot, office)")
    for request in bench.model.requests:
        assert ("reply(" in request.grammar) == (request.role == "listen")
