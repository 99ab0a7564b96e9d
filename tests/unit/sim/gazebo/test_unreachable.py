"""Where Gazebo can't be had, the run says that it was not tested; it neither fails nor passes in silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anima.config import ROOT

INSTALLER = """#!/bin/sh
echo "{words}" >&2
exit {code}
"""
GUARDED = "tests/gazebo/test_errand.py"
PLUGIN = """from pathlib import Path

import anima_sim.gazebo.prefix

anima_sim.gazebo.prefix.INSTALLER = Path(__file__).parent / "installer"
"""


def run_with_an_installer_that(folder: Path, words: str, code: int) -> subprocess.CompletedProcess[str]:
    installer = folder / "installer"
    installer.write_text(INSTALLER.format(words=words, code=code))
    installer.chmod(0o755)
    (folder / "other_installer.py").write_text(PLUGIN)
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "other_installer", "-p", "no:cacheprovider", GUARDED],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=300, check=False,
    )


@pytest.mark.timeout(300)
def test_an_unreachable_release_is_a_skip_under_a_headline_of_its_own(tmp_path: Path) -> None:
    done = run_with_an_installer_that(tmp_path, "no mirror has this release", 69)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout and "passed" not in done.stdout
    assert "GAZEBO WAS NOT TESTED" in done.stdout
    assert "no mirror has this release" in done.stdout


@pytest.mark.timeout(300)
def test_an_installer_that_breaks_is_a_failure(tmp_path: Path) -> None:
    done = run_with_an_installer_that(tmp_path, "the signature is wrong", 1)
    assert done.returncode == 1
    assert "the signature is wrong" in done.stdout and "WAS NOT TESTED" not in done.stdout
