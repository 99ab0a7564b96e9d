"""The portrait: a version per encounter, each belief's weight with the events behind it, nothing of people in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.learning_rig import DAY_S, Life, ScriptedMind

from anima import topics as t
from anima.learning import items
from anima.learning.items import Portrait
from anima.learning.timeline import draw
from anima.types.base import Header
from anima.types.mind import Utterance

BELIEFS = {
    "gentle": "I am careful with the things that people give me.",
    "dummies": "I want to say things simply.",
    "cat": "I have a cat called Wasabi.",
    "disagree": "I speak up when I see a flaw.",
}


def belief(question: str) -> str:
    return next((text for word, text in BELIEFS.items() if word in question), "none.")


def born(tmp_path: Path, patch: pytest.MonkeyPatch, begins: float = 1.79e9) -> Life:
    judges = {"reaction": {"gentle": "praise", "dummies": "correction", "cat": "engagement", "disagree": "correction"}}
    return Life(tmp_path, ScriptedMind(judges=judges, words={"belief": belief}), patch, begins)


def talk(life: Life, *said: str) -> None:
    for words in said:
        life.hear("hello")
        life.speak("The cup is on the table.")
        life.hear(words)
    life.end()
    life.later(DAY_S)


def test_three_encounters_make_three_versions_whose_weights_have_their_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = born(tmp_path, monkeypatch)
    talk(life, "how gentle you were")
    talk(life, "say it for dummies")
    talk(life, "so gentle again", "tell me when you disagree")
    with life.store() as store:
        versions = [Portrait.model_validate(item.data) for item in store.history(items.PORTRAIT, items.SELF)]
        assert len(versions) == 3
        assert [len(v.beliefs) for v in versions] == [1, 2, 3]
        careful = [next(b for b in v.beliefs if "careful" in b.text) for v in versions]
        assert careful[2].weight > careful[0].weight
        assert len(careful[2].events) == 2
        seen = {item.id for item in store.since(items.OBSERVATION, 0)}
        assert {event for v in versions for b in v.beliefs for event in b.events} <= seen
        assert all(item.because for item in store.history(items.PORTRAIT, items.SELF))
        for name in ("beliefs.png", "beliefs.svg"):
            assert draw(store, tmp_path / name).stat().st_size > 5000
    life.close()


def test_a_restart_changes_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = born(tmp_path, monkeypatch)
    talk(life, "how gentle you were")
    before = life.learner.book.portrait
    life.close()
    again = born(tmp_path, monkeypatch, begins=life.now + DAY_S)
    assert again.learner.book.portrait == before
    again.hear("hello")
    assert before is not None
    assert again.guidance.portrait == before.text
    again.close()


def test_what_a_person_says_of_themselves_is_no_belief_of_the_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = born(tmp_path, monkeypatch)
    talk(life, "my cat is called Wasabi, she loves that")
    assert life.learner.book.beliefs == {}
    life.close()


def test_an_encounter_that_a_power_cut_ended_is_reflected_on_in_the_next_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = born(tmp_path, monkeypatch)
    life.hear("hello")
    life.speak("The cup is on the table.")
    life.hear("how gentle you were")
    assert life.learner.book.portrait is None
    life.close()
    again = born(tmp_path, monkeypatch, begins=life.now + DAY_S)
    again.run(20.0)
    assert again.learner.book.portrait is not None
    again.close()


def test_words_that_are_still_judged_when_the_encounter_ends_are_reflected_on_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = born(tmp_path, monkeypatch)
    life.hear("hello")
    life.speak("The cup is on the table.")
    last = Utterance(header=Header.at(life.now), id="last", speaker="ana", text="how gentle you were")
    life.give(t.UTTERANCE.of(last))
    life.run(0.2)  # the question is with the model
    assert not life.learner.is_idle
    life.end()
    assert [belief.text for belief in life.learner.book.beliefs.values()] == [BELIEFS["gentle"]]
    assert life.learner.is_idle
    life.close()
