"""The robot knows what it can afford, and the dock is a matter of survival."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.drives_rig import DOCK, KITCHEN, Stepper, backlog, battery, joints, objective, pose
from support.gate_rig import call, stop_state

from anima import topics as t
from anima.config import ConfigError, Settings
from anima.regions.drives.config import load_hypothalamus
from anima.regions.hypothalamus import Hypothalamus
from anima.types.base import Header
from anima.types.glue import Resources
from anima.types.mind import Outcome

SETTINGS = Settings()
TUNING = load_hypothalamus()


def said(share: float, at: tuple[float, float] = KITCHEN, docked: bool = False, *more: Any) -> Resources:
    """What a robot that has just woken says of itself."""
    stepper = Stepper(Hypothalamus(SETTINGS), now=100.0)
    stepper.step(battery(101.0, share, docked=docked), pose(101.0, at), *more)
    return stepper.last(t.RESOURCES)


def test_at_15_percent_the_dock_is_all_that_may_begin() -> None:
    found = said(0.15)
    assert found.must_dock
    assert found.charge_drive == 1.0
    assert found.range_m == 0.0
    assert "15%" in found.why and "dock" in found.why


def test_a_full_robot_wants_no_charge_and_may_go_far_and_come_back() -> None:
    found = said(0.9)
    assert not found.must_dock
    assert found.charge_drive == 0.0
    assert found.range_m > 100.0
    there_and_back = found.range_m + (found.range_m + TUNING.detour * math.dist(KITCHEN, DOCK))
    cost = there_and_back * (found.share_per_m + found.share_per_s / TUNING.discharge.travel_mps)
    assert found.battery - cost >= found.reserve - 0.01


def test_a_robot_far_from_the_dock_must_go_home_sooner_than_one_beside_it() -> None:
    far, near = said(0.9, KITCHEN), said(0.9, (5.2, 2.14))
    assert far.range_m < near.range_m


def test_once_it_must_dock_it_charges_for_a_while_before_it_may_leave() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    stepper.step(battery(1.0, 0.15), pose(1.0, DOCK))
    left_at = None
    for percent in range(15, 100):
        for _ in range(20):
            stepper.step(battery(stepper.now, percent / 100, docked=True))
        found = stepper.last(t.RESOURCES)
        if left_at is None and not found.must_dock:
            left_at = percent
    assert left_at is not None and 25 <= left_at <= 40
    assert stepper.last(t.RESOURCES).charge_drive == 0.0
    assert next(
        item.value.battery for item in stepper.sent if isinstance(item.value, Resources) and not item.value.charge_drive
    ) == pytest.approx(TUNING.charged_share, abs=0.02)


def test_a_person_who_waits_comes_before_a_charge_that_can_wait_but_not_before_survival() -> None:
    errand = backlog(101.0, objective("o1", "at(robot, kitchen)", "focused"))
    assert 0.0 < said(0.2, KITCHEN, False, errand).charge_drive < said(0.2).charge_drive < 1.0
    assert said(0.15, KITCHEN, False, errand).charge_drive == 1.0


def test_it_thinks_longest_at_the_dock_and_shortest_when_the_battery_is_critical() -> None:
    errand = backlog(101.0, objective("o1", "at(robot, kitchen)", "focused"))
    budgets = [
        said(0.1).think_budget_s, said(0.9, KITCHEN, False, errand).think_budget_s, said(0.9).think_budget_s,
        said(0.9, DOCK, True).think_budget_s,
    ]
    assert budgets == sorted(budgets) and len(set(budgets)) == 4


def test_it_explores_only_charged_rested_and_when_nothing_is_open() -> None:
    assert said(0.9).may_explore
    assert not said(0.5).may_explore
    assert not said(0.9, KITCHEN, False, stop_state(101.0, True)).may_explore
    assert not said(0.9, KITCHEN, False, backlog(101.0, objective("o1", "docked", "parked"))).may_explore
    stepper = Stepper(Hypothalamus(SETTINGS))
    stepper.step(battery(1.0, 0.9), backlog(1.0, objective("o1", "docked", "focused")))
    stepper.step(backlog(2.0, objective("o1", "docked", "done")))
    assert not stepper.last(t.RESOURCES).may_explore
    stepper.wait(TUNING.rest_s + 1)
    assert stepper.last(t.RESOURCES).may_explore


def test_its_own_looking_around_does_not_forbid_itself() -> None:
    trip = objective("e1", "at(robot, shelf)", "focused", said="", source="striatum")
    assert said(0.9, KITCHEN, False, backlog(101.0, trip)).may_explore


def test_effort_heats_the_arm_and_a_hot_robot_neither_imagines_nor_explores_until_it_has_cooled() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    stepper.step(battery(1.0, 0.9))
    assert stepper.last(t.RESOURCES).may_simulate
    for _ in range(600):
        stepper.step(joints(stepper.now, left_wheel_joint=0.0, shoulder_lift=2.5))
    hot = stepper.last(t.RESOURCES)
    assert hot.temperature > TUNING.heat.hot_c and not hot.may_simulate and not hot.may_explore
    assert hot.wear > 0.0
    stepper.wait(900)
    assert stepper.last(t.RESOURCES).may_simulate


def test_a_measured_temperature_counts_when_it_is_higher() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    stepper.step(battery(1.0, 0.9, c=70.0))
    assert stepper.last(t.RESOURCES).temperature == 70.0
    assert not stepper.last(t.RESOURCES).may_simulate


def drive(stepper: Stepper, seconds: int, mps: float, share: float, per_s: float, per_m: float) -> float:
    """The robot drives to and fro, and the gauge falls as told."""
    for k in range(seconds):
        share -= per_s + mps * per_m
        at = (5.0 + mps * (k % 20 if k % 20 < 10 else 20 - k % 20), 1.7)
        amps = -(per_s + mps * per_m) * 5.0 * 3600.0
        stepper.step(battery(stepper.now, share, current=amps), pose(stepper.now, at))
    return share


def test_it_learns_from_the_gauge_that_it_needs_more_than_it_thought() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    stepper.step(battery(1.0, 0.95), pose(1.0, (5.0, 1.7)))
    before = stepper.last(t.RESOURCES)
    per_s, per_m = 4 * before.share_per_s, 5 * before.share_per_m
    share = 0.95
    for _ in range(10):
        share = drive(stepper, 150, 0.0, share, per_s, per_m)
        share = drive(stepper, 150, 0.3, share, per_s, per_m)
    after = stepper.last(t.RESOURCES)
    assert after.share_per_s == pytest.approx(per_s, rel=0.3)
    assert after.share_per_m == pytest.approx(per_m, rel=0.5)
    assert after.range_m < before.range_m


def test_failed_grasps_and_all_that_was_learned_outlive_a_restart() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    failed = Outcome(
        header=Header.at(1.0), lease="l", call=call("c1", "pick", object="red_cube"), success=False, failure=310,
        detail="", duration_s=1.0,
    )
    stepper.step(battery(1.0, 0.15), t.OUTCOME.of(failed))
    data = stepper.region.dump()  # type: ignore[attr-defined]
    again = Hypothalamus.load(SETTINGS, data)
    assert again.dump() == data
    assert data["wear"]["failed_grasps"] == 1
    (told,) = Stepper(again, now=100.0).step(battery(101.0, 0.20))
    assert isinstance(told.value, Resources) and told.value.must_dock


def test_it_is_silent_while_nothing_is_known_of_the_battery() -> None:
    stepper = Stepper(Hypothalamus(SETTINGS))
    assert stepper.step(pose(1.0, KITCHEN)) == []
    assert stepper.step(battery(2.0, math.nan)) == []
    assert "not heard" in stepper.region.why()


def test_a_tuning_whose_levels_contradict_each_other_is_an_error_that_names_the_file(tmp_path: Any) -> None:
    text = (SETTINGS.robot_file.parents[1] / "hypothalamus.yaml").read_text(encoding="utf-8")
    file = tmp_path / "hypothalamus.yaml"
    file.write_text(text.replace("charged_share: 0.80", "charged_share: 0.20"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"hypothalamus\.yaml.*\n.*charge_from_share < charged_share"):
        load_hypothalamus(file)
