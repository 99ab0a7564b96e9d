"""The whole road on one command: words, a real model, real ROS 2, real physics, and the truth as the judge."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from support.ros_domain import own_domain

from anima.config import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.llm, pytest.mark.ros, pytest.mark.timeout(900)]


def demo(folder: Path, errand: str) -> subprocess.CompletedProcess[str]:
    with own_domain() as domain:
        return subprocess.run(
            [ROOT / "anima", "demo", "--errand", errand, "--seed", "1", "--speed", "4", "--out", folder],
            capture_output=True, text=True, timeout=880, check=False,
            env={**os.environ, "ROS_DOMAIN_ID": str(domain), "COLUMNS": "200"},
        )


def test_bring_the_red_cube_to_the_kitchen_table(tmp_path: Path) -> None:
    done = demo(tmp_path, "bring the red cube to the kitchen table")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "simulator's truth: at(red_cube, kitchen_table) is True" in done.stdout
    assert "0 collisions" in done.stdout
    (film,) = tmp_path.glob("*.mp4")
    (picture,) = tmp_path.glob("*.png")
    assert film.stat().st_size > 50_000
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_order_that_cannot_be_done_is_declined_with_a_reason_and_without_moving(tmp_path: Path) -> None:
    declined = demo(tmp_path, "bring me the guitar")
    assert declined.returncode == 3, declined.stdout[-4000:] + declined.stderr[-2000:]
    assert "guitar" in declined.stdout.split("robot:")[-1]
    assert "0 skill calls" in declined.stdout
