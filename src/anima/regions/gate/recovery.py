"""Runs the recovery playbooks: after a failure the next step, which is a call of the gate's own, a hint or an end."""

from __future__ import annotations

from collections.abc import Sequence

from anima import topics as t
from anima.failure import Failure
from anima.planner.calls import parse_call
from anima.planner.validate import validate
from anima.regions.gate.floor import PLAYBOOK, QUESTION, Floor
from anima.regions.gate.leases import Held, resources_of
from anima.regions.gate.objectives import Item, Parked, short
from anima.regions.gate.playbooks import Playbooks, Step
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import SkillCall

_RESTED: tuple[Parked, ...] = ("rest", "question")


class Recovery:
    """The playbooks at work. Their calls pass the validator and take leases like the planner's."""

    def __init__(self, floor: Floor, playbooks: Playbooks) -> None:
        self._floor = floor
        self._playbooks = playbooks

    def after(self, now: float, held: Held, failure: Failure) -> None:
        """A call for the objective in focus failed: take the next step of the playbook."""
        floor = self._floor
        item = floor.backlog.find(held.call.objective)
        if item is None or item is not floor.backlog.focus:
            return
        if held.call.source == PLAYBOOK and item.recovering:
            failure = Failure(item.recovering)  # the recovery failed, what it was for is still to be mended
        book = self._playbooks.get(failure)
        if book is None:
            return
        for _ in range(book.length):
            taken = item.steps.get(failure, 0)
            item.steps = {**item.steps, int(failure): taken + 1}
            if self._take(now, item, held, failure, book.step(taken)):
                return

    def _take(self, now: float, item: Item, held: Held, failure: Failure, step: Step) -> bool:
        """Take a step, if it can do anything here."""
        floor, tuning = self._floor, self._floor.tuning
        world = floor.state.world
        call = ""
        if step.do == "rescan":
            thing = self._thing(item, held)
            if not thing or world is None or world.holding == thing:
                return False
            call = f"look_for({thing})"
        elif step.do == "relocalize" and (world is None or world.localized):
            return False
        elif step.do == "relocalize":
            call = "relocalize()"
        elif step.do == "back_off":
            call = f"wait({step.wait_s:g})"
        item.recovering, item.next_call = int(failure), call
        item.mends = item.mends if held.call.source == PLAYBOOK and item.mends else held.call.id
        item.recovery = f"after {failure.word}: {step.do}"
        if step.do != "retry":
            item.remember(item.recovery + (f", {call}" if call else ""), tuning.failures_told)
            if item.recovery not in item.recoveries:
                item.recoveries = [*item.recoveries, item.recovery]
        item.become(item.state, item.recovery)
        what = f"{held.text} ended with {failure.word}"
        if step.do == "change_method":
            item.forbid(short(held.call), now + tuning.avoid_s, f"change method: {what}")
        elif step.do == "ask":
            floor.ask(now, item, what)
        elif step.do == "abandon":
            floor.end(item, "failed", f"{what}, and nothing that mends it is left to try")
        return True

    def _thing(self, item: Item, held: Held) -> str:
        """The object that the failed call, or else the objective, is about."""
        objects = self._floor.names.objects
        named = [name for name in objects if f'"{name}"' in held.call.arguments]
        return next(iter([*named, *(arg for arg in item.predicate.args if arg in objects)]), "")

    def begin(self, now: float) -> list[Sent]:
        """Begin the call that the playbook wants, once the world was looked at and the body is free."""
        floor = self._floor
        item = floor.backlog.focus
        if item is None or not item.next_call:
            return []
        because = [item.mends] if item.mends else []
        sent, waits = self.issue(now, item, item.next_call, PLAYBOOK, because)
        if not waits:
            item.next_call = ""
        return sent

    def issue(
        self, now: float, item: Item, text: str, source: str, because: Sequence[str]
    ) -> tuple[list[Sent], bool]:
        """Lease a call of the gate's own for the objective in focus; whether it must wait for that. `because` holds
        ids of what it is made from, besides the objective."""
        floor, state = self._floor, self._floor.state
        skill, arguments = parse_call(text, floor.names)
        held_still = floor.latched or floor.out_of_hand != "" or floor.is_hearing
        if state.world is None or held_still or floor.is_undecided(now, item):
            return [], True
        if state.leases.of_objective(item.id) or state.leases.holders(resources_of(skill)):
            return [], True
        call = SkillCall(
            header=Header.at(now), id=f"{item.id}-own-{state.own_calls + 1}", skill=skill, arguments=arguments,
            objective=item.id, source=source, because=[item.id, *because],
        )
        verdict = validate(call, state.world, floor.names)
        if not verdict.accepted:
            item.remember(f"{text}: not begun, {verdict.reason}", floor.tuning.failures_told)
            return [], False
        spent = item.overdrawn(floor.tuning, floor.budgets)
        if spent is not None:
            floor.charge(now, item, spent, "")
            return [], False
        state.own_calls += 1
        item.calls += 1
        return [t.LEASE.of(state.leases.grant(now, verdict.call))], False

    def watch(self, now: float) -> None:
        """What rested comes back; a question that nobody answers ends what it was about."""
        floor = self._floor
        for item in list(floor.backlog.open):
            if item.parked_by not in _RESTED:
                continue
            if item.parked_by == "rest" and now - item.parked_at >= floor.tuning.rest_s:
                item.wake()
            elif item.parked_by == "question" and now - item.parked_at >= floor.tuning.answer_s:
                floor.end(item, "failed", f"{item.objective.reason.removesuffix(QUESTION)}; nobody answered")
