"""A grasp failed once and was mended: reminded of it, the planner does first what mended it."""

from __future__ import annotations

import random

import pytest

from anima import topics as t
from anima.skills.registry import render
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble

ORDER = "pick up the green cube"


def skills_of_an_order(mind: PureMind, fails: bool) -> list[str]:
    """The calls of one order to its end. The grasp fails once if it is to; the hand is emptied after."""
    trouble = mind.flat.trouble
    trouble.grasp_fails = 1.0 if fails else 0.0
    before = len(mind.graph.sent(t.OUTCOME))
    identity = mind.say(ORDER)

    def is_over() -> bool:
        outcomes = mind.graph.sent(t.OUTCOME)[before:]
        if any(outcome.call.skill == "pick" and not outcome.success for outcome in outcomes):
            trouble.grasp_fails = 0.0
        backlog = mind.graph.last(t.BACKLOG)
        return backlog is not None and any(o.source == identity and o.state == "done" for o in backlog.objectives)

    assert mind.graph.run_until(is_over, timeout_s=200.0)
    calls = [render(o.call.skill, o.call.arguments) for o in mind.graph.sent(t.OUTCOME)[before:]]
    mind.drive("place", f'{{"object": "green_cube", "surface": "{mind.flat.place}"}}')
    assert mind.graph.run_until(lambda: not mind.flat.holding, timeout_s=30.0)
    mind.graph.run_for(3.0)
    return calls


@pytest.mark.parametrize("reminded", [True, False])
def test_what_mended_a_grasp_is_done_before_the_next_one_if_it_comes_to_mind(reminded: bool) -> None:
    without = frozenset() if reminded else frozenset({"hippocampus_episodes"})
    model = ChoosingModel(random.Random(1), strays=0.0)
    mind = PureMind(seed=3, trouble=Trouble(0.0, 0.0, 0.0), model=model, without=without)
    mind.graph.run_for(5.0)
    first = skills_of_an_order(mind, fails=True)
    assert first.count("pick(green_cube)") == 2
    second = skills_of_an_order(mind, fails=False)
    assert second[-1] == "pick(green_cube)" and second.count("pick(green_cube)") == 1
    assert ("look_for(green_cube)" in second) is reminded
    avoided = [recall.avoid for recall in mind.graph.sent(t.RECALL) if recall.avoid]
    assert (["pick(green_cube)"] in avoided) is reminded
