"""A person drives a skill by hand: through the same checks as the planner's calls, and then before them."""

from __future__ import annotations

from anima import topics as t
from anima.failure import Failure
from anima.planner.validate import validate
from anima.regions.gate.floor import BY_HAND, OPERATOR, Floor
from anima.regions.gate.leases import MOTION, resources_of
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.mind import SkillCall

_STAMP_S = 1e-6  # stamps are rounded to nanoseconds, times are not


class ByHand:
    """The calls of people."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def take(self, now: float, call: SkillCall) -> list[Sent]:
        """Check a person's call; it takes its parts of the body from whoever has them."""
        floor, state = self._floor, self._floor.state
        if not floor.is_new(call):
            return []
        if state.world is None:
            return [floor.refusal(now, call, Failure.PRECONDITION_UNMET, "nothing is known of the world yet")]
        # Who drives by hand serves no objective, whatever the call says.
        call = call.model_copy(update={"source": OPERATOR, "objective": ""})
        verdict = validate(call, state.world, floor.names)
        if not verdict.accepted:
            return [t.OPERATOR_VERDICT.of(verdict)]
        call = verdict.call
        wanted = resources_of(call.skill)
        if wanted & MOTION and floor.latched:
            return [floor.refusal(now, call, Failure.PRECONDITION_UNMET, floor.latch_reason)]
        if wanted & MOTION and floor.out_of_hand:
            return [floor.refusal(now, call, Failure.RESOURCE_DENIED, floor.out_of_hand)]
        silenced_at = state.hearing.silenced_at
        if silenced_at is not None and call.header.stamp.seconds <= silenced_at + _STAMP_S and call.skill != "stop":
            # A stop word is heard before what else came in the same step, whichever was said first.
            return [floor.refusal(now, call, Failure.INTERRUPTED, "the person said stop")]
        sent = [t.OPERATOR_VERDICT.of(verdict)]
        older = [other for other in state.waiting if resources_of(other.skill) & wanted]
        for other in older:
            state.waiting.remove(other)
            reason = f"{render(call.skill, call.arguments)} was asked for before it could begin"
            sent.append(floor.refusal(now, other, Failure.RESOURCE_DENIED, reason))
        state.waiting.append(call)
        return [*sent, *floor.revoke(now, state.leases.holders(wanted), BY_HAND)]

    def serve(self, now: float) -> list[Sent]:
        """Grant what waits and whose parts of the body are at rest."""
        state = self._floor.state
        sent: list[Sent] = []
        for call in list(state.waiting):
            if not state.leases.holders(resources_of(call.skill)):
                state.waiting.remove(call)
                sent.append(t.LEASE.of(state.leases.grant(now, call)))
        return sent

    def refuse_waiting(self, now: float, reason: str, *, moving_only: bool) -> list[Sent]:
        """Refuse what waits, or what of it would move."""
        state = self._floor.state
        refused = [call for call in state.waiting if not moving_only or resources_of(call.skill) & MOTION]
        for call in refused:
            state.waiting.remove(call)
        return [self._floor.refusal(now, call, Failure.INTERRUPTED, reason) for call in refused]

    @property
    def moves(self) -> bool:
        """Whether a person moves the body, or is about to."""
        state = self._floor.state
        return any(resources_of(call.skill) & MOTION for call in state.waiting) or any(
            held.moves and held.call.source == OPERATOR for held in state.leases.held.values()
        )
