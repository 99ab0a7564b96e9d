"""What salience does to execution: a running call is interrupted, and a person is heard before a loop goes on."""

from __future__ import annotations

from collections.abc import Sequence

from anima.regions.gate.floor import OPERATOR, Floor
from anima.regions.gate.leases import Held
from anima.regions.gate.objectives import SURVIVAL
from anima.topics import Sent
from anima.types.glue import Salient
from anima.types.mind import Objectives, Verdict

UTTERANCE = "utterance"
PEOPLE_AND_REFLEX = frozenset({UTTERANCE, "teleop", "stop", "reflex", "process_silent", "sensor_silent"})
"""Kinds of events that interrupt even the way to the dock."""
_KEPT = 50


class Attention:
    """Interrupts of execution. Those of deliberation are the planner's."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def take(self, now: float, salient: Salient) -> list[Sent]:
        """Take back what runs when the event says so. What began after the event, or is what it tells of, goes on."""
        floor, event = self._floor, salient.event
        if event.kind == UTTERANCE and salient.interrupts != "none":
            self._listen(now, event.because)
        if salient.interrupts != "execution":
            return []
        at = event.header.stamp.seconds
        helds = [held for held in floor.state.leases.held.values() if self._ends(held, at, salient)]
        return floor.revoke(now, helds, salient.why or event.text)

    def _ends(self, held: Held, at: float, salient: Salient) -> bool:
        if held.call.source == OPERATOR or held.lease.header.stamp.seconds > at:
            return False
        item = self._floor.backlog.find(held.call.objective)
        survives = item is not None and item.source == SURVIVAL
        return not survives or salient.event.kind in PEOPLE_AND_REFLEX

    def _listen(self, now: float, utterances: Sequence[str]) -> None:
        state = self._floor.state
        if not set(utterances) & set(state.answered):
            state.hear_until = now + self._floor.tuning.hear_s
            state.heard_at = now

    def take_objectives(self, message: Objectives) -> None:
        """What was said has led to something."""
        state = self._floor.state
        state.answered = [*state.answered, *(objective.source for objective in message.objectives)][-_KEPT:]
        state.hear_until = None

    def take_verdict(self, verdict: Verdict) -> None:
        """The planner serves people first: a call that it proposed after the words has taken them in."""
        if verdict.call.header.stamp.seconds > self._floor.state.heard_at:
            self._floor.state.hear_until = None

    def watch(self, now: float) -> None:
        """Nobody waits for an answer for ever."""
        state = self._floor.state
        if state.hear_until is not None and now >= state.hear_until:
            state.hear_until = None
