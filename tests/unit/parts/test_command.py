"""`anima parts` and `anima bids`: what they show, and what they say where there is nothing to show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.inner_rig import BID, REWRITTEN, STALL, ScriptedMind, context, embedder, event, part, scripted
from typer.testing import CliRunner

from anima.cli import app
from anima.memory.store import Store
from anima.parts import thinking
from anima.parts.library import PartLibrary

RUN = CliRunner()


@pytest.fixture
def memory(tmp_path: Path) -> str:
    """A mind whose part about the rug bid, predicted, and was wrong."""
    url = f"sqlite:///{tmp_path}/mind.db"
    with Store(url) as store:
        mind = context()
        mind.library = PartLibrary(store, embedder())
        mind.library.create(part(), mind.cause("helper felt it", "e0"))
        scripted(bid=BID).think(thinking.live(mind, STALL))
        mind.diary.note(event("go_to(person) is done over the rug", at=300.0, id="e7"))
        mind.now = 900.0
        model: ScriptedMind = scripted({"prediction": "false"}, rewrite=REWRITTEN)
        model.think(thinking.evaluate(mind, mind.library.due(mind.utc_s)[0]))
    return url


def data(*arguments: str) -> object:
    result = RUN.invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_list_names_each_part_with_its_record(memory: str) -> None:
    (one,) = data("parts", "list", "--memory", memory)  # type: ignore[misc]
    assert (one["id"], one["version"], one["record"], one["waiting"]) == ("wary-of-the-rug", 3, "mostly wrong", 0)
    assert "wary-of-the-rug" in RUN.invoke(app, ["parts", "list", "--memory", memory]).output


def test_a_part_is_shown_as_it_is_and_as_it_was(memory: str) -> None:
    now = data("parts", "show", "wary-of-the-rug", "--memory", memory)
    then = data("parts", "show", "wary-of-the-rug", "--version", "1", "--memory", memory)
    assert now["description"] == REWRITTEN["description"] != then["description"]  # type: ignore[index]


def test_the_difference_of_two_versions_names_places_and_events(memory: str) -> None:
    found = data("parts", "diff", "wary-of-the-rug", "--memory", memory)
    assert "/description" in {one["path"] for one in found["differences"]}  # type: ignore[index]
    assert "e7" in found["because"]  # type: ignore[index]


def test_why_tells_what_a_part_was_born_of_and_each_change_with_its_events(memory: str) -> None:
    found = data("parts", "why", "wary-of-the-rug", "--memory", memory)
    assert [v["because"][0] for v in found["versions"]][:2] == ["e0", "e1"]  # type: ignore[index]
    assert "It stalled on the rug." in RUN.invoke(app, ["parts", "why", "wary-of-the-rug", "--memory", memory]).output


def test_a_part_that_is_not_there_is_named_and_nothing_is_printed_as_json(memory: str) -> None:
    for command in ("show", "diff", "why"):
        result = RUN.invoke(app, ["parts", command, "nobody", "--memory", memory])
        assert result.exit_code == 2 and "nobody" in result.output


def test_selves_and_packs_are_listed_as_they_can_be_named() -> None:
    found = data("parts", "selves")
    assert [s["name"] for s in found["selves"]] == ["curious_explorer", "guardian", "helper", "playful_villain"]  # type: ignore[index]
    assert [p["name"] for p in found["packs"]] == ["household", "productivity", "safety", "social"]  # type: ignore[index]


def test_bids_without_a_recording_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    result = RUN.invoke(app, ["bids"])
    assert result.exit_code == 2 and "record" in result.output
