"""The store keeps every version, refuses what it must not keep, and what it acknowledged is there after a kill."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from anima.memory.errors import BadData, NotThere, Overtaken, RecalledEvidence, StoreError, StoreUnusable, UnknownKind
from anima.memory.rows import Change, Stamp
from anima.memory.store import Store
from anima.types.base import Header, Time
from anima.types.glue import Episode, Recall

AT = Stamp(1_000.0, "utc", 1_000.0)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        yield opened


def mood(value: float) -> dict[str, Any]:
    return {"initiative": value, "persistence": 0.5, "caution": 0.5}


def put(store: Store, value: float, id: str = "default", at: float = 1_000.0) -> int:
    stamp = Stamp(at, "utc", at)
    return store.put("temperament", id, mood(value), who="dmn", why="it drifted", at=stamp, because=["o1"]).version


def episode(**update: Any) -> Episode:
    lived = Episode(
        id="ep-1", at=Time.at(5.0), situation="room=kitchen", objective="o1", call="pick(red_cube)", success=False,
        failure=310, detail="it slipped", fix="", count=1, origin="lived",
    )
    return lived.model_copy(update=update)


def test_a_new_version_supersedes_and_the_old_one_stays(store: Store) -> None:
    put(store, 0.5)
    put(store, 0.6, at=2_000.0)
    now = store.get("temperament", "default")
    assert (now.version, now.data["initiative"]) == (2, 0.6)
    assert (now.who, now.why, now.because, now.at.utc_s) == ("dmn", "it drifted", ("o1",), 2_000.0)
    assert [item.data["initiative"] for item in store.history("temperament", "default")] == [0.5, 0.6]
    assert store.get("temperament", "default", version=1).data["initiative"] == 0.5


def test_saying_the_same_again_writes_nothing(store: Store) -> None:
    assert put(store, 0.5) == put(store, 0.5) == 1


def test_what_is_archived_is_out_of_sight_and_not_gone(store: Store) -> None:
    put(store, 0.5, "driven")
    put(store, 0.6, "stoic")
    store.archive("temperament", "driven", who="ana", why="no longer wanted", at=AT)
    assert [item.id for item in store.all("temperament")] == ["stoic"]
    assert store.get("temperament", "driven").archived
    assert store.get("temperament", "driven").data["initiative"] == 0.5
    put(store, 0.5, "driven")
    assert [item.id for item in store.all("temperament")] == ["stoic", "driven"]
    assert [item.archived for item in store.history("temperament", "driven")] == [False, True, False]


def test_the_newest_come_last_and_can_be_had_alone(store: Store) -> None:
    for number in range(5):
        put(store, 0.5, f"p{number}")
    put(store, 0.7, "p0")
    assert [item.id for item in store.all("temperament", newest=2)] == ["p4", "p0"]


@pytest.mark.parametrize(
    ("kind", "id", "data", "error"),
    [
        ("temperament", "default", {"initiative": 2.0, "persistence": 0.5, "caution": 0.5}, BadData),
        ("temperament", "default", {"initiative": math.nan, "persistence": 0.5, "caution": 0.5}, BadData),
        ("temperament", "default", {"initiative": 0.5}, BadData),
        ("temperament", "default", {**mood(0.5), "greed": 1.0}, BadData),
        ("temperament", "", mood(0.6), BadData),
        ("temperament", "x" * 201, mood(0.6), BadData),
        ("grudge", "default", mood(0.6), UnknownKind),
    ],
)
def test_bad_data_is_an_error_and_the_old_state_stays(
    store: Store, kind: str, id: str, data: dict[str, Any], error: type[StoreError]
) -> None:
    put(store, 0.5)
    with pytest.raises(error):
        store.put(kind, id, data, who="dmn", why="it drifted", at=AT)
    assert [item.version for item in store.history("temperament", "default")] == [1]
    assert store.verify() == []


def test_a_whole_number_and_a_negative_zero_are_times_like_others(store: Store) -> None:
    put(store, 0.5, at=1_000)
    put(store, 0.6, at=-0.0)
    assert store.verify() == []


def test_a_time_that_is_no_number_is_refused(store: Store) -> None:
    with pytest.raises(BadData, match="time"):
        put(store, 0.5, at=math.inf)


def test_changes_that_come_together_are_written_together_or_not_at_all(store: Store) -> None:
    good = Change("temperament", "default", mood(0.6), "dmn", "it drifted", AT)
    missing = Change("temperament", "nobody", None, "dmn", "away with it", AT, archived=True)
    with pytest.raises(NotThere, match="nobody"):
        store.write([good, missing])
    assert store.all("temperament") == []


def test_what_is_not_there_is_said_to_be_missing(store: Store) -> None:
    with pytest.raises(NotThere, match="temperament 'default'"):
        store.get("temperament", "default")
    put(store, 0.5)
    with pytest.raises(NotThere, match="version 7"):
        store.get("temperament", "default", version=7)
    assert store.history("temperament", "nobody") == []


def test_door_4_what_came_to_mind_is_never_kept_as_if_it_were_lived(store: Store) -> None:
    lived = episode()
    store.put("episode", lived.id, lived.model_dump(mode="json"), who="hippocampus", why="it was lived", at=AT)
    recalled = episode(origin="recalled", count=2)
    recall = Recall(
        header=Header.at(1.0), objective="o2", episodes=[recalled], similarity=np.ones(1), avoid=[], prefer=[]
    )
    for data in (recalled.model_dump(mode="json"), dict(recalled), dict(recall)):
        with pytest.raises(RecalledEvidence):
            store.put("episode", lived.id, data, who="hippocampus", why="it was lived", at=AT)
    hearsay = episode(origin="somebody told me")
    with pytest.raises(BadData, match="origin"):
        store.put("episode", lived.id, dict(hearsay), who="hippocampus", why="it was lived", at=AT)
    assert store.get("episode", lived.id).version == 1


def test_bottomless_data_is_refused_in_words(store: Store) -> None:
    bottomless: Any = "x"
    for _ in range(100_000):
        bottomless = [bottomless]
    with pytest.raises(BadData, match="initiative"):
        store.put("temperament", "default", {**mood(0.5), "initiative": bottomless}, who="dmn", why="x", at=AT)
    assert store.all("temperament") == []


def test_neither_a_bug_nor_a_hand_in_the_database_changes_the_past(store: Store) -> None:
    put(store, 0.5)
    for statement in ("UPDATE item_version SET who = 'me'", "DELETE FROM item_version"):
        with pytest.raises(DBAPIError, match="never changed"), store._engine.begin() as connection:
            connection.execute(text(statement))
    assert store.verify() == []


def test_verify_tells_of_a_changed_past_and_of_a_gap(store: Store) -> None:
    for value in (0.4, 0.5, 0.6):
        put(store, value)
    put(store, 0.5, "stoic")
    with store._engine.begin() as connection:
        sqlite = connection.dialect.name == "sqlite"
        for guard in ("no_update", "no_delete") if sqlite else ("versions_stay ON item_version",):
            connection.execute(text(f"DROP TRIGGER {guard}"))
        connection.execute(text("UPDATE item_version SET why = 'because' WHERE id = 'stoic'"))
        connection.execute(text("DELETE FROM item_version WHERE id = 'default' AND version = 2"))
    faults = store.verify()
    assert len(faults) == 2
    assert "version 2 is missing" in faults[0]
    assert "'stoic' version 1: it is not what was written" in faults[1]


def test_a_damaged_file_and_a_layout_to_come_are_said_in_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(StoreUnusable, match="broken"):
        Store(f"sqlite:///{broken}")
    newer = tmp_path / "newer.db"
    with Store(f"sqlite:///{newer}") as store, store._engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '99'"))
    with pytest.raises(StoreUnusable, match="layout 99"):
        Store(f"sqlite:///{newer}")
    for wrong in ("not a url", "mysql://me@somewhere/mind"):
        with pytest.raises(StoreUnusable, match="sqlite:////"):
            Store(wrong)
    with pytest.raises(StoreUnusable, match="nowhere"):
        Store("postgresql://me:secret@/mind?host=/nowhere")
    with pytest.raises(StoreUnusable, match=r"nowhere"):
        Store(f"sqlite:///{tmp_path}/nowhere/mind.db")


def test_two_that_write_the_same_item_at_once_both_get_a_version(url: str) -> None:
    with Store(url) as one, Store(url) as other:
        for number in range(10):
            put(one, number / 20)
            put(other, number / 20 + 0.01)
        assert len(one.history("temperament", "default")) == 20
        assert one.verify() == []


def test_a_change_made_on_an_older_version_is_refused(store: Store) -> None:
    put(store, 0.5)
    put(store, 0.6)
    late = Change("temperament", "default", mood(0.7), "dmn", "it drifted", AT, on_version=1)
    with pytest.raises(Overtaken, match="version 2 now"):
        store.write([late])
    first = Change("temperament", "default", mood(0.7), "dmn", "it drifted", AT, on_version=0)
    with pytest.raises(Overtaken):
        store.write([first])
    assert len(store.history("temperament", "default")) == 2
    assert store.write([Change("temperament", "default", mood(0.7), "dmn", "it drifted", AT, on_version=2)])


@pytest.mark.parametrize("text", ["half a \ud83d", "a \0 within"])
def test_what_no_database_can_hold_is_refused_in_words(store: Store, text: str) -> None:
    for field in ("id", "who", "why", "because"):
        change = Change("temperament", "default", mood(0.5), "dmn", "it drifted", AT, ("e1",))
        with pytest.raises(BadData, match="texts"):
            store.write([replace(change, **{field: (text,) if field == "because" else text})])
    assert store.all("temperament") == []


def test_what_was_written_since_comes_in_its_order(store: Store) -> None:
    put(store, 0.5)
    seq = store.since("temperament", 0)[-1].seq
    put(store, 0.6, "stoic")
    put(store, 0.7)
    assert [(item.id, item.version) for item in store.since("temperament", seq)] == [("stoic", 1), ("default", 2)]
    assert [item.id for item in store.since("temperament", seq, most=1)] == ["stoic"]
    assert store.since("temperament", seq + 2) == []
    assert store.some("temperament", ["default", "nobody"]).keys() == {"default"}


def test_writers_in_many_processes_leave_a_whole_store(url: str) -> None:
    with Store(url):
        pass
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_some, args=(url, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Store(url) as store:
        assert store.verify() == []
        assert len(store.history("temperament", "default")) == 3 * 20


def _write_some(url: str, writer: int) -> None:
    with Store(url) as store:
        for number in range(20):
            put(store, writer / 10 + number / 1000)
