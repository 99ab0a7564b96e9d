"""What every row of the brain table is: a component that steps on its inbox and sends values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar, cast

from anima.topics import Sent, Topic
from anima.types.base import Msg

M = TypeVar("M", bound=Msg)


class Inbox:
    """What arrived at a component: per topic the values since its last step, and the last value ever."""

    def __init__(self) -> None:
        self._new: dict[str, list[Msg]] = {}
        self._last: dict[str, Msg] = {}

    @classmethod
    def of(cls, sent: Iterable[Sent]) -> Inbox:
        """An inbox that holds the given values as new, in order."""
        inbox = cls()
        for item in sent:
            inbox.deliver(item)
        return inbox

    def deliver(self, sent: Sent) -> None:
        """Put one value in."""
        self._new.setdefault(sent.topic.name, []).append(sent.value)
        self._last[sent.topic.name] = sent.value

    def new(self, topic: Topic[M]) -> Sequence[M]:
        """The values that came since the last step, oldest first."""
        return cast("Sequence[M]", self._new.get(topic.name, ()))

    def last(self, topic: Topic[M]) -> M | None:
        """The newest value ever, or None."""
        return cast("M | None", self._last.get(topic.name))

    def arrived(self) -> Mapping[str, Sequence[Msg]]:
        """All that is new, by the topics' names: what the next step depends on besides the state."""
        return self._new

    def held(self) -> Mapping[str, Msg]:
        """The newest value ever of each topic, by the topics' names."""
        return self._last

    def clear(self) -> None:
        """Forget what was new; the step is over."""
        self._new.clear()


class Component(Protocol):
    """A row of the table at work.

    `step` is instant and never blocks; `now` is ROS time in seconds. It neither reads a clock nor draws
    unseeded random numbers, so the same inboxes give the same values again.
    """

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Work through the inbox; return what to send."""
        ...

    def why(self) -> str:
        """One sentence: what it does at this moment, and why."""
        ...
