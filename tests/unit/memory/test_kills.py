"""What was acknowledged is there after the writer is killed, at any moment, on either database."""

from __future__ import annotations

from pathlib import Path

import pytest

from anima.memory.embedding import MiniLm
from anima.memory.store import Store
from anima_sim.bench.kills import Killer

KILLS = 35


@pytest.fixture(scope="module")
def embedder() -> MiniLm:
    return MiniLm.load()


def test_nothing_acknowledged_is_lost_and_the_index_comes_back(url: str, tmp_path: Path, embedder: MiniLm) -> None:
    killer = Killer(url, tmp_path / "parts.index", embedder, seed=3)
    for _ in range(KILLS):
        killer.kill_once()
    with Store(url) as store:
        killer.verify(store)
    seen = killer.seen
    assert (seen.lost, seen.faults, seen.wrong_index) == ([], [], [])
    assert seen.kills == KILLS and seen.acknowledged > 0
