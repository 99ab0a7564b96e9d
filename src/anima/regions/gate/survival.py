"""The battery before everything else: the way to the dock is put first, the rest is postponed and comes back."""

from __future__ import annotations

import math

from anima.body.places import Places, UnknownPlace
from anima.regions.gate.floor import Floor
from anima.regions.gate.objectives import CURIOSITY, SURVIVAL, Item
from anima.regions.gate.recovery import Recovery
from anima.topics import Sent
from anima.types.base import Time
from anima.types.glue import Resources
from anima.types.mind import Objective, WorldState
from anima.world.predicates import ROBOT, Predicate, find_object, holds

_TRY_EVERY_S = 2.0
_GIVEN_UP_FOR_NOW = ("rest", "question")


def way_m(goal: Predicate, world: WorldState, places: Places, detour: float, search_m: float) -> float:
    """Metres that an objective takes the robot at least: straight legs times `detour`, plus `search_m` for a search."""
    at = (world.robot.position.x, world.robot.position.y)
    total = 0.0
    for name in (name for name in goal.args if name != ROBOT):
        thing = find_object(world, name)
        if thing is not None and thing.status == "confirmed":
            next_at = (thing.position.x, thing.position.y)
        else:
            try:
                poses = places.poses(name)
            except UnknownPlace:  # no place, so a thing that has to be searched; or a number
                total += 0.0 if name.isdigit() or world.holding == name else search_m
                continue
            nearest = min(poses, key=lambda pose: math.hypot(pose.x - at[0], pose.y - at[1]))
            next_at = (nearest.x, nearest.y)
        total += detour * math.hypot(next_at[0] - at[0], next_at[1] - at[1])
        at = next_at
    return total


class Survival:
    """The robot's own objective to charge. The model can't veto it; a person can, until it is a matter of survival."""

    def __init__(self, floor: Floor, recovery: Recovery) -> None:
        self._floor = floor
        self._recovery = recovery

    @property
    def _own(self) -> Item | None:
        return next(iter(self._floor.backlog.of(SURVIVAL)), None)

    def arrange(self, now: float) -> None:
        """Put the way to the dock first when it must be, or when the next errand is too far; wake the rest after it."""
        floor, resources = self._floor, self._floor.state.resources
        if resources is None or floor.state.world is None or floor.latched:
            return
        own = self._own
        if own is None and not floor.state.hushed and self._may_try(now):
            own = self._want(now, resources, floor.state.world)
        if own is not None and resources.must_dock and own.state == "pending" and floor.backlog.open[0] is not own:
            floor.backlog.put_first([own])
        if resources.must_dock or (own is not None and own.parked_by not in _GIVEN_UP_FOR_NOW):
            reason = f"postponed: battery at {resources.battery:.0%}, it goes to the dock first"
            floor.backlog.park("survival", now, reason, lambda item: self._goes_on(item, resources))
            return
        for item in floor.backlog.wake("survival"):
            item.insisted = own is not None  # the dock is out of reach, so the errand is tried
            item.energy = None

    def make_way(self, orders: list[Item]) -> None:
        """A person's new orders: before the charging, unless the robot would not live to come back from them."""
        own, resources = self._own, self._floor.state.resources
        if own is None or resources is None or not orders:
            return
        if resources.must_dock:
            if own.parked_by == "stop":
                own.wake()  # who gives an order after a stop lets the robot move
            return
        for item in orders:
            item.insisted = True
        self._floor.backlog.put_last(own)

    def _goes_on(self, item: Item, resources: Resources) -> bool:
        return item.source == SURVIVAL or (item.insisted and not resources.must_dock)

    def _may_try(self, now: float) -> bool:
        last = self._floor.state.survival_at
        return last is None or not 0 <= now - last < self._floor.tuning.survival_retry_s

    def _want(self, now: float, resources: Resources, world: WorldState) -> Item | None:
        floor, tuning = self._floor, self._floor.tuning
        full = f"charged({tuning.charge_to_percent})"
        condition = full if world.battery * 100 < tuning.charge_to_percent else "docked"
        if holds(Predicate.parse(condition), world):
            return None
        if not resources.must_dock and not self._is_too_far(resources, world):
            return None
        floor.state.survival_at = now
        floor.state.own_objectives += 1
        objective = Objective(
            id=f"survival-{floor.state.own_objectives}", condition=condition, said="", source=SURVIVAL, order=0,
            state="pending", reason="", created=Time.at(now),
        )
        (item,) = floor.backlog.add([objective], tuning, first=True)
        item.because = resources.why
        return item

    def _is_too_far(self, resources: Resources, world: WorldState) -> bool:
        """Whether the next errand takes more than the battery has, and nothing is under way for it now."""
        floor, tuning = self._floor, self._floor.tuning
        hungry = resources.charge_drive >= tuning.charge_drive_postpones
        if not floor.backlog.open:
            return hungry and not world.docked  # nothing else is to be done, so it charges before it must
        item = floor.backlog.focus or next((item for item in floor.backlog.open if item.state == "pending"), None)
        if item is None or item.insisted or item.source == CURIOSITY or floor.state.leases.of_objective(item.id):
            return False
        if item.predicate.name in ("docked", "charged"):
            return False
        if item.energy is not None and item.energy > resources.battery - resources.reserve:
            return True
        return hungry and way_m(item.predicate, world, floor.places, tuning.detour, tuning.search_m) > resources.range_m

    def begin(self, now: float) -> list[Sent]:
        """The gate itself drives to the dock and waits there: no model has to want it."""
        floor, world = self._floor, self._floor.state.world
        item = floor.backlog.focus
        if item is None or item.source != SURVIVAL or item.next_call or world is None:
            return []
        if floor.state.leases.of_objective(item.id) or not self._is_time(now):
            return []
        if world.docked and item.predicate.name == "docked":
            return []
        text = f"wait({floor.tuning.charge_wait_s:g})" if world.docked else "dock()"
        text = text if world.docked or world.localized else "relocalize()"
        before = item.calls
        postponed = [other.id for other in floor.backlog.open if other.parked_by == "survival"]
        sent, waits = self._recovery.issue(now, item, text, SURVIVAL, postponed)
        if not sent and not waits:
            floor.state.refused_at = now  # by the validator: it looks again in a while
        if sent and world.docked and world.battery > item.battery:
            item.battery, item.calls = world.battery, before  # as long as it fills, it may go on
        return sent

    def _is_time(self, now: float) -> bool:
        last = self._floor.state.refused_at
        return last is None or not 0 <= now - last < _TRY_EVERY_S
