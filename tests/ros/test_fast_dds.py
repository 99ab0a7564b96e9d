"""The profile of Fast DDS is read, and understood in every line by the release that is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anima.config import CONFIG, ROOT

pytestmark = pytest.mark.ros

PROFILE = CONFIG / "fastdds.xml"
JOIN = "import rclpy; rclpy.init(); rclpy.create_node('joins'); print('joined')"


def complaints(profile: Path) -> str:
    """What is said when a node starts with this profile; empty: nothing."""
    names = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
    given = {name: str(profile) for name in names if name in os.environ}
    assert given, "the environment names no profile"
    words, env = [sys.executable, "-c", JOIN], {**os.environ, **given}
    said = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, check=True)
    return (said.stdout + said.stderr).removeprefix("joined\n").strip()


def test_the_profile_is_read_without_a_complaint(tmp_path: Path) -> None:
    assert complaints(PROFILE) == ""
    broken = tmp_path / "broken.xml"
    broken.write_text(PROFILE.read_text(encoding="utf-8").replace("receiveBufferSize", "receiveBuffers"))
    assert "receiveBuffers" in complaints(broken)


@pytest.mark.parametrize("distribution", ["", "jazzy"])
def test_the_environment_names_it_by_the_variable_of_the_release(distribution: str) -> None:
    names = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
    clean = {key: value for key, value in os.environ.items() if key not in names}
    told = subprocess.run(
        ["sh", "-c", f'. "$ANIMA_ROOT/scripts/env.sh"; echo "${names[0]}|${names[1]}"'],
        env={**clean, "ROS_DISTRO": distribution, "ANIMA_ROOT": str(ROOT)}, capture_output=True, text=True, check=True,
    ).stdout.strip()
    assert told == (f"{PROFILE}|{PROFILE}" if distribution else f"{PROFILE}|")
