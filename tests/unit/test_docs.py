"""What README and docs tell people to type exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from anima.cli import app
from anima.config import ROOT
from anima.skills.registry import SKILLS
from anima_sim.bench.run import BENCHES

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EVERY_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def commands() -> set[str]:
    group = typer.main.get_command(app)
    return set(group.commands)  # type: ignore[attr-defined]


@EVERY_PAGE
def test_every_command_of_the_tool_exists(page: Path) -> None:
    told = set(re.findall(r"(?:\./)?anima ([a-z]+)", page.read_text(encoding="utf-8")))
    assert told <= commands(), told - commands()


@EVERY_PAGE
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    told = set(re.findall(r"`?make ([a-z]+)", page.read_text(encoding="utf-8")))
    assert told <= targets, told - targets


@EVERY_PAGE
def test_every_benchmark_and_every_skill_driven_by_hand_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"anima bench ([a-z]+)", text)) <= set(BENCHES)
    assert set(re.findall(r"anima do ([a-z_]+)", text)) <= set(SKILLS)


@EVERY_PAGE
def test_every_link_and_picture_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
