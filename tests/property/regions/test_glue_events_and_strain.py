"""Whatever happens: no event is lost, no source floods, urgency and strain keep their bounds, advice only rises."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.gate_rig import SETTINGS, call, objective, refused, said, stop_state, world
from support.glue_rig import (
    Region,
    backlog,
    event,
    feedback,
    go_to,
    last_condition,
    lease,
    outcome,
    pick,
    reflex,
    resources,
    temperament,
)

from anima import topics as t
from anima.failure import Failure
from anima.regions.acc import ConflictMonitor
from anima.regions.amygdala import Amygdala
from anima.regions.insula import Insula
from anima.regions.relay.config import load_relay
from anima.regions.relay.traffic import Fact, Traffic
from anima.regions.thalamus import Thalamus
from anima.topics import Sent
from anima.world.state import facts_of

SEEDS = st.integers(0, 2**32 - 1)
REFLEXES = ["obstacle", "bumper", "cliff", "tilt", "stall", "sensor_silent", "process_silent"]
FAILURES = [Failure.NONE, Failure.GRASP_FAILED, Failure.PATH_BLOCKED, Failure.TIMEOUT, Failure.INTERRUPTED]
ADVICE = ["change_tactic", "escalate", "ask"]


def a_fact(luck: random.Random) -> Fact:
    kind = luck.choice(["failure", "reflex", "object_seen", "refusal"])
    text = luck.choice(["it happened", "it happened again", f"at {luck.random():.2f} m"])
    return Fact(luck.choice(["skills", "reflex", "world"]), kind, luck.choice("abcdefgh"), text, (str(luck.random()),))


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_over_time_events_and_their_repeats_add_up_to_what_came(seed: int) -> None:
    luck = random.Random(seed)
    traffic, now, came, told = Traffic(load_relay()), 0.0, 0, 0
    for _ in range(2000):
        now += luck.choice([0.0, 0.02, 0.1, luck.random() * 5])
        told += sum(1 + one.repeats for one in traffic.due(now))
        passed = traffic.offer(now, a_fact(luck))
        came += 1
        told += 0 if passed is None else 1 + passed.repeats
        assert told + traffic.waiting == came
    for _ in range(300):
        now += 1.0
        told += sum(1 + one.repeats for one in traffic.due(now))
    assert told == came and traffic.waiting == 0


@settings(max_examples=12, deadline=None)
@given(SEEDS)
def test_no_source_tells_more_than_its_bucket_holds_except_what_is_urgent(seed: int) -> None:
    luck, tuning = random.Random(seed), load_relay()
    traffic, now, told, urgent = Traffic(tuning), 0.0, Counter[str](), 0
    for n in range(3000):
        now += luck.random() * 0.02
        for one in traffic.due(now):
            told[one.source] += 1
        if n % 10 == 0:
            assert traffic.offer(now, Fact("person", "utterance", "ana", "stop", urgent=True)) is not None
            urgent += 1
        passed = traffic.offer(now, a_fact(luck))
        if passed is not None:
            told[passed.source] += 1
        for source, count in told.items() if n % 20 == 0 else ():
            rate = tuning.rates.get(source, tuning.default_rate)
            assert count <= rate.burst + now * rate.per_s + 1e-6
    assert urgent == 300


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_event_ids_are_unique_and_the_memory_of_things_stays_small(seed: int) -> None:
    luck, tuning = random.Random(seed), load_relay().model_copy(update={"traces_kept": 32})
    traffic, now, ids = Traffic(tuning), 0.0, []
    for n in range(500):
        now += luck.choice([0.0, 0.5, 1.0])
        events = [*traffic.due(now), traffic.offer(now, Fact("skills", "done", f"call {n}", "done"))]
        ids += [one.id for one in events if one is not None]
    assert len(ids) == len(set(ids))
    assert len(traffic.dump()["traces"]) <= tuning.traces_kept + traffic.waiting


def a_message(luck: random.Random, now: float, n: int) -> Sent:
    name, served = luck.choice(["red_cube", "shelf", "office"]), luck.choice(["o1", "o2", ""])
    made = luck.choice([go_to, pick])(f"c{n}", name, served)
    kind = luck.choice(["reflex", "battery", "object_lost", "utterance"])
    subject = luck.choice(["bumper", "critical", "ana"])
    value = world(now, place=luck.choice(["", "shelf", "office"]), docked=luck.random() < 0.2).value
    choices = [
        outcome(now, made, luck.choice(FAILURES)), lease(now, made, luck.random() < 0.7),
        reflex(now, luck.choice(REFLEXES)), feedback(now, made, luck.random()), refused(now, made),
        said(now, "hello", f"u{n}"),
        stop_state(now, luck.random() < 0.5), temperament(now, luck.random()), resources(now, luck.random()),
        t.WORLD_STATE.of(value.model_copy(update={"facts": facts_of(value)})),  # type: ignore[arg-type]
        backlog(now, objective("o1", "at(red_cube, shelf)"), objective("o2", "at(robot, office)")), backlog(now),
        event(now, kind, subject),
    ]
    return luck.choice(choices)


REGIONS = [Thalamus, Amygdala, ConflictMonitor, Insula]


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(REGIONS))
def test_a_region_says_the_same_again_from_the_same_inputs_also_when_it_was_dumped_in_between(
    seed: int, kind: type[Any]
) -> None:
    luck = random.Random(seed)
    region, twin = Region(kind(SETTINGS)), Region(kind(SETTINGS))
    for n in range(120):
        messages = [a_message(luck, region.now, n) for _ in range(luck.randint(0, 4))]
        dt = luck.choice([0.1, 1.0, 8.0])
        assert region.tick(*messages, dt=dt) == twin.tick(*messages, dt=dt)
        if luck.random() < 0.1:
            twin.region = kind.load(SETTINGS, json.loads(json.dumps(twin.region.dump())))
        assert twin.region.why() == region.region.why()


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_urgency_is_a_share_and_execution_is_broken_off_only_while_something_runs(seed: int) -> None:
    luck, region = random.Random(seed), Region(Amygdala(SETTINGS))
    running: set[str] = set()
    for n in range(300):
        message = a_message(luck, region.now, n)
        if message.topic is t.LEASE and message.value.granted:  # type: ignore[attr-defined]
            running.add(message.value.id)  # type: ignore[attr-defined]
        for salient in region.tick(message):
            assert 0.0 <= salient.urgency <= 1.0 and salient.why
            assert salient.interrupts in ("none", "deliberation", "execution")
            assert salient.interrupts != "execution" or running


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.floats(0, 1), st.floats(0, 1))
def test_a_more_cautious_robot_never_finds_an_event_less_urgent(seed: int, one: float, other: float) -> None:
    bold, careful = Region(Amygdala(SETTINGS)), Region(Amygdala(SETTINGS))
    bold.tick(temperament(0, min(one, other)))
    careful.tick(temperament(0, max(one, other)))
    luck = random.Random(seed)
    for n in range(100):
        message = a_message(luck, bold.now, n)
        if message.topic is t.TEMPERAMENT:
            continue
        for a, b in zip(bold.tick(message), careful.tick(message), strict=True):
            assert a.urgency <= b.urgency + 1e-9


TROUBLES = st.lists(st.sampled_from(["fail", "reflex", "refusal"]), max_size=12)


def troubles(region: Region, kinds: list[str]) -> list[Sent]:
    made = {
        "fail": outcome(region.now, go_to("c1", "shelf"), Failure.PATH_BLOCKED),
        "reflex": reflex(region.now, "bumper"),
        "refusal": refused(region.now, call("c2", "dock")),
    }
    return [made[kind] for kind in kinds]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TROUBLES, TROUBLES, st.integers(0, 2)), min_size=1, max_size=12))
def test_more_failures_never_mean_less_strain_in_no_step_and_never_more_patience(
    steps: list[tuple[list[str], list[str], int]],
) -> None:
    luckier, unluckier = Region(Insula(SETTINGS)), Region(Insula(SETTINGS))
    for common, more, successes in steps:
        well = [outcome(luckier.now, pick(f"s{n}")) for n in range(successes)]
        luckier.tick(*troubles(luckier, common), *well, dt=2.0)
        unluckier.tick(*troubles(unluckier, common), *well, *troubles(unluckier, more), dt=2.0)
        less, worse = last_condition(luckier), last_condition(unluckier)
        assert 0.0 <= less.strain <= worse.strain <= 1.0
        assert 0.0 < worse.retry_scale <= less.retry_scale <= 1.0
        assert 0.0 < worse.persistence_scale <= less.persistence_scale <= 1.0


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_without_progress_advice_about_an_objective_only_rises(seed: int) -> None:
    luck, region = random.Random(seed), Region(ConflictMonitor(SETTINGS))
    region.tick(world(region.now), backlog(region.now, objective("o1", "at(red_cube, shelf)")))
    advice = []
    for n in range(40):
        made = luck.choice([go_to(f"c{n}", luck.choice(["shelf", "office", "desk"])), pick(f"c{n}")])
        region.tick(lease(region.now, made))
        failure = luck.choice([Failure.NONE, Failure.GRASP_FAILED, Failure.PATH_BLOCKED])
        found = [*region.tick(outcome(region.now, made, failure), world(region.now + 0.1)), *region.wait(0.5)]
        advice += [ADVICE.index(conflict.advice) for conflict in found]
        assert len(found) <= 1
        assert all(conflict.because and conflict.why for conflict in found)
    assert advice == sorted(advice) and advice[-1] == ADVICE.index("ask")
