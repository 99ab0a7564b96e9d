"""Door 2, whatever comes: one focus, one lease per part of the body, a deadline on each, and none outlives a stop."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.gate_rig import (
    SETTINGS,
    accepted,
    call,
    condition,
    conflict,
    forecast,
    objective,
    objectives,
    refused,
    resources,
    said,
    salient,
    stop_state,
    temperament,
    tension,
    thing,
    world,
)

from anima import topics as t
from anima.failure import Failure
from anima.regions.basal_ganglia import BasalGanglia
from anima.regions.gate.objectives import OPEN
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Backlog, Lease, Outcome

PATIENCE_S = 5.0
CONDITIONS = [
    "at(robot, kitchen)",
    "at(red_cube, shelf)",
    "told(red_cube)",
    "docked",
    "hand_empty",
    "nonsense(",
    "seen(red_cube)",
]
SKILLS = [
    ("go_to", {"place": "kitchen"}),
    ("look_for", {"object": "red_cube"}),
    ("pick", {"object": "red_cube"}),
    ("say", {"object": "red_cube"}),
    ("wait", {"seconds": 1.0}),
    ("stop", {}),
    ("dance", {}),
    ("go_to", {"nowhere": 1}),
]
ids = st.sampled_from([f"o{i}" for i in range(6)])
calls = st.builds(
    lambda i, skill, goal, source: call(f"c{i}", skill[0], objective=goal, source=source, **skill[1]),
    st.integers(0, 30), st.sampled_from(SKILLS), ids | st.just(""), st.sampled_from(["planner", "operator"]),
)
goals = st.builds(
    lambda id, condition, order, source, created, state: objective(
        id, condition, order, source=source, created=created, state=state
    ),
    ids, st.sampled_from(CONDITIONS), st.integers(0, 3), st.sampled_from(["u1", "u2", "u3"]),
    st.floats(0, 200), st.sampled_from(["pending", "pending", "pending", "declined", "focused", "done"]),
)
worlds = st.fixed_dictionaries(
    {
        "room": st.sampled_from(["kitchen", "office"]),
        "docked": st.booleans(),
        "holding": st.sampled_from(["", "red_cube"]),
        "objects": st.sampled_from([[], [thing("red_cube", "shelf")]]),
        "stopped": st.booleans(),
        "localized": st.sampled_from([True, True, False]),
        "battery": st.sampled_from([0.9, 0.5, 0.08]),
    }
)
glue = st.one_of(
    st.builds(
        lambda kind, cut: lambda now: salient(now, kind, cut),
        st.sampled_from(["utterance", "reflex", "battery", "conflict"]), st.sampled_from(["execution", "deliberation"]),
    ),
    st.builds(
        lambda id, advice, avoid: lambda now: conflict(now, id, advice, *avoid),
        ids, st.sampled_from(["change_tactic", "escalate", "ask"]),
        st.lists(st.sampled_from(["go_to(kitchen)", "wait(1)", "look_for(red_cube)"]), max_size=2),
    ),
    st.builds(lambda scale: lambda now: condition(now, scale), st.sampled_from([0.0, 0.3, 1.0])),
    st.builds(lambda will: lambda now: temperament(now, will), st.sampled_from([0.0, 0.5, 1.0])),
    st.builds(
        lambda dock, drive, reach: lambda now: resources(now, must_dock=dock, charge_drive=drive, range_m=reach),
        st.sampled_from([False, False, True]), st.sampled_from([0.0, 0.9]), st.sampled_from([0.0, 100.0]),
    ),
    st.builds(
        lambda wants, id: lambda now: tension(now, wants, objective=id, condition="at(robot, shelf)"),
        st.sampled_from(["resume", "explore", "nothing"]), ids,
    ),
    st.builds(
        lambda i, advice: lambda now: forecast(now, f"c{i}", advice, "look_for(red_cube)"),
        st.integers(0, 30), st.sampled_from(["go", "refuse", "rather"]),
    ),
)

Event = tuple[str, Any]
event = st.one_of(
    st.tuples(st.just("objectives"), st.tuples(st.lists(goals, max_size=3), st.booleans())),
    st.tuples(st.just("accepted"), calls),
    st.tuples(st.just("accepted"), calls.map(lambda c: c.model_copy(update={"objective": ""}))),
    st.tuples(st.just("accepted"), calls.map(lambda c: c.model_copy(update={"objective": ""}))),
    st.tuples(st.just("refused"), calls),
    st.tuples(st.just("operator"), calls),
    st.tuples(st.just("outcome"), st.tuples(st.integers(0, 9), st.sampled_from([*Failure]), st.booleans())),
    st.tuples(st.just("outcome"), st.tuples(st.integers(0, 9), st.sampled_from([*Failure]), st.booleans())),
    st.tuples(st.just("said"), st.sampled_from(["stop", "go on", "hello", "please stop now", "stop by the shelf"])),
    st.tuples(st.just("stop"), st.tuples(st.booleans(), st.sampled_from(["", "process_silent", "obstacle"]))),
    st.tuples(st.just("world"), worlds),
    st.tuples(st.just("glue"), glue),
    st.tuples(st.just("glue"), glue),
)
gaps = st.sampled_from([0.1, 0.1, 0.1, 0.0, 0.7, 3.0, 200.0, -50.0])
stories = st.lists(st.tuples(gaps, st.lists(event, max_size=4)), min_size=1, max_size=40)


class Watch:
    """Plays a story to a gate and holds what it says against the rules, knowing nothing of how it works."""

    def __init__(self) -> None:
        self.gate = BasalGanglia(SETTINGS)
        self.now = 100.0
        self.inbox = Inbox()
        self.running: dict[str, Lease] = {}  # granted, no outcome yet
        self.revoked: dict[str, float] = {}
        self.granted: set[str] = set()
        self.ended: dict[str, str] = {}
        self.latched = False
        self.hushed = False
        self.must_dock = False
        self.said = 0
        self.focus = ""

    def message(self, kind: str, value: Any) -> list[Sent]:
        now = self.now
        if kind == "glue":
            sent = value(now)
            self.must_dock = sent.value.must_dock if sent.topic is t.RESOURCES else self.must_dock
            return [sent]
        if kind == "objectives":
            return [objectives(now, *value[0], replace=value[1])]
        if kind in ("accepted", "refused"):
            # A call without an objective is for whatever is in focus.
            value = value if value.objective else value.model_copy(update={"objective": self.focus})
            return [(accepted if kind == "accepted" else refused)(now, value)]
        if kind == "operator":
            return [t.OPERATOR_CALL.of(value)]
        if kind == "outcome":
            return self.outcome(*value)
        if kind == "said":
            self.said += 1
            return [said(now, value, id=f"u{self.said}")]
        if kind == "stop":
            self.latched = value[0]
            return [stop_state(now, value[0], *filter(None, [value[1]]))]
        return [world(now, **value)]

    def outcome(self, which: int, failure: Failure, twice: bool) -> list[Sent]:
        if not self.running:
            return []
        lease = list(self.running.values())[which % len(self.running)]
        del self.running[lease.id]
        outcome = Outcome(
            header=Header.at(self.now), lease=lease.id, call=lease.call, success=failure is Failure.NONE,
            failure=int(failure), detail="", duration_s=1.0,
        )
        return [t.OUTCOME.of(outcome)] * (1 + twice)

    def play(self, gap: float, events: list[Event]) -> list[Sent]:
        if gap < 0:
            # The clock was set back: leases of the other run are void.
            self.running.clear()
            gap = max(gap, -self.now)
        self.now = max(self.now + gap, 0.0)
        for kind, value in events:
            for item in self.message(kind, value):
                self.inbox.deliver(item)
        sent = self.gate.step(self.now, self.inbox)
        self.inbox.clear()
        stopped = any(kind == "said" and value in ("stop", "please stop now") for kind, value in events)
        asked = ("said", "go on") in events or any(kind == "objectives" and value[0] for kind, value in events)
        self.hushed = ((self.hushed or stopped) and not asked) or self.latched
        before = set(self.running)
        for item in sent:
            if isinstance(item.value, Lease):
                self.check_lease(item.value)
            elif isinstance(item.value, Backlog):
                self.check_backlog(item.value)
        if stopped:
            assert before <= set(self.revoked), "no lease outlives the word"
        if self.latched:
            moving = {id for id, lease in self.running.items() if set(lease.resources) - {"voice"}}
            assert moving <= set(self.revoked), "no lease on the body outlives the latched stop"
        return sent

    def check_lease(self, lease: Lease) -> None:
        if not lease.granted:
            self.revoked[lease.id] = self.now
            return
        assert lease.id not in self.granted, "a call is one lease"
        self.granted.add(lease.id)
        if lease.call.source != "operator":
            moves = bool(set(lease.resources) - {"voice"})
            assert not (moves and self.hushed), "nothing begins after a stop until a person wants something"
            own = lease.call.objective.startswith("survival")
            assert own or not self.must_dock, "nothing but the dock while the battery is a matter of survival"
        assert self.now < lease.deadline.seconds <= self.now + 300
        for other in list(self.running.values()):
            if set(other.resources) & set(lease.resources):
                # Only a skill that doesn't say how it ended, long after its lease was taken back, is given up.
                assert self.now - self.revoked.get(other.id, self.now) >= PATIENCE_S, "two leases on one part"
                del self.running[other.id]
        self.running[lease.id] = lease

    def check_backlog(self, backlog: Backlog) -> None:
        self.focus = backlog.focus
        focused = [o.id for o in backlog.objectives if o.state == "focused"]
        assert focused == ([backlog.focus] if backlog.focus else []), "exactly one focus, and it is the one told"
        pending = [o.id for o in backlog.objectives if o.state == "pending"]
        assert focused or not pending, "nothing waits while nothing is worked on"
        assert backlog.why and len(backlog.failures) <= 5 and all(backlog.failures)
        for o in backlog.objectives:
            if o.state in OPEN:
                assert o.id not in self.ended, "what has ended stays ended"
                assert o.reason or o.state != "parked", "what is set aside says why"
            else:
                assert o.reason or o.state == "declined", "what ended says why"
                assert self.ended.setdefault(o.id, o.state) == o.state, "an objective ends once"


@settings(max_examples=200, deadline=None)
@given(stories)
def test_the_rules_of_the_gate_hold_in_every_story(story: list[tuple[float, list[Event]]]) -> None:
    watch = Watch()
    watch.play(0.1, [("world", {}), ("objectives", ([objective("first", "at(robot, bathroom)")], False))])
    for gap, events in story:
        watch.play(gap, events)


@settings(max_examples=60, deadline=None)
@given(stories, st.integers(0, 40))
def test_a_gate_that_is_dumped_and_loaded_in_the_middle_says_the_same(
    story: list[tuple[float, list[Event]]], at: int
) -> None:
    straight, swapped = Watch(), Watch()
    for i, (gap, events) in enumerate(story):
        if i == at:
            swapped.gate = BasalGanglia.load(SETTINGS, json.loads(json.dumps(swapped.gate.dump())))
        ours, theirs = straight.play(gap, events), swapped.play(gap, events)
        assert [(s.topic.name, s.value.model_dump_json()) for s in ours] == [
            (s.topic.name, s.value.model_dump_json()) for s in theirs
        ]


@settings(max_examples=60, deadline=None)
@given(stories)
def test_after_every_story_a_new_order_can_begin(story: list[tuple[float, list[Event]]]) -> None:
    watch = Watch()
    for gap, events in story:
        watch.play(gap, events)
    calm = [resources(watch.now), condition(watch.now, 1.0), stop_state(watch.now), world(watch.now)]
    order = objectives(watch.now, objective("new", "at(robot, office)", source="u-new", created=watch.now + 1))
    for sent in ([*calm, said(watch.now, "stop", id="u-stop")], [said(watch.now, "to the office", id="u-new"), order]):
        watch.must_dock = watch.latched = watch.hushed = False
        for item in sent:
            watch.inbox.deliver(item)
        watch.play(1.0, [])
    for i in range(30):
        if any(lease.call.objective == "new" for lease in watch.running.values()):
            return
        watch.play(0.5, [("world", {}), ("accepted", call(f"new-{i}", "go_to", objective="new", place="office"))])
    raise AssertionError(f"the new order never began: {watch.gate.why()}")
