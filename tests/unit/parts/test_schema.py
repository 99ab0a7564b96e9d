"""A part is the JSON that the concept writes down, field for field, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError
from support.parts_rig import FEAR, part, prediction

from anima.parts.schema import Part, Suggestion, first_id, timestamp, utc_s


def test_the_json_of_a_part_comes_back_as_it_was_written() -> None:
    text = json.dumps(FEAR)
    assert json.dumps(Part.model_validate_json(text).model_dump(mode="json")) == text


def test_its_fields_are_those_of_the_concept_in_their_order() -> None:
    assert list(Part.model_fields) == [
        "name", "description", "suggestions_and_results", "core_part", "needs_evaluation", "originating_event",
        "conclude_when", "emotion", "intensity", "personality", "triggers", "phrases", "responses", "wants",
    ]
    assert set(Suggestion.model_fields) == {
        "predicted_result", "predicted_result_confidence", "predicted_result_timeframe_in_seconds", "your_suggestion",
        "timestamp", "result",
    }


@pytest.mark.parametrize("missing", sorted(FEAR))
def test_every_field_is_needed(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        Part.model_validate({name: value for name, value in FEAR.items() if name != missing})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "fear-of-dogs"),
        ("name", ""),
        ("core_part", "false"),
        ("triggers", ["a", "a"]),
        ("triggers", ["x" * 401]),
        ("wants", "peace"),
        ("emotion", None),
        ("suggestions_and_results", [{**prediction("s"), "score": 0.9}]),
        ("suggestions_and_results", [{**prediction("s"), "predicted_result_timeframe_in_seconds": 60}]),
        ("suggestions_and_results", [prediction("s", "-5")]),
        ("suggestions_and_results", [prediction("s", "1e9")]),
        ("suggestions_and_results", [prediction("s", "60", "yesterday")]),
        ("suggestions_and_results", [prediction("s"), prediction("s")]),
        ("originating_event", {"timestamp": "2026-02-13T13:29:51", "result": "no zone"}),
    ],
)
def test_what_is_no_part_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        Part.model_validate({**FEAR, field: value})


def test_time_zones_are_kept_as_they_were_written() -> None:
    for written in ("2026-02-13T13:29:51-08:00", "2026-02-13T22:29:51+01:00", "2026-02-13T21:29:51Z"):
        made = part(suggestions_and_results=[prediction("s", "9", written)])
        assert made.model_dump(mode="json")["suggestions_and_results"][0]["timestamp"] == written
        assert made.suggestions_and_results[0].due_utc_s == utc_s("2026-02-13T21:30:00+00:00")


def test_a_time_can_be_written_in_any_zone() -> None:
    assert timestamp(1_771_018_191.4, -8 * 3600.0) == "2026-02-13T13:29:51-08:00"
    assert utc_s(timestamp(1_771_018_191.0, 3600.0)) == 1_771_018_191.0


def test_a_prediction_is_due_until_its_result_is_known() -> None:
    open_one = Suggestion.model_validate(prediction("s"))
    assert open_one.due_utc_s == utc_s(open_one.timestamp) + 60
    known = open_one.model_copy(update={"result": "It barked"})
    assert known.due_utc_s is None
    assert known.id == open_one.id
    predicts_nothing = {
        "predicted_result": "", "predicted_result_confidence": "", "predicted_result_timeframe_in_seconds": ""
    }
    assert Suggestion.model_validate({**prediction("s"), **predicts_nothing}).due_utc_s is None


def test_ids_are_readable_and_never_given_twice() -> None:
    assert first_id("Roly — technical mode") == "roly-technical-mode"
    assert first_id("Roly — technical mode", ["roly-technical-mode"]) == "roly-technical-mode-2"
    assert first_id("…") == "part"
