"""Planner and gate together, on a symbolic flat where things go wrong: orders, chatter, failures, a stop in the middle.

Whatever the model chooses among what it is offered: one call at a time, no refused call, every objective ends.
"""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.scripted_model import Answer, ScriptedModel

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Completion, Request
from anima.planner.prefrontal import PrefrontalPlanner
from anima.regions.basal_ganglia import BasalGanglia
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import (
    Backlog,
    Lease,
    ObjectState,
    Outcome,
    SkillCall,
    SkillFeedback,
    Speech,
    Utterance,
    Verdict,
    WorldState,
)
from anima.types.std import Point, Pose, Vector3
from anima.world.state import facts_of

NAMES = known_names(Settings())
STEP_S = 0.1
ORDERS = {
    "bring me the red cube": "bring(red_cube, person)",
    "put the orange ball on the shelf": "bring(orange_ball, shelf)",
    "where is the cyan cube?": "find(cyan_cube)",
    "go to the office and come back to me": "go(office) go(person)",
    "pick up the green cube": "hold(green_cube)",
    "go charge": "charge()",
    "take the red cube and the cyan cube to the shelf": "bring(red_cube, shelf) bring(cyan_cube, shelf)",
}


class Flat:
    """The flat as facts only: leased calls take half a second, and fail as often as `failing` says."""

    def __init__(self, luck: random.Random, failing: float) -> None:
        self.luck, self.failing = luck, failing
        self.place, self.holding, self.near = "", "", ""
        spots = [s for s in NAMES.surfaces if s not in NAMES.holders]
        self.lies = {name: luck.choice(spots) for name in NAMES.objects if luck.random() < 0.8}
        self.seen: set[str] = set()
        self.running: tuple[Lease, float] | None = None
        self.most_at_once = 0

    def state(self, now: float) -> WorldState:
        def thing(name: str) -> ObjectState:
            place = "gripper" if name == self.holding else self.lies[name]
            near = name in (self.near, self.holding)
            return ObjectState(
                name=name, colour=name.split("_")[0], shape=name.split("_")[1], status="confirmed",
                position=Point(x=0.39 if near else 4.0, y=0.0, z=0.42), yaw=0.0,
                size=Vector3(x=0.04, y=0.04, z=0.04), place=place, last_seen=Time.at(now), confidence=0.9,
            )

        room = self.place if self.place in NAMES.rooms else NAMES.surface_rooms.get(self.place, "living_room")
        state = WorldState(
            header=Header.at(now, "map"), robot=Pose(), room=room,
            place=self.place if self.place not in NAMES.rooms else "", holding=self.holding,
            docked=self.place == "dock", battery=0.8, stopped=False, localized=True,
            objects=[thing(name) for name in sorted(self.seen)], surfaces=[], facts=[],
        )
        return state.model_copy(update={"facts": facts_of(state)})

    def step(self, now: float, leases: list[Lease]) -> list[Sent]:
        sent: list[Sent] = []
        for lease in leases:
            if lease.granted:
                self.most_at_once = max(self.most_at_once, 1 + (self.running is not None))
                self.running = (lease, now + 0.5)
                sent.append(t.SKILL_FEEDBACK.of(feedback(now, lease)))
            elif self.running is not None and self.running[0].id == lease.id:
                sent.append(self._end(now, lease, Failure.INTERRUPTED))
        if self.running is not None and now >= self.running[1]:
            lease = self.running[0]
            bad = self.luck.random() < self.failing
            trouble = self.luck.choice([Failure.PATH_BLOCKED, Failure.TIMEOUT, Failure.STALLED])
            failure = trouble if bad else Failure.NONE
            sent.append(self._end(now, lease, failure or self._do(lease.call)))
        return sent

    def _end(self, now: float, lease: Lease, failure: Failure) -> Sent:
        self.running = None
        return t.OUTCOME.of(
            Outcome(
                header=Header.at(now), lease=lease.id, call=lease.call, success=failure is Failure.NONE,
                failure=failure, detail="", duration_s=0.5,
            )
        )

    def _do(self, call: SkillCall) -> Failure:
        values: dict[str, Any] = json.loads(call.arguments)
        thing = values.get("object", "")
        if call.skill in ("go_to", "dock", "undock"):
            self.near = ""
            place = values.get("place", "dock" if call.skill == "dock" else "")
            self.place = NAMES.holders.get(place, place)
        elif call.skill == "look_for":
            if thing not in self.lies:
                return Failure.PERCEPTION_MISS
            self.seen.add(thing)
        elif call.skill == "approach":
            self.near, self.place = thing, NAMES.holders.get(self.lies[thing], self.lies[thing])
        elif call.skill == "pick":
            self.holding, self.near = thing, ""
        elif call.skill in ("place", "hand_over"):
            self.holding, self.near = "", ""
            self.lies[thing] = values.get("surface", "person")
        return Failure.NONE


def feedback(now: float, lease: Lease) -> SkillFeedback:
    return SkillFeedback(
        header=Header.at(now), lease=lease.id, call=lease.call.id, skill=lease.call.skill, phase="at it", progress=0.1
    )


class Household:
    """Planner, gate and flat, each with its inbox, stepped in turn."""

    def __init__(self, seed: int, failing: float, moody: float) -> None:
        luck = random.Random(seed)

        def script(request: Request) -> Answer:
            if luck.random() < moody:
                return luck.choice(["nonsense", Completion(error="the model broke"), ""])
            if request.role == "act":
                return luck.choice(request.choices)
            said = request.messages[-1].content.splitlines()[0].strip('"')
            return ORDERS.get(said, "answer(battery)")

        self.flat = Flat(luck, failing)
        self.parts = {"planner": PrefrontalPlanner(Settings(), ScriptedModel(script)), "gate": BasalGanglia(Settings())}
        self.inboxes = {name: Inbox() for name in self.parts}
        self.now = 100.0
        self.verdicts: list[Verdict] = []
        self.backlog: Backlog | None = None
        self.said: list[str] = []

    def say(self, text: str, identity: str) -> None:
        utterance = Utterance(header=Header.at(self.now), id=identity, speaker="ana", text=text)
        self._spread([t.UTTERANCE.of(utterance)])

    def run(self, seconds: float) -> None:
        for tick in range(round(seconds / STEP_S)):
            self.now += STEP_S
            leases: list[Lease] = []
            for name, part in self.parts.items():
                sent = part.step(self.now, self.inboxes[name])
                self.inboxes[name].clear()
                self._spread(sent)
                leases += [s.value for s in sent if isinstance(s.value, Lease)]
            sent = self.flat.step(self.now, leases)
            if sent or tick % 5 == 0:
                sent.append(t.WORLD_STATE.of(self.flat.state(self.now + 1e-3)))
            self._spread(sent)

    def _spread(self, sent: list[Sent]) -> None:
        for item in sent:
            for inbox in self.inboxes.values():
                inbox.deliver(item)
            if isinstance(item.value, Verdict):
                self.verdicts.append(item.value)
            elif isinstance(item.value, Backlog):
                self.backlog = item.value
            elif isinstance(item.value, Speech):
                self.said.append(item.value.text)

    @property
    def states(self) -> list[str]:
        assert self.backlog is not None
        return [objective.state for objective in self.backlog.objectives]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    order=st.sampled_from(sorted(ORDERS)),
    failing=st.sampled_from([0.0, 0.2, 0.6]),
    moody=st.sampled_from([0.0, 0.1]),
)
def test_every_order_ends_with_one_call_at_a_time(seed: int, order: str, failing: float, moody: float) -> None:
    home = Household(seed, failing, moody)
    home.run(1.0)
    home.say(order, "u1")
    for _ in range(12):
        home.run(20.0)
        if home.backlog is not None and home.states and not {"pending", "focused", "parked"} & set(home.states):
            break
    if not home.states:  # a model that fails three times over one order has the person say it again
        assert moody
        assert home.said[-1].endswith("Please say it again.")
    assert set(home.states) <= {"done", "failed"}
    assert home.flat.most_at_once <= 1
    assert all(verdict.accepted for verdict in home.verdicts)
    if failing == moody == 0.0 and len(home.flat.lies) == len(NAMES.objects):
        assert set(home.states) == {"done"}


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6), order=st.sampled_from(sorted(ORDERS)), after=st.integers(0, 60),
    chat=st.sampled_from(["how is your battery?", "where is the cyan cube?", "go charge"]),
)
def test_a_stop_word_ends_all_even_in_the_middle_of_talk(seed: int, order: str, after: int, chat: str) -> None:
    home = Household(seed, 0.2, 0.0)
    home.run(1.0)
    home.say(order, "u1")
    home.run(after * STEP_S)
    home.say(chat, "u2")
    home.say("Stop!", "u3")
    home.run(3.0)
    decided = len(home.verdicts)
    home.run(10.0)
    assert home.backlog is None or home.backlog.focus == ""
    assert home.flat.running is None
    assert len(home.verdicts) == decided
