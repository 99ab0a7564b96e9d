"""What the robot's own parts come to at the gate: an objective behind those of people, a few words, holding back.

A part never commands the body: what the Self follows becomes an objective like any other, for which the planner must
find calls; its words are leased only while nobody else has the voice; and what it leans to only orders what is open.
"""

from __future__ import annotations

import json

from anima import topics as t
from anima.planner.objectives import check_body, check_goal
from anima.planner.validate import validate
from anima.regions.gate.floor import Floor
from anima.regions.gate.leases import resources_of
from anima.regions.gate.objectives import PARTS, Item
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Objective, SkillCall
from anima.types.parts import PartBid, PartBids
from anima.world.predicates import Predicate, PredicateError, holds

HOUR_S = 3600.0
_WORDS_LIFE_S = 60.0  # what could not be said by then is no longer worth saying


class InnerVoices:
    """Followed bids at work. People, stops and survival come before any of it."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def take(self, now: float, inbox: Inbox) -> None:
        """Take in what the Self chose, and what holds now."""
        state = self._floor.state
        for chosen in inbox.new(t.BIDS):
            for bid in chosen.bids:
                if bid.followed and bid.stance == "speak" and bid.target:
                    state.words = bid
                    state.words_at = now
            self._want(now, chosen)
        for stances in inbox.new(t.STANCES):
            state.stances = list(stances.stances)

    def _want(self, now: float, chosen: PartBids) -> None:
        floor, state = self._floor, self._floor.state
        bid = next((bid for bid in chosen.bids if bid.id == chosen.focus and bid.followed), None)
        if bid is None or not bid.focus or state.hushed or floor.latched or floor.backlog.of(PARTS):
            return
        try:
            condition = Predicate.parse(bid.focus)
        except PredicateError:
            return
        if check_goal(condition, floor.names) or check_body(condition, state.world):
            return
        if state.world is not None and holds(condition, state.world):
            return
        objective = Objective(
            id=f"part-{bid.id}", condition=str(condition), said="", source=PARTS, order=0, state="pending", reason="",
            created=Time.at(now),
        )
        for item in floor.backlog.add([objective], floor.tuning):
            item.because = f"{bid.name} bids for it [{bid.part}, {bid.id}]"

    def watch(self, now: float) -> None:
        """Let what people want, and what another part prefers, go first; drop it all after a stop."""
        floor = self._floor
        mine = floor.backlog.of(PARTS)
        if mine and floor.state.hushed:
            for item in mine:
                floor.end(item, "cancelled", "a person stopped the robot")
            return
        others = [item for item in floor.backlog.open if item not in mine and item.state in ("pending", "focused")]
        for item in mine:
            if others and floor.backlog.open[-1] is not item:
                floor.backlog.put_last(item)
        preferred = [item for item in others if item.is_own and self._is_preferred(now, item)]
        focus = floor.backlog.focus
        if preferred and focus is not None and focus.is_own and focus not in preferred:
            floor.backlog.put_last(focus)

    def _is_preferred(self, now: float, item: Item) -> bool:
        stances = self._floor.state.stances
        return any(s.kind == "prefer" and now < s.until.seconds and s.target in item.predicate.args for s in stances)

    def holds_back(self, now: float) -> bool:
        """Whether a part asks that the robot begin nothing of itself for now, and the Self agreed."""
        return any(s.kind == "hold_back" and now < s.until.seconds for s in self._floor.state.stances)

    def begin(self, now: float) -> list[Sent]:
        """Lease the voice for a part's words, when it is free and enough time has passed since the last."""
        floor, state, tuning = self._floor, self._floor.state, self._floor.tuning
        bid = state.words
        if bid is None:
            return []
        if now - state.words_at > _WORDS_LIFE_S or state.hushed:
            state.words = None
            return []
        recent = [at for at in state.spoke_up_at if 0 <= now - at < HOUR_S]
        too_soon = bool(recent) and now - recent[-1] < tuning.own_words_gap_s
        if too_soon or len(recent) >= tuning.own_words_per_hour:
            return []
        if floor.is_hearing or state.world is None or state.leases.holders(resources_of("say")):
            return []
        state.words = None
        call = self._say(now, bid)
        verdict = validate(call, state.world, floor.names)
        if not verdict.accepted:
            return []
        state.spoke_up_at = [*recent, now]
        return [t.LEASE.of(state.leases.grant(now, verdict.call))]

    def _say(self, now: float, bid: PartBid) -> SkillCall:
        state = self._floor.state
        state.own_calls += 1
        return SkillCall(
            header=Header.at(now), id=f"part-{bid.id}-say-{state.own_calls}", skill="say",
            arguments=json.dumps({"text": bid.target, "object": ""}), objective="", source=PARTS,
            because=[bid.part, bid.id],
        )
