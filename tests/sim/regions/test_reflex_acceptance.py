"""The reflexes keep the limits that docs/safety.md tells, read off recordings. `anima bench reflex` does more of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anima_sim.acceptance.numbers import KINDS, Kind, judge
from anima_sim.acceptance.reading import read_drive, read_messages
from anima_sim.acceptance.trials import Stage, Staged
from anima_sim.bench.reflex import LIMITS

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    stage = Stage("mujoco", seed=2)
    yield stage
    stage.close()


@pytest.mark.parametrize("kind", KINDS)
def test_it_stops_in_time_stays_and_goes_on(stage: Stage, tmp_path: Path, kind: Kind) -> None:
    stage.act(Staged(kind, seed=2), tmp_path / "drive")
    drive = read_drive(read_messages(tmp_path / "drive"), stage.world.config)
    accepted = judge(drive.samples, drive.hazards)
    (answer,) = accepted.of(kind)
    assert answer.faults(LIMITS[kind]) == []
    assert accepted.false_stops_s == []
