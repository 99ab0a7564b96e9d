"""What is copied onto a robot's computer fits the tool and the board."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from anima.cli import app
from anima.config import CONFIG, load_settings
from anima_nodes.process import overrides

FOLDER = CONFIG / "robot_computer"
RULES = [line for line in (FOLDER / "60-anima.rules").read_text().splitlines() if line and not line.startswith("#")]


def service() -> configparser.ConfigParser:
    parsed = configparser.ConfigParser(interpolation=None, strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(FOLDER / "anima.service")
    return parsed


def started() -> list[str]:
    program, *words = shlex.split(service()["Service"]["ExecStart"])
    assert program == "/opt/anima/anima"
    return [word for word in words if not word.startswith("$")]


def test_the_service_starts_a_command_that_the_tool_has() -> None:
    name, *options = started()
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    given = command.make_context(name, list(options)).params
    assert given["sim"] == "none"
    settings = load_settings(overrides([*given["sets"], f"sim={given['sim']}"]))
    assert settings.link_device == Path("/dev/anima")


def test_the_service_ends_as_a_person_ends_it() -> None:
    section = service()["Service"]
    assert (section["KillSignal"], section["KillMode"]) == ("SIGINT", "mixed"), "the tool stops the rest in order"


def test_every_rule_names_the_device_that_the_service_opens() -> None:
    assert RULES
    for rule in RULES:
        assert 'SYMLINK+="anima"' in rule
        assert all(re.fullmatch(r'[A-Z_]+(\{\w+\})?(==|\+=|=)"[^"]+"', part) for part in rule.split(", ")), rule


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = (FOLDER / "anima.service").read_text().replace("/opt/anima/anima", "/bin/true").replace("/opt/anima", "/")
    unit = tmp_path / "anima.service"
    unit.write_text(text)
    said = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False).stderr
    assert [line for line in said.splitlines() if "anima.service" in line] == []
