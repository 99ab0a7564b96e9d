"""What must survive a restart is written as it comes by, and is there for the next life."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.gate_rig import objective

from anima import topics as t
from anima.config import Settings, load_settings
from anima.memory import opening
from anima.memory.errors import StoreUnusable
from anima.memory.node import MemoryKeeper
from anima.memory.opening import (
    INTERRUPTED,
    default_file,
    home_id,
    open_store,
    remembered_episodes,
    remembered_position,
    remembered_temperament,
    restored_objectives,
)
from anima.memory.rows import Change
from anima.memory.store import Store
from anima.regions.hippocampus import Hippocampus
from anima.regions.temperament import TemperamentDrift
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.glue import Episode, Temperament
from anima.types.mind import Backlog, Objective
from anima.types.std import Pose, PoseWithCovarianceStamped

NOON = 1_800_000_000.0


def set_clock(monkeypatch: pytest.MonkeyPatch, utc_s: float) -> None:
    monkeypatch.setattr(opening, "time", SimpleNamespace(time=lambda: utc_s))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A robot with a memory of its own, in a simulated run that starts at noon."""
    set_clock(monkeypatch, NOON)
    return Settings(memory_url=f"sqlite:///{tmp_path}/mind.db")


def lived(at: float, id: str = "ep-1", **update: Any) -> Sent:
    episode = Episode(
        id=id, at=Time.at(at), situation="room=kitchen; want=holding", objective="o1", call="pick(red_cube)",
        success=False, failure=310, detail="it slipped", fix="", count=1, origin="lived",
    )
    return t.EPISODES.of(episode.model_copy(update=update))


def backlog(now: float, *objectives: Objective) -> Sent:
    return t.BACKLOG.of(
        Backlog.model_construct(header=Header.at(now), objectives=list(objectives), focus="", why="", failures=[])
    )


def mood(now: float, initiative: float) -> Sent:
    return t.TEMPERAMENT.of(
        Temperament(header=Header.at(now), initiative=initiative, persistence=0.5, caution=0.5, word="steady")
    )


def live(settings: Settings, *steps: tuple[float, Sent]) -> None:
    """One life of the keeper, to its orderly end."""
    keeper = MemoryKeeper(settings)
    for now, sent in steps:
        assert keeper.step(now, Inbox.of([sent])) == []
    keeper.close()


def kept(settings: Settings) -> Store:
    store = open_store(settings)
    assert store is not None
    return store


def test_episodes_are_remembered_with_their_age(home: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    live(home, (50.0, lived(40.0)))
    set_clock(monkeypatch, NOON + 3600.0)
    (episode,) = remembered_episodes(home, 10)
    assert episode.call == "pick(red_cube)"
    assert episode.at.seconds == pytest.approx(40.0 - 3600.0), "an hour ago, on a clock that starts at 0"
    with kept(home) as store:
        (item,) = store.all("episode")
    assert item.at.utc_s == pytest.approx(NOON + 40.0)
    assert item.at.clock.startswith("sim-")


def test_a_simulated_life_that_ran_ahead_of_the_wall_still_lies_in_the_past(home: Settings) -> None:
    live(home, (9_000.0, lived(9_000.0)))
    (episode,) = remembered_episodes(home, 10)
    assert episode.at.seconds <= 0.0


def test_an_episode_lived_again_or_mended_is_a_new_version_of_itself(home: Settings) -> None:
    live(home, (1.0, lived(1.0)), (2.0, lived(2.0, count=2)), (3.0, lived(2.0, count=2, fix="approach(red_cube)")))
    with kept(home) as store:
        assert [item.data["count"] for item in store.history("episode", "ep-1")] == [1, 2, 2]
        assert store.get("episode", "ep-1").data["fix"] == "approach(red_cube)"
        assert store.verify() == []


def test_what_was_open_comes_back_parked_and_what_had_ended_does_not(
    home: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = objective("u7.0", "holding(red_cube)", created=10.0, state="focused")
    second = objective("u7.1", "at(red_cube, shelf)", order=1, created=10.0, state="pending")
    over = objective("u6.0", "docked", created=5.0, state="pending")
    live(
        home,
        (20.0, backlog(20.0, over, first, second)),
        (30.0, backlog(30.0, over.model_copy(update={"state": "done"}), first, second)),
    )
    set_clock(monkeypatch, NOON + 100.0)
    restored = restored_objectives(home)
    assert [o.condition for o in restored] == ["holding(red_cube)", "at(red_cube, shelf)"]
    assert {(o.state, o.reason) for o in restored} == {("parked", INTERRUPTED)}
    assert [o.created.seconds for o in restored] == pytest.approx([-90.0, -90.0])
    assert not {o.id for o in restored} & {"u7.0", "u7.1"}, "this run may give those ids to something else"


def test_what_was_restored_and_done_in_the_next_life_is_over(home: Settings) -> None:
    live(home, (20.0, backlog(20.0, objective("u7.0", "docked", state="focused"))))
    (restored,) = restored_objectives(home)
    other = objective("u7.0", "holding(red_cube)", state="focused")
    live(
        home,
        (1.0, backlog(1.0, restored, other)),
        (9.0, backlog(9.0, restored.model_copy(update={"state": "done", "reason": ""}), other)),
    )
    assert [o.condition for o in restored_objectives(home)] == ["holding(red_cube)"]
    with kept(home) as store:
        assert [i.data["state"] for i in store.history("objective", restored.id)] == ["focused", "parked", "done"]


def test_a_gate_that_died_alone_takes_its_errand_up_again_and_it_is_kept_once(home: Settings) -> None:
    keeper = MemoryKeeper(home)
    keeper.step(20.0, Inbox.of([backlog(20.0, objective("u7.0", "docked", state="focused"))]))
    until = time.monotonic() + 20.0
    while not restored_objectives(home) and time.monotonic() < until:
        time.sleep(0.01)
    (restored,) = restored_objectives(home)
    keeper.step(25.0, Inbox.of([backlog(25.0, restored)]))
    keeper.step(30.0, Inbox.of([backlog(30.0, restored.model_copy(update={"state": "done", "reason": ""}))]))
    keeper.close()
    assert restored_objectives(home) == []
    with kept(home) as store:
        assert [i.data["state"] for i in store.history("objective", restored.id)] == ["focused", "parked", "done"]


def test_what_is_not_taken_up_again_after_a_restart_does_not_haunt_every_start(home: Settings) -> None:
    live(home, (20.0, backlog(20.0, objective("explore-1", "at(robot, office)", state="focused"))))
    assert len(restored_objectives(home)) == 1
    live(home, (1.0, backlog(1.0)))
    assert restored_objectives(home) == []


def test_temperament_is_written_when_it_has_moved_and_not_at_every_breath(home: Settings) -> None:
    live(
        home, (0.0, mood(0.0, 0.5)), (2.0, mood(2.0, 0.505)), (4.0, mood(4.0, 0.55)), (40.0, mood(40.0, 0.56)),
    )
    with kept(home) as store:
        assert [i.data["initiative"] for i in store.history("temperament", "default")] == [0.5, 0.56]
    dispositions = remembered_temperament(home)
    assert dispositions is not None and dispositions.initiative == 0.56


def test_another_personality_starts_from_its_own_setpoints(home: Settings) -> None:
    live(home, (0.0, mood(0.0, 0.33)))
    skittish = home.model_copy(update={"temperament": "skittish"})
    assert remembered_temperament(skittish) is None
    assert TemperamentDrift(home).dump()["initiative"] == 0.33
    assert TemperamentDrift(skittish).dump()["initiative"] == 0.35


def test_regions_wake_with_what_was_kept(home: Settings) -> None:
    live(home, (1.0, lived(1.0)), (2.0, mood(2.0, 0.7)))
    assert "of 1 episodes" in Hippocampus(home).why()
    assert "initiative 0.70" in TemperamentDrift(home).why()


def test_a_real_clock_goes_on_where_it_was(tmp_path: Path) -> None:
    settings = Settings(memory_url=f"sqlite:///{tmp_path}/mind.db", sim="none")
    live(settings, (NOON, lived(NOON - 1.0)))
    (episode,) = remembered_episodes(settings, 10)
    assert episode.at.seconds == pytest.approx(NOON - 1.0)


def test_an_unreadable_change_is_told_and_costs_only_itself(home: Settings) -> None:
    keeper = MemoryKeeper(home)
    keeper.step(1.0, Inbox.of([lived(1.0, id="ep-1"), lived(1.0, id="ep-2", origin="recalled"), lived(1.0, id="ep-3")]))
    assert keeper.flush()
    assert "1 changes could not be kept" in keeper.why()
    keeper.close()
    assert len(remembered_episodes(home, 10)) == 2


def test_a_stuck_disk_delays_writing_and_never_the_step(home: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = True
    write = Store.write

    def sometimes(store: Store, changes: list[Change]) -> Any:
        if stuck:
            raise StoreUnusable("mind.db: the disk is full")
        return write(store, changes)

    monkeypatch.setattr(Store, "write", sometimes)
    monkeypatch.setattr("anima.memory.writer.RETRY_S", 0.01)
    keeper = MemoryKeeper(home)
    keeper.step(1.0, Inbox.of([lived(1.0)]))
    assert not keeper.flush(0.1)
    assert "the disk is full" in keeper.why()
    stuck = False
    assert keeper.flush(10.0)
    assert "disk" not in keeper.why()
    keeper.close()
    assert len(remembered_episodes(home, 10)) == 1


def test_settings_made_in_code_keep_nothing_and_the_settings_file_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    live(Settings(), (1.0, lived(1.0)))
    assert open_store(Settings()) is None
    assert list(tmp_path.iterdir()) == []
    live(load_settings(), (1.0, lived(1.0)))
    assert default_file() == tmp_path / "anima" / "mind.db"
    assert len(remembered_episodes(load_settings(), 10)) == 1


def stood(now: float, x: float, sigma_m: float = 0.02) -> tuple[float, Sent]:
    return now, t.POSE.of(PoseWithCovarianceStamped.about(now, Pose.planar(x, 2.0, 0.5), sigma_m, 0.05))


class TestWhereItStands:
    def test_where_it_came_to_a_stand_is_there_for_the_next_life_and_the_way_there_is_not_written(
        self, home: Settings
    ) -> None:
        way = [stood(0.5 * tick, 0.3 * tick) for tick in range(10)]
        live(home, *way, *(stood(5.0 + 0.5 * tick, 3.0) for tick in range(10)))
        found = remembered_position(home)
        assert found is not None and (found.x, found.y, found.yaw) == pytest.approx((3.0, 2.0, 0.5))
        with kept(home) as store:
            assert len(store.history("position", home_id(home))) == 1

    def test_a_lost_robot_writes_no_place(self, home: Settings) -> None:
        live(home, *(stood(0.5 * tick, 3.0, sigma_m=0.9) for tick in range(20)))
        assert remembered_position(home) is None
