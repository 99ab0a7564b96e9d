"""The closed words of the inner life: feelings, certainties, times, leanings, origins. They can't carry a lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Emotion = Literal[
    "Calm", "Contentment", "Joy", "Warmth", "Curiosity", "Anticipation", "Determination", "Pride", "Tact", "Caution",
    "Concern", "Fear", "Terror", "Frustration", "Anger", "Sadness", "Mischief", "Unnamed",
]
Intensity = Literal["Low", "Medium", "High"]
Confidence = Literal["tentative", "likely", "certain"]
Lean = Literal["none", "hold_back", "speak", "avoid", "prefer"]
Origin = Literal["lived", "person", "outside", "recalled"]
"""Where an event comes from: sensed or done by the robot itself; said to it by a person; written or said by anything
else (a sign, a tool, a stored fact); or remembered."""
Record = Literal["untested", "mostly right", "mixed", "mostly wrong"]

EMOTIONS: tuple[Emotion, ...] = get_args(Emotion)
INTENSITIES: tuple[Intensity, ...] = get_args(Intensity)
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)
LEANS: tuple[Lean, ...] = get_args(Lean)
ORIGINS: tuple[Origin, ...] = get_args(Origin)

NOISY: frozenset[Record] = frozenset({"mixed", "mostly wrong"})
"""Of a part with such a record its results have to be looked at together."""

MAY_CHANGE_PARTS: frozenset[Origin] = frozenset({"lived", "person"})
"""Nothing that was only read somewhere makes, changes or ends a part: it can be quoted in a bid, and that is all.
Nor does what a person only quotes (`Happening.may_change_parts`)."""

WITHIN: dict[str, float] = {
    "1 minute": 60.0, "10 minutes": 600.0, "1 hour": 3600.0, "today": 43_200.0, "this week": 604_800.0,
}
"""When a prediction is due, as it is said and in seconds."""

HERE = "here"
NO_FOCUS = "none"
CAME_TRUE, DID_NOT, OPEN = "It came true", "It did not come true", "Nobody can tell"
"""How a result begins, so that a part's record can be read off its words."""


@dataclass(frozen=True)
class Leaning:
    """What a bid leans to: the kind, and about what (a name of the map, `HERE`, or the number of a phrase)."""

    kind: Lean
    target: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()

    @classmethod
    def parse(cls, text: str) -> Leaning:
        """The leaning written as `text`; raises ValueError."""
        kind, _, target = text.partition(" ")
        for known in LEANS:
            if known == kind:
                return cls(known, target)
        raise ValueError(f"{text!r}: no such leaning; there are {', '.join(LEANS)}")


def emotion_of(word: str) -> Emotion:
    """The closed word for a part's own word of how it feels."""
    wanted = word.strip().lower()
    return next((emotion for emotion in EMOTIONS if emotion.lower() == wanted), "Unnamed")


def intensity_of(word: str) -> Intensity:
    """The closed word for how strongly."""
    wanted = word.strip().lower()
    return next((intensity for intensity in INTENSITIES if intensity.lower() == wanted), "Medium")


def confidence_of(text: str) -> Confidence:
    """The closed word for a confidence that may be a word or a share (``90%``)."""
    wanted = text.strip().lower()
    for confidence in CONFIDENCES:
        if confidence == wanted:
            return confidence
    number = wanted.rstrip("%")
    if number.isdigit():
        return "certain" if int(number) >= 85 else "likely" if int(number) >= 50 else "tentative"
    return "likely"


def record_of(results: list[str]) -> Record:
    """What a part's results say of it, in words."""
    right = sum(result.startswith(CAME_TRUE) for result in results)
    wrong = sum(result.startswith(DID_NOT) for result in results)
    if right + wrong == 0:
        return "untested"
    if right >= 2 * wrong:
        return "mostly right"
    return "mostly wrong" if wrong >= 2 * right else "mixed"
