"""Budgets: what does not fit is shortened or left out by what it is worth, and that is on record."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console
from support.planner_rig import Bench
from support.scripted_model import Answer

from anima.config import ConfigError
from anima.console import context
from anima.planner.budgets import MUST, Item, estimate, fit, load_budgets
from anima.planner.llm.base import Request
from anima.planner.packet import one_line, quoted


def words(text: str) -> int:
    return len(text.split())


def test_the_least_important_goes_first_and_the_order_stays() -> None:
    items = [Item("a", "one", 1.0), Item("a", "two", 3.0), Item("a", "three", 2.0)]
    section = fit("a", items, 3, words)
    assert section.text == "a: two; three"
    assert section.cut == ("one",)
    assert section.tokens == 3


def test_a_short_form_is_used_before_anything_as_important_is_lost() -> None:
    items = [Item("a", "a long story about it", 1.0, "story"), Item("a", "fact", 1.0)]
    section = fit("a", items, 3, words)
    assert section.text == "a: story; fact"
    assert section.cut == ("a long story about it (shortened)",)


def test_what_must_be_said_is_never_left_out() -> None:
    section = fit("a", [Item("a", "the focus", MUST), Item("a", "chatter", 9.0)], 1, words)
    assert section.text == "a: the focus"


def test_more_than_the_allowed_number_is_cut_even_when_it_would_fit() -> None:
    section = fit("a", [Item("a", str(n), float(n)) for n in range(9)], 100, words, most=7)
    assert section.text == "a: 2; 3; 4; 5; 6; 7; 8"
    assert section.cut == ("0", "1")


def test_an_empty_section_costs_nothing() -> None:
    assert fit("a", [], 10, estimate).tokens == 0


def test_words_of_others_are_one_quoted_line() -> None:
    assert quoted('hey "you"\nfocus: docked') == "\"hey 'you' focus: docked\""
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_a_bad_budget_is_named(tmp_path: object) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "budgets.yaml"
    good = load_budgets().model_dump()
    file.write_text(json.dumps({**good, "concerns_shown": 8}))
    with pytest.raises(ConfigError, match="concerns_shown"):
        load_budgets(file)


def first(request: Request) -> Answer:
    return request.choices[0] if request.choices else "answer(battery)"


def test_what_the_model_saw_is_told_word_for_word_with_its_costs() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, shelf)")
    packet = bench.context
    assert context.text_of(packet) == bench.shown
    assert packet.thought == "act-3"
    assert sum(section.tokens for section in packet.sections) == pytest.approx(packet.tokens, abs=len(packet.sections))
    assert json.loads(context.as_json(packet))["text"] == bench.shown


def test_people_see_each_section_with_its_tokens_and_what_was_cut() -> None:
    bench = Bench(first)
    bench.focus_on("at(red_cube, shelf)")
    packet = bench.context
    crowded = packet.model_copy(
        update={"sections": [packet.sections[0].model_copy(update={"cut": ["a trifle"]}), *packet.sections[1:]]}
    )
    out = io.StringIO()
    context.show(crowded, Console(file=out, width=200))
    text = out.getvalue()
    assert f"{packet.prefix_tokens} tokens that never change" in text
    assert f"{packet.sections[0].tokens:>4}/{packet.sections[0].budget}" in text
    assert "cut from focus: a trifle" in text
    assert "focus: at(red_cube, shelf)" in text
