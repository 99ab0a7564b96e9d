"""The reflexes keep their limits in Gazebo, too: before a box that appears, and at a person's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from anima_sim.acceptance.numbers import Kind, judge
from anima_sim.acceptance.reading import read_drive, read_messages
from anima_sim.acceptance.trials import Stage, Staged
from anima_sim.bench.reflex import LIMITS

pytestmark = [pytest.mark.gazebo, pytest.mark.timeout(900)]
STAGED: tuple[Kind, ...] = ("obstacle", "software_stop")


def test_it_stops_in_time_stays_and_goes_on(gazebo_installed: None, tmp_path: Path) -> None:
    stage = Stage("gazebo", seed=2)
    try:
        for kind in STAGED:
            stage.act(Staged(kind, seed=2), tmp_path / kind)
            drive = read_drive(read_messages(tmp_path / kind), stage.world.config)
            accepted = judge(drive.samples, drive.hazards)
            (answer,) = accepted.of(kind)
            assert answer.faults(LIMITS[kind]) == []
            assert accepted.false_stops_s == []
    finally:
        stage.close()
