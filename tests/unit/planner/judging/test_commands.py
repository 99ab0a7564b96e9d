"""`anima judges`: what people and programs are shown, and what a mistake is told."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from anima.cli import app
from anima.planner.judging.question import names

RUN = CliRunner()


def test_the_list_names_every_judgement_with_the_state_of_its_head() -> None:
    done = RUN.invoke(app, ["judges", "list", "--json"])
    rows = json.loads(done.stdout)
    assert done.exit_code == 0
    assert [row["name"] for row in rows] == names()
    assert {row["state"] for row in rows} <= {"ready", "not trained", "older cases", "other model", "other wording"}
    assert "reaction" in RUN.invoke(app, ["judges", "list"]).stdout


def test_a_judgement_is_shown_with_its_slots_and_definitions() -> None:
    shown = json.loads(RUN.invoke(app, ["judges", "show", "commitment", "--json"]).stdout)
    assert shown["slots"] == ["robot"]
    assert set(shown["labels"]) == {"commitment", "not"}
    assert shown["training_cases"] > 100


def test_a_wrong_name_or_slot_says_what_there_is() -> None:
    for arguments, told in (
        (["judges", "show", "astrology"], "reaction"),
        (["judges", "ask", "reaction", "nonsense"], "slot=words"),
        (["judges", "train", "astrology"], "reaction"),
    ):
        done = RUN.invoke(app, arguments)
        assert done.exit_code == 1
        assert told in done.output + done.stderr
