"""Several robots in one world: how they are named, and what is started for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from anima.cli import app
from anima.console.company import company

SETTINGS = {"sim": "mujoco", "seed": "3", "memory_url": "none"}


@pytest.mark.parametrize("names", ["ada,", "ada,ada", "ada bob", "1,2", "ada/x,bob"])
def test_names_that_cannot_be_namespaces_are_refused_before_anything_starts(names: str) -> None:
    told = CliRunner().invoke(app, ["up", "--robots", names])
    assert told.exit_code == 2
    assert "ada,bob" in " ".join(told.output.split())


def test_one_process_has_the_bodies_and_each_robot_a_mind_in_its_namespace(tmp_path: Path) -> None:
    everything = company(["ada", "bob"], SETTINGS, tmp_path)
    assert list(everything) == ["", "ada", "bob"], "the bodies come first, and go last"
    assert everything[""].processes == ("body",)
    for name in ("ada", "bob"):
        assert everything[name].processes == ("reflex", "perception", "brain", "planner")
        assert everything[name].log("brain").parent == tmp_path / name
