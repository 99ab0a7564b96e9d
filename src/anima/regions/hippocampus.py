"""Hippocampus: keeps what was lived, and is reminded of it by the situation itself, before the next act."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.memory.kinds import LIVED, RECALLED
from anima.memory.opening import remembered_episodes
from anima.planner.lexicon import known_names
from anima.regions.episodic.config import load_episodic
from anima.regions.episodic.situation import Features, features_of, text_of
from anima.regions.episodic.traces import Match, Trace, Traces
from anima.runtime.component import Inbox
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Episode, Recall
from anima.types.mind import Backlog, Lease, Objective, Outcome, WorldState

EPISODES_TOLD = 3
CALLS_TOLD = 3
DETAIL_LENGTH = 120
_ERRANDS_KEPT, _SINCE_KEPT = 30, 20
# Speaking and stopping work everywhere; that waiting worked says nothing, but it may mend.
_UNREMARKABLE = frozenset({"say", "stop"})
_ONLY_MENDS = frozenset({"wait", "relocalize"})
# Somebody else's doing, which says nothing of the call.
_NOT_ITS_FAULT = frozenset({Failure.INTERRUPTED, Failure.RESOURCE_DENIED})
_OVERSTAYED = "timeout"  # the reason of a lease that was taken back at its deadline
_FINAL = frozenset({"done", "failed", "cancelled", "declined"})


class Act(BaseModel):
    """A call under way, and the situation that it began in."""

    call: str
    skill: str
    objective: str
    situation: str
    overstayed: bool = False


class Errand(BaseModel):
    """What became of the calls for one objective: which failed (call -> episode), what worked since (call -> calls),
    and the skills that ever failed."""

    failed: dict[str, str] = {}
    since: dict[str, list[str]] = {}
    skills: list[str] = []


class State(BaseModel):
    """Everything but the traces."""

    world: WorldState | None = None
    backlog: Backlog | None = None
    label: str = ""
    reflexes: list[str] = []
    running: dict[str, Act] = {}
    errands: dict[str, Errand] = {}
    asked: tuple[str, str] = ("", "")  # focus and situation that it was last reminded by
    told: tuple[str, list[str], list[str], list[str]] = ("", [], [], [])  # objective, episodes, avoid, prefer


class Hippocampus:
    """Episodes: situation -> call -> how it ended -> what mended it. `step` is pure in (state, now, inbox).

    It is reminded by itself when the focus or the situation changes while nothing is under way, and says what comes to
    mind once. An empty recall says that nothing (any more) does; one with episodes is never told below the likeness
    of the tuning.
    """

    def __init__(self, settings: Settings) -> None:
        """Starts from what the store of the settings holds. Raises `ConfigError` for numbers or a store that can't
        be used."""
        self._tuning = load_episodic()
        self._places = load_places(settings.map_folder)
        self._objects = frozenset(known_names(settings).objects)
        self._traces = Traces(self._tuning)
        self._traces.remember(remembered_episodes(settings, self._tuning.episodes_kept))
        self._state = State()

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in what began and what ended, then be reminded."""
        state = self._state
        state.world = inbox.last(t.WORLD_STATE) or state.world
        condition = inbox.last(t.CONDITION)
        state.label = state.label if condition is None else condition.label
        for event in inbox.new(t.REFLEX_EVENT):
            state.reflexes = sorted({*state.reflexes, event.kind} if event.active else {*state.reflexes} - {event.kind})
        state.backlog = inbox.last(t.BACKLOG) or state.backlog
        sent: list[Sent] = []
        # What ended comes before what began on account of it, though both may come in one step.
        early = [outcome for outcome in inbox.new(t.OUTCOME) if outcome.lease in state.running]
        late = [outcome for outcome in inbox.new(t.OUTCOME) if outcome.lease not in state.running]
        for outcome in early:
            sent += self._take_outcome(outcome)
        for lease in inbox.new(t.LEASE):
            self._take_lease(lease)
        for outcome in late:
            sent += self._take_outcome(outcome)
        for backlog in inbox.new(t.BACKLOG):
            sent += self._close_errands(backlog)
        return [*sent, *self._be_reminded(now)] if inbox.arrived() else sent

    # --- what is lived ---------------------------------------------------------------------------

    def _take_lease(self, lease: Lease) -> None:
        state = self._state
        if not lease.granted:
            if lease.id in state.running and lease.reason == _OVERSTAYED:
                state.running[lease.id].overstayed = True
            return
        if state.world is None or lease.call.skill in _UNREMARKABLE:
            return
        objective = self._objective(lease.call.objective)
        act = Act(
            call=render(lease.call.skill, lease.call.arguments),
            skill=lease.call.skill,
            objective=lease.call.objective,
            situation=text_of(self._situation(objective, state.world)),
        )
        # All of these hold the base: one that is granted shows that the one before is over, told or not.
        state.running = {lease.id: act}

    def _take_outcome(self, outcome: Outcome) -> list[Sent]:
        act = self._state.running.pop(outcome.lease, None)
        if act is None:
            return []
        failure = Failure.NONE if outcome.success else _failure_of(outcome.failure)
        if failure is Failure.INTERRUPTED and act.overstayed:
            failure = Failure.TIMEOUT
        if failure in _NOT_ITS_FAULT:
            return []
        sent: list[Sent] = []
        id = ""
        if act.skill not in _ONLY_MENDS:
            lived = self._traces.live(
                Episode(
                    id="", at=outcome.header.stamp, situation=act.situation, objective=act.objective, call=act.call,
                    success=outcome.success, failure=int(failure), detail=outcome.detail[:DETAIL_LENGTH], fix="",
                    count=1, origin=LIVED,
                )
            )
            id = lived.id
            sent.append(t.EPISODES.of(lived))
        if act.objective:
            if outcome.success:
                sent += self._worked(act)
            else:
                self._did_not_work(act, id)
        return sent

    def _did_not_work(self, act: Act, id: str) -> None:
        errand = self._state.errands.setdefault(act.objective, Errand())
        while len(self._state.errands) > _ERRANDS_KEPT:
            self._state.errands.pop(next(iter(self._state.errands)))
        if id:
            errand.failed[act.call] = id
            errand.since[act.call] = []
        errand.skills = sorted({*errand.skills, act.skill})

    def _worked(self, act: Act) -> list[Sent]:
        """A call that works mends the failures before it: those of the same call by what was done in between (or by
        trying again); of others it may turn out to be what mended them."""
        errand = self._state.errands.get(act.objective)
        if errand is None:
            return []
        mended: list[Sent] = []
        if act.call in errand.failed:
            since = errand.since.pop(act.call)
            mended = self._mend(errand.failed.pop(act.call), since[-1] if since else act.call)
        for calls in errand.since.values():
            calls.append(act.call)
            del calls[:-_SINCE_KEPT]
        return mended

    def _mend(self, id: str, fix: str) -> list[Sent]:
        episode = self._traces.mend(id, fix)
        return [] if episode is None else [t.EPISODES.of(episode)]

    def _close_errands(self, backlog: Backlog) -> list[Sent]:
        """An objective that is done without the call that failed was mended by what was done instead."""
        state = self._state
        sent: list[Sent] = []
        for objective in backlog.objectives:
            if objective.state not in _FINAL or objective.id not in state.errands:
                continue
            errand = state.errands.pop(objective.id)
            if objective.state == "done":
                for call, id in errand.failed.items():
                    if errand.since[call]:
                        sent += self._mend(id, errand.since[call][0])
        return sent

    # --- what comes to mind ----------------------------------------------------------------------

    def _be_reminded(self, now: float) -> list[Sent]:
        state = self._state
        focus = self._objective(state.backlog.focus) if state.backlog is not None else None
        if focus is None:
            state.asked = ("", "")
            return self._tell(now, "", [], [], [])
        if state.world is None or any(act.objective == focus.id for act in state.running.values()):
            return []
        situation = self._situation(focus, state.world)
        asked = (focus.id, text_of(situation))
        if asked == state.asked:
            return []
        state.asked = asked
        matches = self._traces.reminded(situation, focus.id, now)
        applies = [match for match in matches if self._applies(match.trace.episode, situation)]
        avoid, prefer = weigh(applies)
        named = {*avoid, *prefer}
        shown = [m for m in applies if m.trace.episode.call in named or m.trace.episode.fix in named][:EPISODES_TOLD]
        for match in shown:
            self._traces.tire(match, now)
        return self._tell(now, focus.id, shown, avoid, prefer)

    def _applies(self, episode: Episode, situation: Features) -> bool:
        """Whether the episode's call, and its fix, are about things of this situation: what failed with another
        object says nothing certain of this one."""
        named = {word for call in (episode.call, episode.fix) for word in _words(call)} & self._objects
        return all(f"thing={thing}" in situation or f"held={thing}" in situation for thing in named)

    def _tell(
        self, now: float, objective: str, shown: Sequence[Match], avoid: list[str], prefer: list[str]
    ) -> list[Sent]:
        state = self._state
        told = (objective, [match.trace.episode.id for match in shown], avoid, prefer)
        if told == state.told:
            return []
        state.told = told
        episodes = [match.trace.episode.model_copy(update={"origin": RECALLED}) for match in shown]
        return [
            t.RECALL.of(
                Recall(
                    header=Header.at(now), objective=objective, episodes=episodes,
                    similarity=np.array([match.alike for match in shown], dtype=np.float64), avoid=avoid,
                    prefer=prefer,
                )
            )
        ]

    def _situation(self, objective: Objective | None, world: WorldState) -> Features:
        state = self._state
        errand = state.errands.get(objective.id) if objective is not None else None
        failed = errand.skills if errand is not None else ()
        return features_of(objective, world, state.label, state.reflexes, failed, self._places, self._tuning)

    def _objective(self, id: str) -> Objective | None:
        backlog = self._state.backlog
        if not id or backlog is None:
            return None
        return next((objective for objective in backlog.objectives if objective.id == id), None)

    # --- the rest --------------------------------------------------------------------------------

    def why(self) -> str:
        """One sentence: what came to mind and what it speaks for."""
        objective, episodes, avoid, prefer = self._state.told
        if not episodes:
            return f"Nothing like this comes to mind, of {len(self._traces)} episodes."
        against = f", against {', '.join(avoid)}" if avoid else ""
        favour = f", for {', '.join(prefer)}" if prefer else ""
        return f"{len(episodes)} of {len(self._traces)} episodes come to mind for {objective}{against}{favour}."

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {"state": self._state.model_dump(mode="json"), "traces": self._traces.dump()}

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Hippocampus:
        """One that goes on from a dumped state, whatever the store holds."""
        region = cls(settings.model_copy(update={"memory_url": "none"}))
        region._state = State.model_validate(data["state"])
        for trace in data["traces"]:
            region._traces.add(Trace.model_validate(trace))
        return region


def weigh(matches: Sequence[Match]) -> tuple[list[str], list[str]]:
    """What the episodes speak against, and for: calls, the strongest first, at most three of each, none in both.

    A failure speaks against its call, unless trying again mended it, and for what mended it; a success for its call.
    """
    against: defaultdict[str, float] = defaultdict(float)
    favour: defaultdict[str, float] = defaultdict(float)
    for match in matches:
        episode = match.trace.episode
        if episode.success:
            favour[episode.call] += match.vote
            continue
        if episode.fix != episode.call:
            against[episode.call] += match.vote
        if episode.fix:
            favour[episode.fix] += match.vote
    avoid = [call for call, vote in against.items() if vote > favour[call]]
    prefer = [call for call, vote in favour.items() if vote > 0 and call not in avoid]
    avoid.sort(key=lambda call: (-against[call], call))
    prefer.sort(key=lambda call: (-favour[call], call))
    return avoid[:CALLS_TOLD], prefer[:CALLS_TOLD]


def _words(call: str) -> list[str]:
    """The arguments of a call as `render` writes it."""
    return [word.strip() for word in call.partition("(")[2].rstrip(")").split(",")]


def _failure_of(code: int) -> Failure:
    failure = Failure(code) if code in set(Failure) else Failure.UNKNOWN
    return Failure.UNKNOWN if failure is Failure.NONE else failure
