"""Which device the driver opens, and the emulated board offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from anima.config import ConfigError, LinkSettings, Settings, load_settings


@pytest.fixture(autouse=True)
def _a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")


def device(board: str = "", sim: str = "firmware") -> Path:
    return load_settings({"sim": sim, "link.board": board}).link_device


def test_emulated_boards_of_several_robots_on_a_machine_have_devices_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {device(), device("/ada"), device("/bob"), device("/house/ada")}
    monkeypatch.setenv("ROS_DOMAIN_ID", "8")
    found |= {device(), device("/ada")}
    assert len(found) == 6


def test_board_and_driver_find_each_other_however_the_namespace_is_written() -> None:
    assert device("ada") == device("/ada") == device("/ada/")
    assert device("/") == device()


def test_a_real_board_is_where_the_settings_say() -> None:
    settings = Settings(sim="none", link=LinkSettings(device="/dev/anima", board="/ada"))
    assert settings.link_device == Path("/dev/anima")


def test_a_name_that_would_leave_the_folder_is_refused() -> None:
    with pytest.raises(ConfigError, match="board"):
        device("/../etc")
