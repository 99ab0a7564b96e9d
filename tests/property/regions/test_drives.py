"""Whatever the body says, the drives stay bounded, calm under noise, and the same for the same inputs."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.drives_rig import (
    DOCK,
    KITCHEN,
    OFFICE,
    Stepper,
    backlog,
    battery,
    condition,
    joints,
    objective,
    pose,
    resources,
    surface,
    temperament,
)
from support.gate_rig import accepted, call, said, stop_state, world

from anima.config import Settings
from anima.regions.hypothalamus import Hypothalamus
from anima.regions.prospection import Prospection
from anima.regions.striatum import Striatum
from anima.topics import Sent
from anima.types.costs import BodyCosts
from anima.types.glue import Forecast, GoalTension, Resources
from anima.types.std import Pose

SETTINGS = Settings()
PROSPECTION = Prospection(SETTINGS)  # asked only: it learns from outcomes and places
numbers = st.one_of(st.floats(0, 1), st.sampled_from([math.nan, math.inf, -math.inf, -3.0, 1e9]))
spots = st.sampled_from([KITCHEN, OFFICE, DOCK, (math.nan, 0.0), (900.0, -900.0)])
states = st.sampled_from(["pending", "focused", "parked", "done", "failed"])
goals = st.sampled_from(["at(red_cube, shelf)", "docked", "charged(80)", "told(red_cube)", "at(robot, kitchen)", "?!"])


@st.composite
def bodies(draw: st.DrawFn) -> list[Sent]:
    now = 0.0
    out = [battery(now, draw(numbers), docked=draw(st.booleans()), current=draw(numbers), c=draw(numbers))]
    if draw(st.booleans()):
        out.append(pose(now, draw(spots)))
    if draw(st.booleans()):
        out.append(joints(now, left_wheel_joint=draw(numbers), shoulder_lift=draw(numbers)))
    if draw(st.booleans()):
        out.append(stop_state(now, draw(st.booleans())))
    if draw(st.booleans()):
        out.append(backlog(now, objective("o1", draw(goals), draw(states), said=draw(st.sampled_from(["", "please"])))))
    return out


@settings(max_examples=60, deadline=None)
@given(life=st.lists(st.tuples(st.floats(-5, 500), bodies()), min_size=1, max_size=12))
def test_what_the_body_can_afford_is_bounded_and_repeatable(life: list[tuple[float, list[Sent]]]) -> None:
    one, two = Stepper(Hypothalamus(SETTINGS)), Stepper(Hypothalamus(SETTINGS))
    for dt, given_ in life:
        one.step(*given_, dt=dt)
        two.step(*given_, dt=dt)
    assert [item.value for item in one.sent] == [item.value for item in two.sent]
    json.dumps(one.region.dump(), allow_nan=False)  # type: ignore[attr-defined]
    for item in one.sent:
        found = item.value
        json.dumps(found.model_dump(mode="json"), allow_nan=False)
        if isinstance(found, BodyCosts):  # what it has learned about itself, for the memory
            assert found.share_per_s >= 0 and found.share_per_m >= 0 and found.cruise_mps > 0
            continue
        assert isinstance(found, Resources)
        assert 0 <= found.battery <= 1 and 0 <= found.charge_drive <= 1 and 0 <= found.wear <= 1
        assert found.range_m >= 0 and found.think_budget_s > 0
        assert not (found.must_dock and found.may_explore)


@settings(max_examples=30, deadline=None)
@given(level=st.floats(0.1, 0.9), noise=st.lists(st.floats(-0.03, 0.03), min_size=100, max_size=100))
def test_a_noisy_gauge_does_not_make_the_drives_flap(level: float, noise: list[float]) -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    for off in noise:
        stepper.step(battery(0.0, level + off), pose(0.0, KITCHEN))
    said_ = [item.value for item in stepper.sent if isinstance(item.value, Resources)]
    for latch in ([r.must_dock for r in said_], [r.charge_drive > 0 for r in said_]):
        assert sum(a != b for a, b in itertools.pairwise(latch)) <= 1


@st.composite
def minds(draw: st.DrawFn) -> list[Sent]:
    now = 0.0
    out: list[Sent] = []
    if draw(st.booleans()):
        items = [objective(f"o{k}", draw(goals), draw(states)) for k in range(draw(st.integers(0, 3)))]
        out.append(backlog(now, *items))
    if draw(st.booleans()):
        seen = [surface("shelf", draw(st.floats(0, 1e4)), draw(st.floats(0, 1)))]
        holding = draw(st.sampled_from(["", "red_cube"]))
        out.append(world(now, surfaces=seen, holding=holding, localized=draw(st.booleans())))
    if draw(st.booleans()):
        out.append(resources(now, may_explore=draw(st.booleans()), must_dock=draw(st.booleans())))
    if draw(st.booleans()):
        out.append(temperament(now, draw(st.floats(0, 1))))
        out.append(condition(now, draw(st.sampled_from(["STABLE", "DEGRADED"])), strain=draw(st.floats(0, 1))))
    if draw(st.integers(0, 4)) == 0:
        out.append(said(now, "hello"))
    return out


@settings(max_examples=60, deadline=None)
@given(life=st.lists(st.tuples(st.floats(-5, 900), minds()), min_size=1, max_size=20), cut=st.integers(0, 19))
def test_pressure_is_bounded_and_goes_on_from_a_dump_as_if_nothing_had_been(
    life: list[tuple[float, list[Sent]]], cut: int
) -> None:
    one, two = Stepper(Striatum(SETTINGS)), Stepper(Striatum(SETTINGS))
    for k, (dt, given_) in enumerate(life):
        one.step(*given_, dt=dt)
        two.step(*given_, dt=dt)
        if k == cut:
            data = json.loads(json.dumps(two.region.dump(), allow_nan=False))  # type: ignore[attr-defined]
            two.region = Striatum.load(SETTINGS, data)
    assert [item.value for item in one.sent] == [item.value for item in two.sent]
    for item in one.sent:
        wish = item.value
        assert isinstance(wish, GoalTension)
        assert 0 <= wish.tension <= 1 and 0 <= wish.arousal <= 1
        assert wish.wants in ("nothing", "resume", "explore")
        assert (wish.wants == "resume") == bool(wish.objective) and (wish.wants == "explore") == bool(wish.condition)


calls = st.sampled_from(
    [
        call("c1", "go_to", place="office_table"), call("c1", "go_to", place="kitchen"), call("c1", "dock"),
        call("c1", "undock"), call("c1", "look_for", object="red_cube"), call("c1", "pick", object="red_cube"),
        call("c1", "place", object="red_cube", surface="shelf"), call("c1", "hand_over", object="red_cube"),
        call("c1", "say", text="hello"), call("c1", "wait", seconds=5.0), call("c1", "stop"),
    ]
)


@settings(max_examples=100, deadline=None)
@given(
    proposal=calls,
    spot=spots,
    share=st.floats(0, 1),
    cost=st.floats(0, 0.1),
    caution=st.floats(0, 1),
    update=st.fixed_dictionaries({"holding": st.sampled_from(["", "red_cube"]), "docked": st.booleans()}),
)
def test_every_accepted_call_is_answered_in_the_same_step_within_bounds_and_with_a_reason(
    proposal: Any, spot: tuple[float, float], share: float, cost: float, caution: float, update: dict[str, Any]
) -> None:
    given_ = (
        world(0.0, robot=Pose.planar(*spot, 0.0), battery=share, **update),
        resources(0.0, battery=share, share_per_m=cost),
        temperament(0.0, caution=caution),
        accepted(0.0, proposal),
    )
    answers = []
    for _ in range(2):
        stepper = Stepper(PROSPECTION)
        answers.append([item.value for item in stepper.step(*given_)])
    assert answers[0] == answers[1]
    (forecast,) = answers[0]
    assert isinstance(forecast, Forecast)
    assert (forecast.id, forecast.advice in ("go", "refuse", "rather")) == ("c1", True)
    assert all(0 <= share <= 1 for share in (forecast.success, forecast.hazard, forecast.energy))
    assert 0 <= forecast.cost_s < math.inf and 0 <= forecast.rollouts <= 3
    assert forecast.why and (forecast.advice != "rather" or forecast.rather)
    if share > 0.5 and cost < 1e-4 and not update["holding"] and spot in (KITCHEN, OFFICE, DOCK):
        assert forecast.advice == "go", "what can be afforded and endangers nothing is never refused"
