"""`anima mind`: what people and programs are shown of what is kept, and how bad input ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.parts_rig import cause, part
from typer.testing import CliRunner, Result

from anima.console.mind import mind_app
from anima.memory.embedding import MiniLm
from anima.memory.store import Store
from anima.parts.library import PartLibrary


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A mind with a fear that was reworded and then put away."""
    url = f"sqlite:///{tmp_path_factory.mktemp('mind')}/mind.db"
    with Store(url) as store:
        library = PartLibrary(store, MiniLm.load())
        library.create(part(), cause("a dog chased me", because=("event-7",)))
        patch = [
            {"op": "replace", "path": "/intensity", "value": "Low"},
            {"op": "add", "path": "/triggers/-", "value": "[red]A growl"},
        ]
        library.patch("fear-of-dogs", patch, cause("it was harmless", because=("event-8",)))
        library.archive("fear-of-dogs", cause("there are no more dogs"))
        library.create(part("Roly"), cause())
    return url


def run(url: str, *words: str) -> Result:
    return CliRunner().invoke(mind_app, [*words, "--memory", url], env={"COLUMNS": "200", "TERM": "dumb"})


def told(url: str, *words: str) -> Any:
    result = run(url, *words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_history_of_an_item_says_what_changed_who_did_it_why_and_because_of_what(url: str) -> None:
    versions = told(url, "history", "part", "fear-of-dogs")
    assert [version["version"] for version in versions] == [1, 2, 3]
    assert versions[1]["why"] == "it was harmless"
    assert versions[1]["because"] == ["event-8"]
    changed = {change["path"]: (change["before"], change["after"]) for change in versions[1]["changes"]}
    assert changed.pop("/intensity") == ("High", "Low")
    assert list(changed.values()) == [(None, "[red]A growl")]
    assert versions[2]["archived"]


def test_people_get_the_same_as_a_table(url: str) -> None:
    shown = run(url, "history", "part", "fear-of-dogs").stdout
    for words in ("a dog chased me", "event-8", "High → Low", "[red]A growl", "put away"):
        assert words in shown


def test_kinds_and_items_are_listed(url: str) -> None:
    assert told(url, "history") == [{"kind": "part", "items": 1, "archived": 1, "versions": 4}]
    assert {row["id"]: row["archived"] for row in told(url, "history", "part")} == {"fear-of-dogs": True, "roly": False}


def test_a_sound_mind_verifies_and_a_changed_past_does_not(url: str, tmp_path: Path) -> None:
    assert told(url, "verify") == {"sound": True, "faults": [], "versions": {"part": 4}}
    copy = f"sqlite:///{tmp_path}/copy.db"
    assert run(url, "export", str(tmp_path / "mind.jsonl")).exit_code == 0
    assert run(copy, "import", str(tmp_path / "mind.jsonl")).exit_code == 0
    with Store(copy) as store, store._engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER no_update")
        connection.exec_driver_sql("UPDATE item_version SET who = 'nobody' WHERE version = 2")
    result = run(copy, "verify")
    assert result.exit_code == 1
    assert "version 2: it is not what was written" in result.stdout


def test_a_mind_goes_through_a_pipe(url: str, tmp_path: Path) -> None:
    piped = tmp_path / "piped.jsonl"
    piped.write_text(run(url, "export", "-").stdout, encoding="utf-8")
    new = f"sqlite:///{tmp_path}/new.db"
    assert told(new, "import", str(piped)) == {"versions": 4, "new": 4}
    assert told(new, "history", "part", "roly") == told(url, "history", "part", "roly")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("history", "grudge"), "no kind 'grudge'"),
        (("history", "part", "nobody"), "there is no part 'nobody'"),
        (("import", "absent.jsonl"), "absent.jsonl"),
        (("export", "absent/mind.jsonl"), "absent/mind.jsonl"),
    ],
)
def test_what_can_t_be_done_is_said_in_a_line(url: str, words: tuple[str, ...], said: str) -> None:
    result = run(url, *words)
    assert result.exit_code == 1
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_mind_that_keeps_nothing_says_so() -> None:
    result = run("none", "verify")
    assert result.exit_code == 1
    assert "nothing is kept" in result.stderr
