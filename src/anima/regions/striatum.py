"""Ventral striatum: the pressure of what is unfinished. Idle, it grows into the wish to go on; progress relieves it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.regions.drives.pressure import load_striatum
from anima.regions.gate.objectives import CURIOSITY, OPEN
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Condition, GoalTension, Resources
from anima.types.mind import Backlog, Objective, WorldState
from anima.world.predicates import ROBOT, Predicate, PredicateError
from anima.world.progress import progress

NOTHING, RESUME, EXPLORE = "nothing", "resume", "explore"
_UNFIT = frozenset({"WORN", "DEGRADED"})  # condition labels that keep it from exploring
_BUSY_MODES = frozenset({"RECOVERY", "RUMINATING"})
_HOUR_S = 3600.0


class _Known(BaseModel):
    """What is kept of one open objective: its state, how often it was set aside, the nearest it ever came to done."""

    state: str
    parks: int = 0
    best: float = 0.0


class _Trip(BaseModel):
    """An exploration that is wished for, and then under way."""

    surface: str
    condition: str
    since: float
    objective: str = ""


class _State(BaseModel):
    """Everything between two steps. `trips` are the times of explorations of the last hour, `tried` when a surface was
    last the goal of one."""

    now: float | None = None
    tension: float = 0.0
    arousal: float = 0.0
    idle_since: float | None = None
    spoke_at: float | None = None
    known: dict[str, _Known] = {}
    trip: _Trip | None = None
    trips: list[float] = []
    tried: dict[str, float] = {}
    said: tuple[float, str] | None = None


class Striatum:
    """Pressure, arousal, and what they make the robot want when nobody told it to do anything.

    It decides nothing: the gate takes up the wish, or does not. `step` is pure in (state, now, inbox).
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/striatum.yaml` or the map can't be used."""
        self._tuning = load_striatum()
        # Who stands at a surface that is held by a person stands in that person's way.
        self._surfaces = {
            surface.name: [(pose.x, pose.y) for pose in load_places(settings.map_folder).poses(surface.name)]
            for surface in load_places(settings.map_folder).surfaces
            if not surface.holder
        }
        self._state = _State(arousal=self._tuning.arousal.ceiling)
        self._why = "Nothing is known of what is to be done."

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Feel what is open, what came of it and who spoke; say what it wants when that has changed."""
        state = self._state
        dt = 0.0 if state.now is None else now - state.now
        if dt < 0.0:  # time jumped back: idle times and trips belong to another run
            self._state = state = _State(tension=state.tension, arousal=state.arousal, known=state.known)
            dt = 0.0
        state.now = now
        if inbox.new(t.UTTERANCE):
            state.spoke_at, state.arousal = now, self._tuning.arousal.ceiling
        backlog, world = inbox.last(t.BACKLOG), inbox.last(t.WORLD_STATE)
        if backlog is None:
            return []
        if inbox.new(t.BACKLOG):
            self._take_backlog(now, backlog)
        if world is not None and inbox.new(t.WORLD_STATE):
            self._take_progress(backlog, world)
        for outcome in inbox.new(t.OUTCOME):
            if outcome.success and outcome.call.objective in state.known:
                self._relieve(self._tuning.discharge_outcome)
        if backlog.focus:
            state.idle_since = None
        elif state.idle_since is None:
            state.idle_since = now
        pressing = self._pressing(now, backlog)
        self._swell(dt, pressing)
        return self._tell(now, self._wish(now, backlog, world, pressing, inbox))

    def _take_backlog(self, now: float, backlog: Backlog) -> None:
        state = self._state
        known: dict[str, _Known] = {}
        for objective in backlog.objectives:
            before = state.known.get(objective.id)
            if objective.state in OPEN:
                kept = before or _Known(state=objective.state)
                kept.parks += objective.state == "parked" and kept.state != "parked"
                kept.state = objective.state
                known[objective.id] = kept
            elif before is not None and objective.state == "done":
                self._relieve(self._tuning.discharge_done)
            trip = state.trip
            if trip is not None and not trip.objective and objective.state in OPEN and _is_trip(objective, trip):
                trip.objective = objective.id
                state.trips.append(now)
                state.tried[trip.surface] = now
        state.known = known
        if state.trip is not None and state.trip.objective and state.trip.objective not in known:
            state.trip = None

    def _take_progress(self, backlog: Backlog, world: WorldState) -> None:
        """Nearer than it ever was is progress; to and fro is none."""
        for objective in backlog.objectives:
            kept = self._state.known.get(objective.id)
            if kept is None:
                continue
            try:
                near = progress(Predicate.parse(objective.condition), world)
            except PredicateError:
                continue  # the gate declines it
            if near > kept.best:
                self._relieve(self._tuning.discharge * (near - kept.best))
                kept.best = near

    def _relieve(self, share: float) -> None:
        self._state.tension *= 1.0 - share

    # --- pressure --------------------------------------------------------------------------------

    def _pressing(self, now: float, backlog: Backlog) -> list[tuple[float, Objective]]:
        """What presses, most first. What waits for others is not ours to press."""
        tuning, found = self._tuning.pressure, []
        for objective in backlog.objectives:
            kept = self._state.known.get(objective.id)
            if kept is None or self._is_left_to_others(objective):
                continue
            pressure = tuning.of(
                asked=bool(objective.said), age_s=now - objective.created.seconds, near=kept.best, parks=kept.parks
            )
            found.append((pressure, objective))
        return sorted(found, key=lambda pair: (-pair[0], pair[1].order, pair[1].id))

    def _is_left_to_others(self, objective: Objective) -> bool:
        reason = objective.reason
        return objective.state == "parked" and any(words in reason for words in self._tuning.left_to_others)

    def _swell(self, dt: float, pressing: Sequence[tuple[float, Objective]]) -> None:
        """Tension rises to the pressure while idle, holds while work goes on, and falls when nothing is left."""
        state, tuning = self._state, self._tuning
        if not pressing:
            state.tension *= math.exp(-dt / tuning.fall_s)
        elif state.idle_since is not None:
            target = 1.0 - math.prod(1.0 - pressure for pressure, _ in pressing)
            rise = (target - state.tension) * (1.0 - math.exp(-dt / tuning.rise_s))
            state.tension += max(rise, 0.0)
        state.tension = min(max(state.tension, 0.0), 1.0)
        arousal = tuning.arousal
        floor = arousal.floor + (arousal.ceiling - arousal.floor) * state.tension
        calmer = floor + (state.arousal - floor) * math.exp(-dt / arousal.calm_s)
        state.arousal = min(max(calmer, floor), arousal.ceiling)

    # --- wishes ----------------------------------------------------------------------------------

    def _wish(
        self,
        now: float,
        backlog: Backlog,
        world: WorldState | None,
        pressing: Sequence[tuple[float, Objective]],
        inbox: Inbox,
    ) -> GoalTension:
        state = self._state
        resources, condition = inbox.last(t.RESOURCES), inbox.last(t.CONDITION)
        temperament = inbox.last(t.TEMPERAMENT)
        initiative = 0.5 if temperament is None else temperament.initiative
        if state.idle_since is None:
            return self._said(now, NOTHING, f"it is at work: {backlog.why}")
        if resources is not None and resources.must_dock:
            return self._said(now, NOTHING, "the dock comes first")
        if pressing:
            return self._resumption(now, pressing, initiative, condition)
        if state.known:
            return self._said(now, NOTHING, "what is open waits for others")
        reason = self._no_trip(now, initiative, resources, condition, world)
        if reason:
            if state.trip is not None and not state.trip.objective:
                state.trip = None
            return self._said(now, NOTHING, reason)
        assert resources is not None and world is not None
        return self._exploration(now, world, resources.range_m)

    def _resumption(
        self, now: float, pressing: Sequence[tuple[float, Objective]], initiative: float, condition: Condition | None
    ) -> GoalTension:
        tuning = self._tuning
        strain = 0.0 if condition is None else condition.strain
        least = tuning.resume_above - (initiative - 0.5) * tuning.initiative_swing + strain * tuning.strain_swing
        least = min(max(least, 0.05), 0.95)
        parked = [(pressure, objective) for pressure, objective in pressing if objective.state == "parked"]
        if not parked:
            return self._said(now, NOTHING, "what is open is about to be taken up")
        _, most = parked[0]
        tension = self._state.tension
        if tension < least:
            why = f"{most.condition} is unfinished, but presses too little yet ({tension:.2f} of {least:.2f})"
            return self._said(now, NOTHING, why)
        parks = self._state.known[most.id].parks
        often = f", set aside {parks} times" if parks > 1 else ""
        why = f"{most.condition} is unfinished{often}, nothing is going on, and it presses ({tension:.2f})"
        return self._said(now, RESUME, why, objective=most.id)

    def _no_trip(
        self,
        now: float,
        initiative: float,
        resources: Resources | None,
        condition: Condition | None,
        world: WorldState | None,
    ) -> str:
        """Why it does not explore, or empty."""
        state, tuning = self._state, self._tuning.explore
        assert state.idle_since is not None
        if world is None or not world.localized or world.stopped or world.holding:
            return "nothing is left to do, and it is not free to move about"
        if resources is None or not resources.may_explore:
            return "nothing is left to do, and it is not rested and charged enough to look around"
        if condition is not None and (condition.label in _UNFIT or condition.mode in _BUSY_MODES):
            return f"nothing is left to do, and it is {condition.label.lower()}, {condition.mode.lower()}"
        if now - state.idle_since < tuning.idle_s:
            return "nothing is left to do; it rests a while"
        if state.spoke_at is not None and now - state.spoke_at < tuning.quiet_s:
            return "a person spoke a moment ago and may go on"
        if state.arousal < self._tuning.arousal.awake_above:
            return "nothing has happened for long; it sleeps"
        state.trips = [at for at in state.trips if now - at < _HOUR_S]
        if len(state.trips) >= round(tuning.per_hour * 2.0 * initiative):
            return f"it has looked around {len(state.trips)} times within the hour; that is enough"
        return ""

    def _exploration(self, now: float, world: WorldState, range_m: float) -> GoalTension:
        """The surface that is worth the way most: it was not looked at for longest, and it is near."""
        state, tuning = self._state, self._tuning.explore
        trip = state.trip
        if trip is not None and now - trip.since > tuning.give_up_s:
            state.tried[trip.surface] = now  # nobody took it up
            state.trip = trip = None
        if trip is None:
            state.tried = {name: at for name, at in state.tried.items() if now - at < tuning.retry_s}
            here = (world.robot.position.x, world.robot.position.y)
            seen = {surface.name: (surface.coverage, surface.last_viewed.seconds) for surface in world.surfaces}
            worth: list[tuple[float, str]] = []
            for name, poses in self._surfaces.items():
                metres = min(math.dist(here, pose) for pose in poses)
                gain = self._gain(now, *seen.get(name, (0.0, 0.0)))
                if name not in state.tried and gain >= tuning.gain_above and metres < range_m and name != world.place:
                    worth.append((gain - tuning.gain_per_m * metres, name))
            if not worth:
                return self._said(now, NOTHING, "nothing is left to do, and what it knows of the flat is fresh")
            name = max(worth)[1]
            trip = state.trip = _Trip(surface=name, condition=str(Predicate("at", (ROBOT, name))), since=now)
        why = f"nothing is left to do, and the {trip.surface} was not looked at for longest"
        return self._said(now, EXPLORE, why, condition=trip.condition)

    def _gain(self, now: float, coverage: float, viewed_at: float) -> float:
        """What a look at a surface would tell, 0 nothing new to 1 all of it."""
        if viewed_at <= 0.0:
            return 1.0
        stale = 1.0 - math.exp(-max(now - viewed_at, 0.0) / self._tuning.explore.stale_s)
        # The world state drops the coverage of what was seen too long ago: then the age alone tells.
        return stale + (1.0 - stale) * (1.0 - coverage) if coverage > 0.0 else stale

    # --- telling ---------------------------------------------------------------------------------

    def _said(self, now: float, wants: str, why: str, objective: str = "", condition: str = "") -> GoalTension:
        return GoalTension.model_construct(
            header=Header.at(now), tension=self._state.tension, arousal=self._state.arousal, wants=wants,
            objective=objective, condition=condition, why=why,
        )

    def _tell(self, now: float, wish: GoalTension) -> list[Sent]:
        self._why = wish.why
        state = self._state
        meaning = f"{wish.tension:.1f} {wish.arousal:.1f} {wish.wants} {wish.objective} {wish.condition}"
        if state.said is not None and state.said[1] == meaning and now - state.said[0] < self._tuning.repeat_s:
            return []
        state.said = (now, meaning)
        return [t.GOAL_TENSION.of(wish)]

    def why(self) -> str:
        """One sentence: what it wants, and why."""
        return f"{self._why[0].upper()}{self._why[1:].rstrip('.')}."

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return self._state.model_dump(mode="json")

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Striatum:
        """One that goes on from what `dump` gave."""
        out = cls(settings)
        out._state = _State.model_validate(data)
        return out


def _is_trip(objective: Objective, trip: _Trip) -> bool:
    """Whether the objective is the trip that was wished for: a person's own order of the same is not."""
    return objective.source == CURIOSITY and objective.condition == trip.condition
