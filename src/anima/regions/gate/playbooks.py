"""Recovery playbooks: per class of failure the steps that are taken, one after each failure, from a closed set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from anima.config import CONFIG, ConfigError, Tuning, parse, read_yaml
from anima.failure import Failure

PLAYBOOKS_FILE = CONFIG / "playbooks.yaml"
CLASSES = tuple(failure for failure in Failure if failure is not Failure.NONE)
LAST = frozenset({"ask", "abandon"})
WAITS = frozenset({"back_off"})


class Step(Tuning):
    """One step; `wait_s` belongs to `back_off`, `times` repeats it."""

    do: Literal["retry", "rescan", "change_method", "relocalize", "back_off", "ask", "abandon"]
    times: int = Field(default=1, ge=1, le=100)
    wait_s: float = Field(default=0.0, ge=0.0, le=60.0)


class Playbook(Tuning):
    """The steps for one class of failure."""

    steps: tuple[Step, ...] = Field(min_length=1)

    def step(self, taken: int) -> Step:
        """The step after `taken` others; the last one for ever after."""
        for step in self.steps:
            if taken < step.times:
                return step
            taken -= step.times
        return self.steps[-1]

    @property
    def length(self) -> int:
        """How many steps it has, repeats counted."""
        return sum(step.times for step in self.steps)


Playbooks = Mapping[Failure, Playbook]


def load_playbooks(file: Path = PLAYBOOKS_FILE) -> Playbooks:
    """The playbook of every class; raises `ConfigError` that names file, class and fault."""
    data = read_yaml(file)
    words = {failure.word: failure for failure in CLASSES}
    missing, unknown = sorted(words.keys() - data.keys()), sorted(map(str, data.keys() - words.keys()))
    if missing or unknown:
        faults = [*(f"{word}: has no playbook" for word in missing), *(f"{word}: is no failure" for word in unknown)]
        raise ConfigError(f"{file}:\n  " + "\n  ".join(faults))
    books: dict[Failure, Playbook] = {}
    for word, failure in words.items():
        book: Playbook = parse(Playbook, {"steps": data[word]}, f"{file}: {word}")
        for number, step in enumerate(book.steps, 1):
            if (step.do in LAST) != (number == len(book.steps)):
                raise ConfigError(f"{file}: {word}: step {number} is {step.do}; ask or abandon is last, and only there")
            if (step.do in WAITS) != (step.wait_s > 0):
                raise ConfigError(f"{file}: {word}: step {number}: wait_s > 0 belongs to {' and '.join(sorted(WAITS))}")
        books[failure] = book
    return books
