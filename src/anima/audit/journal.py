"""The step journal: per step of a region its time, what had arrived, what it sent; as lines of JSON.

Four kinds of lines, told by their first key:

- ``{"session": …}`` opens a keyframe: process, settings, texts of the configuration. A journal can be read from any
  keyframe on; one comes at the start and then every `KEYFRAME_S` of the mind's own time. ``clocks`` are what the
  machine's clocks read then: the recording's times are the wall's, the marks of the model's turns the monotonic one's.
- ``{"state": node, …}`` follows it, per region: its dump (null if it has none) and the last value of each topic.
- ``{"v": number, "t": topic, "d": {…}}`` is a value, written once and then spoken of by its number.
- ``{"s": node, "at": now, "in": [numbers], "out": [numbers]}`` is a step; with ``turns`` for what the language model
  answered in it (and by its marks when each was queued, begun, set aside and ended), and ``error`` when it raised.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic

import numpy as np

from anima import __version__
from anima.audit.codec import encode
from anima.brain import Row
from anima.config import CONFIG, Settings
from anima.planner.llm.base import (
    Completion,
    Given,
    Mark,
    Mind,
    Pending,
    Read,
    Reading,
    Request,
    Task,
    Weighed,
    Weighing,
)
from anima.planner.session import shared_model
from anima.runtime.component import Component, Inbox
from anima.topics import Sent
from anima.types.base import Msg

FORMAT = 1
KEYFRAME_S = 60.0
_REMEMBERED = 4096


def packed_config(folder: Path = CONFIG) -> dict[str, str]:
    """The files of the configuration, path -> compressed text, so that a replay has the numbers of its day."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode() for path in files
    }


def unpack_config(packed: Mapping[str, str], folder: Path) -> None:
    """Write the files of `packed_config` under `folder`; raises ValueError for a path that leads out of it."""
    for name, data in packed.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise ValueError(f"the record has a configuration file {name!r} outside of its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(base64.b64decode(data)))


def asked(task: Task[Any]) -> str:
    """A digest of everything that a model was asked."""
    if isinstance(task, Request):
        text = repr((task.role, task.messages, task.grammar, task.choices, task.max_tokens))
    else:
        text = repr(task)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def told(answer: Completion | Read | Weighed) -> dict[str, Any]:
    """An answer of a model as JSON values; `answered` turns it back, bit by bit."""
    fields = asdict(answer)
    if isinstance(answer, Read):
        states = np.ascontiguousarray(answer.states, "<f4")
        fields["states"] = {"shape": list(states.shape), "f4": base64.b64encode(states.tobytes()).decode()}
    return fields


def answered(task: Task[Given], fields: Mapping[str, Any]) -> Given:
    """The answer to `task` that `told` had written."""
    values = {name: value for name, value in fields.items() if name not in ("role", "background")}
    values["marks"] = tuple(Mark(**mark) for mark in fields.get("marks", ()))
    if isinstance(task, Reading):
        packed = values["states"]
        values["states"] = np.frombuffer(base64.b64decode(packed["f4"]), "<f4").reshape(packed["shape"])
    if isinstance(task, Weighing):
        values["log_p"] = tuple(values["log_p"])
    kind = type(task.failed(""))
    return kind(**values)


class _WitnessedTurn(Generic[Given]):
    def __init__(
        self, pending: Pending[Given], task: Task[Given], note: Callable[[dict[str, Any]], None]
    ) -> None:
        self._pending, self._task, self._note = pending, task, note

    def poll(self) -> Given | None:
        done = self._pending.poll()
        if isinstance(done, Completion | Read | Weighed):
            task = self._task
            self._note({"asked": asked(task), "role": task.role, "background": task.background, **told(done)})
        return done

    def cancel(self) -> None:
        self._pending.cancel()


class WitnessedModel:
    """A language model whose answers are told to `note` in the moment in which the planner takes them."""

    def __init__(self, model: Mind, note: Callable[[dict[str, Any]], None]) -> None:
        self._model, self._note = model, note

    def start(self, request: Request) -> Pending[Completion]:
        """Queue a turn; returns at once."""
        return _WitnessedTurn(self._model.start(request), request, self._note)

    def read(self, reading: Reading) -> Pending[Read]:
        """Queue a look at hidden states; returns at once."""
        return _WitnessedTurn(self._model.read(reading), reading, self._note)

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        """Queue a comparison of options; returns at once."""
        return _WitnessedTurn(self._model.weigh(weighing), weighing, self._note)

    def close(self) -> None:
        """Free what the model holds."""
        self._model.close()


class Journalled:
    """A component whose steps are written to a journal; otherwise the same."""

    def __init__(self, node: str, component: Component, journal: Journal) -> None:
        self.node, self.component = node, component
        self._journal = journal
        self.inbox: Inbox | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """One step of the component, written down."""
        self.inbox = inbox
        return self._journal.step(self, now, inbox)

    def why(self) -> str:
        """What the component says."""
        return self.component.why()


def takes_model(build: Callable[..., Component]) -> bool:
    """Whether a component asks a language model, whose answers come from outside of its steps."""
    return "model" in inspect.signature(build).parameters


class Journal:
    """The journal of the regions of one process. Lines collect until `flush` hands them to `sink` as one text."""

    def __init__(self, process: str, settings: Settings, sink: Callable[[str], None]) -> None:
        self._process, self._settings, self._sink = process, settings, sink
        self._watched: list[Journalled] = []
        self._lines: list[str] = []
        self._turns: list[dict[str, Any]] = []
        self._config = packed_config()
        self._next_keyframe: float | None = None
        self._count = 0
        self._by_id: dict[int, tuple[Msg, int]] = {}
        self._by_text: dict[str, int] = {}

    def build(self, row: Row, model: Mind | None = None) -> Journalled:
        """The component of a row, journalled from its first step on. `model` replaces the planner's own."""
        if takes_model(row.load()):
            witness = WitnessedModel(model or shared_model(self._settings.llm), self._turns.append)
            component: Component = row.load()(self._settings, model=witness)
        else:
            component = row.build(self._settings)
        return self.watch(row.node, component)

    def watch(self, node: str, component: Component) -> Journalled:
        """Journal a component that stands already, before its first step."""
        watched = Journalled(node, component, self)
        self._watched.append(watched)
        return watched

    def step(self, watched: Journalled, now: float, inbox: Inbox) -> list[Sent]:
        """Step a component and write the step down; what it raises is written down and passed on."""
        if self._next_keyframe is None or now >= self._next_keyframe or now < self._next_keyframe - 2 * KEYFRAME_S:
            self._keyframe(now)
        arrived = [self._number(name, value) for name, values in inbox.arrived().items() for value in values]
        self._turns.clear()
        line: dict[str, Any] = {"s": watched.node, "at": now, "in": arrived}
        try:
            sent = watched.component.step(now, inbox)
        except Exception as error:
            self._write(line | {"out": [], "error": f"{type(error).__name__}: {error}"})
            self.flush()
            raise
        line["out"] = [self._number(item.topic.name, item.value) for item in sent]
        if self._turns:
            line["turns"] = list(self._turns)
        self._write(line)
        return sent

    def flush(self) -> None:
        """Hand over what was written since the last flush."""
        if self._lines:
            text = "\n".join(self._lines) + "\n"
            self._lines = []
            self._sink(text)

    def _write(self, line: Mapping[str, Any]) -> None:
        self._lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def _keyframe(self, now: float) -> None:
        first = self._next_keyframe is None
        self._next_keyframe = now + KEYFRAME_S
        self._by_id.clear()
        self._by_text.clear()
        self._write(
            {
                "session": FORMAT, "process": self._process, "at": now, "first": first, "version": __version__,
                "settings": self._settings.model_dump(mode="json"), "config": self._config,
                "nodes": [watched.node for watched in self._watched],
                "clocks": {"wall_s": time.time(), "monotonic_s": time.monotonic()},
            }
        )
        for watched in self._watched:
            dump = getattr(watched.component, "dump", None)
            last = watched.inbox.held() if watched.inbox is not None else {}
            # What is new in the inbox is the first step's input, not its past.
            numbers = {name: self._number(name, value) for name, value in last.items()}
            self._write({"state": watched.node, "dump": dump() if dump is not None else None, "last": numbers})

    def _number(self, topic: str, value: Msg) -> int:
        """The number of a value; one that was not written since the keyframe is written now."""
        known = self._by_id.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        text = f'"t":{json.dumps(topic)},"d":{encode(value)}'
        number = self._by_text.get(text)
        if number is None:
            self._count += 1
            number = self._count
            self._lines.append(f'{{"v":{number},{text}}}')
            if len(self._by_text) >= _REMEMBERED:
                self._by_text.clear()
            self._by_text[text] = number
        if len(self._by_id) >= _REMEMBERED:
            self._by_id.clear()
        self._by_id[id(value)] = (value, number)
        return number


def read_lines(texts: Iterable[str]) -> Sequence[dict[str, Any]]:
    """The lines of a journal in order; raises ValueError for text that is none."""
    return [json.loads(line) for text in texts for line in text.splitlines() if line]
