"""What the planner remembers between two turns: the steps of each objective, the talk, and what was said of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from anima.failure import Failure
from anima.planner.options import Step
from anima.skills.registry import render
from anima.types.mind import Backlog, Objective, Outcome, WorldState
from anima.world.predicates import Predicate

QUESTION_VALID_S = 60.0
STEPS_KEPT = 20
OBJECTIVES_KEPT = 20
FINAL = frozenset({"done", "failed", "cancelled", "declined"})
TOLD = FINAL | {"parked"}


@dataclass
class Running:
    """A call that the gate was sent: whether it began, and since when we wait."""

    id: str
    call: str
    objective: str
    since: float
    timeout_s: float
    began: bool = False


@dataclass
class Dialogue:
    """What the next utterance may refer to."""

    thing: str = ""
    question: str = ""
    asked_at: float = 0.0

    def joined(self, text: str, now: float) -> str:
        """`text` after the utterance that was asked back about, while that is fresh."""
        if self.question and 0 <= now - self.asked_at <= QUESTION_VALID_S:
            return f"{self.question.rstrip('.!?, ')}, {text}"
        return text


@dataclass
class Memory:
    """Everything kept between turns."""

    steps: dict[str, deque[Step]] = field(default_factory=dict)
    dialogue: Dialogue = field(default_factory=Dialogue)
    states: dict[str, str] | None = None
    told: set[tuple[str, str, str]] = field(default_factory=set)
    facts: frozenset[str] = frozenset()

    def take_outcome(self, outcome: Outcome) -> None:
        """Remember how a call for an objective ended."""
        if not outcome.call.objective:
            return
        failure = Failure(outcome.failure) if outcome.failure in set(Failure) else Failure.UNKNOWN
        if outcome.success:
            failure = Failure.NONE
        elif failure is Failure.NONE:
            failure = Failure.UNKNOWN
        step = Step(short(outcome.call.skill, outcome.call.arguments), failure, outcome.detail)
        self.steps.setdefault(outcome.call.objective, deque(maxlen=STEPS_KEPT)).append(step)
        while len(self.steps) > OBJECTIVES_KEPT:
            self.steps.pop(next(iter(self.steps)))

    def history(self, objective: str) -> tuple[Step, ...]:
        """The ended calls for an objective, oldest first."""
        return tuple(self.steps.get(objective, ()))

    def take_backlog(self, backlog: Backlog) -> list[Objective]:
        """Objectives whose end, or parking, is news.

        What the first backlog ever shows is none: it was told before. Nor is parking again for the same reason.
        """
        before = self.states
        self.states = {objective.id: objective.state for objective in backlog.objectives}
        if before is None:
            return []
        news = [o for o in backlog.objectives if o.state in TOLD and before.get(o.id, "pending") != o.state]
        news = [o for o in news if (o.id, o.state, o.reason) not in self.told]
        self.told = {told for told in self.told if told[0] in self.states}
        self.told |= {(o.id, o.state, o.reason) for o in news}
        return news

    def news(self, state: WorldState, condition: Predicate) -> tuple[str, ...]:
        """Facts that came or went since the last turn and concern the condition, or the robot's place and hand."""
        now = frozenset(state.facts)
        gone, come = self.facts - now, now - self.facts
        first = not self.facts
        self.facts = now
        if first:
            return ()
        words = (*condition.args, "robot", "docked", "hand")
        come_lines = [fact for fact in sorted(come) if any(word in fact for word in words)]
        gone_lines = [f"no longer {fact}" for fact in sorted(gone) if any(arg in fact for arg in condition.args)]
        return (*come_lines, *gone_lines)


def short(skill: str, arguments: str) -> str:
    """The short form of a call as the options write it (``wait(5)``, not ``wait(5.0)``)."""
    return render(skill, arguments).replace(".0)", ")")
