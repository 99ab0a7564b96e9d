"""How the robot bears small failures, and what it does about them."""

from __future__ import annotations

import itertools
import json

import pytest
from support.gate_rig import SETTINGS, call, objective, refused
from support.glue_rig import Region, backlog, go_to, last_condition, lease, outcome, pick, reflex, resources, thought

from anima import topics as t
from anima.failure import Failure
from anima.regions.insula import Insula
from anima.types.base import Header
from anima.types.glue import Conflict


@pytest.fixture
def insula() -> Region:
    region = Region(Insula(SETTINGS))
    region.tick(backlog(region.now, objective("o1", "holding(red_cube)")))
    return region


def fail(region: Region, times: int) -> None:
    for n in range(times):
        region.tick(outcome(region.now, go_to(f"c{n}", f"place_{n}"), Failure.PATH_BLOCKED), dt=1.0)


def conflict(region: Region) -> None:
    value = Conflict(
        header=Header.at(region.now), id="x", kind="no_progress", objective="o1", advice="change_tactic", avoid=[],
        why="it goes round", because=[],
    )
    region.tick(t.CONFLICT.of(value))


def test_a_rested_robot_is_stable_focused_and_patient(insula: Region) -> None:
    condition = last_condition(insula)
    assert (condition.label, condition.mode, condition.strain) == ("STABLE", "FOCUSED", 0.0)
    assert condition.retry_scale == condition.persistence_scale == 1.0


def test_small_failures_add_up_through_all_labels(insula: Region) -> None:
    labels = []
    for n in range(30):
        insula.tick(outcome(insula.now, go_to(f"c{n}", f"place_{n}"), Failure.PATH_BLOCKED), dt=1.0)
        labels.append(last_condition(insula).label)
    assert list(dict.fromkeys(labels)) == ["STABLE", "STRAINED", "WORN", "DEGRADED"]


def test_strain_shortens_patience_and_never_takes_all_of_it(insula: Region) -> None:
    scales = []
    for n in range(60):
        insula.tick(outcome(insula.now, go_to(f"c{n}", f"place_{n}"), Failure.PATH_BLOCKED), dt=1.0)
        scales.append((last_condition(insula).retry_scale, last_condition(insula).persistence_scale))
    assert scales == sorted(scales, reverse=True)
    assert 0.0 < scales[-1][0] < 0.5 and 0.0 < scales[-1][1] < 0.6


def test_a_retry_that_fails_weighs_more_than_two_different_failures() -> None:
    same, different = Region(Insula(SETTINGS)), Region(Insula(SETTINGS))
    for n in range(3):
        same.tick(outcome(same.now, go_to(f"c{n}", "shelf"), Failure.PATH_BLOCKED))
        different.tick(outcome(different.now, go_to(f"c{n}", f"place_{n}"), Failure.PATH_BLOCKED))
    assert last_condition(same).strain > last_condition(different).strain


def test_success_relieves_and_talking_does_not(insula: Region) -> None:
    fail(insula, 5)
    strained = last_condition(insula).strain
    insula.tick(outcome(insula.now, call("c8", "say", text="hello")), dt=1.0)
    assert last_condition(insula).strain == pytest.approx(strained, abs=0.02)
    insula.tick(outcome(insula.now, go_to("c9", "shelf")), dt=1.0)
    assert last_condition(insula).strain < 0.8 * strained


def test_time_heals(insula: Region) -> None:
    fail(insula, 12)
    assert last_condition(insula).label != "STABLE"
    insula.wait(900.0, dt=1.0)
    assert (last_condition(insula).label, last_condition(insula).mode) == ("STABLE", "FOCUSED")


def test_a_label_is_kept_until_it_is_clearly_better(insula: Region) -> None:
    while last_condition(insula).label == "STABLE":
        fail(insula, 1)
    labels = []
    for _ in range(600):
        insula.tick(dt=1.0)
        labels.append((last_condition(insula).label, last_condition(insula).strain))
    borne = [strain for label, strain in labels if label == "STRAINED"]
    assert min(borne) < 0.2, "it was strained from 0.25 on"
    changes = sum(a[0] != b[0] for a, b in itertools.pairwise(labels))
    assert changes == 1


def test_what_others_break_off_is_no_failure(insula: Region) -> None:
    for _ in range(10):
        insula.tick(outcome(insula.now, pick("c1"), Failure.INTERRUPTED))
    assert last_condition(insula).strain == 0.0


def test_every_kind_of_trouble_weighs(insula: Region) -> None:
    for trouble in (reflex(0, "bumper"), refused(0, call("c1", "dock"))):
        before = last_condition(insula).strain
        insula.tick(trouble, dt=1.0)
        insula.wait(1.0)
        assert last_condition(insula).strain > before
    before = last_condition(insula).strain
    conflict(insula)
    assert last_condition(insula).strain > before


def test_the_end_of_a_reflex_and_late_commands_do_not_weigh(insula: Region) -> None:
    insula.tick(reflex(0, "bumper", active=False), reflex(0, "stale_command"))
    assert last_condition(insula).strain == 0.0


def test_without_a_focus_it_is_sociable(insula: Region) -> None:
    insula.tick(backlog(insula.now))
    assert last_condition(insula).mode == "IDLE_SOCIAL"


def test_after_a_failure_it_recovers_until_something_works_or_time_has_passed(insula: Region) -> None:
    fail(insula, 1)
    assert last_condition(insula).mode == "RECOVERY"
    insula.tick(outcome(insula.now, pick("c2")))
    assert last_condition(insula).mode == "FOCUSED"
    conflict(insula)
    assert last_condition(insula).mode == "RECOVERY"
    insula.wait(30.0)
    assert last_condition(insula).mode == "FOCUSED"


def test_a_scare_or_an_empty_battery_makes_it_cautious(insula: Region) -> None:
    insula.tick(reflex(0, "cliff"))
    assert last_condition(insula).mode == "CAUTIOUS"
    insula.wait(20.0)
    assert last_condition(insula).mode == "FOCUSED"
    insula.tick(resources(insula.now, must_dock=True))
    assert last_condition(insula).mode == "CAUTIOUS"


def test_thought_after_thought_without_a_deed_is_ruminating_until_it_acts(insula: Region) -> None:
    for _ in range(5):
        insula.tick(thought(insula.now), dt=2.0)
    assert last_condition(insula).mode == "RUMINATING"
    insula.tick(lease(insula.now, pick("c1")))
    assert last_condition(insula).mode == "FOCUSED"


def test_listening_to_people_is_not_ruminating(insula: Region) -> None:
    for _ in range(20):
        insula.tick(thought(insula.now, role="listen"), dt=2.0)
    assert last_condition(insula).mode == "FOCUSED"


def test_it_is_told_when_it_changes_and_now_and_then(insula: Region) -> None:
    assert 9 <= len(insula.wait(10.0)) <= 11
    assert insula.wait(0.5) == []
    assert len(insula.tick(reflex(0, "cliff"))) == 1


def test_a_dumped_insula_goes_on_as_if_nothing_had_been(insula: Region) -> None:
    fail(insula, 4)
    insula.tick(reflex(0, "cliff"), thought(insula.now))
    again = Region(Insula.load(SETTINGS, json.loads(json.dumps(insula.region.dump()))), insula.now)
    again.sent, insula.sent = [], []
    for region in (again, insula):
        fail(region, 3)
        region.wait(5.0)
    assert again.sent == insula.sent != []
