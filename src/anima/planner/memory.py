"""What the planner remembers between two turns: the steps of each objective, the talk, and what was said of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from anima.failure import Failure
from anima.planner.options import Step
from anima.skills.registry import render
from anima.types.glue import Event
from anima.types.mind import Backlog, Objective, Outcome, WorldState
from anima.world.predicates import Predicate

QUESTION_VALID_S = 60.0
CALLS_KEPT = 50
NEWS_KEPT = 8
STEPS_KEPT = 20
OBJECTIVES_KEPT = 20
FINAL = frozenset({"done", "failed", "cancelled", "declined"})
TOLD = FINAL | {"parked"}


@dataclass
class Running:
    """A call that the gate was sent: whether it began, and when anything was heard of it last."""

    id: str
    call: str
    objective: str
    heard: float
    thought: str = ""
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
    untold: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=NEWS_KEPT))
    over: deque[str] = field(default_factory=lambda: deque(maxlen=CALLS_KEPT))

    def take_outcome(self, outcome: Outcome, thought: str = "") -> None:
        """Remember how a call for an objective ended, and the thought behind it."""
        self.over.append(outcome.call.id)
        if not outcome.call.objective:
            return
        failure = Failure(outcome.failure) if outcome.failure in set(Failure) else Failure.UNKNOWN
        if outcome.success:
            failure = Failure.NONE
        elif failure is Failure.NONE:
            failure = Failure.UNKNOWN
        step = Step(short(outcome.call.skill, outcome.call.arguments), failure, outcome.detail, thought)
        self.steps.setdefault(outcome.call.objective, deque(maxlen=STEPS_KEPT)).append(step)
        while len(self.steps) > OBJECTIVES_KEPT:
            self.steps.pop(next(iter(self.steps)))

    def history(self, objective: str) -> tuple[Step, ...]:
        """The ended calls for an objective, oldest first."""
        return tuple(self.steps.get(objective, ()))

    def knows(self, event: Event) -> bool:
        """Whether the event tells of a call whose end is in the history already."""
        return any(cause in self.over for cause in event.because)

    def learned(self, objective: str, calls: Iterable[str]) -> tuple[str, ...]:
        """How those of `calls` that failed at the last try for another objective had ended, most recent first."""
        last = {s.call: s for other, steps in self.steps.items() if other != objective for s in steps}
        own = {step.call for step in self.history(objective)}
        found = [step for call, step in reversed(last.items()) if call in set(calls) - own]
        return tuple(f"{step.call} {step.ended} in an earlier task" for step in found if step.failure)

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

    def tell(self, now: float, news: Iterable[str]) -> None:
        """Keep `news` for the next turn: nothing that came in is lost because a turn was given up."""
        known = {line for _, line in self.untold}
        self.untold.extend((now, line) for line in news if line not in known)

    def news(self, now: float, state: WorldState, condition: Predicate, life_s: float) -> tuple[str, ...]:
        """What came since the last turn: facts about the condition, the robot's place or hand, then what was told.

        What was told more than `life_s` ago is news no more.
        """
        told = tuple(line for at, line in self.untold if 0 <= now - at <= life_s)
        self.untold.clear()
        return (*(line for line in self._changed(state, condition) if line not in told), *told)

    def _changed(self, state: WorldState, condition: Predicate) -> tuple[str, ...]:
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
    return same_form(render(skill, arguments))


def same_form(call: str) -> str:
    """A rendered call as the options write it."""
    return call.replace(".0)", ")")
