"""Which accepted calls may begin: conflicts forbid tactics, forecasts refuse or name a better call."""

from __future__ import annotations

from anima.regions.gate.floor import OPERATOR, PLANNER, Floor
from anima.regions.gate.leases import MOTION, resources_of
from anima.regions.gate.objectives import SURVIVAL, Item, plain, short
from anima.skills.registry import SKILLS, render
from anima.topics import Sent
from anima.types.glue import Conflict, Forecast
from anima.types.mind import SkillCall

_FORECASTS_KEPT = 20
_DOCK = "dock()"
_UNDOUBTED = frozenset({"wait", "stop", "say"})


class Tactics:
    """What speaks against a call, said in a sentence that the planner reads."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    # --- conflicts -------------------------------------------------------------------------------

    def take_conflict(self, now: float, conflict: Conflict) -> list[Sent]:
        """Effort without progress: deny its calls for a while, end those that run, rotate or ask as advised."""
        floor, tuning = self._floor, self._floor.tuning
        item = floor.backlog.find(conflict.objective)
        if item is None or item.source == SURVIVAL:
            return []  # no other way than to the dock is open
        why = f"change tactic: {conflict.why}"
        for call in conflict.avoid:
            item.forbid(call, now + tuning.avoid_s, why)
        item.remember(f"{', '.join(conflict.avoid) or conflict.kind}: {why}", tuning.failures_told)
        item.frustration += tuning.conflict_frustration
        avoided = {plain(call) for call in conflict.avoid}
        leases = floor.state.leases.of_objective(item.id)
        running = [held for held in leases if held.call.source != OPERATOR and short(held.call) in avoided]
        if item.state == "parked":
            return floor.revoke(now, running, why)
        if conflict.advice == "escalate":
            floor.set_aside(now, item, f"{conflict.why}; it rests for a while")
        elif conflict.advice == "ask":
            floor.ask(now, item, conflict.why)
        else:
            floor.charge(now, item, None, conflict.why)
        return floor.revoke(now, running, why)

    # --- forecasts -------------------------------------------------------------------------------

    def take_forecast(self, now: float, forecast: Forecast) -> list[Sent]:
        """Keep it for the call that waits for it; a refusal that comes late takes back what has just begun."""
        state = self._floor.state
        kept = {**state.forecasts, forecast.id: forecast}
        state.forecasts = dict(list(kept.items())[-_FORECASTS_KEPT:])
        held = next((held for held in state.leases.held.values() if held.call.id == forecast.id), None)
        call = state.deferred if held is None else held.call
        if call is None or call.id != forecast.id or call.source == OPERATOR:
            return []
        item = self._floor.backlog.find(call.objective)
        if item is None or item.source == SURVIVAL or not forecast.rollouts:
            return []
        item.energy = 1.0 if forecast.rather == _DOCK else forecast.energy
        against = _against(item, forecast)
        fresh = held is not None and now - held.lease.header.stamp.seconds <= self._floor.tuning.look_s
        if held is None or held.revoked or not fresh or not against:
            return []
        self._deny(now, item, call, against)
        return self._floor.revoke(now, [held], against)

    def waits_for_forecast(self, now: float) -> bool:
        """Whether the deferred call's forecast may still come."""
        floor, state = self._floor, self._floor.state
        call = state.deferred
        if call is None or call.skill in _UNDOUBTED or state.resources is None or not state.resources.may_simulate:
            return False
        return call.id not in state.forecasts and now - state.deferred_at < floor.tuning.forecast_wait_s

    # --- the answer ------------------------------------------------------------------------------

    def admits(self, now: float, item: Item, call: SkillCall) -> bool:
        """Whether an accepted call may begin now; if not, the reason is kept for the planner."""
        floor, state = self._floor, self._floor.state
        reason = ""
        if call.skill not in SKILLS:
            reason = f"there is no skill {call.skill}"
        elif item is not floor.backlog.focus:
            reason = f"its objective is {item.objective.reason or item.state}, not in focus"
        elif (wanted := resources_of(call.skill)) & MOTION and (floor.latched or floor.out_of_hand):
            reason = floor.out_of_hand or "the body is held still"
        elif holders := state.leases.holders(wanted):
            reason = f"{', '.join(sorted(holders[0].resources & wanted))} is held by {holders[0].text}"
        elif own := [h for h in state.leases.of_objective(item.id) if h.call.source not in (OPERATOR, PLANNER)]:
            reason = f"{own[0].text} is under way{', ' + item.recovery if item.recovery else ''}"
        if reason:
            self._remember(item, call, reason)
            return False
        forecast = state.forecasts.get(call.id)
        against = item.forbidden(now, short(call))
        if not against and forecast is not None and item.source != SURVIVAL:
            against = _against(item, forecast)
        if against:
            self._deny(now, item, call, against)
        return not against

    def _remember(self, item: Item, call: SkillCall, reason: str) -> None:
        text = render(call.skill, call.arguments)
        item.remember(f"{text}: not begun, {reason}", self._floor.tuning.failures_told)

    def _deny(self, now: float, item: Item, call: SkillCall, reason: str) -> None:
        self._remember(item, call, reason)
        item.frustration += self._floor.tuning.denial_frustration
        self._floor.charge(now, item, None, reason)


def _against(item: Item, forecast: Forecast) -> str:
    """What a forecast says against a call, or empty. Who insists is not sent to the dock by a forecast."""
    if item.insisted and forecast.rather == _DOCK:
        return ""
    if forecast.advice == "refuse":
        return f"foreseen to fail: {forecast.why}"
    if forecast.advice == "rather" and forecast.rather:
        return f"rather {forecast.rather}: {forecast.why}"
    return ""
