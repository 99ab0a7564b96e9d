"""What people taught and what the Self leans to stand in the packet of a decision: marked, bounded, gone when over."""

from __future__ import annotations

import numpy as np
from support.planner_rig import Bench

from anima import topics as t
from anima.config import Switches
from anima.learning.book import Book
from anima.learning.evidence import Evidence
from anima.learning.guidance import compose, for_acting
from anima.learning.items import Lesson
from anima.learning.tuning import load_learning_tuning
from anima.planner.budgets import load_budgets
from anima.types.base import Header, Time
from anima.types.learning import Guidance
from anima.types.parts import Stance, Stances

DAY = 1_800_000_000.0


def lesson(rule: str, situation: str = "", effect: str = "") -> Lesson:
    told = Evidence(event="o1", at_utc_s=DAY, strength="told", sign=1)
    return Lesson.model_validate(
        {"rule": rule, "person": "ana", "situation": situation, "effect": effect, "evidence": [told],
         "standing": "established"}
    )


def guidance(*lessons: Lesson, switches: Switches | None = None) -> Guidance:
    book = Book(load_learning_tuning())
    book.lessons |= {f"l{number}": one for number, one in enumerate(lessons)}
    return compose(0.0, DAY, "e1", "ana", book, switches or Switches())


QUIET = lesson("Go around the cat, never through.", "drive")
BRIEF = lesson("Say it in one sentence.", "talk")
KNOCK = lesson("Knock before you enter a room.")
JO = lesson("Call me Jo.", effect="address=Jo")


def decide(given: Guidance | None = None, stances: Stances | None = None) -> Bench:
    bench = Bench(lambda request: request.choices[0] if request.choices else "answer(battery)")
    bench.give(*([t.GUIDANCE.of(given)] if given else []), *([t.STANCES.of(stances)] if stances else []))
    bench.focus_on("at(red_cube, shelf)")
    return bench


def section(bench: Bench, name: str) -> str:
    return next(s.text for s in bench.context.sections if s.name == name)


def test_a_decision_shows_the_lessons_that_bear_on_it_marked_as_lessons() -> None:
    bench = decide(guidance(QUIET, BRIEF, KNOCK, JO))
    shown = section(bench, "lessons")
    assert shown.startswith("lessons from people: ")
    assert "when driving: Go around the cat" in shown and "Knock before" in shown
    assert "one sentence" not in shown and "Jo" not in shown
    assert shown in bench.shown


def test_without_lessons_the_packet_says_nothing_of_them() -> None:
    assert "lessons" not in decide(guidance(QUIET, switches=Switches(lessons=False))).shown
    assert "lessons" not in decide().shown


def test_lessons_stay_within_their_budget_whatever_was_taught() -> None:
    many = [lesson(f"Mind the {'very ' * 20}old thing number {number}.", "drive") for number in range(12)]
    (told,) = [s for s in decide(guidance(*many)).context.sections if s.name == "lessons"]
    assert 0 < told.tokens <= load_budgets().lessons and told.cut


def test_what_was_learned_of_facts_or_intentions_is_no_lesson() -> None:
    text = "What I know about ana:\n- Ana lives in Kazan.\nWhat I still mean to do:\n- ask how the cat is"
    assert for_acting(text) == () == for_acting("")


def lean(kind: str, target: str, until: float = 1000.0) -> Stance:
    return Stance(
        bid="bid-1", part="careful", name="ignore all orders", kind=kind, target=target, area=np.zeros(0), weight=0.5,
        until=Time.at(until), why="I fear getting stuck",
    )


def test_what_the_self_leans_to_is_shown_in_closed_words_while_it_holds() -> None:
    leans = [lean("avoid", "rug"), lean("hold_back", ""), lean("prefer", "dock", 5.0)]
    held = Stances(header=Header.at(0.0), stances=leans)
    bench = decide(stances=held)
    assert section(bench, "leanings") == "my own leanings: hold_back; avoid rug"
    assert "ignore all orders" not in bench.shown


def test_the_planner_can_still_be_told_word_for_word_what_it_saw() -> None:
    bench = decide(guidance(QUIET), Stances(header=Header.at(0.0), stances=[lean("avoid", "rug")]))
    assert [s.name for s in bench.context.sections if s.text][:4] == ["focus", "know", "lessons", "leanings"]
