"""Any world state can be rebuilt from any other and their difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anima.types.base import Header, Time
from anima.types.mind import ObjectState, SurfaceState, WorldState
from anima.types.std import Point, Pose, Vector3
from anima.world.predicates import Predicate, holds
from anima.world.state import diff, facts_of, rebuild

numbers = st.floats(-10, 10, allow_nan=False)
names = st.sampled_from(["red_cube", "blue_cylinder", "orange_ball", "purple_block"])
places = st.sampled_from(["", "kitchen_table", "gripper", "floor", "person"])
stamps = st.floats(0, 1e6).map(Time.at)


@st.composite
def things(draw: st.DrawFn) -> ObjectState:
    name = draw(names)
    colour, shape = name.split("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status=draw(st.sampled_from(["tentative", "confirmed", "absent"])),
        position=Point(x=draw(numbers), y=draw(numbers), z=draw(numbers)), yaw=draw(numbers),
        size=Vector3(x=draw(numbers), y=0.03, z=0.03), place=draw(places), last_seen=draw(stamps),
        confidence=draw(st.floats(0, 1)),
    )


@st.composite
def states(draw: st.DrawFn) -> WorldState:
    objects = {thing.name: thing for thing in draw(st.lists(things(), max_size=4))}
    seen = draw(st.sets(st.sampled_from(["kitchen_table", "office_table", "shelf"])))
    state = WorldState(
        header=Header.at(draw(st.floats(0, 1e6)), "map"),
        robot=Pose.planar(draw(numbers), draw(numbers), draw(numbers)),
        room=draw(st.sampled_from(["", "kitchen", "office"])), place=draw(places), holding=draw(st.just("") | names),
        docked=draw(st.booleans()), battery=draw(st.floats(0, 1)), stopped=draw(st.booleans()),
        localized=draw(st.booleans()), objects=[objects[name] for name in sorted(objects)],
        surfaces=[
            SurfaceState(name=name, coverage=draw(st.floats(0, 1)), last_viewed=draw(stamps)) for name in sorted(seen)
        ],
        facts=[],
    )
    return state.model_copy(update={"facts": facts_of(state)})


@given(states(), states())
def test_the_new_state_is_the_old_one_and_the_difference(old: WorldState, new: WorldState) -> None:
    assert rebuild(old, diff(old, new)) == new


@given(states())
def test_every_fact_is_true_and_no_fact_is_said_twice(state: WorldState) -> None:
    assert all(holds(Predicate.parse(fact), state) for fact in state.facts)
    assert state.facts == sorted(set(state.facts))
