"""`anima teleop`: keys of a terminal become the states of a gamepad."""

from __future__ import annotations

import io
import os
import pty
import sys
import threading
import time

import numpy as np
import pytest
from rich.console import Console

from anima import topics as t
from anima.body.teleop.keyboard import Keyboard
from anima.console.teleop import NoTerminal, Shown, drive_by_hand
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import StopState
from anima.types.operator import Joy
from anima.types.std import TwistStamped


class Line:
    """A client that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[Joy] = []

    def publish(self, sent: Sent) -> None:
        assert sent.topic is t.JOY and isinstance(sent.value, Joy)
        self.said.append(sent.value)

    def receive(self, timeout_s: float) -> Sent | None:
        return None


def test_a_key_drives_and_the_end_of_the_terminal_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        line = Line()

        def person() -> None:
            until = time.monotonic() + 10.0
            while not line.said and time.monotonic() < until:
                os.write(ours, b"i")
                time.sleep(0.05)
            os.close(ours)

        hands = threading.Thread(target=person)
        hands.start()
        drive_by_hand(line, Console(file=io.StringIO()))
        hands.join()
        assert line.said and np.any(line.said[0].buttons == 1)


def test_without_a_terminal_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("i"))
    with pytest.raises(NoTerminal, match="needs a terminal"):
        drive_by_hand(Line(), Console(file=io.StringIO()))


def test_the_line_says_whose_robot_it_is_and_what_holds_it() -> None:
    shown, keyboard = Shown(), Keyboard()
    assert "the robot's own" in shown.text(keyboard)
    state = StopState(header=Header.at(1.0), latched=False, source="", active=["obstacle", "teleop"])
    shown.feed(t.STOP_STATE.of(state))
    shown.feed(t.CMD_VEL.of(TwistStamped.planar(1.0, 0.2, 0.0)))
    text = shown.text(keyboard)
    assert "yours" in text and "+0.20 m/s" in text and "held by obstacle" in text
    shown.feed(t.STOP_STATE.of(state.model_copy(update={"latched": True, "source": "ana"})))
    assert "software stop by ana (anima reset)" in shown.text(keyboard)
