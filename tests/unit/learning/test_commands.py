"""`anima lessons` and its kin on a memory that has learned something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.learning_rig import Life, ScriptedMind
from typer.testing import CliRunner

from anima.cli import app


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    words = {"belief": lambda question: "I want to say things simply."}
    life = Life(tmp_path, ScriptedMind(words=words), monkeypatch)
    life.hear("bring me the red cube")
    life.speak("Done: you have the red cube.")
    life.hear("that's too much detail, just tell me when you're done")
    life.hear("next time ask how the cat is")
    life.end()
    life.close()
    return f"sqlite:///{tmp_path}/mind.db"


def anima(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    return result.output


def listed(kind: str, memory: str, *more: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(anima(kind, "--memory", memory, "--json", *more))
    return rows


def test_lessons_are_listed_with_confidence_and_explained_with_the_words_they_came_from(memory: str) -> None:
    (lesson,) = listed("lessons", memory)
    assert lesson["effect"] == "report_length=short"
    assert 0.1 < float(str(lesson["confidence"])) <= 0.8
    assert "too much detail" in anima("lessons", "why", str(lesson["id"]), "--memory", memory)
    assert "Keep reports" in anima("lessons", "--memory", memory)


def test_a_forgotten_lesson_is_out_of_the_list_and_still_in_the_archive(memory: str) -> None:
    anima("lessons", "forget", "ana:report_length", "--memory", memory)
    assert listed("lessons", memory) == []
    (gone,) = listed("lessons", memory, "--all")
    assert gone["archived"] is True


def test_a_corrected_lesson_has_a_new_version_that_can_be_compared_with_the_old(memory: str) -> None:
    anima("lessons", "correct", "ana:report_length", "report_length=full", "--memory", memory)
    changed = json.loads(anima("lessons", "diff", "ana:report_length", "--memory", memory, "--json"))
    assert {"/effect", "/rule", "/evidence"} <= {row["path"] for row in changed}
    anima("lessons", "pin", "ana:report_length", "--memory", memory)
    (lesson,) = listed("lessons", memory)
    assert lesson["standing"] == "pinned"


def test_what_is_not_there_is_said_with_what_there_is(memory: str) -> None:
    said = anima("lessons", "show", "nobody", "--memory", memory, code=1)
    assert "ana:report_length:short" in said.replace("\n", "")
    assert "report_length" in anima("lessons", "correct", "ana", "speed=ludicrous", "--memory", memory, code=1)
    anima("lessons", "--memory", "none", code=1)


def test_the_portrait_is_shown_with_its_beliefs_and_drawn_over_time(memory: str, tmp_path: Path) -> None:
    assert "I want to say things simply." in anima("portrait", "--memory", memory)
    assert "reflected" not in anima("beliefs", "--memory", memory)
    picture = tmp_path / "beliefs.svg"
    anima("portrait", "--memory", memory, "--timeline", str(picture))
    assert picture.stat().st_size > 5000
    anima("portrait", "--memory", memory, "--timeline", str(tmp_path / "beliefs.doc"), code=2)


def test_intentions_and_facts_are_listed(memory: str) -> None:
    (promise,) = listed("intentions", memory)
    assert promise["do"] == "ask how the cat is"
    assert "no facts yet" in anima("facts", "--memory", memory)
