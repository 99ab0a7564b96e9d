"""A stop word stops, and nothing that only looks like one does."""

from __future__ import annotations

import pytest

from anima.world.stop_words import is_resume, is_stop


@pytest.mark.parametrize(
    "text",
    [
        "stop", "Stop!", "STOP", "stop stop stop", "halt", "Freeze.", "stop now", "stop it", "stop that!",
        "please stop",
        "Stop, please.", "wait, stop", "Don't move!", "don’t move", "do not move", "dont move", "Anima, stop",
        "anima stop now please", "hey Anima, please stop", "no, stop!", "stop moving", "stop right there", "hold still",
        "OK stop", "emergency stop", "e-stop", "Stop! Don't move!", "stop what you're doing", "  stop\n",
    ],
)
def test_it_stops(text: str) -> None:
    assert is_stop(text, "anima")


@pytest.mark.parametrize(
    "text",
    [
        "stop by the kitchen", "don't stop", "do not stop", "never stop", "bring me the stop sign",
        "when should I stop",
        "stop at the kitchen table", "did you stop?", "can you stop by later", "go to the bus stop", "wait", "please",
        "anima", "", "...", "don't move the red cube", "freeze the peas", "is the robot at a stop", "stopping",
        "unstoppable", "go on", "stop and then go to the kitchen", "bring the cube", "no", "stop smoking in the office",
    ],
)
def test_it_does_not_stop(text: str) -> None:
    assert not is_stop(text, "anima")


def test_only_its_own_name_may_stand_in_front() -> None:
    assert is_stop("Rosie, stop", "rosie")
    assert not is_stop("Rosie, stop", "anima")


@pytest.mark.parametrize("text", ["go on", "Continue, please.", "okay, carry on", "Anima, resume", "keep going!"])
def test_it_goes_on(text: str) -> None:
    assert is_resume(text, "anima") and not is_stop(text, "anima")


@pytest.mark.parametrize("text", ["don't go on", "go on the table", "continue to the kitchen", "stop", ""])
def test_it_does_not_go_on(text: str) -> None:
    assert not is_resume(text, "anima")
