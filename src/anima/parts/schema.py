"""What a part is: the JSON that is kept of it, field for field as the concept lays it down.

A part's `id`, its versions and the events behind each belong to the item that holds it, its descent to a second item
(`Lineage`, same id), so that this JSON stays exactly what a person writes and a model reads. What stands in its lists
is addressed by an id that follows from what never changes about it (`item_id`): nothing has to be numbered, and an
id means the same thing in every version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from anima.memory.patch import ListRule, PatchRules, item_id

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
MOST_S = 10 * 366 * 86_400.0
"""No prediction reaches further than ten years."""


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it says nothing")
    return text


def _written(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("it holds control characters")
    return text


def _moment(text: str) -> str:
    """Times are kept as written, zone included; one without a zone could be any hour of the day."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("write times like 2026-02-13T13:29:51-08:00") from None
    if moment.tzinfo is None:
        raise ValueError("it has no time zone; write times like 2026-02-13T13:29:51-08:00")
    return text


def _seconds(text: str) -> str:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,3})?", text) or float(text) > MOST_S:
        raise ValueError('write seconds as digits, e.g. "5000", at most ten years of them')
    return text


Text = Annotated[str, Field(max_length=4000), AfterValidator(_written)]
Said = Annotated[Text, AfterValidator(_said)]
Line = Annotated[str, Field(max_length=400), AfterValidator(_written), AfterValidator(_said)]
Moment = Annotated[str, Field(max_length=40), AfterValidator(_moment)]
Lines = Annotated[list[Line], Field(max_length=64)]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Suggestion(_Kept):
    """What a part once suggested, what it said would come of it, and what came (`result` empty: not known yet).

    A suggestion that predicts nothing has no `predicted_result`, confidence and time frame either: all three empty.
    """

    predicted_result: Text
    predicted_result_confidence: Annotated[str, Field(max_length=100), AfterValidator(_written)]
    predicted_result_timeframe_in_seconds: str
    your_suggestion: Said
    timestamp: Moment
    result: Text

    @model_validator(mode="after")
    def _predicts_whole_or_not(self) -> Suggestion:
        given = (self.predicted_result, self.predicted_result_confidence, self.predicted_result_timeframe_in_seconds)
        if any(given):
            if not all(text.strip() for text in given):
                raise ValueError("a prediction needs what will come, how sure, and within how many seconds")
            _seconds(self.predicted_result_timeframe_in_seconds)
        return self

    @property
    def id(self) -> str:
        """By what name a patch addresses it."""
        return item_id(self.model_dump(), SUGGESTIONS)

    @property
    def due_utc_s(self) -> float | None:
        """When it is to be seen whether it came true, in UTC seconds; None when that is known, or nothing was said."""
        if self.result or not self.predicted_result:
            return None
        return utc_s(self.timestamp) + float(self.predicted_result_timeframe_in_seconds)


class OriginatingEvent(_Kept):
    """What made the part come into being, in its own words."""

    timestamp: Moment
    result: Said


SUGGESTIONS = ListRule(
    identity=(
        "your_suggestion", "predicted_result", "predicted_result_confidence",
        "predicted_result_timeframe_in_seconds", "timestamp",
    ),
    changeable=frozenset({"result"}),
)
_LINES = ListRule(replaceable=True)


class Part(_Kept):
    """A local perspective that speaks as "I": what it is about, what wakes it, what it wants, and how it has fared."""

    name: Annotated[str, Field(max_length=120), AfterValidator(_written), AfterValidator(_said)]
    description: Said
    suggestions_and_results: Annotated[list[Suggestion], Field(max_length=256)]
    core_part: bool
    needs_evaluation: bool
    originating_event: OriginatingEvent
    conclude_when: Text
    emotion: Annotated[str, Field(max_length=100), AfterValidator(_written)]
    intensity: Annotated[str, Field(max_length=100), AfterValidator(_written)]
    personality: Text
    triggers: Lines
    phrases: Lines
    responses: Lines
    wants: Lines

    patch_rules: ClassVar[PatchRules] = PatchRules(
        fields=frozenset(
            {"name", "description", "needs_evaluation", "conclude_when", "emotion", "intensity", "personality"}
        ),
        lists={
            "suggestions_and_results": SUGGESTIONS,
            "triggers": _LINES, "phrases": _LINES, "responses": _LINES, "wants": _LINES,
        },
    )

    @model_validator(mode="after")
    def _nothing_twice(self) -> Part:
        for name, rule in self.patch_rules.lists.items():
            values = getattr(self, name)
            marks = [tuple(getattr(v, field) for field in rule.identity) if rule.identity else v for v in values]
            if len(set(marks)) < len(marks):
                twice = next(number for number, mark in enumerate(marks) if mark in marks[:number])
                raise ValueError(f"{name} says the same thing twice: {str(values[twice])[:80]!r}")
        return self

    def search_texts(self) -> list[str]:
        """By what it is found: who it is, then each thing that wakes it."""
        return [f"{self.name}. {self.description}", *self.triggers]


class Lineage(_Kept):
    """Where a part comes from and what came after it, as ids of parts; kept beside it under the same id."""

    split_from: Annotated[str, Field(max_length=200)] = ""
    merged_from: Annotated[list[str], Field(max_length=32)] = []
    superseded_by: Annotated[list[str], Field(max_length=32)] = []


def utc_s(timestamp: str) -> float:
    """The moment of an ISO 8601 time with a zone, in UTC seconds."""
    return datetime.fromisoformat(timestamp).timestamp()


def timestamp(moment_utc_s: float, zone_s: float = 0.0) -> str:
    """UTC seconds as an ISO 8601 time in a zone that is `zone_s` seconds ahead of UTC."""
    zone = timezone(timedelta(seconds=zone_s))
    return datetime.fromtimestamp(moment_utc_s, zone).isoformat(timespec="seconds")


def first_id(name: str, taken: Sequence[str] = ()) -> str:
    """A readable id for a part of that name that is not taken yet, e.g. ``fear-of-dogs`` or ``fear-of-dogs-2``."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80].strip("-") or "part"
    held = set(taken)
    number = 1
    while (id := slug if number == 1 else f"{slug}-{number}") in held:
        number += 1
    return id
