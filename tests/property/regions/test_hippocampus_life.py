"""Whatever a robot lives through: what comes to mind is like the moment, and is of its own life."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.gate_rig import objective, thing
from support.memory_rig import Life, known

from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.regions.episodic.config import load_episodic
from anima.regions.episodic.situation import Weighing, features_of, read, text_of
from anima.regions.hippocampus import Hippocampus

SETTINGS = Settings()
PLACES = load_places(SETTINGS.map_folder)
TUNING = load_episodic()
WEIGHING = Weighing(TUNING.weights)

FEATURES = st.frozensets(
    st.sampled_from([f"{key}={value}" for key in type(TUNING.weights).model_fields for value in "abc"]), max_size=14
)
THINGS = ["red_cube", "green_cube", "orange_ball"]
ROOMS = ["kitchen", "office", "living_room", "corridor"]
TOPS = ["kitchen_table", "office_table", "shelf"]


def wander(life: Life, luck: random.Random, errands: int) -> None:
    """A life of errands in which things go wrong."""
    for number in range(errands):
        name = luck.choice(THINGS)
        life.stand(
            room=luck.choice(ROOMS), place=luck.choice(["", *TOPS]), battery=luck.choice([0.1, 0.5, 0.9]),
            holding=luck.choice(["", name]), objects=[thing(name, luck.choice(TOPS))],
        )
        condition = luck.choice(
            [f"holding({name})", f"at({name}, {luck.choice(TOPS)})", f"at(robot, {luck.choice(ROOMS)})"]
        )
        life.focus(f"o{number}", condition)
        for _ in range(luck.randrange(4)):
            failure = luck.choice([Failure.NONE, Failure.GRASP_FAILED, Failure.STALLED, Failure.INTERRUPTED])
            skill, arguments = luck.choice(
                [("pick", {"object": name}), ("approach", {"object": name}), ("go_to", {"place": luck.choice(TOPS)})]
            )
            life.do(skill, failure, **arguments)
        life.end(luck.choice(["done", "failed", "cancelled"]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_what_comes_to_mind_is_like_the_moment_and_was_lived(seed: int) -> None:
    life = Life()
    wander(life, random.Random(seed), 25)
    lived = {episode.id: episode for episode in life.episodes}
    for recall in life.recalls:
        assert len(recall.episodes) == len(recall.similarity) <= 3
        assert bool(recall.episodes) == bool(recall.avoid or recall.prefer)
        assert all(TUNING.alike <= share <= 1.0 for share in recall.similarity)
        assert not set(recall.avoid) & set(recall.prefer)
        assert {episode.id for episode in recall.episodes} <= lived.keys()
        assert all(episode.origin == "recalled" for episode in recall.episodes)
        (condition,) = [o.condition for o in life.open.values() if o.id == recall.objective] or [""]
        speaks = {name for name in THINGS for call in (*recall.avoid, *recall.prefer) if name in call}
        held = {name for name in speaks if name not in condition}
        assert len(held) <= 1, "only what the objective is about, and what is in the hand"


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(0, 12))
def test_a_life_that_is_dumped_and_loaded_goes_on_as_if_nothing_had_been(seed: int, cut: int) -> None:
    straight, broken = Life(), Life()
    luck, same_luck = random.Random(seed), random.Random(seed)
    for life, chance in ((straight, luck), (broken, same_luck)):
        wander(life, chance, cut)
    broken.region = Hippocampus.load(SETTINGS, json.loads(json.dumps(broken.region.dump())))
    for life, chance in ((straight, luck), (broken, same_luck)):
        wander(life, chance, 8)
    assert [e.model_dump() for e in straight.episodes] == [e.model_dump() for e in broken.episodes]
    assert [r.model_dump_json(exclude={"similarity"}) for r in straight.recalls] == [
        r.model_dump_json(exclude={"similarity"}) for r in broken.recalls
    ]
    assert straight.region.dump() == broken.region.dump()


@given(one=FEATURES, other=FEATURES)
def test_likeness_is_a_measure(one: frozenset[str], other: frozenset[str]) -> None:
    alike = WEIGHING.alike(one, other)
    assert 0.0 <= alike <= 1.0
    assert alike == WEIGHING.alike(other, one)
    assert WEIGHING.alike(one, one) == (1.0 if one else 0.0)
    assert one == other or alike < 1.0
    assert read(text_of(one)) == one


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_index_finds_what_looking_at_every_episode_would_find(seed: int) -> None:
    luck = random.Random(seed)
    life = Life()
    wander(life, luck, 20)
    traces = life.region._traces
    situation = features_of(
        objective("x", f"holding({luck.choice(THINGS)})"), known(0.0, room=luck.choice(ROOMS)), "", [], [], PLACES,
        TUNING,
    )
    found = {match.trace.episode.id for match in traces.reminded(situation, "x", life.now + 1e4)}
    every = {e.id for e in life.episodes if WEIGHING.alike(situation, read(e.situation)) >= TUNING.alike}
    assert found == every
