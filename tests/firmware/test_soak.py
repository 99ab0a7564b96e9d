"""A short version of `anima bench soak`."""

from __future__ import annotations

from pathlib import Path

from anima_sim.bench.soak import Soak


def test_a_minute_of_random_faults_leaves_nothing_stuck_and_a_log(tmp_path: Path) -> None:
    log = tmp_path / "soak.jsonl"
    soak = Soak(seed=7, log=log)
    try:
        soak.run(60.0, lambda at: None)
    finally:
        soak.close()
    assert soak.defects == []
    assert soak.least_ram >= 2048
    assert len(log.read_text(encoding="utf-8").splitlines()) == sum(soak.faults.values()) >= 10
