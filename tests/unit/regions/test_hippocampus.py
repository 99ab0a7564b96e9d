"""Episodes come to mind by themselves, before acting, when the situation is like one that was lived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.gate_rig import call, thing
from support.memory_rig import RED, Life

from anima import topics as t
from anima.config import Settings
from anima.failure import Failure
from anima.memory.node import MemoryKeeper
from anima.regions.hippocampus import Hippocampus
from anima.runtime.component import Inbox
from anima.types.base import Header
from anima.types.mind import Outcome

WITH_CUBE = {"room": "living_room", "place": "shelf", "holding": "red_cube", "objects": [thing("red_cube", "gripper")]}
AT_TABLE = {"room": "kitchen", "place": "kitchen_table", "holding": "", "objects": [RED]}


def stall_on_the_rug(life: Life, id: str) -> None:
    """On the way from the shelf to the kitchen table a wheel stalls; by way of the corridor it works."""
    life.stand(**WITH_CUBE)
    life.focus(id, "at(red_cube, kitchen_table)")
    life.do("go_to", Failure.STALLED, place="kitchen_table")
    life.do("go_to", place="corridor")
    life.where |= {"room": "corridor", "place": ""}
    life.do("go_to", place="kitchen_table")
    life.end()


def grasp_in_vain(life: Life, id: str) -> None:
    life.stand(**AT_TABLE)
    life.focus(id, "holding(red_cube)")
    life.do("pick", Failure.GRASP_FAILED, object="red_cube")
    life.end("failed")


def test_the_second_time_the_rug_is_remembered_before_it_stalls_again_and_what_got_past_it() -> None:
    life = Life()
    stall_on_the_rug(life, "o1")
    assert life.avoid == []
    life.stand(**WITH_CUBE)
    life.focus("o2", "at(red_cube, kitchen_table)")
    assert life.avoid == ["go_to(kitchen_table)"]
    assert life.prefer == ["go_to(corridor)"]
    assert life.in_mind is not None and life.in_mind.objective == "o2"


def test_the_rug_is_remembered_with_another_cube_in_the_hand() -> None:
    life = Life()
    stall_on_the_rug(life, "o1")
    green = {"holding": "green_cube", "objects": [thing("green_cube", "gripper")]}
    life.stand(**WITH_CUBE | green)
    life.focus("o2", "at(green_cube, kitchen_table)")
    assert life.avoid == ["go_to(kitchen_table)"]


def test_the_rug_does_not_come_to_mind_elsewhere() -> None:
    life = Life()
    stall_on_the_rug(life, "o1")
    life.stand(room="office", place="office_table", holding="red_cube")
    life.focus("o2", "at(robot, dock)")
    assert life.in_mind is None
    assert life.recalls[-1].objective == "o2", "that nothing comes to mind is said, so that nobody waits for it"


def test_without_the_life_before_the_same_moment_reminds_of_nothing() -> None:
    """The pair of the tests above and below: no hippocampus that lived it, no bias."""
    life = Life()
    for where, condition in ((WITH_CUBE, "at(red_cube, kitchen_table)"), (AT_TABLE, "holding(red_cube)")):
        life.stand(**where)
        life.focus("o2", condition)
        assert life.in_mind is None
        life.end()


def test_a_grasp_that_failed_for_good_is_avoided_the_next_time() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    life.stand()
    life.focus("o2", "holding(red_cube)")
    assert life.avoid == ["pick(red_cube)"]


def test_what_failed_with_one_object_is_not_held_against_another() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    life.stand(objects=[thing("green_cube", "kitchen_table")])
    life.focus("o2", "holding(green_cube)")
    assert life.avoid == []


def test_a_retry_that_worked_is_no_reason_to_avoid_the_call() -> None:
    life = Life()
    life.stand(**AT_TABLE)
    life.focus("o1", "holding(red_cube)")
    life.do("pick", Failure.GRASP_FAILED, object="red_cube")
    life.do("pick", object="red_cube")
    life.end()
    assert [e.fix for e in life.episodes if not e.success] == ["", "pick(red_cube)"]
    life.stand()
    life.focus("o2", "holding(red_cube)")
    assert life.avoid == []
    assert life.prefer == ["pick(red_cube)"]


def test_what_was_done_between_failure_and_success_is_the_fix() -> None:
    life = Life()
    life.stand(**AT_TABLE)
    life.focus("o1", "holding(red_cube)")
    life.do("pick", Failure.GRASP_FAILED, object="red_cube")
    life.do("approach", object="red_cube")
    life.do("pick", object="red_cube")
    mended = life.episodes[-1]
    assert (mended.call, mended.fix) == ("pick(red_cube)", "approach(red_cube)")
    life.end()
    life.stand()
    life.focus("o2", "holding(red_cube)")
    assert life.avoid == ["pick(red_cube)"]
    assert "approach(red_cube)" in life.prefer


def test_an_objective_that_was_reached_in_another_way_names_that_way_as_the_fix() -> None:
    life = Life()
    life.stand()
    life.focus("o1", "at(robot, kitchen)")
    life.do("go_to", Failure.PATH_BLOCKED, place="kitchen")
    life.do("wait", seconds=5.0)
    life.end()
    assert (life.episodes[-1].call, life.episodes[-1].fix) == ("go_to(kitchen)", "wait(5.0)")


def test_what_was_lived_for_this_very_objective_is_no_memory_yet() -> None:
    life = Life()
    life.stand(**AT_TABLE)
    life.focus("o1", "holding(red_cube)")
    life.do("pick", Failure.GRASP_FAILED, object="red_cube")
    assert life.in_mind is None


def test_the_same_again_is_one_episode_lived_twice() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    grasp_in_vain(life, "o2")
    assert [e.count for e in life.episodes] == [1, 2]
    assert len({e.id for e in life.episodes}) == 1


def test_a_call_that_works_again_and_again_is_forgiven() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    for number in range(2, 5):
        life.stand(**AT_TABLE)
        life.focus(f"o{number}", "holding(red_cube)")
        life.do("pick", object="red_cube")
        life.end()
    life.stand(**AT_TABLE)
    life.focus("o9", "holding(red_cube)")
    assert life.avoid == []
    assert life.prefer == ["pick(red_cube)"]


def test_what_came_to_mind_says_that_it_is_no_new_evidence() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    life.focus("o2", "holding(red_cube)")
    assert life.in_mind is not None
    assert {e.origin for e in life.in_mind.episodes} == {"recalled"}
    assert {e.origin for e in life.episodes} == {"lived"}
    assert len(life.in_mind.similarity) == len(life.in_mind.episodes) <= 3
    assert np.all(life.in_mind.similarity >= 0.65)


def test_nothing_comes_to_mind_in_the_middle_of_an_act() -> None:
    life = Life()
    stall_on_the_rug(life, "o1")
    life.stand(room="office", place="", holding="", objects=[])
    life.focus("o2", "at(red_cube, kitchen_table)")
    before = len(life.recalls)
    lease = life.begin("look_for", object="red_cube")
    life.stand(**WITH_CUBE)
    assert len(life.recalls) == before
    life.over(lease)
    assert life.avoid == ["go_to(kitchen_table)"]


def test_a_moment_that_stays_the_same_is_told_once_and_one_that_comes_again_and_again_fades() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    life.focus("o2", "holding(red_cube)")
    told = len(life.recalls)
    for _ in range(20):
        life.stand()
    assert len(life.recalls) == told
    seen = []
    for _ in range(8):
        life.stand(battery=0.1)
        life.stand(battery=0.9)
        seen.append(life.in_mind is not None)
    assert seen[0] and not seen[-1]
    life.now += 3600.0
    life.stand(battery=0.1)
    life.stand(battery=0.9)
    assert life.in_mind is not None, "an hour later it comes as fresh"


def test_what_no_longer_fits_the_situation_is_taken_back() -> None:
    life = Life()
    grasp_in_vain(life, "o1")
    life.focus("o2", "holding(red_cube)")
    assert life.in_mind is not None
    life.stand(room="office", place="office_table", objects=[])
    assert life.in_mind is None
    assert life.recalls[-1].avoid == []


def test_somebody_elses_interruption_is_no_failure_and_a_deadline_is_one() -> None:
    life = Life()
    life.stand(**AT_TABLE)
    life.focus("o1", "holding(red_cube)")
    lease = life.begin("pick", object="red_cube")
    life.take_back(lease, "a person drives by hand")
    life.over(lease, Failure.INTERRUPTED)
    assert life.episodes == []
    lease = life.begin("pick", object="red_cube")
    life.take_back(lease, "timeout")
    life.over(lease, Failure.INTERRUPTED)
    assert [e.failure for e in life.episodes] == [Failure.TIMEOUT]


def test_a_failure_whose_recovery_begins_at_once_is_an_episode_all_the_same() -> None:
    life = Life()
    life.stand(**AT_TABLE)
    life.focus("o1", "holding(red_cube)")
    lease = life.begin("pick", object="red_cube")
    recovery = lease.model_copy(update={"id": "lease-next", "call": call("c9", "look_for", "o1", object="red_cube")})
    failed = Outcome(
        header=Header.at(life.now), lease=lease.id, call=lease.call, success=False,
        failure=int(Failure.GRASP_FAILED), detail="", duration_s=1.0,
    )
    life.step(t.LEASE.of(recovery), t.OUTCOME.of(failed))
    life.over(recovery)
    assert [(e.call, e.failure) for e in life.episodes] == [("pick(red_cube)", 310), ("look_for(red_cube)", 0)]
    assert "failed=pick" in life.episodes[1].situation


def test_condition_and_reflexes_are_part_of_the_situation() -> None:
    life = Life()
    life.feel("STRAINED")
    life.reflex("obstacle", True)
    grasp_in_vain(life, "o1")
    life.reflex("obstacle", False)
    grasp_in_vain(life, "o2")
    first, second = life.episodes
    assert "label=STRAINED" in first.situation and "reflex=obstacle" in first.situation
    assert "reflex=" not in second.situation


def test_memory_is_bounded_and_the_faintest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    region = Hippocampus(Settings())
    small = region._tuning.model_copy(update={"episodes_kept": 10})
    region._tuning = region._traces._tuning = small
    life = Life(region=region)
    grasp_in_vain(life, "o0")
    grasp_in_vain(life, "o1")
    for number in range(30):
        life.stand(room="office", place="")
        life.focus(f"r{number}", "at(robot, kitchen)")
        life.do("go_to", place=f"kitchen{number}")
        life.end()
    assert len(region._traces) == 10
    life.stand(**AT_TABLE)
    life.focus("o9", "holding(red_cube)")
    assert life.avoid == ["pick(red_cube)"], "lived twice, it outlasts what was lived once"


def test_after_a_restart_the_rug_is_still_remembered(tmp_path: Path) -> None:
    home = Settings(memory_url=f"sqlite:///{tmp_path}/mind.db")
    life = Life(home)
    stall_on_the_rug(life, "o1")
    keeper = MemoryKeeper(home)
    keeper.step(life.now, Inbox.of([t.EPISODES.of(episode) for episode in life.episodes]))
    keeper.close()
    for settings, avoid in ((home, ["go_to(kitchen_table)"]), (Settings(), [])):
        reborn = Life(settings)
        reborn.stand(**WITH_CUBE)
        reborn.focus("o1", "at(red_cube, kitchen_table)")
        assert reborn.avoid == avoid
    assert "against go_to(kitchen_table)" not in reborn.region.why()
