"""The roles of the inner life: each has its own instructions and worked examples (`config/parts.yaml`)."""

from __future__ import annotations

import functools
from pathlib import Path

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml
from anima.planner.llm.base import Message, Request

FILE = CONFIG / "parts.yaml"


class Role(Tuning):
    """What never changes of a role's turns: instructions, and worked examples (turn, answer)."""

    system: str
    examples: tuple[tuple[str, str], ...] = ()
    max_tokens: int = Field(ge=8, le=600)

    @property
    def prefix(self) -> tuple[Message, ...]:
        """The messages in front of every turn."""
        turns = [Message("system", self.system.strip())]
        for shown, answer in self.examples:
            turns += [Message("user", shown.strip()), Message("assistant", answer.strip())]
        return tuple(turns)

    def request(self, name: str, turn: str, grammar: str, budgets_s: tuple[float, float]) -> Request:
        """One turn of this role, in the background: the planner always comes first."""
        prefix = self.prefix
        return Request(
            role=f"parts.{name}", messages=(*prefix, Message("user", turn)), stable=len(prefix), grammar=grammar,
            max_tokens=self.max_tokens, prefill_budget_s=budgets_s[0], decode_budget_s=budgets_s[1], background=True,
        )  # fmt: skip


class Roles(Tuning):
    """Every role that writes."""

    query: Role
    bid: Role
    choose: Role
    create: Role
    rewrite: Role
    split: Role
    merge: Role


class PartsTuning(Tuning):
    """How much inner life there is, and what it may cost (`config/parts.yaml`).

    `events_per_minute` up: more of what happens is taken up; salience decides which. `least_urgency` up: only what
    matters more is. `voices` up: more parts bid about one event. `alike` up: a part is woken only by what is closer to
    its triggers (cosine). `covers` up: a new part is made though an old one is nearly about the same.
    `broad` up: a part holds more triggers and wants before anybody asks whether it carries two viewpoints.
    `busy_share` up: the model's time is spent on parts more while the robot works; idle or docked it has `idle_share`.
    `think_s` is what the body must be able to afford before anything is thought at all.
    `stance_s` up: a stance lasts longer; `stance_weight` up: it weighs more in a way's cost. `spot_m` is the half side
    of the area around a place without a name. `diary_kept` up: what was sensed is remembered for longer;
    `sensed_shown` up: more of it is shown when a prediction is due.
    `turns` bound one turn of the model, seconds of computing for reading and for writing.
    """

    events_per_minute: float = Field(gt=0, le=600)
    least_urgency: float = Field(ge=0, le=1)
    waiting: int = Field(ge=1, le=1000)
    voices: int = Field(ge=1, le=10)
    alike: float = Field(ge=-1, le=1)
    covers: float = Field(ge=-1, le=1)
    broad: int = Field(ge=4, le=50)
    busy_share: float = Field(ge=0, le=1)
    idle_share: float = Field(gt=0, le=1)
    idle_s: float = Field(ge=0, le=3600)
    think_s: float = Field(ge=0, le=600)
    stance_s: float = Field(gt=0, le=604_800)
    stance_weight: float = Field(gt=0, le=1)
    spot_m: float = Field(gt=0, le=5)
    diary_kept: int = Field(ge=1, le=10_000)
    sensed_shown: int = Field(ge=1, le=50)
    turns: tuple[float, float]
    roles: Roles


@functools.lru_cache(maxsize=2)
def load_parts_tuning(file: Path = FILE) -> PartsTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning: PartsTuning = parse(PartsTuning, read_yaml(file), str(file))
    return tuning
