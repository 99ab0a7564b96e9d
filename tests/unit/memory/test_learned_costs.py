"""What a robot learned of its costs and risks is there after a restart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from support.gate_rig import call, world

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.memory.node import MemoryKeeper
from anima.memory.opening import open_store, remembered_costs, remembered_risks
from anima.regions.drives.config import load_hypothalamus
from anima.regions.hypothalamus import Hypothalamus
from anima.regions.prospection import Prospection
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.costs import BodyCosts
from anima.types.mind import Outcome
from anima.types.std import BatteryState, PoseWithCovarianceStamped


@pytest.fixture
def home(url: str) -> Settings:
    return Settings(memory_url=url)


def keep(settings: Settings, sent: Sequence[Sent]) -> None:
    keeper = MemoryKeeper(settings)
    keeper.step(1.0, Inbox.of(sent))
    assert keeper.flush()
    assert "could not" not in keeper.why()
    keeper.close()


def battery(share: float) -> Sent:
    return t.BATTERY.of(BatteryState.model_construct(
        header=Header.at(0.0), percentage=share, current=float("nan"), temperature=25.0, power_supply_status=2,
        voltage=12.0,
    ))


def at(x: float) -> Sent:
    pose = PoseWithCovarianceStamped.model_validate(
        {
            "header": Header.at(0.0),
            "pose": {
                "pose": {"position": {"x": x, "y": 0.0, "z": 0.0}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
                "covariance": np.zeros(36),
            },
        }
    )
    return t.POSE.of(pose)


def drive(region: Hypothalamus, seconds: int, per_s: float) -> list[Sent]:
    """Drive at 0.2 m/s while the battery falls by `per_s` a second; what the region told of its costs."""
    inbox, told = Inbox(), []
    for second in range(seconds):
        inbox.deliver(battery(0.9 - per_s * second))
        inbox.deliver(at(0.2 * second))
        told += region.step(float(second), inbox)
        inbox.clear()
    return [sent for sent in told if sent.topic is t.BODY_COSTS]


def test_what_the_body_costs_is_told_when_it_has_changed_and_known_in_the_next_life(home: Settings) -> None:
    region = Hypothalamus(home)
    first = region.share_per_m
    told = drive(region, 400, per_s=0.0015)
    assert 0 < len(told) < 100, "not at every breath"
    assert region.share_per_m > 1.3 * first
    keep(home, told)
    again = Hypothalamus(home)
    assert again.share_per_m == pytest.approx(region.share_per_m, rel=0.05)
    assert again.dump()["wear"]["metres"] == pytest.approx(region.dump()["wear"]["metres"], abs=21.0)
    assert drive(again, 3, per_s=0.0) == [], "what is kept is not told again"


def test_another_body_and_a_life_without_memory_begin_with_the_first_guess(home: Settings) -> None:
    region = Hypothalamus(home)
    first = region.share_per_m
    keep(home, drive(region, 400, per_s=0.0015))
    assert Hypothalamus(Settings()).share_per_m == first
    assert remembered_costs(home) is not None
    assert remembered_costs(home.model_copy(update={"sim": "none"})) is None, "a simulated body costs something else"


def test_costs_that_no_such_body_can_have_are_not_believed_whole(home: Settings) -> None:
    tuning = load_hypothalamus().discharge
    first = Hypothalamus(home).share_per_m
    wild = BodyCosts(
        header=Header.at(0.0), share_per_s=1.0, share_per_m=1.0, cruise_mps=tuning.travel_mps, joules=1.0, metres=1.0,
        failed_grasps=0,
    )
    keep(home, [t.BODY_COSTS.of(wild)])
    assert Hypothalamus(home).share_per_m == pytest.approx(tuning.bound * first)


def ended(skill: str, failure: Failure, lasted_s: float = 5.0, **arguments: str) -> Sent:
    outcome = Outcome(
        header=Header.at(0.0), lease="l", call=call("c", skill, "o", **arguments), success=failure is Failure.NONE,
        failure=int(failure), detail="", duration_s=lasted_s,
    )
    return t.OUTCOME.of(outcome)


def test_what_calls_taught_is_known_in_the_next_life(home: Settings) -> None:
    region, told = Prospection(home), []
    for failure in (Failure.GRASP_FAILED, Failure.GRASP_FAILED, Failure.NONE):
        told += region.step(1.0, Inbox.of([ended("pick", failure, 31.0, object="red_cube"), world(1.0, place="shelf")]))
    risks = [sent for sent in told if sent.topic is t.RISKS]
    assert len(risks) == 3
    keep(home, risks)
    again = Prospection(home)
    assert again.dump()["experience"] == region.dump()["experience"]
    assert again.dump()["experience"]["been"] == ["shelf"]
    tries, failures = again.dump()["experience"]["lived"]["grasp:red_cube"]
    assert failures > 1.8 and tries > 2.8
    assert again.step(1.0, Inbox.of([world(1.0, place="shelf")])) == [], "what is known is no news"


def test_risks_of_another_home_are_not_taken_for_this_one_s(home: Settings) -> None:
    keep(home, Prospection(home).step(1.0, Inbox.of([ended("pick", Failure.GRASP_FAILED, object="red_cube")])))
    assert remembered_risks(home) is not None
    assert remembered_risks(home.model_copy(update={"map": "elsewhere"})) is None
    with open_store(home) as store:  # type: ignore[union-attr]
        assert store.verify() == []


def test_unreadable_costs_cost_only_themselves(home: Settings, tmp_path: Path) -> None:
    wild = BodyCosts(
        header=Header.at(0.0), share_per_s=float("nan"), share_per_m=-1.0, cruise_mps=0.2, joules=1.0, metres=1.0,
        failed_grasps=0,
    )
    keeper = MemoryKeeper(home)
    keeper.step(1.0, Inbox.of([t.BODY_COSTS.of(wild)]))
    assert keeper.flush()
    assert "1 changes could not be kept" in keeper.why()
    keeper.close()
    assert remembered_costs(home) is None
