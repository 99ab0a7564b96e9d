"""Default-mode network: the slow drift of initiative, persistence and caution by what the robot lives through."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, Field

from anima import topics as t
from anima.config import CONFIG, Settings, Tuning, parse, read_yaml
from anima.failure import Failure
from anima.memory.kinds import Dispositions
from anima.memory.opening import remembered_temperament
from anima.regions.personality import HIGHEST, LOWEST, Personality, load_personality
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Temperament
from anima.types.mind import Backlog

NEUTRAL = 0.5
_TOLD_STEP = 0.001
_ENDINGS = {"done": "success", "failed": "failure", "cancelled": "override"}
_NOT_ITS_FAULT = (Failure.INTERRUPTED, Failure.RESOURCE_DENIED)


class Pull(Tuning):
    """Where a disposition is pulled to, away from its setpoint, by nothing but successes, failures or overrides."""

    success: float = Field(ge=-0.8, le=0.8)
    failure: float = Field(ge=-0.8, le=0.8)
    override: float = Field(ge=-0.8, le=0.8)


class TemperamentTuning(Tuning):
    """How what the robot lives through changes it (`config/temperament.yaml`).

    `drift_s` up: dispositions move more slowly (time constant). `evidence_s` up: what happened counts longer.
    `doubt` up: more must happen before it changes anything. `call_weight`, `objective_weight`, `conflict_weight`,
    `override_weight` up: a call's end, an objective's end, a conflict, a person's intervention counts more.
    `initiative`, `persistence`, `caution`: the pulls. `word_margin` up: only stronger dispositions have a word other
    than steady; `hold_word` up: the word changes less readily.
    """

    drift_s: float = Field(ge=60)
    evidence_s: float = Field(ge=60)
    doubt: float = Field(gt=0)
    call_weight: float = Field(ge=0)
    objective_weight: float = Field(ge=0)
    conflict_weight: float = Field(ge=0)
    override_weight: float = Field(ge=0)
    initiative: Pull
    persistence: Pull
    caution: Pull
    word_margin: float = Field(gt=0, le=0.4)
    hold_word: float = Field(ge=0, le=0.2)


def load_temperament_tuning() -> TemperamentTuning:
    """The tuning; raises `ConfigError` that names the file, the key and what is allowed."""
    file = CONFIG / "temperament.yaml"
    tuning: TemperamentTuning = parse(TemperamentTuning, read_yaml(file), str(file))
    return tuning


class State(BaseModel):
    """Where it stands. `success`, `failure`, `override` are what happened, weighted, as of `now`."""

    now: float | None = None
    initiative: float
    persistence: float
    caution: float
    success: float = 0.0
    failure: float = 0.0
    override: float = 0.0
    objectives: dict[str, str] | None = None
    word: str = ""
    told: tuple[float, float, float, str] | None = None


class TemperamentDrift:
    """Dispositions around the setpoints of a personality. `step` is pure in (state, now, inbox).

    With S, F, O the decayed sums of successes, failures and overrides, each disposition x follows
    ``dx/dt = (setpoint + Σ pull_k · k / (S + F + O + doubt) - x) / drift_s`` within [0.1, 0.9]. So nothing that happens
    once changes it much, and what happens no more is forgotten.
    """

    def __init__(self, settings: Settings) -> None:
        """Goes on from where the store of the settings says that this personality had drifted to. Raises
        `ConfigError` for a personality or a store that can't be used."""
        self._tuning = load_temperament_tuning()
        self._personality = load_personality(settings)
        kept = remembered_temperament(settings)
        start: Dispositions | Personality = self._personality if kept is None else kept
        self._state = State(
            initiative=_bounded(start.initiative), persistence=_bounded(start.persistence),
            caution=_bounded(start.caution),
        )
        self._state.word = self._word()

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Let time pass, then count what happened."""
        self._let_pass(now)
        state, tuning = self._state, self._tuning
        for outcome in inbox.new(t.OUTCOME):
            if outcome.success:
                state.success += tuning.call_weight
            elif outcome.failure not in _NOT_ITS_FAULT:
                state.failure += tuning.call_weight
        state.failure += tuning.conflict_weight * len(inbox.new(t.CONFLICT))
        for backlog in inbox.new(t.BACKLOG):
            self._take_backlog(backlog)
        for verdict in inbox.new(t.OPERATOR_VERDICT):
            if verdict.accepted:  # a person took over; a refused call changed nothing
                state.override += tuning.override_weight
        state.word = self._word()
        values = (state.initiative, state.persistence, state.caution)
        if state.told is not None and state.told[3] == state.word:
            moved = max(abs(value - told) for value, told in zip(values, state.told[:3], strict=True))
            if moved < _TOLD_STEP:
                return []
        state.told = (*values, state.word)
        initiative, persistence, caution = values
        return [
            t.TEMPERAMENT.of(
                Temperament(
                    header=Header.at(now), initiative=initiative, persistence=persistence, caution=caution,
                    word=state.word,
                )
            )
        ]

    def _let_pass(self, now: float) -> None:
        state, tuning = self._state, self._tuning
        # A clock that was set back, or the first step: no time has passed that it knows of.
        passed_s = 0.0 if state.now is None else max(0.0, now - state.now)
        state.now = now
        if passed_s == 0.0:
            return
        # The pulls act while the evidence is there, so they are taken before it fades.
        all_of_it = state.success + state.failure + state.override + tuning.doubt
        near = 1.0 - math.exp(-passed_s / tuning.drift_s)
        for name in ("initiative", "persistence", "caution"):
            pull: Pull = getattr(tuning, name)
            pulled = pull.success * state.success + pull.failure * state.failure + pull.override * state.override
            target = _bounded(getattr(self._personality, name) + pulled / all_of_it)
            value: float = getattr(state, name)
            setattr(state, name, _bounded(value + (target - value) * near))
        fade = math.exp(-passed_s / tuning.evidence_s)
        state.success *= fade
        state.failure *= fade
        state.override *= fade

    def _take_backlog(self, backlog: Backlog) -> None:
        """Count the objectives that have ended. What the first backlog shows was counted in an earlier life; what is
        cancelled at one stroke is one override."""
        state, tuning = self._state, self._tuning
        before = state.objectives
        state.objectives = {objective.id: objective.state for objective in backlog.objectives}
        if before is None:
            return
        ended = [_ENDINGS.get(o.state, "") for o in backlog.objectives if before.get(o.id) != o.state]
        state.success += tuning.objective_weight * ended.count("success")
        state.failure += tuning.objective_weight * ended.count("failure")
        if "override" in ended:
            state.override += tuning.override_weight

    def _word(self) -> str:
        """One word for where it stands; the last one holds on a little."""
        state = self._state

        def off(value: float, word: str) -> float:
            held = self._tuning.hold_word if word == state.word else 0.0
            return value - self._tuning.word_margin + held

        initiative, persistence, caution = (
            value - NEUTRAL for value in (state.initiative, state.persistence, state.caution)
        )
        words = {
            "driven": min(initiative, max(0.0, persistence) + max(0.0, -caution)),
            "skittish": min(caution, -persistence),
            "stubborn": persistence,
            "bold": -caution,
            "wary": caution,
            "quiet": -initiative,
        }
        # The words of two dispositions at once go before those of one.
        for word in ("driven", "skittish"):
            if off(words[word], word) >= 0:
                return word
        word, value = max(words.items(), key=lambda item: off(item[1], item[0]))
        return word if off(value, word) >= 0 else "steady"

    def why(self) -> str:
        """One sentence: the word, and what pulls."""
        state = self._state
        return (
            f"It is {state.word}: initiative {state.initiative:.2f}, persistence {state.persistence:.2f}, "
            f"caution {state.caution:.2f}, after lately {state.success:.1f} of success, {state.failure:.1f} of failure "
            f"and {state.override:.1f} of people stepping in."
        )

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return self._state.model_dump(mode="json")

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> TemperamentDrift:
        """One that goes on from a dumped state, whatever the store holds."""
        region = cls(settings.model_copy(update={"memory_url": "none"}))
        region._state = State.model_validate(data)
        return region


def _bounded(value: float) -> float:
    return min(HIGHEST, max(LOWEST, value))
