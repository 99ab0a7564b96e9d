"""A machine without Gazebo says so, and says what to do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from anima.config import ConfigError
from anima_sim.gazebo.prefix import INSTALLER, GazeboMissing, Prefix

UNREACHABLE = 69


def test_without_gazebo_the_error_names_the_installer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(GazeboMissing, match="scripts/gazebo") as caught:
        Prefix.find()
    assert isinstance(caught.value, ConfigError)
    assert str(tmp_path) in str(caught.value)


def test_a_plugin_of_another_source_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / "anima").mkdir()
    (tmp_path / "anima" / "lockstep-0000000000000000.so").touch()
    with pytest.raises(GazeboMissing, match="scripts/gazebo"):
        _ = Prefix(tmp_path).plugin


def installer(tmp_path: Path, apt_get: str) -> subprocess.CompletedProcess[str]:
    """Runs the installer with an apt-get of its own on the path: a fault that can't be had otherwise."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, script in (("apt-get", apt_get), ("dpkg", "echo amd64")):
        (tools / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return subprocess.run([INSTALLER], env=env, capture_output=True, text=True, timeout=60, check=False)


MIRROR = 'case "$*" in *indextargets*) echo "Packages|Debian|Debian|http://mirror.invalid/archive"; exit 0;; esac'


def test_a_mirror_without_the_release_is_unreachable_and_not_an_error_of_ours(tmp_path: Path) -> None:
    gone = 'echo "E: The repository does not have a Release file." >&2; exit 100'
    done = installer(tmp_path, f"{MIRROR}\n{gone}")
    assert done.returncode == UNREACHABLE
    assert "can't be reached" in done.stderr and "Release file" in done.stderr


def test_a_signature_that_is_not_debians_is_an_error_and_nothing_is_installed(tmp_path: Path) -> None:
    forged = 'echo "W: GPG error: the following signatures could not be verified: NO_PUBKEY 0123" >&2; exit 100'
    done = installer(tmp_path, f"{MIRROR}\n{forged}")
    assert done.returncode == 1
    assert "not signed" in done.stderr
    assert not list((tmp_path / "cache" / "anima").glob("gazebo-11-*"))


def test_a_download_that_breaks_off_is_an_error_of_its_own(tmp_path: Path) -> None:
    broken = 'case "$*" in *update*) exit 0;; esac; echo "E: Failed to fetch a package" >&2; exit 100'
    done = installer(tmp_path, f"{MIRROR}\n{broken}")
    assert done.returncode == 1
    assert "download broke off" in done.stderr and "Failed to fetch" in done.stderr


def test_a_machine_without_a_debian_mirror_is_told_what_to_do(tmp_path: Path) -> None:
    done = installer(tmp_path, "exit 0")
    assert done.returncode == UNREACHABLE
    assert "mirror" in done.stderr
