"""The numbers of the hippocampus."""

from __future__ import annotations

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml


class SituationWeights(Tuning):
    """What makes two situations alike: the weight of each feature in their weighted Jaccard similarity (0..1).

    A weight up: situations that differ in it count as less alike, and remind of each other less.
    `want` is the kind of objective, `goal` its place, `thing` its object, `lies` where that is known to be, `surface`
    what kind of top that is, `reach` whether the arm reaches it; `place`, `room`, `docked` where the robot is, `held`
    what it holds; `battery` a band, `label` the condition, `reflex` what holds the body, `failed` which skills have
    failed for this objective so far.
    """

    want: float = Field(ge=0, le=10)
    goal: float = Field(ge=0, le=10)
    thing: float = Field(ge=0, le=10)
    lies: float = Field(ge=0, le=10)
    surface: float = Field(ge=0, le=10)
    reach: float = Field(ge=0, le=10)
    place: float = Field(ge=0, le=10)
    room: float = Field(ge=0, le=10)
    docked: float = Field(ge=0, le=10)
    held: float = Field(ge=0, le=10)
    battery: float = Field(ge=0, le=10)
    label: float = Field(ge=0, le=10)
    reflex: float = Field(ge=0, le=10)
    failed: float = Field(ge=0, le=10)


class EpisodicTuning(Tuning):
    """How easily it is reminded, and for how long it learns from what was (`config/hippocampus.yaml`).

    `alike` up: only nearer situations come to mind, and fewer mistakes are foreseen. `sharpness` up: the nearest
    weigh more against the many. `strength_most` up: what happened often weighs more against what happened once.
    `forget_s` up: the past counts longer. `contradicted` up: a failure is forgiven more slowly when the same call
    works in the same situation, and the other way round. `least_vote` up: what is faint doesn't come to mind.
    `fatigue` up: a memory that comes again and again fades sooner; `rested_s` up: it stays faded longer.
    `episodes_kept` up: more is found again, and the search takes longer. `low_battery`, `half_battery`: the bounds
    of the bands.
    """

    weights: SituationWeights
    alike: float = Field(gt=0, le=1)
    sharpness: float = Field(ge=1, le=20)
    strength_most: float = Field(ge=1, le=100)
    forget_s: float = Field(gt=0)
    contradicted: float = Field(ge=0, le=1)
    least_vote: float = Field(ge=0, le=1)
    fatigue: float = Field(ge=0, le=1)
    rested_s: float = Field(gt=0)
    episodes_kept: int = Field(ge=10, le=100_000)
    low_battery: float = Field(gt=0, lt=1)
    half_battery: float = Field(gt=0, lt=1)


def load_episodic() -> EpisodicTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "hippocampus.yaml"
    tuning: EpisodicTuning = parse(EpisodicTuning, read_yaml(file), str(file))
    return tuning
