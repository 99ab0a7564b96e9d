"""A closed question to the model: its words, its slots, its labels, and the labelled cases that teach it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, model_validator

from anima.config import CONFIG, ConfigError, Tuning, parse, read_yaml
from anima.planner.llm.base import Message, Reading, State, Weighing

SLOT_CHARACTERS = 700  # of a slot that is too long its beginning and its end are kept
NOTHING = "(nothing)"


class Question(Tuning):
    """One file of `config/judges/`.

    `question` is the system prompt: what is asked, and what each label means. `turn` shows the slots, one to a line, as
    ``Name: {slot}``; `about` is the slot whose words the judgement is mostly about. `opening` begins the answer.
    `labels` are the answers; each may have a word of its own that weighs better than its name. Turning `unsure_below`
    up (0..1) gives fewer wrong answers and more that are "unsure".
    """

    doc: str
    question: str
    turn: str
    about: str
    opening: str
    labels: dict[str, str]
    unsure_below: float = Field(default=0.6, gt=0, lt=1)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names that `turn` asks for, in its order."""
        return tuple(part.partition("}")[0] for part in self.turn.split("{")[1:])

    @model_validator(mode="after")
    def _agree(self) -> Question:
        if self.about not in self.slots:
            raise ValueError(f"about: {self.about!r} is none of the slots {', '.join(self.slots)}")
        if len(self.labels) < 2:
            raise ValueError("labels: a judgement needs two at least")
        return self

    @property
    def digest(self) -> str:
        """Identifies the wording: a head that was trained on another one does not fit."""
        text = repr((self.question, self.turn, self.about, self.opening, sorted(self.labels)))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def filled(self, name: str, slots: Mapping[str, str]) -> tuple[tuple[Message, ...], str]:
        """The messages of this question about `slots`, and the words of `about` as they stand in them.

        Raises `ConfigError` for slots that the question doesn't have, or has and doesn't get.
        """
        if set(slots) != set(self.slots):
            raise ConfigError(f"judgement {name!r}: the slots are {', '.join(self.slots)}; got {', '.join(slots)}")
        data = {slot: as_data(text) for slot, text in slots.items()}
        return (
            Message("system", self.question.strip()),
            Message("user", self.turn.strip().format(**data)),
        ), data[self.about]

    def reading(self, name: str, slots: Mapping[str, str], states: tuple[State, ...], background: bool) -> Reading:
        """The look into the model that a head reads."""
        messages, about = self.filled(name, slots)
        return Reading(f"judge.{name}", messages, 1, f" {about}", self.opening, states, background=background)

    def weighing(self, name: str, slots: Mapping[str, str], background: bool) -> Weighing:
        """The comparison of the labels' words."""
        messages, _ = self.filled(name, slots)
        words = tuple(f" {word or label}" for label, word in self.labels.items())
        return Weighing(f"judge.{name}", messages, 1, self.opening, words, background=background)


def as_data(text: str) -> str:
    """Words from outside as one line of data: no line of a prompt can begin in them, and none grows without end."""
    line = " ".join(text.split())
    if len(line) > SLOT_CHARACTERS:
        half = SLOT_CHARACTERS // 2
        line = f"{line[:half]} … {line[-half:]}"
    return line or NOTHING


def names() -> list[str]:
    """The judgements that there are."""
    return sorted(path.stem for path in (CONFIG / "judges").glob("*.yaml"))


def load_question(name: str) -> Question:
    """The question of a judgement; raises `ConfigError` when there is none or it can't be used."""
    path = CONFIG / "judges" / f"{name}.yaml"
    if not path.is_file():
        raise ConfigError(f"there is no judgement {name!r}; there are {', '.join(names()) or 'none'} in {path.parent}")
    question: Question = parse(Question, read_yaml(path), str(path))
    return question


class Case(Tuning):
    """A labelled case. Cases of one `group` are alike in some way (one household, one author, the same words first):
    a head is never tested on cases of a group that it learned from.
    """

    label: str
    slots: dict[str, str]
    group: str


def load_cases(path: Path, question: Question) -> list[Case]:
    """The labelled cases in a YAML file: under `cases` a list of mappings, one key per slot, the `label`, and maybe a
    `group`; without one, those with the same first slot are a group.

    Raises `ConfigError` that names the case for a label or a slot that the question does not have.
    """
    data = read_yaml(path).get("cases")
    if not isinstance(data, list) or not data:
        raise ConfigError(f"{path}: expected a list under `cases`")
    return [_case(path, number, item, question) for number, item in enumerate(data, 1)]


def _case(path: Path, number: int, item: Any, question: Question) -> Case:
    if not isinstance(item, dict):
        raise ConfigError(f"{path}: case {number} is no mapping")
    where = f"{path}: case {item.get('id', number)}"
    label = str(item.get("label", ""))
    if label not in question.labels:
        raise ConfigError(f"{where}: the label {label!r} is none of {', '.join(question.labels)}")
    missing = [slot for slot in question.slots if slot not in item]
    if missing:
        raise ConfigError(f"{where}: the slot {missing[0]!r} is missing")
    slots = {slot: str(item[slot] or "") for slot in question.slots}
    return Case(label=label, slots=slots, group=str(item.get("group") or slots[question.slots[0]]))


def cases_file(name: str) -> Path:
    """Where the training cases of a judgement are."""
    return CONFIG / "judges" / "cases" / f"{name}.yaml"


def cases_digest(cases: list[Case]) -> str:
    """Identifies a set of cases."""
    text = yaml.safe_dump([case.model_dump() for case in cases], allow_unicode=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
