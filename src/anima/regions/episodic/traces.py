"""The traces of what was lived: one per episode, found by likeness, stronger by repetition, fading with time."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from anima.regions.episodic.config import EpisodicTuning
from anima.regions.episodic.situation import Features, Weighing, likeness, read
from anima.types.glue import Episode

_NEARER = 0.05  # so much more alike, and a memory that had faded by repetition comes as fresh
_RESTED = 0.05


class Trace(BaseModel):
    """An episode and how it stands in memory. `strength` is as of the episode's `at`, `fatigue` as of `recalled_at`,
    `recalled_alike` the nearest situation that it came to mind in lately; `first_objective` is the objective that it
    was first lived for, empty for one from an earlier run."""

    episode: Episode
    strength: float
    first_objective: str = ""
    fatigue: float = 0.0
    recalled_at: float = 0.0
    recalled_alike: float = 0.0


@dataclass(frozen=True)
class Match:
    """A trace that a situation reminds of: how alike, and how much it counts."""

    trace: Trace
    alike: float
    vote: float


@dataclass
class _Place:
    """A situation that was lived in: its features, their weight, and the episodes of it, by call."""

    features: Features
    weight: int
    calls: dict[str, set[str]] = field(default_factory=dict)


class Traces:
    """All traces by their episodes' ids, with an index from features to the situations that were lived in."""

    def __init__(self, tuning: EpisodicTuning) -> None:
        self._tuning = tuning
        self._weighing = Weighing(tuning.weights)
        self._traces: dict[str, Trace] = {}
        self._situations: dict[str, _Place] = {}
        self._by_feature: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._traces)

    def remember(self, episodes: Iterable[Episode]) -> None:
        """Take in what was lived in earlier runs."""
        for episode in episodes:
            self.add(Trace(episode=episode, strength=min(float(episode.count), self._tuning.strength_most)))

    def add(self, trace: Trace) -> None:
        """Take in a trace as it is."""
        episode = trace.episode
        self._drop(episode.id)
        self._traces[episode.id] = trace
        place = self._situations.get(episode.situation)
        if place is None:
            features = read(episode.situation)
            place = self._situations[episode.situation] = _Place(features, self._weighing.total(features))
            for feature in features:
                self._by_feature.setdefault(feature, set()).add(episode.situation)
        place.calls.setdefault(episode.call, set()).add(episode.id)

    def live(self, episode: Episode) -> Episode:
        """What was just lived: again, when it was lived before, else for the first time. Returns it as it is now."""
        id = id_of(episode)
        before = self._traces.get(id)
        most = self._tuning.strength_most
        now = episode.at.seconds
        if before is None:
            episode = episode.model_copy(update={"id": id, "count": 1})
            self._make_room(now)
            self.add(Trace(episode=episode, strength=1.0, first_objective=episode.objective))
        else:
            update = {"id": id, "count": before.episode.count + 1, "fix": before.episode.fix}
            episode = episode.model_copy(update=update)
            before.strength = min(self._strength(before, now) + 1.0, most)
            before.episode, before.fatigue = episode, 0.0
        for other in self._situations[episode.situation].calls[episode.call] - {id}:
            if self._traces[other].episode.success != episode.success:
                self._traces[other].strength *= self._tuning.contradicted
        return episode

    def mend(self, id: str, fix: str) -> Episode | None:
        """What was lived has been mended by a call. Returns it as it is now; None when that is nothing new."""
        trace = self._traces.get(id)
        if trace is None or trace.episode.fix == fix:
            return None
        trace.episode = trace.episode.model_copy(update={"fix": fix})
        return trace.episode

    def reminded(self, situation: Features, objective: str, now: float) -> list[Match]:
        """The traces that a situation reminds of, what counts most first.

        What was lived for this very objective alone is no memory yet: whoever works on it has it before their eyes.
        """
        tuning = self._tuning
        weights = {feature: self._weighing.of(feature) for feature in situation}
        weight = sum(weights.values())
        matches = []
        for text in self._candidates(weights):
            place = self._situations[text]
            if min(weight, place.weight) < tuning.alike * max(weight, place.weight):
                continue  # not alike enough even if the lighter one were all shared
            shared = sum([weights[feature] for feature in situation & place.features])
            alike = likeness(shared, weight, place.weight)
            if alike < tuning.alike:
                continue
            for trace in (self._traces[id] for ids in place.calls.values() for id in ids):
                if trace.episode.objective == objective == trace.first_objective:
                    continue
                fresh = 1.0 if alike > trace.recalled_alike + _NEARER else 1.0 - self._fatigue(trace, now)
                vote = alike**tuning.sharpness * self._strength(trace, now) * fresh
                if vote >= tuning.least_vote:
                    matches.append(Match(trace, alike, vote))
        return sorted(matches, key=lambda match: (-match.vote, match.trace.episode.id))

    def tire(self, match: Match, now: float) -> None:
        """A trace has come to mind: the next time, unless the situation is nearer to it, it does so less."""
        trace = match.trace
        fatigue = self._fatigue(trace, now)
        nearer = match.alike > trace.recalled_alike + _NEARER
        nearest = max(match.alike, trace.recalled_alike) if fatigue > _RESTED else match.alike
        trace.fatigue = min(1.0, (0.0 if nearer else fatigue) + self._tuning.fatigue)
        trace.recalled_at, trace.recalled_alike = now, nearest

    def dump(self) -> list[dict[str, Any]]:
        """Every trace, as JSON."""
        return [trace.model_dump(mode="json") for trace in self._traces.values()]

    def _candidates(self, weights: Mapping[str, int]) -> set[str]:
        """Situations that can be alike enough.

        What reaches `alike` shares more weight than the rest of the situation leaves: it has one of any features that
        weigh more than 1 - `alike` of it together. So the rarest that do so are looked up, and no others.
        """
        enough = (1.0 - self._tuning.alike) * sum(weights.values())
        rarest = sorted(weights, key=lambda feature: (len(self._by_feature.get(feature, ())), feature))
        found: set[str] = set()
        seen = 0
        for feature in rarest:
            found |= self._by_feature.get(feature, set())
            seen += weights[feature]
            if seen > enough + 1e-6:
                break
        return found

    def _strength(self, trace: Trace, now: float) -> float:
        age_s = max(0.0, now - trace.episode.at.seconds)
        return trace.strength * math.exp(-age_s / self._tuning.forget_s)

    def _fatigue(self, trace: Trace, now: float) -> float:
        return trace.fatigue * math.exp(-max(0.0, now - trace.recalled_at) / self._tuning.rested_s)

    def _make_room(self, now: float) -> None:
        if len(self._traces) >= self._tuning.episodes_kept:
            self._drop(min(self._traces.values(), key=lambda t: (self._strength(t, now), t.episode.id)).episode.id)

    def _drop(self, id: str) -> None:
        trace = self._traces.pop(id, None)
        if trace is None:
            return
        text = trace.episode.situation
        place = self._situations[text]
        place.calls[trace.episode.call].discard(id)
        if not place.calls[trace.episode.call]:
            del place.calls[trace.episode.call]
        if place.calls:
            return
        del self._situations[text]
        for feature in place.features:
            self._by_feature[feature].discard(text)
            if not self._by_feature[feature]:
                del self._by_feature[feature]


def id_of(episode: Episode) -> str:
    """The id of an episode: the same call that ended in the same way in the same situation has the same."""
    text = "\n".join((episode.situation, episode.call, str(episode.success), str(episode.failure)))
    return "ep-" + hashlib.sha256(text.encode()).hexdigest()[:20]
