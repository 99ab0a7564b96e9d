"""What the glue tells the planner, while it is true: it changes what is offered and shown, and how long it thinks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from anima import topics as t
from anima.failure import Failure
from anima.learning.guidance import for_acting
from anima.planner.bias import TRIES, Bias
from anima.planner.budgets import Budgets
from anima.planner.memory import same_form
from anima.planner.packet import Concern
from anima.runtime.component import Inbox
from anima.skills.registry import render
from anima.types.glue import Condition, Conflict, Episode, Event, Forecast, Recall, Resources, Salient
from anima.types.mind import Backlog, Outcome
from anima.types.parts import Stances

DELIBERATION = frozenset({"deliberation", "execution"})  # what stops the body makes up the mind anew, too
HEARD = "utterance"  # has its own turn and its own line
CONFLICT = "conflict"
_OVER = "_over"  # ends the kinds of events that say that something has passed
_NOT_BEGUN = ": not begun, "
EVENTS_KEPT = 50
CONFLICTS_KEPT = 20
CHARGE_WISH = 0.5
EPISODES_SHOWN = 2


@dataclass
class Signals:
    """The newest of each signal.

    Events and conflicts fall out after `concern_life_s`; conflicts also once another call has worked.
    """

    budgets: Budgets
    mode: str = ""
    disposition: str = ""
    lessons: tuple[str, ...] = ()
    _salient: dict[tuple[str, str], Salient] = field(default_factory=dict)
    _conflicts: deque[Conflict] = field(default_factory=lambda: deque(maxlen=CONFLICTS_KEPT))
    _forecasts: dict[str, Forecast] = field(default_factory=dict)
    _condition: Condition | None = None
    _resources: Resources | None = None
    _recall: Recall | None = None
    _denied: dict[str, str] = field(default_factory=dict)
    _recovery: str = ""
    _stances: Stances | None = None

    def take(self, inbox: Inbox, knows: Callable[[Event], bool]) -> tuple[tuple[str, ...], bool]:
        """Take in what came. Returns the news in it, and whether it calls for thinking anew.

        Events that `knows` are told of elsewhere and are left out.
        """
        news, anew = [], False
        for salient in inbox.new(t.SALIENCE):
            event = salient.event
            if knows(event) or event.kind == HEARD:
                continue
            anew = anew or salient.interrupts in DELIBERATION
            self._salient.pop((event.kind.removesuffix(_OVER), event.subject), None)
            if not event.kind.endswith(_OVER):
                self._salient[event.kind, event.subject] = salient
            if salient.urgency >= self.budgets.least_urgency:
                news.append(event.text)
        for outcome in inbox.new(t.OUTCOME):
            self._take_outcome(outcome)
        for conflict in inbox.new(t.CONFLICT):
            self._conflicts.append(conflict)
        for forecast in inbox.new(t.FORECAST):
            self._forecasts.pop(same_form(forecast.call), None)
            self._forecasts[same_form(forecast.call)] = forecast
        while len(self._salient) > EVENTS_KEPT:
            self._salient.pop(next(iter(self._salient)))
        while len(self._forecasts) > EVENTS_KEPT:
            self._forecasts.pop(next(iter(self._forecasts)))
        for condition in inbox.new(t.CONDITION):
            self._condition, self.mode = condition, condition.mode
        for resources in inbox.new(t.RESOURCES):
            self._resources = resources
        for recall in inbox.new(t.RECALL):
            self._recall = recall
        for guidance in inbox.new(t.GUIDANCE):
            self.lessons = for_acting(guidance.text)
        for stances in inbox.new(t.STANCES):
            self._stances = stances
        for temperament in inbox.new(t.TEMPERAMENT):
            self.disposition = temperament.word
        return tuple(news), anew

    def _take_outcome(self, outcome: Outcome) -> None:
        """Another call has worked: the tactic has changed, and what led nowhere before may be offered again."""
        call, objective = same_form(render(outcome.call.skill, outcome.call.arguments)), outcome.call.objective
        if outcome.success and objective:
            kept = [c for c in self._conflicts if c.objective != objective or call in map(same_form, c.avoid)]
            self._conflicts = deque(kept, maxlen=CONFLICTS_KEPT)

    def take_backlog(self, backlog: Backlog, running: str) -> bool:
        """Take in what the gate lets not begin and what it does about a failure; whether it denied `running`."""
        before = self._denied
        denied = [line.split(_NOT_BEGUN, 1) for line in backlog.failures if _NOT_BEGUN in line]
        self._denied = {same_form(call): reason for call, reason in denied}
        self._recovery = backlog.recovery
        rests = {objective.id for objective in backlog.objectives if objective.state == "parked"}
        if any(conflict.objective in rests for conflict in self._conflicts):  # after a rest every tactic is open
            kept = [conflict for conflict in self._conflicts if conflict.objective not in rests]
            self._conflicts = deque(kept, maxlen=CONFLICTS_KEPT)
        return bool(running) and running in self._denied and running not in before

    def think_s(self, limit_s: float) -> float:
        """What a turn may cost: the setting, or less when the body can't afford it."""
        if self._resources is None:
            return limit_s
        return min(limit_s, max(self.budgets.least_think_s, self._resources.think_budget_s))

    def concerns(self, now: float, objective: str, news: tuple[str, ...] = ()) -> tuple[Concern, ...]:
        """What matters now, in any order. What is told as `news` is not told twice."""
        life_s, least = self.budgets.concern_life_s, self.budgets.least_urgency
        found = [
            Concern(salient.event.kind, salient.event.text, salient.urgency)
            for salient in self._salient.values()
            if 0 <= now - salient.header.stamp.seconds <= life_s
            and salient.urgency >= least
            and salient.event.text not in news
            and salient.event.kind != CONFLICT  # told by the conflict itself
        ]
        for conflict in self._conflicts:
            if conflict.objective == objective and 0 <= now - conflict.header.stamp.seconds <= life_s:
                found.append(Concern(conflict.kind, conflict.why, 0.85))
        if self._recovery:
            found.append(Concern("recovery", self._recovery, 0.5))
        condition, resources = self._condition, self._resources
        if condition is not None and condition.label != "STABLE":
            found.append(Concern("condition", f"{condition.label}: {condition.why}", condition.strain))
        if resources is not None and (resources.must_dock or resources.charge_drive >= CHARGE_WISH):
            urgency = 0.9 if resources.must_dock else 0.8 * resources.charge_drive
            found.append(Concern("charge", "must dock" if resources.must_dock else resources.why, urgency))
        return tuple(found)

    def bias(self, now: float, objective: str) -> Bias:
        """What is said for and against calls that serve the objective."""
        barred = {
            same_form(call): f"{conflict.kind}: it leads nowhere"
            for conflict in self._conflicts
            if conflict.objective == objective
            and 0 <= now - conflict.header.stamp.seconds <= self.budgets.concern_life_s
            for call in conflict.avoid
        }
        avoid, prefer = {}, {}
        if (recall := self._recalled(objective)) is not None:
            ended = {same_form(e.call): _word(e) for e in reversed(recall.episodes) if not e.success}
            avoid = {c: f"last time this failed: {ended.get(c, 'failed')}" for c in map(same_form, recall.avoid)}
            prefer = {same_form(call): "worked before" for call in recall.prefer}
        for call, forecast in self._forecasts.items():
            if forecast.advice == "go" or not 0 <= now - forecast.header.stamp.seconds <= self.budgets.concern_life_s:
                continue
            avoid[call] = f"foreseen: succeeds {forecast.success:.0%}"
            if forecast.advice == "rather":
                prefer[same_form(forecast.rather)] = "foreseen to go better"
        avoid |= {call: f"not begun: {reason}" for call, reason in self._denied.items()}
        scale = self._condition.retry_scale if self._condition is not None else 1.0
        return Bias(barred, avoid, prefer, max(1, round(TRIES * scale)))

    def leanings(self, now: float) -> tuple[str, ...]:
        """What the Self holds to now, the newest first, without a word that a part could have been told."""
        held = self._stances.stances if self._stances is not None else []
        return tuple(f"{s.kind} {s.target}".strip() for s in reversed(held) if now < s.until.seconds)

    def ids(self, now: float, objective: str) -> list[str]:
        """Of what a decision for the objective is made from, for the record."""
        life_s = self.budgets.concern_life_s
        events = [s.event.id for s in self._salient.values() if 0 <= now - s.header.stamp.seconds <= life_s]
        conflicts = [conflict.id for conflict in self._conflicts if conflict.objective == objective]
        recall = self._recalled(objective)
        episodes = [episode.id for episode in recall.episodes] if recall is not None else []
        return [*events, *conflicts, *episodes]

    def recall(self, objective: str) -> tuple[str, ...]:
        """What came to mind, the most alike first, in words."""
        recall = self._recalled(objective)
        return tuple(map(_told, recall.episodes[:EPISODES_SHOWN])) if recall is not None else ()

    def _recalled(self, objective: str) -> Recall | None:
        return self._recall if self._recall is not None and self._recall.objective == objective else None


def _word(episode: Episode) -> str:
    return Failure(episode.failure).word if episode.failure in set(Failure) else Failure.UNKNOWN.word


def _told(episode: Episode) -> str:
    """``like before: pick(red_cube) slip -> approach(red_cube) worked``."""
    call = same_form(episode.call)
    if episode.success:
        return f"like before: {call} worked"
    return f"like before: {call} {_word(episode)}" + (f" -> {same_form(episode.fix)} worked" if episode.fix else "")
