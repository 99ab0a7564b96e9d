"""The keyboard as the robot's reins: `anima teleop`."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from rich.console import Console

from anima import topics as t
from anima.body.teleop.keyboard import HELP, Keyboard
from anima.topics import Sent
from anima.types.mind import StopState
from anima.types.std import TwistStamped

_PERIOD_S = 0.05


class NoTerminal(RuntimeError):
    """The command was not started in a terminal, so there are no keys."""


class Line(Protocol):
    """What it needs of a client."""

    def publish(self, sent: Sent) -> None:
        """Send a value."""

    def receive(self, timeout_s: float) -> Sent | None:
        """The next value, or None."""


def drive_by_hand(line: Line, console: Console) -> None:
    """Keys become a gamepad's states until Ctrl-C. Raises `NoTerminal` without one."""
    if not sys.stdin.isatty():
        raise NoTerminal("anima teleop needs a terminal to read keys from; start it in one, not in a pipe")
    console.print(HELP)
    keyboard, shown = Keyboard(), Shown()
    with _single_keys(), console.status("") as status:
        try:
            while True:
                for key in _keys(_PERIOD_S):
                    keyboard.press(time.monotonic(), key)
                state = keyboard.state(time.monotonic(), time.time())
                if state is not None:
                    line.publish(t.JOY.of(state))
                while (sent := line.receive(0.0)) is not None:
                    shown.feed(sent)
                status.update(shown.text(keyboard))
        except KeyboardInterrupt:
            return  # nothing more is sent: the robot stands, and has itself back


class Shown:
    """What the robot lets through, and what holds it."""

    def __init__(self) -> None:
        self._stop: StopState | None = None
        self._speed = (0.0, 0.0)

    def feed(self, sent: Sent) -> None:
        """Take in what the reflex kernel says."""
        if isinstance(sent.value, StopState):
            self._stop = sent.value
        elif isinstance(sent.value, TwistStamped):
            self._speed = (sent.value.twist.linear.x, sent.value.twist.angular.z)

    def text(self, keyboard: Keyboard) -> str:
        """One line for the person at the keys."""
        held = [] if self._stop is None else [name for name in self._stop.active if name != "teleop"]
        if self._stop is not None and self._stop.latched:
            held = [f"software stop by {self._stop.source} (anima reset)"]
        yours = self._stop is not None and "teleop" in self._stop.active
        who = "[green]yours[/green]" if yours else "the robot's own"
        linear, angular = self._speed
        text = f"{who}  {linear:+.2f} m/s {angular:+.2f} rad/s  speed {keyboard.drive:.0%} {keyboard.turn:.0%}"
        return text + (f"  [red]held by {', '.join(held)}[/red]" if held else "")


@contextmanager
def _single_keys() -> Iterator[None]:
    """Each key at once and unseen; the terminal is as before afterwards."""
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _keys(timeout_s: float) -> Iterator[str]:
    """The keys that were pressed within the time."""
    until = time.monotonic() + timeout_s
    while (left := until - time.monotonic()) > 0.0:
        if not select.select([sys.stdin], [], [], left)[0]:
            return
        try:
            # Not through Python's buffer: what waits there, select doesn't see.
            keys = os.read(sys.stdin.fileno(), 64)
        except OSError:
            keys = b""
        if not keys:
            raise KeyboardInterrupt  # the terminal was closed
        yield from keys.decode(errors="replace")
