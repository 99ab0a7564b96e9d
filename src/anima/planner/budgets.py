"""Hard budgets of the context packet, and how a section is made to fit: by priority, never by growing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml

BUDGETS_FILE = CONFIG / "planner" / "budgets.yaml"
MUST = math.inf
CHARS_PER_TOKEN = 3  # of names and short facts; measured on packets: too low for one in twenty, and then by little

Count = Callable[[str], int]


class Budgets(Tuning):
    """`config/planner/budgets.yaml`: what the model gets to see at most.

    `focus` … `can` are tokens per section: up, less is cut and a turn takes longer. `concerns_shown`, `steps_shown` up:
    more of what worries, or of what was done, is told at once. `lessons` is for what people taught, `leanings` for what
    the Self follows of its parts. `concern_life_s` up: an event worries it for longer.
    `least_urgency` up: it worries about less. `least_think_s` up: a body short of energy gets fewer, but longer turns.
    """

    focus: int = Field(ge=40, le=400)
    know: int = Field(ge=40, le=400)
    lessons: int = Field(default=70, ge=20, le=400)
    leanings: int = Field(default=40, ge=12, le=400)
    concerns: int = Field(ge=20, le=400)
    history: int = Field(ge=20, le=400)
    mode: int = Field(ge=8, le=40)
    blocked: int = Field(ge=20, le=400)
    new: int = Field(ge=20, le=400)
    can: int = Field(ge=60, le=400)
    concerns_shown: int = Field(ge=1, le=7)
    steps_shown: int = Field(ge=1, le=20)
    concern_life_s: float = Field(gt=0, le=3600)
    least_urgency: float = Field(ge=0, le=1)
    least_think_s: float = Field(gt=0, le=120)


@functools.lru_cache(maxsize=2)
def load_budgets(file: Path = BUDGETS_FILE) -> Budgets:
    """The budgets in `file`; raises `ConfigError` that names the fault."""
    budgets: Budgets = parse(Budgets, read_yaml(file), str(file))
    return budgets


def estimate(text: str) -> int:
    """Tokens of a text where no tokenizer is at hand, mostly too many."""
    return -(-len(text) // CHARS_PER_TOKEN)


@dataclass(frozen=True)
class Item:
    """A piece of a section: the line that it belongs to (empty: a line of its own), and what it is worth.

    `short` replaces the text before anything as important is left out; pieces of priority `MUST` are never left out.
    """

    line: str
    text: str
    priority: float
    short: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the packet as the model sees it; empty when there was nothing to tell. `cut` is what it left out."""

    name: str
    text: str
    tokens: int
    budget: int
    cut: tuple[str, ...]


def fit(name: str, items: Sequence[Item], budget: int, count: Count, most: int = 1000) -> Section:
    """The section that holds at most `most` of the items within `budget` tokens: the least important go first."""
    kept = list(items)
    cut: list[str] = []
    while (text := _render(kept)) and (len(kept) > most or count(text) > budget):
        weakest = min(range(len(kept)), key=lambda i: (kept[i].priority, not kept[i].short, -len(kept[i].text)))
        item = kept[weakest]
        if item.short and len(kept) <= most:
            kept[weakest] = Item(item.line, item.short, item.priority)
            cut.append(f"{item.text} (shortened)")
        elif item.priority == MUST:
            break
        else:
            del kept[weakest]
            cut.append(item.text)
    return Section(name, text, count(text) if text else 0, budget, tuple(cut))


def _render(items: Sequence[Item]) -> str:
    lines: dict[str, list[str]] = {}
    for number, item in enumerate(items):
        lines.setdefault(item.line or f"\n{number}", []).append(item.text)
    heads = {line: "" if line.startswith("\n") else f"{line}: " for line in lines}
    return "\n".join(heads[line] + "; ".join(texts) for line, texts in lines.items())
