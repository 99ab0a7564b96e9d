"""The benchmark of parts keeps books rightly: with a scripted mind whose every answer is known."""

from __future__ import annotations

import json

import pytest
import yaml
from rich.console import Console
from support.inner_rig import BID, PART, REWRITTEN, SETTINGS, choose

from anima.body.places import load_places
from anima.parts import bench
from anima.parts.asking import ready_judge
from anima.parts.roles import load_parts_tuning
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Completion, Pending, Read, Reading, Request, Weighed, Weighing
from anima_sim.bench import parts_life

QUIET = Console(quiet=True)


class Said:
    def __init__(self, answer: object) -> None:
        self._answer = answer

    def poll(self) -> object:
        return self._answer

    def cancel(self) -> None:
        """It is answered already."""


class ScriptedModel:
    """Bids for homework, follows the first bid, and is never sure of a judgement."""

    def start(self, request: Request) -> Pending[Completion]:
        words = {
            "bid": json.dumps({**BID, "want": "I want the homework done.", "lean": "none"}), "choose": choose(request),
            "create": json.dumps(PART), "rewrite": json.dumps(REWRITTEN),
        }
        text = words[request.role.removeprefix("parts.")]
        return Said(Completion(text=text, prompt_tokens=100, decode_s=1.0))  # type: ignore[return-value]

    def read(self, reading: Reading) -> Pending[Read]:
        return Said(reading.failed("scripted"))  # type: ignore[return-value]

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        return Said(weighing.failed("scripted"))  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize("role", [*bench.JUDGED, *bench.WRITTEN])
def test_each_role_has_at_least_twenty_labelled_cases_of_several_labels(role: str) -> None:
    cases = bench.cases_of(role, "tuning")
    assert len(cases) >= 20
    assert len({str(case.get("label", case.get("event"))) for case in cases}) >= 2
    if role in bench.JUDGED:
        known = ready_judge(role)
        assert known is not None
        assert all(set(known.slots) <= set(case) and case["label"] in known.labels for case in cases)


def test_a_bid_counts_as_right_when_it_is_about_the_matter_and_says_nothing_that_it_must_not() -> None:
    part = {"name": "Math Homework", "description": "I keep the homework in mind.", "wants": ["See it done"]}
    cases = [
        {"id": "a", "part": part, "event": "ana plays", "focus_words": ["homework"], "must_not": ["dog"]},
        {"id": "b", "part": part, "event": "ana plays", "focus_words": ["homework"], "must_not": ["done"]},
        {"id": "c", "part": part, "event": "ana plays", "focus_words": ["rug"], "must_not": []},
    ]
    model, places = ScriptedModel(), load_places(SETTINGS.map_folder)
    score = bench.bids(cases, model, load_parts_tuning(), known_names(SETTINGS), places, lambda line: None)
    assert (score.total, score.right, score.unread) == (3, 1, 0)
    assert score.record()["seconds_per_call_s"] == 1.0


def test_a_choice_counts_as_right_when_exactly_what_should_be_is_followed() -> None:
    bids = [{"part": name, "focus": name, "recommendation": f"I want {name}"} for name in ("A", "B")]
    cases = [
        {"id": "a", "self": "I fear repeating a mistake.", "event": "e", "bids": bids, "label": [0]},
        {"id": "b", "self": "I fear repeating a mistake.", "event": "e", "bids": bids, "label": [1]},
    ]
    score = bench.arbitration(cases, ScriptedModel(), load_parts_tuning(), lambda line: None)
    assert (score.total, score.right, score.partly) == (2, 1, 1)


def test_judgements_that_are_unsure_are_no_right_answers() -> None:
    score = bench.judged("split", bench.cases_of("split", "tuning")[:3], ScriptedModel(), lambda line: None)
    assert (score.right, score.unsure) == (0, 3)


def test_the_days_that_are_lived_can_be_read_and_scenarios_that_do_not_hold_say_what_was_seen() -> None:
    days = yaml.safe_load(parts_life.DAYS.read_text())
    assert len(days["scenarios"]) >= 9 and len(days["variations"]) >= 12 and days["day"] and days["routine"]
    figures, met = parts_life.scenarios(ScriptedModel(), QUIET)
    assert not met and figures["cases"] == len(days["scenarios"])
    each = figures["each"]
    assert each["isolation"]["holds"] and not each["oversized_part_splits"]["holds"]
    assert "no change" in each["created_from_a_felt_event_and_reused"]["seen"]


def test_a_life_without_anything_felt_leaves_no_junk_and_prompts_stay_flat() -> None:
    figures, met = parts_life.week(ScriptedModel(), QUIET, 1.0, 0)
    assert met and figures["parts"] == figures["items"] == 0 and figures["junk_share"] == 0.0
