"""The core's quick proofs hold and fail on seeded defects; `make firmware-test` runs all of them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.brainstem import FIRMWARE

QUICK = ["boot", "damage", "reflex", "targets", "decoder"]


@pytest.mark.timeout(300)
def test_the_quick_proofs_hold_and_catch_what_they_must() -> None:
    fetched = subprocess.run([FIRMWARE / "tools/cbmc", "--fetch"], capture_output=True, text=True, check=False)
    if fetched.returncode == 3:
        pytest.skip(fetched.stderr.strip())
    done = subprocess.run(
        [sys.executable, FIRMWARE / "proof/prove.py", "--mutants", *QUICK], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(QUICK)} of {len(QUICK)} proofs successful" in done.stdout
    assert "caught" in done.stdout and "MISSED" not in done.stdout


@pytest.mark.timeout(120)
def test_random_bytes_ticks_and_readings_break_no_invariant() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "-s", "-C", str(FIRMWARE), "fuzz-smoke"],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
