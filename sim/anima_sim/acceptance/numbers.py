"""The four numbers of the reflex acceptance: time to stop, share held, time to resume, false stops.

All of it is arithmetic on samples; nothing here knows the reflex kernel or a simulator. The measures are those of
Nav2's test of its collision monitor on a recorded drive.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

Kind = Literal["obstacle", "bumper", "cliff", "software_stop"]
KINDS: tuple[Kind, ...] = ("obstacle", "bumper", "cliff", "software_stop")

# What counts as standing, and as driving again. Encoders and physics are never quite at zero.
STANDS_MPS, STANDS_RADPS = 0.01, 0.03
DRIVES_MPS = 0.05
# At its margin before an obstacle a body that is pushed on may creep by what the lidar's noise leaves free: at this
# speed it stops within a millimetre.
CREEPS_MPS = 0.03
# A wish below these is none: a stream that asks for zero.
WISH_MPS, WISH_RADPS = 0.02, 0.05

Velocity = tuple[float, float]
"""m/s ahead, rad/s to the left."""


@dataclass(frozen=True)
class Sample:
    """One tick of a drive: what was asked of the base, what was let through to it, and how it truly moved."""

    at_s: float
    wished: Velocity
    allowed: Velocity
    moved: Velocity


@dataclass(frozen=True)
class Hazard:
    """Something because of which the body must stand: from when, and until when (inf: to the end of the recording)."""

    kind: Kind
    began_s: float
    ended_s: float = math.inf
    touches: int = 0
    """Contacts with what is to be kept away from, while it lasted; a bumper's own is none of them."""


@dataclass(frozen=True)
class Limits:
    """What is accepted of a kind of hazard."""

    to_stop_s: float
    to_resume_s: float
    held: float = 0.99


@dataclass(frozen=True)
class Answer:
    """How the body answered one hazard. Times are inf when it never did."""

    hazard: Hazard
    to_zero_s: float
    """From the hazard to the first zero command: the reflex alone."""
    to_stop_s: float
    """From the hazard to standing wheels."""
    held: float
    """Share of the time from then to the hazard's end in which it stood, or, before an obstacle, crept."""
    to_resume_s: float
    """From the hazard's end to driving again; NaN when nobody wished to, or the next hazard was there before."""

    def faults(self, limits: Limits) -> list[str]:
        """What breaks the limits, in words; empty: nothing."""
        checks = (
            (self.to_stop_s <= limits.to_stop_s, f"{self.to_stop_s:.2f} s to stop, at most {limits.to_stop_s:.2f}"),
            (self.held >= limits.held, f"held for {self.held:.1%}, at least {limits.held:.0%}"),
            (not self.to_resume_s > limits.to_resume_s,
             f"{self.to_resume_s:.2f} s to resume, at most {limits.to_resume_s:.2f}"),
            (not self.hazard.touches, f"touched it {self.hazard.touches} time(s)"),
        )
        return [words for kept, words in checks if not kept]


@dataclass(frozen=True)
class Acceptance:
    """The answers to all hazards of a recording, and the stops that nothing was the reason of (when each began)."""

    answers: Sequence[Answer] = ()
    false_stops_s: Sequence[float] = ()
    driven_m: float = 0.0
    """Way driven outside of hazards."""

    def of(self, kind: Kind) -> list[Answer]:
        """The answers to one kind of hazard."""
        return [answer for answer in self.answers if answer.hazard.kind == kind]


@dataclass
class Summary:
    """The four numbers over many recordings: worst cases, because one robot is in one world."""

    recordings: list[Acceptance] = field(default_factory=list)

    @property
    def false_stops(self) -> int:
        """Stops without a reason."""
        return sum(len(one.false_stops_s) for one in self.recordings)

    @property
    def driven_m(self) -> float:
        """Way driven without a hazard."""
        return sum(one.driven_m for one in self.recordings)

    def figures(self, kind: Kind) -> dict[str, float]:
        """Of one kind of hazard: how often, and the worst of each number; empty when there was none."""
        answers = [answer for one in self.recordings for answer in one.of(kind)]
        if not answers:
            return {}
        resumed = [answer.to_resume_s for answer in answers if not math.isnan(answer.to_resume_s)]
        return {
            "hazards": len(answers),
            "worst_to_zero_s": max(answer.to_zero_s for answer in answers),
            "median_to_stop_s": median(answer.to_stop_s for answer in answers),
            "worst_to_stop_s": max(answer.to_stop_s for answer in answers),
            "least_held": min(answer.held for answer in answers),
            "worst_to_resume_s": max(resumed, default=math.nan),
            "touches": sum(answer.hazard.touches for answer in answers),
        }


def judge(samples: Sequence[Sample], hazards: Iterable[Hazard], settle_s: float = 2.0) -> Acceptance:
    """The four numbers of one recording.

    A stop is false when motion is wished for, nothing is let through at all, and no hazard is there nor was within
    the last `settle_s`, in which a body may still get going again.
    """
    known = sorted(hazards, key=lambda hazard: hazard.began_s)
    nexts = [hazard.began_s for hazard in known[1:]] + [math.inf]
    answers = [_answer(samples, hazard, next_s) for hazard, next_s in zip(known, nexts, strict=False)]
    false_stops: list[float] = []
    driven = 0.0
    stopped = False
    for before, sample in itertools.pairwise(samples):
        free = not any(h.began_s <= sample.at_s <= h.ended_s + settle_s for h in known)
        standing = free and _wishes(before) and _wishes(sample) and sample.allowed == (0.0, 0.0)
        if standing and not stopped:
            false_stops.append(sample.at_s)
        stopped = standing
        if free:
            driven += abs(sample.moved[0]) * (sample.at_s - before.at_s)
    return Acceptance(answers, false_stops, driven)


def _wishes(sample: Sample) -> bool:
    return abs(sample.wished[0]) > WISH_MPS or abs(sample.wished[1]) > WISH_RADPS


def _stands(sample: Sample, within_mps: float = STANDS_MPS) -> bool:
    return abs(sample.moved[0]) < within_mps and abs(sample.moved[1]) < STANDS_RADPS


def _answer(samples: Sequence[Sample], hazard: Hazard, next_s: float) -> Answer:
    during = [sample for sample in samples if hazard.began_s <= sample.at_s < hazard.ended_s]
    zero = next((s.at_s for s in during if s.allowed == (0.0, 0.0)), math.inf)
    stood = next((s.at_s for s in during if _stands(s)), math.inf)
    within_mps = CREEPS_MPS if hazard.kind == "obstacle" else STANDS_MPS
    since = [_stands(sample, within_mps) for sample in during if sample.at_s >= stood]
    after = [sample for sample in samples if hazard.ended_s <= sample.at_s < next_s]
    wished = any(map(_wishes, after))
    again = next((s.at_s for s in after if math.hypot(*_pace(s)) >= DRIVES_MPS), math.inf)
    overtaken = math.isinf(again) and next_s < math.inf
    return Answer(
        hazard,
        to_zero_s=zero - hazard.began_s,
        to_stop_s=stood - hazard.began_s,
        held=sum(since) / len(since) if since else 0.0,
        to_resume_s=again - hazard.ended_s if wished and not overtaken else math.nan,
    )


def _pace(sample: Sample) -> Velocity:
    """Turning counts as driving by what a corner of the chassis does, about a quarter of a metre from the middle."""
    return sample.moved[0], 0.25 * sample.moved[1]
