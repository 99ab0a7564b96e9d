"""Basal ganglia: the gate between what was decided and what is done. One focus, one lease per part of the body.

It starts and ends: accepted calls get a lease when they serve the focus and their parts of the body are free; leases
are taken back at their deadline, by a stop, by a newer order, by what is urgent, or by a person who drives by hand.
An objective ends when the sensors say so, when its budget is spent, or when a person ends it; never because the
model says so. What it begins of itself is little: the steps of a recovery playbook, the way to the dock, a look around.

What stops it, and what lets it go on:

- A stop word cancels every open objective and takes every lease back. A new order is needed, or "go on" for what the
  robot wants of itself.
- The latched software stop takes motion leases back and parks every open objective, those that come while it is
  latched included. After its reset they stay parked until a person says "go on" (`world.stop_words`); a new order
  does not wake them, it is served itself.
- A silent process, and a person who drives by hand (teleop, or a skill), park what is open too, but only for as long
  as they last. Teleop takes every lease on what moves; nothing gets one before the hands are off.
- Frustration, conflicts and questions park one objective, and the next has its turn (`gate.recovery`, `gate.tactics`).
- The battery postpones all but the way to the dock (`gate.survival`).
"""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.memory.opening import restored_objectives
from anima.regions.gate.attention import Attention
from anima.regions.gate.by_hand import ByHand
from anima.regions.gate.floor import BY_HAND, OPERATOR, PLANNER, Floor
from anima.regions.gate.hearing import Hearing
from anima.regions.gate.initiative import Initiative
from anima.regions.gate.inner import InnerVoices
from anima.regions.gate.leases import Held, Leases
from anima.regions.gate.objectives import CURIOSITY, PARTS, SURVIVAL, short, tells_of
from anima.regions.gate.playbooks import Playbooks, load_playbooks
from anima.regions.gate.recovery import Recovery
from anima.regions.gate.state import State
from anima.regions.gate.survival import Survival
from anima.regions.gate.tactics import Tactics
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import mind
from anima.types.base import Header
from anima.types.mind import Objectives, Outcome, SkillCall, Utterance, Verdict
from anima.world.stop_words import is_resume, is_stop

SAID_STOP = "the person said stop"
CLOCK_SET_BACK = "the clock was set back"


class BasalGanglia:
    """The gate. `step` is pure in (state, now, inbox); the state can be dumped and loaded."""

    def __init__(self, settings: Settings, playbooks: Playbooks | None = None) -> None:
        """Raises `ConfigError` when `config/gate.yaml`, `config/playbooks.yaml` or the map's names can't be used.

        What was open when the robot was switched off is parked until a person, or its own tension, takes it up again.
        `playbooks` replaces those of the file; without any, a failure is the planner's alone to mend.
        """
        self._floor = Floor(settings)
        self._hand = ByHand(self._floor)
        self._recovery = Recovery(self._floor, load_playbooks() if playbooks is None else playbooks)
        self._tactics = Tactics(self._floor)
        self._attention = Attention(self._floor)
        self._survival = Survival(self._floor, self._recovery)
        self._initiative = Initiative(self._floor)
        self._inner = InnerVoices(self._floor)
        for objective in restored_objectives(settings):
            if objective.source not in (SURVIVAL, CURIOSITY, PARTS):
                self._floor.backlog.add([objective], self._floor.tuning)

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Stops first, then what ended, then what is new, then who may begin."""
        state = self._floor.state
        sent: list[Sent] = []
        if state.now is not None and now < state.now:
            sent += self._end_everything(now, CLOCK_SET_BACK)
            self._forget_times()
        state.now = now
        self._sense(inbox)
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
        for salient in inbox.new(t.SALIENCE):
            sent += self._attention.take(now, salient)
        for conflict in inbox.new(t.CONFLICT):
            sent += self._tactics.take_conflict(now, conflict)
        for forecast in inbox.new(t.FORECAST):
            sent += self._tactics.take_forecast(now, forecast)
        sent += self._watch_deadlines(now)
        for call in inbox.new(t.OPERATOR_CALL):
            sent += self._hand.take(now, call)
        self._attention.watch(now)
        self._park(now)
        self._recovery.watch(now)
        self._survival.arrange(now)
        self._finish_focus(now)
        self._inner.take(now, inbox)
        for tension in inbox.new(t.GOAL_TENSION)[-1:]:
            if not self._inner.holds_back(now):
                self._initiative.take(now, tension)
        self._initiative.watch()
        self._inner.watch(now)
        self._finish_focus(now)
        for verdict in inbox.new(t.VERDICT):
            sent += self._take_verdict(now, verdict)
        sent += self._recovery.begin(now)
        sent += self._survival.begin(now)
        sent += self._begin_deferred(now)
        self._finish_focus(now)
        sent += self._inner.begin(now)
        sent += self._hand.serve(now)
        sent += self._revoke_orphans(now)
        return sent + self._tell(now)

    def _sense(self, inbox: Inbox) -> None:
        state = self._floor.state
        state.world = inbox.last(t.WORLD_STATE) or state.world
        state.stop = inbox.last(t.STOP_STATE) or state.stop
        state.resources = inbox.last(t.RESOURCES) or state.resources
        if len(inbox.new(t.CONDITION)) or len(inbox.new(t.TEMPERAMENT)):
            state.condition = inbox.last(t.CONDITION) or state.condition
            state.temperament = inbox.last(t.TEMPERAMENT) or state.temperament
            self._floor.weigh()

    def _forget_times(self) -> None:
        state = self._floor.state
        state.leases, state.hearing = Leases(), Hearing()
        state.transient_at = state.survival_at = state.refused_at = state.hear_until = None
        state.explored_at, state.forecasts, state.heard_at = [], {}, 0.0

    # --- people ----------------------------------------------------------------------------------

    def _listen(self, now: float, utterance: Utterance) -> list[Sent]:
        floor, state = self._floor, self._floor.state
        if is_stop(utterance.text, floor.robot):
            state.hearing.silence(now, utterance)
            state.hushed = True
            return self._end_everything(now, SAID_STOP)
        state.hearing.hear(utterance)
        self._initiative.drop("a person spoke")
        if is_resume(utterance.text, floor.robot) and not floor.latched:
            state.hushed = False
            for item in floor.backlog.wake("stop", "question", "restart"):
                item.frustration *= floor.tuning.rest_relief
                item.steps, item.avoid = {}, {}
        return []

    def _end_everything(self, now: float, reason: str) -> list[Sent]:
        state = self._floor.state
        state.backlog.end_all("cancelled", reason, self._floor.tuning)
        refused = self._hand.refuse_waiting(now, reason, moving_only=False)
        return [*self._floor.revoke(now, state.leases.held.values(), reason), *refused]

    def _take_objectives(self, now: float, message: Objectives) -> list[Sent]:
        floor, backlog = self._floor, self._floor.backlog
        late = [objective for objective in message.objectives if floor.state.hearing.too_late(objective)]
        wanted = [objective for objective in message.objectives if objective not in late]
        if message.replace and (wanted or not late):
            self._call_off("a new order replaced it" if wanted else "it was called off")
        new = backlog.add(message.objectives, floor.tuning)
        for objective in late:
            found = backlog.find(objective.id)
            if found is not None:
                backlog.end(found, "cancelled", SAID_STOP, floor.tuning)
        orders = [item for item in new if item in backlog.open and item.parked_by == ""]
        if orders and not floor.latched:
            floor.state.hushed = False
        self._survival.make_way(orders)
        self._attention.take_objectives(message)
        return self._revoke_orphans(now)

    def _call_off(self, reason: str) -> None:
        """End what is open; what the robot needs to survive isn't anybody's to call off but by a stop."""
        resources = self._floor.state.resources
        for item in list(self._floor.backlog.open):
            if item.source != SURVIVAL or resources is None or not resources.must_dock:
                self._floor.end(item, "cancelled", reason)

    # --- stops and parking -----------------------------------------------------------------------

    def _halt(self, now: float) -> list[Sent]:
        """While the body is held still, no lease on a part that moves is kept, and no such call waits."""
        floor = self._floor
        reason = floor.latch_reason if floor.latched else floor.out_of_hand
        if not reason:
            return []
        floor.state.hushed = floor.state.hushed or floor.latched
        refused = self._hand.refuse_waiting(now, reason, moving_only=True)
        moving = [held for held in floor.state.leases.held.values() if held.moves]
        return [*floor.revoke(now, moving, reason), *refused]

    def _park(self, now: float) -> None:
        """Set aside what can't be worked on now, and take up again what only waited for the reason to pass."""
        floor, state = self._floor, self._floor.state
        if floor.latched:
            self._initiative.watch()
            state.backlog.park("stop", now, floor.latch_reason)
            return
        reason = floor.out_of_hand or (BY_HAND if self._hand.moves else "")
        if reason:
            state.transient_at = now
            state.backlog.park("moment", now, reason)
        elif state.transient_at is not None and now - state.transient_at < floor.tuning.resume_after_s:
            state.backlog.park("moment", now, "it waits a moment before it goes on")
        else:
            state.transient_at = None
            state.backlog.wake("moment")

    # --- what ended ------------------------------------------------------------------------------

    def _take_outcome(self, now: float, outcome: Outcome) -> None:
        floor = self._floor
        held = floor.state.leases.end(outcome.lease)
        if held is None:
            return
        item = floor.backlog.find(held.call.objective)
        if item is not None:
            item.acted_at = outcome.header.stamp.seconds
        if outcome.success:
            if item is not None and held.call.skill not in ("wait", "stop"):
                item.succeeded(short(held.call), floor.tuning)
                if held.call.source == PLANNER:
                    item.mended()
            if held.call.skill == "say" and held.call.source != PARTS:
                self._was_told(held.call, outcome.header.stamp.seconds)
            return
        failure = Failure(outcome.failure) if outcome.failure in set(Failure) else Failure.UNKNOWN
        failure = Failure.UNKNOWN if failure is Failure.NONE else failure
        if failure is Failure.INTERRUPTED and held.revoked and not held.blameless:
            failure = Failure.TIMEOUT
        if not held.blameless:
            self._blame(now, held, failure, outcome.detail)

    def _blame(self, now: float, held: Held, failure: Failure, detail: str) -> None:
        """Count a failure against its objective, and see what mends it. An interruption costs nothing."""
        floor = self._floor
        item = floor.backlog.find(held.call.objective)
        if item is None:
            return
        if failure is not Failure.INTERRUPTED:
            signature = f"{held.text}: {failure.word}"
            sentence = f"{signature}, {detail}" if detail else signature
            floor.charge(now, item, item.failed(signature, sentence, floor.tuning, floor.budgets), sentence)
        self._recovery.after(now, held, failure)

    def _was_told(self, call: SkillCall, at: float) -> None:
        for item in self._floor.backlog.open:
            told = item.predicate.is_event and tells_of(call, item.predicate.args[0])
            item.happened = item.happened or (told and at >= item.objective.created.seconds)

    def _watch_deadlines(self, now: float) -> list[Sent]:
        """Take back what overstays, and give up on a skill that doesn't answer though its lease was taken back."""
        floor, state = self._floor, self._floor.state
        sent: list[Sent] = []
        for held in list(state.leases.held.values()):
            if held.revoked and now - held.revoked_at >= floor.tuning.settle_s:
                state.leases.end(held.lease.id)
                if not held.blameless:
                    self._blame(now, held, Failure.HARDWARE_FAULT, "it never said how it ended")
            elif now >= held.lease.deadline.seconds + floor.tuning.deadline_grace_s:
                sent += floor.revoke(now, [held], "timeout", blameless=False)
        return sent

    def _revoke_orphans(self, now: float) -> list[Sent]:
        """Take back the leases of what has ended, and of the body for what is no longer worked on."""
        floor = self._floor
        sent: list[Sent] = []
        for held in list(floor.state.leases.held.values()):
            if held.call.source in (OPERATOR, PARTS) or held.revoked:
                continue
            item = floor.backlog.find(held.call.objective)
            if item is None:
                sent += floor.revoke(now, [held], "what it served has ended")
            elif held.moves and item.state == "parked":
                sent += floor.revoke(now, [held], item.objective.reason)
            elif held.moves and item.state == "pending" and floor.backlog.focus is not None:
                sent += floor.revoke(now, [held], f"{floor.backlog.focus.objective.condition} comes first")
        return sent

    def _finish_focus(self, now: float) -> None:
        """End the focus when the sensors say that it is reached and its skills are over, and give it to the next."""
        floor, backlog = self._floor, self._floor.backlog
        focus = backlog.choose()
        while focus is not None and floor.is_reached(now, focus) and not floor.state.leases.of_objective(focus.id):
            reason = "it was so already" if focus.calls == 0 else "the sensors say so"
            if focus.predicate.is_event:
                reason = "the person was told"
            floor.end(focus, "done", reason)
            focus = backlog.choose()

    # --- what begins -----------------------------------------------------------------------------

    def _take_verdict(self, now: float, verdict: Verdict) -> list[Sent]:
        floor, state = self._floor, self._floor.state
        call = verdict.call.model_copy(update={"source": PLANNER})
        if not floor.is_new(call):
            return []
        self._attention.take_verdict(verdict)
        item = floor.backlog.find(call.objective)
        if item is None:
            return []
        if not verdict.accepted:
            floor.charge(now, item, item.refused(call, verdict.reason, floor.tuning), "")
            return []
        state.deferred, state.deferred_at = call, now
        return self._begin_deferred(now)

    def _begin_deferred(self, now: float) -> list[Sent]:
        """Grant the accepted call, or say why not, once the sensors have had their say on what was done before it.

        A planner that answers an outcome faster than the world is looked at would else act on, though it is done. A
        person is heard first, and a forecast may speak against it; none of these is waited for without an end.
        """
        floor, state = self._floor, self._floor.state
        call = state.deferred
        item = None if call is None else state.backlog.find(call.objective)
        if call is None or item is None:
            state.deferred = None
            return []
        if item is state.backlog.focus and (
            floor.is_undecided(now, item) or floor.is_hearing or self._tactics.waits_for_forecast(now)
        ):
            return []
        state.deferred = None
        if not self._tactics.admits(now, item, call):
            return []
        spent = item.overdrawn(floor.tuning, floor.budgets)
        if spent is not None:
            floor.charge(now, item, spent, "")
            return []
        item.calls += 1
        item.refusals = 0
        item.next_call = ""
        return [t.LEASE.of(state.leases.grant(now, call))]

    # --- telling ---------------------------------------------------------------------------------

    def _tell(self, now: float) -> list[Sent]:
        state, backlog = self._floor.state, self._floor.backlog
        focus = backlog.focus
        items = (*backlog.finished, *backlog.open)
        why = backlog.why
        told = [f"{item.id}\n{item.state}\n{item.objective.reason}" for item in items]
        told += [why, *(() if focus is None else (focus.recovery, *focus.told))]
        if told == state.told and 0.0 <= now - state.told_at < self._floor.tuning.repeat_s:
            return []
        state.told, state.told_at = told, now
        message = mind.Backlog(
            header=Header.at(now),
            objectives=[item.objective for item in items],
            focus="" if focus is None else focus.id,
            why=why,
            failures=[] if focus is None else list(focus.told),
            recovery="" if focus is None else focus.recovery,
        )
        return [t.BACKLOG.of(message)]

    def why(self) -> str:
        """One sentence: the focus and its reason, and what holds the body."""
        running = "; ".join(
            f"{held.text} {'is being ended: ' + held.revoked if held.revoked else held.phase or 'begins'}"
            for held in self._floor.state.leases.held.values()
        )
        return self._floor.backlog.why + (f" ({running})" if running else "")

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return self._floor.state.model_dump(mode="json")

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any], playbooks: Playbooks | None = None) -> BasalGanglia:
        """A gate that goes on from a dumped state."""
        gate = cls(settings, playbooks)
        gate._floor.state = State.model_validate(data)
        gate._floor.weigh()
        return gate
