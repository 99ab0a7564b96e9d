"""How sure a lesson or a belief is: evidence for and against, weighed by what it is and how old it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from anima.config import Tuning

DAY_S = 86400.0


class Evidence(BaseModel):
    """One event that speaks for (`sign` 1) or against (-1): which, when (UTC seconds), and how strong it is.

    `told`: the person said how the robot shall act; `said`: they named what was wrong or right; `shown`: it was read
    off how they reacted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    event: str = Field(min_length=1)
    at_utc_s: float
    sign: Literal[1, -1] = 1
    strength: Literal["shown", "said", "told"] = "shown"


class ConfidenceTuning(Tuning):
    """How evidence becomes confidence (`config/learning.yaml`).

    Up makes the robot … `doubt`: slower to believe a first sign; `belief`: quicker. `told_weight` and `said_weight`:
    trust words more against what it sees. `half_life_days`: keep habits for longer unconfirmed; `told_half_life_days`
    the same for what it was told. `establish` up: lessons need more evidence before they guide; `keep` up: they are
    let go sooner. From `habit` on one odd reaction changes nothing.
    """

    belief: float = Field(gt=0, le=100)
    doubt: float = Field(gt=0, le=100)
    said_weight: float = Field(ge=1, le=1000)
    told_weight: float = Field(ge=1, le=1000)
    half_life_days: float = Field(gt=0, le=36500)
    told_half_life_days: float = Field(gt=0, le=36500)
    establish: float = Field(gt=0, lt=1)
    keep: float = Field(gt=0, lt=1)
    habit: float = Field(gt=0, lt=1)


class Standing(Enum):
    """What a lesson may do. Only established ones and habits reach behaviour."""

    TENTATIVE = "tentative"
    ESTABLISHED = "established"
    HABIT = "habit"
    REFUTED = "refuted"

    @property
    def guides(self) -> bool:
        """Whether it reaches behaviour."""
        return self in (Standing.ESTABLISHED, Standing.HABIT)


def confidence(evidence: Iterable[Evidence], now_utc_s: float, tuning: ConfidenceTuning) -> float:
    """The mean of a Beta distribution over "it holds", 0..1.

    Beta-Bernoulli with exponential forgetting (the beta reputation system of Jøsang and Ismail, 2002): with
    ``w = weight * 2^(-age / half life)`` summed over what speaks for and against it is
    ``(belief + for) / (belief + for + doubt + against)``. What the robot was told also takes back all that
    spoke for the opposite before it. Events count once, at the strongest that they said. Without
    evidence it is the prior ``belief / (belief + doubt)``, and old evidence fades towards that.
    """
    known = _once(evidence)
    last = max((e for e in known if e.strength == "told"), key=lambda e: (e.at_utc_s, e.sign), default=None)
    sums = {1: 0.0, -1: 0.0}
    for one in known:
        if last is not None and one.sign != last.sign and one.at_utc_s < last.at_utc_s:
            continue
        half_life_days = tuning.told_half_life_days if one.strength == "told" else tuning.half_life_days
        age_days = max(0.0, now_utc_s - one.at_utc_s) / DAY_S
        weight = {"shown": 1.0, "said": tuning.said_weight, "told": tuning.told_weight}[one.strength]
        sums[one.sign] += weight * 2.0 ** -(age_days / half_life_days)
    return (tuning.belief + sums[1]) / (tuning.belief + sums[1] + tuning.doubt + sums[-1])


def standing(before: Standing, sure: float, tuning: ConfidenceTuning) -> Standing:
    """What confidence `sure` makes of a lesson: established from `establish` on, let go only below `keep`."""
    if sure >= tuning.habit:
        return Standing.HABIT
    if sure >= tuning.establish or (before.guides and sure >= tuning.keep):
        return Standing.ESTABLISHED
    prior = tuning.belief / (tuning.belief + tuning.doubt)
    return Standing.REFUTED if sure < prior else Standing.TENTATIVE


def strongest(a: Evidence, b: Evidence) -> Evidence:
    """Which of two pieces of one event counts: the stronger, then the later."""
    return max(a, b, key=lambda e: (_ORDER.index(e.strength), e.at_utc_s, e.sign))


_ORDER = ("shown", "said", "told")


def _once(evidence: Iterable[Evidence]) -> list[Evidence]:
    found: dict[str, Evidence] = {}
    for one in evidence:
        known = found.get(one.event)
        found[one.event] = one if known is None else strongest(known, one)
    return list(found.values())
