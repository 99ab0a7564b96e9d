"""The gate with and without what the thalamus, the amygdala, the conflict monitor and the insula tell it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from support.gate_rig import SETTINGS, Bench, accepted, call, objective, objectives, world
from support.glue_rig import go_to, outcome, reflex

from anima import topics as t
from anima.failure import Failure
from anima.regions.acc import ConflictMonitor
from anima.regions.amygdala import Amygdala
from anima.regions.insula import Insula
from anima.regions.thalamus import Thalamus
from anima.runtime.component import Component, Inbox
from anima.topics import Sent
from anima.types.mind import Lease, SkillCall
from anima.world.state import facts_of

BRING = objective("o1", "at(red_cube, shelf)")


class Loop(Bench):
    """A gate, regions beside it that hear it and that it hears, and a body that does every call in half a second."""

    def __init__(self, *regions: Component) -> None:
        super().__init__()
        self.regions = [(region, Inbox()) for region in regions]
        self.begun: list[str] = []
        self.ended: list[Lease] = []
        self.place = "corridor"

    def step(self, *sent: Sent) -> list[Lease]:
        """One tick of everything: first the regions, then the gate with what they say."""
        value: Any = world(self.now + 0.1, place=self.place).value
        messages = [*sent, t.WORLD_STATE.of(value.model_copy(update={"facts": facts_of(value)}))]
        self._tell(messages)
        said: list[Sent] = []
        for region, inbox in self.regions:
            new = region.step(self.now + 0.1, inbox)
            inbox.clear()
            self._tell(new)
            said += new
        leases = self.tick(*messages, *said, look=False)
        self._tell([t.LEASE.of(lease) for lease in leases])
        if self.backlog is not None:
            self._tell([t.BACKLOG.of(self.backlog)])
        self.begun += [lease.call.skill for lease in leases if lease.granted]
        self.ended += [lease for lease in leases if not lease.granted]
        return leases

    def _tell(self, messages: Iterable[Sent]) -> None:
        for message in messages:
            for _, inbox in self.regions:
                inbox.deliver(message)

    def steps(self, seconds: float) -> list[Lease]:
        """Nothing new comes from outside for a while."""
        return [lease for _ in range(round(seconds / 0.1)) for lease in self.step()]

    def propose(self, made: SkillCall, failure: Failure = Failure.NONE, place: str = "") -> bool:
        """The planner proposes a call, which is done in half a second if it may begin; whether it began."""
        leases = [*self.step(accepted(self.now, made)), *self.steps(1.0)]
        granted = [lease for lease in leases if lease.granted and lease.call.id == made.id]
        if not granted:
            return False
        self.steps(0.5)
        self.place = place or self.place
        self.step(outcome(self.now + 0.1, made, failure, lease=granted[0].id))
        self.steps(1.0)
        return True


def drives_to_and_fro(loop: Loop, tries: int) -> int:
    """A planner that can't think of anything but driving to and fro: how many of its drives begin."""
    loop.step(objectives(loop.now, BRING))
    begun = 0
    for n in range(tries):
        place = ("shelf", "kitchen_table")[n % 2]
        begun += loop.propose(go_to(f"c{n}", place), place=place)
    return begun


def test_going_to_and_fro_ends_within_four_calls_when_conflict_is_monitored() -> None:
    assert drives_to_and_fro(Loop(), 12) == 12
    assert drives_to_and_fro(Loop(ConflictMonitor(SETTINGS)), 12) <= 4


def test_after_another_tactic_has_worked_what_led_nowhere_may_be_tried_again() -> None:
    loop = Loop(ConflictMonitor(SETTINGS))
    drives_to_and_fro(loop, 5)
    assert not loop.propose(go_to("again", "shelf"))
    assert loop.propose(call("look", "look_for", object="red_cube"), place="office")
    assert loop.propose(go_to("then", "shelf"), place="shelf")


def tries_until_set_aside(loop: Loop) -> int:
    """Dead end after dead end: how many calls until the objective is set aside."""
    loop.step(objectives(loop.now, BRING))
    for n, place in enumerate(["shelf", "kitchen_table", "desk", "office", "kitchen", "living_room", "corridor"]):
        if not loop.propose(go_to(f"c{n}", place), Failure.CONSTRAINT_PREVENTED) or loop.state_of("o1") != "focused":
            return n
    return 99


def worn_out() -> Loop:
    """A robot that has had a bad morning, with an insula that felt it."""
    loop = Loop(Insula(SETTINGS))
    for n in range(30):
        loop.step(reflex(loop.now, "stall"))
        loop.step(outcome(loop.now, call(f"x{n}", "dock", objective="another"), Failure.STALLED))
    loop.steps(2.0)
    return loop


def test_dead_ends_set_an_objective_aside_sooner_under_strain() -> None:
    rested, worn = tries_until_set_aside(Loop(Insula(SETTINGS))), tries_until_set_aside(worn_out())
    assert worn < rested


def bumps_until_the_drive_ends(loop: Loop) -> int:
    """Touch after touch while it drives: how many until the drive is broken off, 99 for never."""
    loop.step(objectives(loop.now, BRING))
    loop.step(accepted(loop.now, go_to("c1", "shelf")))
    loop.steps(1.0)
    assert loop.begun == ["go_to"]
    for n in range(1, 7):
        loop.step(reflex(loop.now, "bumper"))
        loop.steps(2.0)
        if loop.ended:
            return n
    return 99


def test_a_drive_that_touches_again_and_again_is_broken_off_when_salience_is_felt() -> None:
    assert bumps_until_the_drive_ends(Loop()) == 99
    assert bumps_until_the_drive_ends(Loop(Thalamus(SETTINGS))) == 99
    assert 2 <= bumps_until_the_drive_ends(Loop(Thalamus(SETTINGS), Amygdala(SETTINGS))) <= 5


def test_a_flood_of_events_weighs_no_more_than_a_few_when_the_thalamus_stands_before_it() -> None:
    loop = Loop(Thalamus(SETTINGS), Amygdala(SETTINGS))
    told: list[Sent] = []
    thalamus, inbox = loop.regions[0]
    for _ in range(600):
        inbox.deliver(reflex(loop.now, "obstacle"))
        loop.now += 0.1
        told += thalamus.step(loop.now, inbox)
        inbox.clear()
    assert 1 <= len(told) < 10
