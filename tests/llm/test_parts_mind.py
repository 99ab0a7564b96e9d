"""The default model in the roles of the inner life: what it writes parses, speaks as "I", and is about the matter."""

from __future__ import annotations

import pytest
from support.inner_rig import STALL, context, event, kept, part, sent

from anima import topics as t
from anima.config import Settings
from anima.parts import bench, thinking, writing
from anima.parts.asking import Ask, Train
from anima.parts.vocabulary import DID_NOT
from anima.planner.judge import Judgement
from anima.planner.llm.base import Completion, Mind, Request

SETTINGS = Settings()

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]


def think(train: Train[None], model: Mind, judged: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """A train of thought with the real model; what it wrote, by role. Judgements named in `judged` are given."""
    written: list[tuple[str, str]] = []
    answer: object = None
    try:
        while True:
            wish = train.send(answer)
            if isinstance(wish, Ask) and judged is not None:
                label = judged.get(wish.name, "")
                answer = Judgement(wish.name, label, label, 0.9) if label else Judgement(wish.name)
                continue
            answer = bench.answer(wish, model)
            if isinstance(wish, Request) and isinstance(answer, Completion):
                assert not answer.error, answer.error
                written.append((wish.role, answer.text))
    except StopIteration:
        return written


def test_a_wheel_that_stalled_on_the_rug_makes_its_part_bid_against_the_rug_and_the_self_follows(model: Mind) -> None:
    mind = context()
    kept(mind, part())
    think(thinking.live(mind, STALL), model, {"follow": "follow"})
    (choice,) = sent(mind, t.BIDS)
    (bid,) = choice.bids
    assert (bid.stance, bid.target) == ("avoid", "rug") and bid.recommendation.startswith("I ")
    assert bid.followed and bid.reason.startswith("I ")
    assert mind.tally.unread == 0


def test_what_a_person_must_finish_gets_a_part_of_its_own_that_speaks_as_i(model: Mind) -> None:
    mind = context()
    said = event("ana said 'I need to finish my math homework today'", "person", where="person")
    think(thinking.live(mind, said), model, {"worth_a_part": "part"})
    (born,) = mind.library.active()
    assert "homework" in born.part.name.lower() and born.part.description.startswith("I ")
    assert born.part.triggers and born.part.wants and born.part.conclude_when
    assert born.because == ("e1",) and mind.tally.unread == 0


def test_a_prediction_that_failed_changes_the_words_of_the_part(model: Mind) -> None:
    mind = context()
    kept(mind, part())
    suggestion = {
        "predicted_result": "The wheels stall again on the rug", "predicted_result_confidence": "likely",
        "predicted_result_timeframe_in_seconds": "60", "your_suggestion": "I go around the rug.",
        "timestamp": "2026-02-13T16:28:20+00:00", "result": "",
    }
    patch = [{"op": "add", "path": "/suggestions_and_results/-", "value": suggestion}]
    before = mind.library.patch("wary-of-the-rug", patch, mind.cause("the test wants it", "test")).part
    mind.diary.note(event("go_to(person) is done, it crossed the rug without a stall", at=150.0, id="e7"))
    mind.now = 2_000_000.0
    (due,) = mind.library.due(mind.utc_s)
    think(thinking.evaluate(mind, due), model, {"prediction": "false"})
    now = mind.library.get("wary-of-the-rug").part
    assert now.suggestions_and_results[0].result.startswith(DID_NOT)
    assert now.description != before.description and now.description.startswith(writing.OPENINGS[DID_NOT])
