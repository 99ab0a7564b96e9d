"""The learner's questions to the model: one at a time, in the background, each ended with what it is worth."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from anima import topics as t
from anima.config import ConfigError
from anima.learning.texts import written
from anima.planner.judge import Judge, Judgement, PendingJudgement, load_judge
from anima.planner.judging.head import HeadError
from anima.planner.llm.base import Completion, Mind, Pending, Request
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.learning import LearningTurn

MOST_WAITING = 500


@dataclass
class _Job:
    """A question that waits or runs. `done` gets the judgement, or the words that were written."""

    role: str
    about: str
    asked: float
    begin: Callable[[Mind], PendingJudgement | Pending[Completion]]
    done: Callable[[float, Judgement], None] | None = None
    wrote: Callable[[float, str], None] | None = None


@dataclass
class Work:
    """Questions wait their turn; at most one is with the model. A question that fails is dropped and told.

    When more than 500 wait, the oldest are lost: what is learned from people must never pile up without end.
    """

    model: Mind
    waiting: deque[_Job] = field(default_factory=lambda: deque(maxlen=MOST_WAITING))
    faults: dict[str, str] = field(default_factory=dict)
    _judges: dict[str, Judge | None] = field(default_factory=dict)
    _running: tuple[_Job, PendingJudgement | Pending[Completion]] | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return self._running is None and not self.waiting

    def judge(
        self, now: float, name: str, slots: Mapping[str, str], about: str, done: Callable[[float, Judgement], None]
    ) -> bool:
        """Ask for a judgement; False when there is none of that name that fits, and then nobody is asked."""
        judge = self._judge(name)
        if judge is None:
            return False
        self.waiting.append(_Job(f"judge.{name}", about, now, lambda model: judge.ask(model, slots), done=done))
        return True

    def write(self, now: float, request: Request, about: str, wrote: Callable[[float, str], None]) -> None:
        """Ask for words; `wrote` gets them, empty for none."""
        self.waiting.append(_Job(request.role, about, now, lambda model: model.start(request), wrote=wrote))

    def poll(self, now: float) -> list[Sent]:
        """Take what has come, begin what is next; returns what to tell of it."""
        sent: list[Sent] = []
        if self._running is not None:
            job, pending = self._running
            answer = pending.poll()
            if answer is None:
                return []
            self._running = None
            sent.append(t.LEARNING_TURN.of(self._finish(now, job, answer)))
        if self.waiting:
            job = self.waiting.popleft()
            self._running = (job, job.begin(self.model))
        return sent

    def _finish(self, now: float, job: _Job, answer: Judgement | Completion) -> LearningTurn:
        if isinstance(answer, Judgement):
            seconds, text = answer.seconds, f"{answer.best} {answer.p:.2f}"
            ended = "failed" if answer.error else "done" if answer.is_sure else "unsure"
        else:
            seconds, text = answer.prefill_s + answer.decode_s, answer.text
            ended = "failed" if answer.error else "done"
        if answer.error:
            self.faults[job.role] = text = answer.error
        if job.done is not None and isinstance(answer, Judgement):
            job.done(now, answer)
        if job.wrote is not None and isinstance(answer, Completion):
            job.wrote(now, "" if answer.error else written(answer.text))
        return LearningTurn(
            header=Header.at(now),
            role=job.role,
            about=job.about,
            asked=Time.at(job.asked),
            ended=ended,
            text=text[:300],
            seconds=seconds,
        )

    def _judge(self, name: str) -> Judge | None:
        if name not in self._judges:
            try:
                self._judges[name] = load_judge(name)
            except (HeadError, ConfigError) as error:
                self._judges[name] = None
                self.faults[name] = str(error)
        return self._judges[name]
