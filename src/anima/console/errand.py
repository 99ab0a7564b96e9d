"""Follows one utterance to its end: what was understood, what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from anima import topics as t
from anima.failure import Failure
from anima.skills.words import AGAIN
from anima.topics import Sent
from anima.types.mind import Backlog, Objective, Objectives, Outcome, Speech, Thought

FINAL = ("done", "failed", "declined", "cancelled")


@dataclass
class Errand:
    """The course of the utterance `id`, fed with every value that arrives."""

    id: str
    objectives: dict[str, Objective] = field(default_factory=dict)
    replies: list[str] = field(default_factory=list)
    speeches: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    recoveries: list[str] = field(default_factory=list)
    answered: bool = False

    def feed(self, sent: Sent) -> None:
        """Take note of a value."""
        match sent.value:
            case Objectives() as new:
                self._note(new.objectives)
            case Backlog() as backlog:
                self._note([o for o in backlog.objectives if o.id in self.objectives])
                if backlog.recovery and backlog.recovery not in self.recoveries:
                    self.recoveries.append(backlog.recovery)
            case Speech() as speech if sent.topic.name == t.REPLY.name:
                self.replies.append(speech.text)
                self.answered = self.answered or speech.cause == self.id
            case Speech() as speech:
                self.speeches.append(speech.text)
            case Outcome() as outcome:
                self._note_way_on(outcome)
                self.outcomes.append(outcome)
            case Thought() as thought:
                self.thoughts.append(thought)

    def _note_way_on(self, outcome: Outcome) -> None:
        """Name what helped: another grasp within a skill, or the call that came after one that failed."""
        before = self.outcomes[-1] if self.outcomes else None
        ways: list[str] = []
        if before is not None and not before.success:
            ways.append(f"after {Failure(before.failure).word} of {before.call.skill}: {outcome.call.skill}")
        if outcome.success and AGAIN in outcome.detail:
            ways.append(f"within {outcome.call.skill}: a second grasp")
        self.recoveries += [way for way in ways if way not in self.recoveries]

    def _note(self, objectives: list[Objective]) -> None:
        for objective in objectives:
            if objective.source == self.id:
                self.objectives[objective.id] = objective

    @property
    def over(self) -> bool:
        """Nothing more will come of it: every objective has ended, or the answer was only words."""
        if self.objectives:
            return all(o.state in FINAL for o in self.objectives.values())
        return self.answered

    @property
    def verdict(self) -> str:
        """done, declined, failed, cancelled, answered (only words), or open."""
        states = {o.state for o in self.objectives.values()}
        if not self.over:
            return "open"
        if not states:
            return "answered"
        return next(state for state in ("failed", "cancelled", "declined", "done") if state in states)
