"""What the robot takes up of itself when it is idle: what it left unfinished, or a look around."""

from __future__ import annotations

from anima.planner.objectives import check_body, check_goal
from anima.regions.gate.floor import Floor
from anima.regions.gate.objectives import CURIOSITY, Item
from anima.types.base import Time
from anima.types.glue import GoalTension
from anima.types.mind import Objective
from anima.world.predicates import Predicate, PredicateError

HOUR_S = 3600.0
_RESUMABLE = ("rest", "restart")


class Initiative:
    """Goal tension at work. A person, a stop or anything else to do ends an exploration at once."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def take(self, now: float, tension: GoalTension) -> None:
        """Resume what it names, or begin to explore, if nothing else is to be done."""
        floor, state = self._floor, self._floor.state
        if floor.backlog.focus is not None or state.hushed or floor.latched or floor.out_of_hand:
            return
        if any(item.state == "pending" for item in floor.backlog.open) or floor.is_hearing:
            return
        if tension.wants == "resume":
            self._resume(floor.backlog.find(tension.objective), tension)
        elif tension.wants == "explore":
            self._explore(now, tension)

    def _resume(self, item: Item | None, tension: GoalTension) -> None:
        if item is None or item.parked_by not in _RESUMABLE:
            return
        item.wake()
        item.remember(f"taken up again: {tension.why or 'it is unfinished'}", self._floor.tuning.failures_told)

    def _explore(self, now: float, tension: GoalTension) -> None:
        floor, state, tuning = self._floor, self._floor.state, self._floor.tuning
        if state.resources is None or not state.resources.may_explore or floor.backlog.of(CURIOSITY):
            return
        recent = [at for at in state.explored_at if 0 <= now - at < HOUR_S]
        if len(recent) >= tuning.explorations_per_hour or (recent and now - recent[-1] < tuning.exploration_gap_s):
            return
        try:
            condition = Predicate.parse(tension.condition)
        except PredicateError:
            return
        if check_goal(condition, floor.names) or check_body(condition, state.world):
            return
        state.explored_at = [*recent, now]
        state.own_objectives += 1
        objective = Objective(
            id=f"explore-{state.own_objectives}", condition=tension.condition, said="", source=CURIOSITY, order=0,
            state="pending", reason="", created=Time.at(now),
        )
        floor.backlog.add([objective], tuning)

    def drop(self, reason: str) -> None:
        """End every exploration."""
        for item in self._floor.backlog.of(CURIOSITY):
            self._floor.end(item, "cancelled", reason)

    def watch(self) -> None:
        """End an exploration that is no longer called for."""
        floor = self._floor
        mine = floor.backlog.of(CURIOSITY)
        if not mine:
            return
        resources = floor.state.resources
        if floor.latched:
            self.drop(floor.latch_reason)
        elif floor.state.hushed:
            self.drop("a person stopped the robot")
        elif resources is not None and resources.charge_drive >= floor.tuning.charge_drive_postpones:
            self.drop(f"the battery is at {resources.battery:.0%}")
        elif any(item.source != CURIOSITY and item.state != "parked" for item in floor.backlog.open):
            self.drop("something else came up")
