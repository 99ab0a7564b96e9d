"""Anterior cingulate: notices that effort is not turning into progress, before it has failed altogether."""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.regions.effort.config import load_conflict
from anima.regions.effort.history import NO_PROGRESS, Effort, Ended, Finding, rounds
from anima.regions.effort.running import Run, ground_of
from anima.runtime.component import Inbox
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Conflict
from anima.types.mind import Backlog, Lease, Objective, Outcome, WorldState
from anima.world.predicates import Predicate, PredicateError
from anima.world.progress import progress

_STILL = frozenset({"wait", "say", "stop"})  # skills that are not meant to get on
_NEARER = 0.005
_TRAIL_KEPT = 12
_LATE_S = 15.0  # after its deadline a skill whose end was never told counts as over
_OPEN = frozenset({"pending", "focused", "parked"})


class ConflictMonitor:
    """Detects, from what ends and what runs alone: the same failure again, the same success that changes nothing,
    rounds of tactics (also across objectives), calls that bring nothing nearer, and a running skill that gains nothing.

    Each conflict over one objective advises more than the one before: another tactic, setting it aside, asking.
    Progress of its condition (`world.progress.progress`) forgives. Deeds of a person by hand are none of its business,
    nor is what a person or a stop broke off. `step` is pure in (state, now, inbox).
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/acc.yaml` can't be used."""
        del settings
        self._tuning = load_conflict()
        self._start_over()

    def _start_over(self) -> None:
        self._objectives: dict[str, Objective] = {}
        self._efforts: dict[str, Effort] = {}
        self._runs: dict[str, Run] = {}
        self._unjudged: list[Outcome] = []
        self._trail: list[Ended] = []
        self._trail_told = 0
        self._world: WorldState | None = None
        self._ground = ""
        self._now: float | None = None
        self._last: Conflict | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Look at the world, judge what has ended, then what runs."""
        if self._now is not None and now < self._now:
            self._start_over()  # what was tried belongs to another run
        self._now = now
        for world in inbox.new(t.WORLD_STATE):
            self._look(now, world)
        for backlog in inbox.new(t.BACKLOG):
            self._take_backlog(backlog)
        for lease in inbox.new(t.LEASE):
            self._take_lease(now, lease)
        for feedback in inbox.new(t.SKILL_FEEDBACK):
            run = self._runs.get(feedback.lease)
            if run is not None:
                run.feel(feedback, now, self._tuning.min_gain)
        self._unjudged += [outcome for outcome in inbox.new(t.OUTCOME) if outcome.call.objective]
        conflicts = self._judge(now) if self._unjudged else []
        conflicts += self._watch(now)
        if conflicts:
            self._last = conflicts[-1]
        return [t.CONFLICT.of(conflict) for conflict in conflicts]

    # --- taking in -------------------------------------------------------------------------------

    def _look(self, now: float, world: WorldState) -> None:
        self._world, self._ground = world, ground_of(world)
        for run in self._runs.values():
            run.look(self._ground, now)
        for objective in self._objectives.values():
            self._measure(now, objective, world)

    def _measure(self, now: float, objective: Objective, world: WorldState) -> None:
        try:
            near = progress(Predicate.parse(objective.condition), world)
        except PredicateError:
            return
        effort = self._efforts.get(objective.id)
        if effort is None:
            self._efforts[objective.id] = Effort(best=near)
        elif near > effort.best + _NEARER:
            effort.came_nearer(near)
            self._trail = []
            for run in self._runs.values():
                if run.objective == objective.id:
                    run.gained_at = now

    def _take_backlog(self, backlog: Backlog) -> None:
        is_open = {o.id: o for o in backlog.objectives if o.state in _OPEN}
        if any(o.state == "done" and o.id in self._objectives for o in backlog.objectives):
            self._trail = []
        self._objectives = is_open
        for id, effort in self._efforts.items():
            if id in is_open and is_open[id].state == "parked":
                effort.rested()
        waiting = {outcome.call.objective for outcome in self._unjudged}
        for id in self._efforts.keys() - is_open.keys() - waiting:
            del self._efforts[id]

    def _take_lease(self, now: float, lease: Lease) -> None:
        call = lease.call
        if lease.granted:
            self._runs[lease.id] = Run(
                call=render(call.skill, call.arguments), id=call.id, objective=call.objective,
                by_planner=bool(call.objective) and call.skill not in _STILL, ground=self._ground, gained_at=now,
                until=lease.deadline.seconds + _LATE_S,
            )
        elif lease.id in self._runs:
            self._runs[lease.id].by_planner = False  # it is being ended; it need not get on

    # --- judging ---------------------------------------------------------------------------------

    def _judge(self, now: float) -> list[Conflict]:
        """Failures speak for themselves; a success is judged by the world that was seen after it."""
        conflicts = []
        while self._unjudged:
            outcome = self._unjudged[0]
            ended_at = outcome.header.stamp.seconds
            seen = self._world is not None and self._world.header.stamp.seconds >= ended_at
            if outcome.success and not seen and now - ended_at < self._tuning.look_s:
                break
            del self._unjudged[0]
            conflict = self._take_ended(now, outcome)
            if conflict is not None:
                conflicts.append(conflict)
        return conflicts

    def _take_ended(self, now: float, outcome: Outcome) -> Conflict | None:
        run = self._runs.pop(outcome.lease, None)
        call, objective = outcome.call, outcome.call.objective
        if outcome.failure == Failure.INTERRUPTED:
            return None
        before = self._ground if run is None else run.ground
        failure = 0 if outcome.success else outcome.failure or int(Failure.UNKNOWN)
        text = render(call.skill, call.arguments)
        ended = Ended(
            call=text, id=call.id, failure=failure, ground=before, changed=run is None or before != self._ground,
            objective=objective,
        )
        self._trail = [*self._trail, ended][-_TRAIL_KEPT:]
        self._trail_told += 1
        effort = self._efforts.setdefault(objective, Effort())
        return self._conflict(now, objective, effort.add(ended, self._tuning) or self._round_of_objectives())

    def _round_of_objectives(self) -> Finding | None:
        """Objectives that take turns and undo each other."""
        found = rounds(self._trail, self._tuning.longest_cycle, self._trail_told)
        if found is None or len({one.objective for one in self._trail[-len(found.because) :]}) < 2:
            return None
        self._trail_told = 0
        return found

    def _watch(self, now: float) -> list[Conflict]:
        conflicts = []
        for lease in [lease for lease, run in self._runs.items() if now > run.until]:
            del self._runs[lease]
        for run in self._runs.values():
            idle_s = now - run.gained_at
            if run.by_planner and idle_s >= self._tuning.stall_after_s:
                run.gained_at = now
                why = f"{run.call} has gained nothing for {idle_s:.0f} s"
                conflict = self._conflict(now, run.objective, Finding(NO_PROGRESS, (run.call,), why, (run.id,)))
                conflicts += [conflict] if conflict is not None else []
        return conflicts

    def _conflict(self, now: float, objective: str, found: Finding | None) -> Conflict | None:
        if found is None:
            return None
        effort = self._efforts.setdefault(objective, Effort())
        effort.level += 1
        advice = "change_tactic"
        if effort.level >= self._tuning.ask_from:
            advice = "ask"
        elif effort.level >= self._tuning.escalate_from:
            advice = "escalate"
        return Conflict(
            header=Header.at(now), id=f"conflict@{now:.3f}.{objective}.{effort.level}", kind=found.kind,
            objective=objective, advice=advice, avoid=list(found.avoid), why=found.why, because=list(found.because),
        )

    # --- telling ---------------------------------------------------------------------------------

    def why(self) -> str:
        """One sentence: what does not get on, or that all does."""
        last = self._last
        if last is not None and self._efforts.get(last.objective, Effort()).level:
            return f"It advises {last.advice.replace('_', ' ')}, because {last.why}."
        return "What is done gets on, as far as is known."

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "objectives": {id: one.model_dump(mode="json") for id, one in self._objectives.items()},
            "efforts": {id: one.model_dump(mode="json") for id, one in self._efforts.items()},
            "runs": {id: one.model_dump(mode="json") for id, one in self._runs.items()},
            "unjudged": [outcome.model_dump(mode="json") for outcome in self._unjudged],
            "trail": [one.model_dump(mode="json") for one in self._trail],
            "trail_told": self._trail_told,
            "world": None if self._world is None else self._world.model_dump(mode="json"),
            "now": self._now,
            "last": None if self._last is None else self._last.model_dump(mode="json"),
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> ConflictMonitor:
        """One that goes on from a dumped state."""
        out = cls(settings)
        out._objectives = {id: Objective.model_validate(one) for id, one in data["objectives"].items()}
        out._efforts = {id: Effort.model_validate(one) for id, one in data["efforts"].items()}
        out._runs = {id: Run.model_validate(one) for id, one in data["runs"].items()}
        out._unjudged = [Outcome.model_validate(one) for one in data["unjudged"]]
        out._trail = [Ended.model_validate(one) for one in data["trail"]]
        out._trail_told = data["trail_told"]
        if data["world"] is not None:
            out._world = WorldState.model_validate(data["world"])
            out._ground = ground_of(out._world)
        out._now = data["now"]
        out._last = None if data["last"] is None else Conflict.model_validate(data["last"])
        return out
