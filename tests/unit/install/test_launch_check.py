"""The checker of launch files is fetched once, where it is needed and exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from provision import launch_check
from provision.progress import Progress
from provision.steps import Place


class Recorder(Progress):
    """Notes commands instead of running them, and what is said at the end of a step."""

    def __init__(self, logs: Path) -> None:
        super().__init__(logs, total=1)
        self.commands: list[list[str]] = []
        self.said = ""

    def run(
        self, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        self.commands.append([str(word) for word in command])

    def end(self, note: str) -> None:
        self.said = note


@pytest.fixture
def progress(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path / "logs")


def place(tmp_path: Path, ros: str | None = None) -> Place:
    requirements = tmp_path / "requirements"
    requirements.mkdir(exist_ok=True)
    (requirements / "launch-check.txt").write_text("play-launch==1.0\n", encoding="utf-8")
    return Place(tmp_path, tmp_path / "cache", ros, {})


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_check.platform, "machine", lambda: "x86_64")


def test_it_goes_into_a_folder_of_its_own_so_that_it_changes_nothing_else(tmp_path: Path, progress: Recorder) -> None:
    launch_check.launch_checker(place(tmp_path), progress)
    (command,) = progress.commands
    assert command[command.index("--target") + 1] == str(tmp_path / ".venv" / "launch-check")
    assert "--no-deps" in command
    assert command[-1] == str(tmp_path / "requirements" / "launch-check.txt")


def test_a_second_time_nothing_is_fetched_until_the_pin_moves(tmp_path: Path, progress: Recorder) -> None:
    here = place(tmp_path)
    launch_check.launch_checker(here, progress)
    launch_check.launch_checker(here, progress)
    assert len(progress.commands) == 1
    (tmp_path / "requirements" / "launch-check.txt").write_text("play-launch==2.0\n", encoding="utf-8")
    launch_check.launch_checker(here, progress)
    assert len(progress.commands) == 2


def test_a_machine_with_ros2_launch_needs_none(tmp_path: Path, progress: Recorder) -> None:
    launch_check.launch_checker(place(tmp_path, ros="jazzy"), progress)
    assert progress.commands == []
    assert "jazzy" in progress.said


def test_a_machine_that_it_is_not_built_for_is_told_so(
    tmp_path: Path, progress: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_check.platform, "machine", lambda: "aarch64")
    launch_check.launch_checker(place(tmp_path), progress)
    assert progress.commands == []
    assert "aarch64" in progress.said
