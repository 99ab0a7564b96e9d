"""Facts about people: kept with their source, superseded but never deleted, with whom they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.learning_rig import Life, ScriptedMind

from anima.learning import items

WRITTEN = {
    "cat": "Ana's cat Wasabi is three years old.",
    "Leipzig": "Ana lives in Leipzig.",
    "Dresden": "Ana lives in Dresden.",
    "allergic": "Ana is allergic to nuts.",
    "shorter": "Ana says you should be shorter.",
}


def test_facts_are_kept_superseded_and_told_at_the_next_encounter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = ScriptedMind(
        judges={
            "remember": {"cat": "remember", "Leipzig": "remember", "Dresden": "remember", "shorter": "remember"},
            "supersedes": {"Leipzig. | Ana lives in Dresden.": "supersedes"},
        },
        words={"fact": lambda question: next(text for word, text in WRITTEN.items() if word in question)},
    )
    life = Life(tmp_path, mind, monkeypatch)
    life.hear("my cat Wasabi is three now")
    life.hear("by the way I live in Leipzig")
    life.hear("I have moved to Dresden last week")
    life.hear("I think you could be shorter somehow")  # advice, no fact
    life.end()
    life.later(1e5)
    life.hear("hello")
    assert "Ana lives in Dresden." in life.guidance.text
    assert "Leipzig" not in life.guidance.text
    with life.store() as store:
        kept = {str(item.data["content"]): item for item in store.all(items.FACT)}
        assert set(kept) == {WRITTEN["cat"], WRITTEN["Dresden"]}
        every = {item.id: item for item in store.since(items.FACT, 0)}
        assert len(every) == 3
        assert kept[WRITTEN["Dresden"]].data["supersedes"]
        assert {item.id: item.data["type"] for item in store.all(items.ENTITY)}["Wasabi"] == "pet"
        assert [item.id for item in store.all(items.RELATION)] == ["Wasabi cat of Ana"]
    life.close()
