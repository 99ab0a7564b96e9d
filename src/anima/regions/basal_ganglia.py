"""Basal ganglia: the gate between what was decided and what is done. One focus, one lease per part of the body.

It starts and ends, and never invents: accepted calls get a lease when they serve the focus and their parts of the body
are free; leases are taken back at their deadline, by a stop, by a newer order, or by a person who drives by hand.
An objective ends when the sensors say so, when its budget is spent, or when a person ends it; never because the
model says so.

What stops it, and what lets it go on:

- A stop word cancels every open objective and takes every lease back. A new order is needed.
- The latched software stop takes motion leases back and parks every open objective, those that come while it is
  latched included. After its reset they stay parked until a person says "go on" (`world.stop_words`); a new order
  does not wake them, it is served itself.
- A silent process, and a person who drives by hand, park what is open too, but only for as long as they last.
"""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.planner.validate import validate
from anima.regions.gate.config import load_gate
from anima.regions.gate.hearing import Hearing
from anima.regions.gate.leases import MOTION, Held, Leases, resources_of
from anima.regions.gate.objectives import Item, is_done, tells_of
from anima.regions.gate.state import State
from anima.runtime.component import Inbox
from anima.skills.registry import SKILLS, render
from anima.topics import Sent
from anima.types import mind
from anima.types.base import Header
from anima.types.mind import Objectives, Outcome, SkillCall, Utterance, Verdict
from anima.world.predicates import holds
from anima.world.stop_words import is_resume, is_stop

SAID_STOP = "the person said stop"
CLOCK_SET_BACK = "the clock was set back"
OPERATOR = "operator"
PLANNER = "planner"
_IDS_KEPT = 200


class BasalGanglia:
    """The gate. `step` is pure in (state, now, inbox); the state can be dumped and loaded."""

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/gate.yaml` or the map's names can't be used."""
        self._tuning = load_gate()
        self._names = known_names(settings)
        self._robot = settings.robot
        self._state = State()

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Stops first, then what ended, then what is new, then who may begin."""
        state = self._state
        sent: list[Sent] = []
        if state.now is not None and now < state.now:
            sent += self._end_everything(now, CLOCK_SET_BACK)
            state.leases, state.hearing, state.transient_at = Leases(), Hearing(), None
        state.now = now
        state.world = inbox.last(t.WORLD_STATE) or state.world
        state.stop = inbox.last(t.STOP_STATE) or state.stop
        for utterance in inbox.new(t.UTTERANCE):
            sent += self._listen(now, utterance)
        for outcome in inbox.new(t.OUTCOME):
            self._take_outcome(now, outcome)
        for message in inbox.new(t.OBJECTIVES):
            sent += self._take_objectives(now, message)
        for feedback in inbox.new(t.SKILL_FEEDBACK):
            if feedback.lease in state.leases.held:
                state.leases.held[feedback.lease].phase = feedback.phase
        sent += self._halt(now)
        sent += self._watch_deadlines(now)
        for call in inbox.new(t.OPERATOR_CALL):
            sent += self._take_operator(now, call)
        self._park(now)
        self._finish_focus(now)
        for verdict in inbox.new(t.VERDICT):
            sent += self._take_verdict(now, verdict)
        sent += self._begin_deferred(now)
        sent += self._serve_waiting(now)
        sent += self._revoke_orphans(now)
        return sent + self._tell(now)

    # --- people ----------------------------------------------------------------------------------

    def _listen(self, now: float, utterance: Utterance) -> list[Sent]:
        state = self._state
        if is_stop(utterance.text, self._robot):
            state.hearing.silence(now, utterance)
            return self._end_everything(now, SAID_STOP)
        state.hearing.hear(utterance)
        if is_resume(utterance.text, self._robot) and not self._latched:
            state.backlog.wake(said=True)
        return []

    def _end_everything(self, now: float, reason: str) -> list[Sent]:
        state = self._state
        state.backlog.end_all("cancelled", reason, self._tuning)
        refused = [self._refusal(now, call, Failure.INTERRUPTED, reason) for call in state.waiting]
        state.waiting = []
        return [*self._revoke(now, list(state.leases.held.values()), reason), *refused]

    def _take_objectives(self, now: float, message: Objectives) -> list[Sent]:
        backlog = self._state.backlog
        late = [objective for objective in message.objectives if self._state.hearing.too_late(objective)]
        wanted = [objective for objective in message.objectives if objective not in late]
        if message.replace and (wanted or not late):
            backlog.end_all("cancelled", "a new order replaced it" if wanted else "it was called off", self._tuning)
        backlog.add(message.objectives, self._tuning)
        for objective in late:
            found = backlog.find(objective.id)
            if found is not None:
                backlog.end(found, "cancelled", SAID_STOP, self._tuning)
        return self._revoke_orphans(now)

    def _take_operator(self, now: float, call: SkillCall) -> list[Sent]:
        """A person's call: through the same door as the planner's, and then before it."""
        state = self._state
        if call.id in state.calls:
            return []
        state.calls = [*state.calls, call.id][-_IDS_KEPT:]
        if state.world is None:
            return [self._refusal(now, call, Failure.PRECONDITION_UNMET, "nothing is known of the world yet")]
        # Who drives by hand serves no objective, whatever the call says.
        call = call.model_copy(update={"source": OPERATOR, "objective": ""})
        verdict = validate(call, state.world, self._names)
        if not verdict.accepted:
            return [t.OPERATOR_VERDICT.of(verdict)]
        call = verdict.call
        wanted = resources_of(call.skill)
        if wanted & MOTION and self._latched:
            return [self._refusal(now, call, Failure.PRECONDITION_UNMET, self._latch_reason)]
        sent = [t.OPERATOR_VERDICT.of(verdict)]
        older = [other for other in state.waiting if resources_of(other.skill) & wanted]
        for other in older:
            state.waiting.remove(other)
            reason = f"{render(call.skill, call.arguments)} was asked for before it could begin"
            sent.append(self._refusal(now, other, Failure.RESOURCE_DENIED, reason))
        state.waiting.append(call)
        return [*sent, *self._revoke(now, state.leases.holders(wanted), "a person drives by hand")]

    def _serve_waiting(self, now: float) -> list[Sent]:
        state = self._state
        sent: list[Sent] = []
        for call in list(state.waiting):
            if not state.leases.holders(resources_of(call.skill)):
                state.waiting.remove(call)
                sent.append(t.LEASE.of(state.leases.grant(now, call)))
        return sent

    def _refusal(self, now: float, call: SkillCall, failure: Failure, reason: str) -> Sent:
        verdict = Verdict(
            header=Header.at(now), call=call, accepted=False, correction="", failure=failure, reason=reason, repair=""
        )
        return t.OPERATOR_VERDICT.of(verdict)

    # --- stops and parking -----------------------------------------------------------------------

    @property
    def _latched(self) -> bool:
        return self._state.stop is not None and self._state.stop.latched

    @property
    def _latch_reason(self) -> str:
        assert self._state.stop is not None
        return f"the software stop was latched by {self._state.stop.source or 'somebody'}"

    @property
    def _process_silent(self) -> bool:
        return self._state.stop is not None and "process_silent" in self._state.stop.active

    def _halt(self, now: float) -> list[Sent]:
        """While the body is held still, no lease on a part that moves is kept, and no such call waits."""
        state = self._state
        if not self._latched and not self._process_silent:
            return []
        reason = self._latch_reason if self._latched else "a process of the robot gives no sign of life"
        refused = []
        for call in list(state.waiting):
            if resources_of(call.skill) & MOTION:
                state.waiting.remove(call)
                refused.append(self._refusal(now, call, Failure.INTERRUPTED, reason))
        moving = [held for held in state.leases.held.values() if held.moves]
        return [*self._revoke(now, moving, reason), *refused]

    def _park(self, now: float) -> None:
        """Set aside what can't be worked on now, and take up again what only waited for the reason to pass."""
        state = self._state
        if self._latched:
            state.backlog.park(self._latch_reason, until_said=True)
            return
        reason = self._transient_reason()
        if reason:
            state.transient_at = now
            state.backlog.park(reason, until_said=False)
        elif state.transient_at is not None and now - state.transient_at < self._tuning.resume_after_s:
            state.backlog.park("it waits a moment before it goes on", until_said=False)
        else:
            state.transient_at = None
            state.backlog.wake(said=False)

    def _transient_reason(self) -> str:
        if self._process_silent:
            return "a process of the robot gives no sign of life"
        state = self._state
        by_hand = any(resources_of(call.skill) & MOTION for call in state.waiting) or any(
            held.moves and held.call.source == OPERATOR for held in state.leases.held.values()
        )
        return "a person drives by hand" if by_hand else ""

    def _revoke(self, now: float, helds: list[Held], reason: str, *, blameless: bool = True) -> list[Sent]:
        revoked = (self._state.leases.revoke(now, held, reason, blameless=blameless) for held in helds)
        return [t.LEASE.of(lease) for lease in revoked if lease is not None]

    # --- what ended ------------------------------------------------------------------------------

    def _take_outcome(self, now: float, outcome: Outcome) -> None:
        held = self._state.leases.end(outcome.lease)
        if held is None:
            return
        item = self._state.backlog.find(held.call.objective)
        if item is not None:
            item.acted_at = outcome.header.stamp.seconds
        if outcome.success:
            if held.call.skill == "say":
                self._was_told(held.call, outcome.header.stamp.seconds)
            return
        failure = Failure(outcome.failure) if outcome.failure in set(Failure) else Failure.UNKNOWN
        if failure is Failure.INTERRUPTED and held.revoked and not held.blameless:
            failure = Failure.TIMEOUT
        if not held.blameless and failure is not Failure.INTERRUPTED:
            self._blame(held, failure, outcome.detail)

    def _blame(self, held: Held, failure: Failure, detail: str) -> None:
        state = self._state
        item = state.backlog.find(held.call.objective)
        if item is None:
            return
        signature = f"{held.text}: {failure.word}"
        sentence = f"{signature}, {detail}" if detail else signature
        spent = item.failed(signature, sentence, self._tuning)
        if spent and not (state.world is not None and holds(item.predicate, state.world)):
            state.backlog.end(item, "failed", f"{sentence}; {spent}", self._tuning)

    def _was_told(self, call: SkillCall, at: float) -> None:
        for item in self._state.backlog.open:
            told = item.predicate.is_event and tells_of(call, item.predicate.args[0])
            item.happened = item.happened or (told and at >= item.objective.created.seconds)

    def _watch_deadlines(self, now: float) -> list[Sent]:
        """Take back what overstays, and give up on a skill that doesn't answer though its lease was taken back."""
        state = self._state
        sent: list[Sent] = []
        for held in list(state.leases.held.values()):
            if held.revoked and now - held.revoked_at >= self._tuning.settle_s:
                state.leases.end(held.lease.id)
                self._blame(held, Failure.HARDWARE_FAULT, "it never said how it ended")
            elif now >= held.lease.deadline.seconds + self._tuning.deadline_grace_s:
                sent += self._revoke(now, [held], "timeout", blameless=False)
        return sent

    def _revoke_orphans(self, now: float) -> list[Sent]:
        """Take back the leases of what has ended."""
        state = self._state
        orphans = [
            held
            for held in state.leases.held.values()
            if held.call.source == PLANNER and state.backlog.find(held.call.objective) is None
        ]
        return self._revoke(now, orphans, "what it served has ended")

    def _is_reached(self, now: float, item: Item) -> bool:
        return self._state.world is not None and is_done(now, item, self._state.world, self._tuning.stable_s)

    def _finish_focus(self, now: float) -> None:
        """End the focus when the sensors say that it is reached and its skills are over, and give it to the next."""
        state = self._state
        focus = state.backlog.choose()
        while focus is not None and self._is_reached(now, focus) and not state.leases.of_objective(focus.id):
            reason = "it was so already" if focus.calls == 0 else "the sensors say so"
            if focus.predicate.is_event:
                reason = "the person was told"
            state.backlog.end(focus, "done", reason, self._tuning)
            focus = state.backlog.choose()

    # --- what begins -----------------------------------------------------------------------------

    def _take_verdict(self, now: float, verdict: Verdict) -> list[Sent]:
        state = self._state
        call = verdict.call.model_copy(update={"source": PLANNER})
        if call.id in state.calls:
            return []
        state.calls = [*state.calls, call.id][-_IDS_KEPT:]
        item = state.backlog.find(call.objective)
        if item is None:
            return []
        if not verdict.accepted:
            spent = item.refused(call, verdict.reason, self._tuning)
            if spent:
                state.backlog.end(item, "failed", spent, self._tuning)
            return []
        state.deferred = call
        return self._begin_deferred(now)

    def _begin_deferred(self, now: float) -> list[Sent]:
        """Grant the accepted call, or say why not, once the sensors have had their say on what was done before it.

        A planner that answers an outcome faster than the world is looked at would else act on, though it is done.
        """
        state = self._state
        call = state.deferred
        item = None if call is None else state.backlog.find(call.objective)
        if call is None or item is None:
            state.deferred = None
            return []
        if item is state.backlog.focus and self._undecided(now, item):
            return []
        state.deferred = None
        denied = self._denied(item, call)
        if denied:
            item.remember(f"{render(call.skill, call.arguments)}: not begun, {denied}", self._tuning.failures_told)
            return []
        if item.calls >= self._tuning.calls_per_objective:
            reason = f"{item.calls} calls were made for it and it is still not reached"
            state.backlog.end(item, "failed", reason, self._tuning)
            return []
        item.calls += 1
        item.refusals = 0
        return [t.LEASE.of(state.leases.grant(now, call))]

    def _undecided(self, now: float, item: Item) -> bool:
        """Whether the sensors haven't yet shown what the last call came to, or are about to say that it is done."""
        if item.holds_since is not None:
            return True
        world = self._state.world
        looked = world is not None and item.acted_at is not None and world.header.stamp.seconds >= item.acted_at
        return item.acted_at is not None and not looked and now - item.acted_at < self._tuning.look_s

    def _denied(self, item: Item, call: SkillCall) -> str:
        """Why an accepted call gets no lease now, or empty."""
        focus = self._state.backlog.focus
        if call.skill not in SKILLS:
            return f"there is no skill {call.skill}"
        if item is not focus:
            return f"its objective is {item.objective.reason or item.state}, not in focus"
        wanted = resources_of(call.skill)
        if wanted & MOTION and (self._latched or self._process_silent):
            return "the body is held still"
        holders = self._state.leases.holders(wanted)
        if holders:
            return f"{', '.join(sorted(holders[0].resources & wanted))} is held by {holders[0].text}"
        return ""

    # --- telling ---------------------------------------------------------------------------------

    def _tell(self, now: float) -> list[Sent]:
        state = self._state
        focus = state.backlog.focus
        message = mind.Backlog(
            header=Header.at(0.0),
            objectives=[item.objective for item in (*state.backlog.finished, *state.backlog.open)],
            focus="" if focus is None else focus.id,
            why=state.backlog.why,
            failures=[] if focus is None else list(focus.told),
        )
        text = message.model_dump_json()
        if text == state.told and now - state.told_at < self._tuning.repeat_s and now >= state.told_at:
            return []
        state.told, state.told_at = text, now
        return [t.BACKLOG.of(message.model_copy(update={"header": Header.at(now)}))]

    def why(self) -> str:
        """One sentence: the focus and its reason, and what holds the body."""
        running = "; ".join(
            f"{held.text} {'is being ended: ' + held.revoked if held.revoked else held.phase or 'begins'}"
            for held in self._state.leases.held.values()
        )
        return self._state.backlog.why + (f" ({running})" if running else "")

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return self._state.model_dump(mode="json")

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> BasalGanglia:
        """A gate that goes on from a dumped state."""
        gate = cls(settings)
        gate._state = State.model_validate(data)
        return gate
