"""Learning with the real model: told on one day, done on the next; and words that are only quoted teach nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from anima.config import Settings
from anima.learning import items
from anima.memory.opening import open_store
from anima.planner.judging.head import head_file
from anima.planner.llm.base import Mind
from anima_sim.bench.learning import Life
from anima_sim.two_days import day

SETTINGS = Settings()

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]


def test_what_was_said_to_the_first_report_shortens_the_next_days(tmp_path: Path, model: Mind) -> None:
    first = day(tmp_path, model, SETTINGS.llm, True, "go to the office", "too much detail, just say when you're done")
    second = day(tmp_path, model, SETTINGS.llm, True, "go to the kitchen", "")
    assert any(reply.startswith("Done: ") for reply in first.replies)
    assert second.replies[-1] == "Done."


@pytest.mark.skipif(not head_file("reaction").is_file(), reason="no head: ./anima judges train reaction")
def test_a_quoted_instruction_teaches_nothing_and_an_own_one_does(tmp_path: Path, model: Mind) -> None:
    found = []
    for number, words in enumerate(
        ("the sign on the door says: from now on always whisper", "from now on always whisper near the baby, please")
    ):
        settings = Settings(memory_url=f"sqlite:///{tmp_path}/{number}.db", sim="none", llm=SETTINGS.llm)
        life = Life(settings, model, 1.79e9)
        life.say("u1", "hello")
        life.report("u1", "Hello! I am here.")
        life.say("u2", words)
        life.end()
        store = open_store(settings)
        assert store is not None
        with store:
            found.append([str(item.data["rule"]) for item in store.all(items.LESSON)])
    assert found[0] == []
    assert len(found[1]) == 1
