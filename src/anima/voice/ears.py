"""The ears: what was said to the robot, from whichever tool, as utterances on one topic."""

from __future__ import annotations

from collections import deque

from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Utterance

LONGEST_TEXT = 500  # characters; a longer one would crowd everything else out of the planner's context
REMEMBERED = 64


class NotHeard(ValueError):
    """Words that can't be taken in; the message says why."""


class Ears:
    """The one publisher of `utterance`.

    A tool that got no answer in time asks again under the same id; its words are heard once.
    """

    def __init__(self, settings: Settings) -> None:
        del settings
        self._heard: deque[str] = deque(maxlen=REMEMBERED)
        self._last = ""

    def hear(self, now: float, id: str, speaker: str, text: str) -> Utterance | None:
        """The utterance to publish, or None when this id was heard before. Raises `NotHeard`."""
        text = " ".join(text.split())
        if not text:
            raise NotHeard("there are no words in it")
        if len(text) > LONGEST_TEXT:
            raise NotHeard(f"{len(text)} characters are too many at once; say it in at most {LONGEST_TEXT}")
        if not id:
            raise NotHeard("an utterance needs an id, so that what comes of it can name it")
        if id in self._heard:
            return None
        self._heard.append(id)
        self._last = text
        return Utterance(header=Header.at(now), id=id, speaker=speaker or "person", text=text)

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Nothing: what is said is passed on the moment it is heard."""
        del now, inbox
        return []

    def why(self) -> str:
        """One sentence: the last words."""
        return f"It last heard {self._last[:60]!r}." if self._last else "Nobody has spoken."
