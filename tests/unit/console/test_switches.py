"""What is learned can be switched off where a robot is started: for good, for a demo, for one conversation."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from anima import cli


class Started(RuntimeError):
    """Instead of a graph."""


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The settings with which a command would start a graph."""
    found: dict[str, str] = {}

    def graph(sim: str, seed: int, speed: float, model: str = "", **more: Any) -> None:
        found.update(more)
        raise Started

    monkeypatch.setattr(cli, "graph", graph)
    return found


OFF = ["--no-lessons", "--no-selfmodel", "--no-intentions", "--no-facts", "--no-parts"]


@pytest.mark.parametrize(("command", "memory"), [("up", ""), ("demo", "none"), ("chat", "")])
def test_each_switch_reaches_the_robot_that_is_started(command: str, memory: str, settings: dict[str, str]) -> None:
    assert isinstance(CliRunner().invoke(cli.app, [command, *OFF]).exception, Started)
    off = {f"learn.{name}": "false" for name in ("lessons", "selfmodel", "intentions", "facts", "parts")}
    assert settings == {"memory_url": memory, **off}


def test_a_demo_can_be_somebody_else_and_remember(settings: dict[str, str]) -> None:
    words = ["demo", "--self", "guardian", "--packs", "social", "--isolated", "--memory", "sqlite:////var/lib/anima/mind.db"]
    CliRunner().invoke(cli.app, words)
    assert settings == {
        "memory_url": "sqlite:////var/lib/anima/mind.db", "inner.self_name": "guardian", "inner.packs": "social",
        "inner.isolated": "true",
    }  # fmt: skip
