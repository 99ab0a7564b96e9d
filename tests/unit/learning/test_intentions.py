"""Promises survive, come up when their time or their person comes, and do so once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support.learning_rig import DAY_S, Life, ScriptedMind

from anima.learning import items

CAT = "next time ask how the cat is"


def test_a_promise_comes_up_at_the_next_encounter_once_and_is_closed_by_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = Life(tmp_path, ScriptedMind(), monkeypatch)
    life.hear(CAT)
    life.end()
    assert life.reminders == []
    life.close()
    again = Life(tmp_path, ScriptedMind(), monkeypatch, begins=life.now + DAY_S)
    again.hear("hello")
    (reminder,) = again.reminders
    assert reminder.text == "I wanted to ask how the cat is."
    again.speak(reminder.text, cause=reminder.id)
    again.end()
    again.later(DAY_S)
    again.hear("hello again")
    assert len(again.reminders) == 1
    with again.store() as store:
        assert store.all(items.INTENTION) == []
        (kept,) = {item.id: item for item in store.since(items.INTENTION, 0)}.values()
    assert (kept.data["state"], kept.archived) == ("kept", True)
    again.close()


def test_it_does_not_come_up_with_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(tmp_path, ScriptedMind(), monkeypatch)
    life.hear(CAT, "ana")
    life.end()
    life.later(DAY_S)
    life.hear("hello", "ben")
    assert life.reminders == []
    life.hear("hello", "ana")
    assert len(life.reminders) == 1
    life.close()


def test_one_with_a_time_comes_up_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(tmp_path, ScriptedMind(), monkeypatch)
    life.hear("remind me in ten minutes to take my pills")
    life.later(500.0)
    assert life.reminders == []
    life.later(200.0)
    (reminder,) = life.reminders
    assert reminder.text == "I was to remind you to take your pills."
    life.close()


def test_it_is_said_again_when_it_was_raised_but_never_spoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(tmp_path, ScriptedMind(), monkeypatch)
    life.hear(CAT)
    life.end()
    life.later(DAY_S)
    life.hear("hello")
    assert len(life.reminders) == 1  # and then the power fails before it is said
    life.close()
    again = Life(tmp_path, ScriptedMind(), monkeypatch, begins=life.now + DAY_S)
    again.hear("hello")
    assert len(again.reminders) == 1
    again.close()


def test_what_the_robot_promises_by_itself_is_kept_too_and_closed_when_it_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = ScriptedMind(judges={"fulfilled": {"exam go": "fulfilled"}})
    life = Life(tmp_path, mind, monkeypatch)
    life.hear("my exam is tomorrow")
    life.speak("Good luck! Next time I'll ask how the exam went.")
    ((_, promise),) = life.learner.book.intentions.items()
    assert promise.do == "ask how the exam went"
    life.speak("So how did the exam go?")
    assert life.learner.book.intentions == {}
    life.close()


def test_with_no_intentions_nothing_is_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Life(tmp_path, ScriptedMind(), monkeypatch, intentions=False)
    life.hear(CAT)
    life.end()
    life.later(DAY_S)
    life.hear("hello")
    assert life.reminders == []
    life.close()


def test_a_promise_survives_a_kill_without_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is killed (SIGKILL) right after it has told of the promise."""
    program = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from support.learning_rig import Life, ScriptedMind
        import pytest
        life = Life(Path({str(tmp_path)!r}), ScriptedMind(), pytest.MonkeyPatch())
        life.hear({CAT!r})
        assert life.learner.book.intentions
        while not life.learner.flush():
            pass
        print("promised", flush=True)
        time.sleep(60)
        """
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=env) as robot:
        assert robot.stdout is not None
        assert robot.stdout.readline().strip() == "promised"
        robot.send_signal(signal.SIGKILL)
        robot.wait()
    again = Life(tmp_path, ScriptedMind(), monkeypatch, begins=1.79e9 + DAY_S)
    again.hear("hello")
    assert [r.text for r in again.reminders] == ["I wanted to ask how the cat is."]
    again.close()
