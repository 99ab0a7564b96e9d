"""All numbers of learning, parsed once (`config/learning.yaml`)."""

from __future__ import annotations

import functools

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml
from anima.learning.encounters import EncounterTuning
from anima.learning.evidence import ConfidenceTuning
from anima.learning.signs import SignTuning

LEARNING_FILE = CONFIG / "learning.yaml"


class GuidanceTuning(Tuning):
    """What may stand in the prefix. Up: more of it is shown, and each encounter begins with more to read."""

    rules_shown: int = Field(ge=0, le=20)
    facts_shown: int = Field(ge=0, le=20)
    beliefs_shown: int = Field(ge=0, le=20)
    belief_shown_from: float = Field(ge=0, le=1)


class MannersTuning(Tuning):
    """How lessons of a closed effect act on the body, always below the limits of the reflex kernel.

    Up: `slow_mps` and `slow_radps` make "slowly" faster; `near_m` begins to be slow further away from people.
    """

    slow_mps: float = Field(gt=0, le=2)
    slow_radps: float = Field(gt=0, le=5)
    near_m: float = Field(gt=0, le=20)


class IntentionTuning(Tuning):
    """When intentions come up. `raise_every_s` up: several at once come further apart. What is for the next encounter
    waits at least `next_encounter_after_s` from when it was made."""

    raise_every_s: float = Field(ge=0, le=3600)
    next_encounter_after_s: float = Field(ge=0, le=604800)


class LearningTuning(Tuning):
    """`config/learning.yaml`."""

    confidence: ConfidenceTuning
    encounter: EncounterTuning
    reactions: SignTuning
    guidance: GuidanceTuning
    manners: MannersTuning
    intentions: IntentionTuning


@functools.lru_cache(maxsize=1)
def load_learning_tuning() -> LearningTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    tuning: LearningTuning = parse(LearningTuning, read_yaml(LEARNING_FILE), str(LEARNING_FILE))
    return tuning
