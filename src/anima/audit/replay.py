"""Replays a journal: freshly built regions get the recorded inputs and must send the recorded values, bit by bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, cast

from anima.audit.codec import decode, encode, topic_of
from anima.audit.journal import FORMAT, answered, asked, takes_model
from anima.audit.words import BACKGROUND, brief, told
from anima.brain import TABLE, Row
from anima.config import Settings
from anima.planner.llm.base import Completion, Given, Read, Reading, Request, Task, Weighed, Weighing
from anima.runtime.component import Component, Inbox
from anima.topics import Sent
from anima.types.base import Msg

DIFFERENCES_SHOWN = 8
_NO_DECISION = frozenset({"header", "deadline", "at", "base64", "why", "reason", "text", "detail", "failures"})
Values = Sequence[tuple[str, dict[str, Any]]]


class BadRecord(ValueError):
    """A record that can't be replayed; the message says why and what to do."""


@dataclass(frozen=True)
class Divergence:
    """A step that came out otherwise than recorded.

    `decided` says whether something else was decided, or only numbers and reasons came out otherwise, or the same was
    said again at another time. `took`, `then`
    and `now` are in words: what came in, what was sent when it was recorded, what is sent now; `why` is what the
    region says of itself now. `differences` are the fields: recorded -> replayed.
    """

    node: str
    at: float
    step: int
    differences: tuple[str, ...]
    decided: bool = True
    took: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    now: tuple[str, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        word = "decides" if self.decided else "reckons"
        lines = [f"at {self.at:.2f} s {self.node} {word} otherwise (its step {self.step})"]
        for heading, texts in self.headed():
            lines += [f"  {heading if number == 0 else '':9} {text}" for number, text in enumerate(texts)]
        return "\n".join(lines)

    def headed(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What is to be told, under its headings."""
        if self.took:
            yield "took in", self.took
        if self.then or self.now:
            yield "then", self.then or ("nothing",)
            yield "now", self.now or ("nothing",)
        if self.why:
            yield "now says", (self.why,)
        yield "fields", self.differences


@dataclass
class NodeReport:
    """How the replay of one region went. `skipped` says why it was not replayed, empty if it was.

    `first` is the first step that came out otherwise, `first_decided` the first in which more than numbers did.
    """

    steps: int = 0
    sent: int = 0
    diverged: int = 0
    first: Divergence | None = None
    first_decided: Divergence | None = None
    skipped: str = ""

    def note(self, divergence: Divergence) -> None:
        """A step came out otherwise."""
        self.diverged += 1
        self.first = self.first or divergence
        if divergence.decided:
            self.first_decided = self.first_decided or divergence


@dataclass
class Report:
    """How a replay went."""

    nodes: dict[str, NodeReport] = field(default_factory=dict)
    first: Divergence | None = None
    gaps: list[str] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Steps that were replayed."""
        return sum(node.steps for node in self.nodes.values())

    @property
    def identical(self) -> bool:
        """Whether something was replayed, and every step sent what was recorded."""
        return self.steps > 0 and not any(node.diverged for node in self.nodes.values())


class _RecordedTurn(Generic[Given]):
    def __init__(self, model: RecordedModel, task: Task[Given]) -> None:
        self._model, self._task = model, task

    def poll(self) -> Given | None:
        return self._model.take(self._task)

    def cancel(self) -> None:
        """What became of the turn is in the record."""


class RecordedModel:
    """Answers as the record says, in the step in which the model answered; notes when it was asked something else."""

    def __init__(self) -> None:
        self.ready: list[dict[str, Any]] = []
        self.surprises: list[str] = []
        self._open: list[str] = []

    def start(self, request: Request) -> _RecordedTurn[Completion]:
        """A turn that ends in the recorded step."""
        self._open.append(asked(request))
        return _RecordedTurn(self, request)

    def read(self, reading: Reading) -> _RecordedTurn[Read]:
        """A look at hidden states that ends in the recorded step."""
        self._open.append(asked(reading))
        return _RecordedTurn(self, reading)

    def weigh(self, weighing: Weighing) -> _RecordedTurn[Weighed]:
        """A comparison that ends in the recorded step."""
        self._open.append(asked(weighing))
        return _RecordedTurn(self, weighing)

    def take(self, task: Task[Given]) -> Given | None:
        """The answer that the record has for this task in the step at hand; an answer to nothing is a surprise."""
        if not self.ready:
            return None
        digest = asked(task)
        found = next((i for i, answer in enumerate(self.ready) if answer["asked"] == digest), None)
        if found is None:
            if self.ready[0]["asked"] in self._open:
                return None  # the record answers another task of this region first
            self.surprises.append(f"the model was asked something else in the role {task.role!r}")
            found = 0
        answer = dict(self.ready.pop(found))
        answer.pop("asked")
        if digest in self._open:
            self._open.remove(digest)
        try:
            return answered(task, answer)
        except (KeyError, TypeError):  # it was asked for something of another kind
            return task.failed("the record has no such answer")

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class _Seat:
    component: Component
    inbox: Inbox
    model: RecordedModel
    report: NodeReport
    told_then: dict[str, dict[str, Any]] = field(default_factory=dict)
    told_now: dict[str, dict[str, Any]] = field(default_factory=dict)


def _news(values: Values, told: dict[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """What is more than the last value of its topic said again; `told` holds those and is brought up to date."""
    found = []
    for name, data in values:
        content = {key: value for key, value in data.items() if key != "header"}
        if told.get(name) != content:
            found.append((name, data))
        told[name] = content
    return found


def differences(recorded: Any, replayed: Any, path: str = "") -> Iterator[str]:
    """The leaves in which two JSON values differ, one line each."""
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        for key in dict.fromkeys((*recorded, *replayed)):
            where = f"{path}.{key}" if path else key
            yield from differences(recorded.get(key), replayed.get(key), where)
    elif isinstance(recorded, list) and isinstance(replayed, list) and len(recorded) == len(replayed):
        for index, (one, other) in enumerate(zip(recorded, replayed, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif json.dumps(recorded) != json.dumps(replayed):
        yield f"{path}: {brief(recorded)} -> {brief(replayed)}"


def decides(recorded: Any, replayed: Any, key: str = "") -> bool:
    """Whether two JSON values differ in more than numbers, times and the words of a reason."""
    if key in _NO_DECISION:
        return False
    if isinstance(recorded, dict) and isinstance(replayed, dict):
        return any(decides(recorded.get(key), replayed.get(key), key) for key in {*recorded, *replayed})
    if isinstance(recorded, list) and isinstance(replayed, list) and len(recorded) == len(replayed):
        return any(decides(one, other) for one, other in zip(recorded, replayed, strict=True))
    if isinstance(recorded, float) and isinstance(replayed, float | int):
        return False
    return json.dumps(recorded) != json.dumps(replayed)


class Replay:
    """Replays one process's journal line by line. The configuration in force is the one that counts, so a caller
    who wants the recorded numbers sets them up before the first import (`anima replay` does)."""

    def __init__(
        self, change: Callable[[Settings], Settings] = lambda settings: settings, rows: Sequence[Row] = TABLE
    ) -> None:
        self._change = change
        self._rows = {row.node: row for row in rows}
        self._settings: Settings | None = None
        self._seats: dict[str, _Seat] = {}
        self._values: dict[int, tuple[str, Msg, dict[str, Any]]] = {}
        self.report = Report()

    def feed(self, line: Mapping[str, Any]) -> Divergence | None:
        """Take one line; returns the divergence if it is a step that came out otherwise. Raises `BadRecord`."""
        if "session" in line:
            self._begin(line)
        elif "state" in line:
            self._restore(line)
        elif "v" in line:
            topic = topic_of(line["t"])
            self._values[line["v"]] = (topic.name, decode(topic, line["d"]), line["d"])
        elif "s" in line:
            return self._step(line)
        return None

    def interrupt(self, gap: str) -> None:
        """Lines are missing here: what follows is replayed from the next keyframe on."""
        self.report.gaps.append(gap)
        self._settings = None
        self._seats.clear()

    def _begin(self, line: Mapping[str, Any]) -> None:
        if line["session"] != FORMAT:
            raise BadRecord(f"the journal has format {line['session']}, this version reads {FORMAT}")
        if line["first"]:
            self._seats.clear()
        self._values.clear()
        # What was remembered from before the start is in the dumps, and a replay must not be remembered.
        recorded = Settings.model_validate(line["settings"]).model_copy(update={"memory_url": "none"})
        self._settings = self._change(recorded)
        self._fresh = bool(line["first"])

    def _restore(self, line: Mapping[str, Any]) -> None:
        node = line["state"]
        if node in self._seats or self._settings is None:
            return
        report = self.report.nodes.setdefault(node, NodeReport())
        row = self._rows.get(node)
        if row is None:
            report.skipped = "no such row in the brain table"
            return
        model, inbox = RecordedModel(), Inbox()
        component = self._build(row.load(), line["dump"], model)
        if component is None:
            report.skipped = "the record begins in the middle of its run, and its state was not dumped"
            return
        for number in line["last"].values():
            name, value, _ = self._value(number)
            inbox.deliver(Sent(topic_of(name), value))
        inbox.clear()
        self._seats[node] = _Seat(component, inbox, model, report)

    def _build(self, build: Callable[..., Any], dump: Any, model: RecordedModel) -> Component | None:
        """A component in the recorded state; None if that is not known."""
        if self._fresh:
            component: Component = build(self._settings, model=model) if takes_model(build) else build(self._settings)
            # What it had remembered from before the start is in the dump.
            if dump is None or json.loads(json.dumps(component.dump())) == dump:  # type: ignore[attr-defined]
                return component
        load = getattr(build, "load", None)
        if load is None or dump is None:
            return None
        asking = {"model": model} if takes_model(load) else {}
        return cast(Component, load(self._settings, dump, **asking))

    def _value(self, number: int) -> tuple[str, Msg, dict[str, Any]]:
        try:
            return self._values[number]
        except KeyError:
            raise BadRecord(f"the journal speaks of value {number} before it tells it; a part is missing") from None

    def _step(self, line: Mapping[str, Any]) -> Divergence | None:
        seat = self._seats.get(line["s"])
        if seat is None:
            return None
        for number in line["in"]:
            name, value, _ = self._value(number)
            seat.inbox.deliver(Sent(topic_of(name), value))
        seat.model.ready = list(line.get("turns", ()))
        seat.model.surprises.clear()
        seat.report.steps += 1
        raised = ""
        sent: list[Sent] = []
        try:
            sent = seat.component.step(line["at"], seat.inbox)
        except Exception as error:  # a recorded crash is replayed like anything else
            raised = f"{type(error).__name__}: {error}"
        seat.inbox.clear()
        seat.report.sent += len(line["out"])
        recorded: Values = [(name, data) for name, _, data in map(self._value, line["out"])]
        replayed: Values = [(item.topic.name, json.loads(encode(item.value))) for item in sent]
        broken = [*seat.model.surprises]
        if raised != line.get("error", ""):
            broken.append(f"raised: {line.get('error', '') or 'nothing'} -> {raised or 'nothing'}")
        then, now = _news(recorded, seat.told_then), _news(replayed, seat.told_now)
        if not broken and json.dumps(recorded) == json.dumps(replayed):
            return None
        decided = bool(broken) or len(then) != len(now) or any(
            one[0] != other[0] or decides(one[1], other[1]) for one, other in zip(then, now, strict=True)
        )
        divergence = self._tell(line, seat, recorded, replayed, broken, decided)
        seat.report.note(divergence)
        self.report.first = self.report.first or divergence
        return divergence

    def _tell(
        self, line: Mapping[str, Any], seat: _Seat, recorded: Values, replayed: Values, broken: Sequence[str],
        decided: bool,
    ) -> Divergence:
        """A step that came out otherwise, in words. Values that are alike on both sides are left out of them."""
        fields = [*broken, *_compare(recorded, replayed)]
        took = [(name, data) for name, _, data in map(self._value, line["in"]) if name not in BACKGROUND]
        answers = (f"the model answers {brief(turn.get('text', ''))}" for turn in line.get("turns", ()))
        then = told([value for value in recorded if value not in replayed])
        now = told([value for value in replayed if value not in recorded])
        if then == now:  # alike in words: the fields tell more
            then = now = ()
        return Divergence(
            line["s"], line["at"], seat.report.steps, tuple(fields[:DIFFERENCES_SHOWN]), decided,
            (*told(took), *answers), then, now, seat.component.why(),
        )


def _compare(recorded: Values, replayed: Values) -> Iterator[str]:
    if [name for name, _ in recorded] != [name for name, _ in replayed]:
        yield f"sent: {_names(recorded)} -> {_names(replayed)}"
    for (name, one), (other_name, other) in zip(recorded, replayed, strict=False):
        if name == other_name:
            yield from differences(one, other, name)


def _names(values: Values) -> str:
    return ", ".join(name for name, _ in values) or "nothing"
