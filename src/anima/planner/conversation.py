"""How the robot talks with this person: what was learned about them, wishes answered at once, reminders, small talk."""

from __future__ import annotations

import datetime as dt
from collections import deque
from dataclasses import dataclass, field

from anima import topics as t
from anima.config import Settings
from anima.learning import effects, later, texts
from anima.planner.llm.base import Message, Request
from anima.planner.names import KnownNames
from anima.runtime.component import Inbox
from anima.types.learning import Guidance, Reminder
from anima.types.mind import Utterance
from anima.world.quotes import is_off_limits, own_words

REMINDERS_KEPT = 20


@dataclass
class Conversation:
    """What stands beside orders. It moves nothing and decides nothing; it chooses words."""

    settings: Settings
    names: KnownNames
    guidance: Guidance | None = None
    reminders: deque[Reminder] = field(default_factory=lambda: deque(maxlen=REMINDERS_KEPT))
    small_talk: deque[tuple[Utterance, str]] = field(default_factory=lambda: deque(maxlen=4))
    talking: tuple[Utterance, str] | None = None

    def take(self, inbox: Inbox) -> None:
        """Take in what the learner says."""
        self.guidance = inbox.last(t.GUIDANCE) or self.guidance
        self.reminders += inbox.new(t.REMINDER)

    def next_reminder(self) -> Reminder | None:
        """What the learner reminds of, once nobody waits for words."""
        return self.reminders.popleft() if self.reminders and self.talking is None and not self.small_talk else None

    @property
    def report_length(self) -> str:
        """How long the person wants reports: short, full, or empty while nobody has said."""
        return self.guidance.report_length if self.guidance is not None else ""

    def at_once(self, utterance: Utterance) -> str:
        """The answer to words that need no model: a wish that a mechanism obeys, or something to keep for later.

        Empty when the words may hold an order, or when what they ask for is not kept here.
        """
        own = own_words(utterance.text)
        # Whoever learns has said so with a first guidance; without one nothing would be kept.
        if self.guidance is None or own != " ".join(utterance.text.split()) or is_off_limits(own):
            return ""
        if self.settings.learn.lessons:
            wish = effects.asked(own, self.names)
            # "Tell me more" wants an answer now, besides.
            if wish is not None and wish.whole and (wish.explicit or wish.value != "full"):
                return effects.acknowledged(wish)
        if self.settings.learn.intentions and (found := later.wanted(own, 0.0, dt.timezone.utc)) is not None:
            return f"OK, I'll {found.do.rstrip('.!?')} then."
        return ""

    def talk(self, utterance: Utterance, fallback: str) -> bool:
        """Whether small talk gets a turn of its own, because there is something to say it by."""
        guidance = self.guidance
        if guidance is None or guidance.person != utterance.speaker or not (guidance.text or guidance.portrait):
            return False
        self.small_talk.append((utterance, fallback))
        return True

    def next_talk(self) -> Request | None:
        """The turn for the small talk that waits, if any."""
        if not self.small_talk or self.guidance is None:
            return None
        self.talking = self.small_talk.popleft()
        llm = self.settings.llm
        stable = talk_prefix(self.settings.robot, self.guidance)
        request = texts.request("talk", texts.line("Person", self.talking[0].text))
        return Request(
            role="talk",
            messages=(*stable, *request.messages[-1:]),
            stable=len(stable),
            grammar=request.grammar,
            max_tokens=request.max_tokens,
            prefill_budget_s=llm.prefill_budget_s,
            decode_budget_s=llm.decode_budget_s,
        )

    def talked(self, text: str) -> tuple[str, str] | None:
        """What to say now that the turn has ended with `text` (empty: it failed), and to which utterance."""
        talking, self.talking = self.talking, None
        return None if talking is None else (text or talking[1], talking[0].id)

    def hush(self) -> None:
        """Somebody said stop: nothing more of small talk."""
        self.small_talk.clear()


def talk_prefix(robot: str, guidance: Guidance) -> tuple[Message, ...]:
    """The unchanging part of small talk: the same bytes from an encounter's beginning to its end."""
    system = texts.prefix("talk")[0].content.replace("{robot}", robot.title())
    parts = [system, guidance.portrait, guidance.text]
    return (Message("system", "\n\n".join(part for part in parts if part)),)
