"""Which of several robots a command is about."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from anima.cli import app
from anima.runtime.supervisor import NAMESPACE_VARIABLE, commands, own_namespace


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAMESPACE_VARIABLE, "")


@pytest.mark.parametrize("given", ["ada", "/ada", "fleet/ada_2"])
def test_a_namespace_before_the_command_holds_for_the_whole_command(given: str) -> None:
    assert CliRunner().invoke(app, ["--namespace", given, "skills"]).exit_code == 0
    assert own_namespace() == given.strip("/")
    assert f"__ns:=/{given.strip('/')}" in commands({})["brain"]


def test_without_one_nothing_is_namespaced() -> None:
    assert CliRunner().invoke(app, ["skills"]).exit_code == 0
    assert os.environ[NAMESPACE_VARIABLE] == own_namespace() == ""


@pytest.mark.parametrize("given", ["9x", "a b", "ada/", "a//b", "über"])
def test_a_name_that_ros_does_not_have_is_refused_with_what_it_has(given: str) -> None:
    result = CliRunner().invoke(app, ["--namespace", given, "skills"])
    assert result.exit_code == 2
    assert "letters, digits and _" in result.output
