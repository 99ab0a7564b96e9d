"""L-7: the deepest win is a prefix that never changes, so that a turn costs its delta; and the delta is bounded."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.planner_rig import Bench, conflict, salient, world
from support.scripted_model import Answer
from support.situations import situation

from anima.planner import act
from anima.planner.act import load_act_prompt
from anima.planner.budgets import estimate, load_budgets
from anima.planner.llm.base import Request
from anima.planner.packet import build


def first(request: Request) -> Answer:
    return request.choices[0] if request.choices else "answer(battery)"


def test_the_prefix_is_the_same_bytes_whatever_the_moment() -> None:
    bench = Bench(first)
    bench.focus_on("at(robot, office)")
    bench.give(conflict(bench.now, "go_to(office)"), salient(bench.now, "a new trend", 0.7))
    bench.focus_on("at(red_cube, shelf)", world(bench.now, ("red_cube", "kitchen_table"), battery=0.1))
    prefixes = {r.messages[: r.stable] for r in bench.model.requests if r.role == "act"}
    assert prefixes == {act.prefix(load_act_prompt())}
    assert all(len(r.messages) == r.stable + 1 for r in bench.model.requests)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_no_moment_is_so_crowded_that_a_section_breaks_its_budget(seed: int) -> None:
    moment = situation(random.Random(seed))
    packet = build(moment, moment.options())
    for section in packet.sections:
        assert section.tokens <= section.budget, section
    allowed = sum(section.budget for section in packet.sections) + len(packet.sections)
    assert packet.tokens == estimate(packet.text) <= allowed


def test_a_usual_turn_is_nine_parts_cached() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, shelf)", world(bench.now, ("red_cube", "kitchen_table")))
    context = bench.context
    assert context.prefix_tokens / (context.prefix_tokens + context.tokens) >= 0.9


def test_the_worst_turn_still_fits_beside_the_prefix() -> None:
    b = load_budgets()
    worst = b.focus + b.know + b.concerns + b.history + b.mode + b.blocked + b.new + b.can
    assert worst < sum(estimate(m.content) for m in act.prefix(load_act_prompt()))
