"""Lessons that a mechanism can obey: a closed set of effects, and the words by which people ask for them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from anima.config import CONFIG, Tuning, parse, read_yaml
from anima.planner.names import KnownNames

EFFECTS_FILE = CONFIG / "learning_words.yaml"
REPORT_LENGTH, SPEED_NEAR_PEOPLE, SEARCH_ORDER, ADDRESS = (
    "report_length", "speed_near_people", "search_order", "address",
)
SITUATIONS = {REPORT_LENGTH: "report", SPEED_NEAR_PEOPLE: "drive", SEARCH_ORDER: "search", ADDRESS: ""}


class _Words(Tuning):
    """Ways to ask for a value (`ask`, regular expressions) and to complain of its contrary (`complain`)."""

    ask: list[str] = Field(default_factory=list)
    complain: list[str] = Field(default_factory=list)


class EffectWords(Tuning):
    """`config/learning_words.yaml`: by effect and value. `once` marks what is meant for this time only, `always` the
    contrary; `search` and `address` hold one group, the name."""

    effects: dict[str, dict[str, _Words]]
    search: list[str]
    address: list[str]
    once: list[str]
    always: list[str]
    thanks: list[str]


@functools.lru_cache(maxsize=2)
def load_effect_words(file: Path = EFFECTS_FILE) -> EffectWords:
    """The words; raises `ConfigError` that names the fault."""
    words: EffectWords = parse(EffectWords, read_yaml(file), str(file))
    return words


@dataclass(frozen=True)
class Asked:
    """An effect that somebody's words ask for. `explicit`: as an instruction for the future, else only as a sign.

    `whole`: hardly anything else was said, so that nothing is left to understand. `once`: it is meant for
    this time only.
    """

    name: str
    value: str
    explicit: bool
    whole: bool
    once: bool = False

    @property
    def strength(self) -> Literal["shown", "said", "told"]:
        """What it is worth as evidence for other times."""
        return "shown" if self.once else "told" if self.explicit else "said"

    @property
    def effect(self) -> str:
        """As lessons bear it, ``report_length=short``."""
        return f"{self.name}={self.value}"

    @property
    def situation(self) -> str:
        """The only situation that it holds for."""
        return SITUATIONS[self.name]


def split(effect: str) -> tuple[str, str]:
    """``report_length=short`` -> name and value."""
    name, _, value = effect.partition("=")
    return name, value


def asked(text: str, names: KnownNames, words: EffectWords | None = None) -> Asked | None:
    """The effect that the person's own words ask for, or None."""
    w = words or load_effect_words()
    said = _plain(text)
    once = any(re.search(rf"\b(?:{pattern})\b", said) for pattern in w.once)
    for name, values in w.effects.items():
        for value, ways in values.items():
            for patterns, is_asked in ((ways.ask, True), (ways.complain, False)):
                if found := _found(said, patterns):
                    always = any(re.search(rf"\b(?:{pattern})\b", said) for pattern in w.always)
                    return Asked(name, value, (is_asked or always) and not once, _is_whole(said, found, names), once)
    for pattern in w.search:
        for match in re.finditer(pattern, said):
            places = _surfaces(match[1], names)
            if places:
                return Asked(SEARCH_ORDER, ",".join(places), not once, _is_whole(said, [match], names), once)
    for pattern in w.address:
        called = re.search(pattern, said)
        if called is not None and called[1] not in _NO_NAMES:
            return Asked(ADDRESS, called[1].strip().title(), True, True)
    return None


def is_thanks(text: str, words: EffectWords | None = None) -> bool:
    """Whether the person thanks, and says hardly anything else: praise in a longer sentence may be mockery."""
    said = _plain(text)
    found = _found(said, (words or load_effect_words()).thanks)
    return bool(found) and len(_left(said, found)) <= 2


def acknowledged(one: Asked) -> str:
    """What the robot answers to the wish."""
    match one.name, one.value:
        case "report_length", "short":
            return "OK, I'll keep it short."
        case "report_length", _:
            return "OK, I'll tell you more."
        case "speed_near_people", "slow":
            return "OK, I'll drive slower near people."
        case "speed_near_people", _:
            return "OK, I'll drive at my normal speed."
        case "search_order", places:
            return f"OK, I'll look at the {', then the '.join(places.replace('_', ' ').split(','))} first."
    return f"OK, {one.value}."


def rule(effect: str) -> str:
    """The effect as a lesson in words."""
    name, value = split(effect)
    match name, value:
        case "report_length", "short":
            return "Keep reports short: say that it is done, nothing more."
        case "report_length", _:
            return "Report in full: what was done, how long it took, what went wrong."
        case "speed_near_people", "slow":
            return "Drive slowly near people."
        case "speed_near_people", _:
            return "Drive at normal speed near people."
        case "search_order", places:
            return f"When searching, look first at: {', '.join(places.replace('_', ' ').split(','))}."
        case "address", who:
            return f"Call the person {who}."
    raise ValueError(f"{effect!r} is none of the effects: {', '.join(SITUATIONS)}")


def newest(effects: Sequence[str]) -> Mapping[str, str]:
    """Name -> value; later ones replace earlier ones."""
    return dict(map(split, effects))


_NO_NAMES = frozenset({"back", "later", "when", "if", "a", "the", "that", "this", "when you're done", "again", "at"})
_SMALL = frozenset(
    {
        "please", "ok", "okay", "hey", "anima", "robot", "i", "you", "it", "that", "that's", "this", "is", "was",
        "a", "an", "the", "to", "of", "and", "but", "so", "me", "my", "just", "really", "way", "much", "bit", "oh",
        "no", "well", "um", "uh", "be", "do", "don't", "need", "want", "all", "in", "on", "for", "your", "with", "from",
        "now", "next", "time", "future", "always", "when", "done", "only", "tell", "say", "again", "such", "not", "too",
        "are", "you're", "i'd", "like", "prefer", "could", "can", "would", "will", "if", "here", "there", "what", "how",
        "thanks", "thank",
    }
)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^a-z0-9' ,]+", " ", text.lower().replace("’", "'")).split())


def _found(said: str, patterns: Sequence[str]) -> list[re.Match[str]]:
    return [match for pattern in patterns if (match := re.search(rf"\b(?:{pattern})\b", said))]


def _is_whole(said: str, found: Sequence[re.Match[str]], names: KnownNames) -> bool:
    """Whether the words left over name no thing or place and are few."""
    words = _left(said, found)
    nouns = {part for name in (*names.objects, *names.places) for part in name.split("_")}
    return len(words) <= 6 and not nouns & set(words)


def _left(said: str, found: Sequence[re.Match[str]]) -> list[str]:
    """The words beside what was found that carry meaning."""
    left = list(said)
    for match in found:
        left[match.start() : match.end()] = " " * (match.end() - match.start())
    return [word for word in re.split(r"[ ,]+", "".join(left)) if word and word not in _SMALL]


def _surfaces(text: str, names: KnownNames) -> list[str]:
    """The surfaces spoken of, in the order of the words."""
    found: list[tuple[int, str]] = []
    squeezed = re.sub(r"[ ,]+", " ", text)
    for surface in sorted(names.surfaces, key=len, reverse=True):
        spoken = surface.replace("_", " ")
        at = squeezed.find(spoken)
        if at < 0 and len(spoken.split()) > 1:
            continue
        if at >= 0:
            found.append((at, surface))
            squeezed = squeezed[:at] + " " * len(spoken) + squeezed[at + len(spoken) :]
    return [surface for _, surface in sorted(found)]
