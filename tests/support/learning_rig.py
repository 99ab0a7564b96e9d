"""A learner stepped by hand, with a model whose judgements and words are scripted, and the messages to feed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from anima import topics as t
from anima.config import Settings, Switches
from anima.learning import work
from anima.learning.learner import Learner
from anima.memory.opening import open_store
from anima.memory.store import Store
from anima.planner.judge import Judgement
from anima.planner.llm.base import Completion, Request
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.learning import EncounterEnd, Guidance, Reminder
from anima.types.mind import Lease, SkillCall, Speech, StopState, Utterance
from anima.types.std import TwistStamped
from support.gate_rig import call
from support.glue_rig import outcome
from support.planner_rig import world

DAY_S = 86400.0
SURE = 0.9


@dataclass
class _Answered:
    answer: Any

    def poll(self) -> Any:
        return self.answer

    def cancel(self) -> None:
        pass


@dataclass
class ScriptedMind:
    """Says to each judgement what `judges` says to its words, and writes `words` by role."""

    judges: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    words: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def judge(self, name: str) -> Any:
        mind = self

        class Judge:
            def ask(self, model: object, slots: Mapping[str, str]) -> _Answered:
                mind.asked.append(name)
                known = mind.judges.get(name, {})
                text = " | ".join(slots.values())
                label = next((label for part, label in known.items() if part in text), "no")
                if label == "unsure":
                    return _Answered(Judgement(name, "unsure", "explicit", 0.5, {}))
                return _Answered(Judgement(name, label, label, SURE, {label: SURE}))

        return Judge()

    def start(self, request: Request) -> _Answered:
        role = request.role.removeprefix("learn.")
        self.asked.append(role)
        write = self.words.get(role, lambda question: "none.")
        return _Answered(Completion(text=write(request.messages[-1].content)))

    def close(self) -> None:
        pass


class Life:
    """One run of a robot over a memory in `folder`. `begins` is its ROS time, which is UTC as on a real robot."""

    def __init__(
        self, folder: Path, mind: ScriptedMind, patch: pytest.MonkeyPatch, begins: float = 1.79e9, **switches: bool
    ) -> None:
        patch.setattr(work, "load_judge", mind.judge)
        self.settings = Settings(
            memory_url=f"sqlite:///{folder}/mind.db", sim="none", learn=Switches(**switches), robot="anima"
        )
        self.mind = mind
        self.learner = Learner(self.settings, mind)  # type: ignore[arg-type]
        self.inbox = Inbox()
        self.now = begins
        self.sent: list[Sent] = []
        self._utterances = 0

    def run(self, seconds: float = 1.0, dt: float = 0.2) -> None:
        for _ in range(max(1, round(seconds / dt))):
            self.now += dt
            new = self.learner.step(self.now, self.inbox)
            self.inbox.clear()
            self.sent += new

    def give(self, *sent: Sent) -> None:
        for one in sent:
            self.inbox.deliver(one)

    def hear(self, text: str, who: str = "ana") -> None:
        self._utterances += 1
        heard = Utterance(header=Header.at(self.now), id=f"u{self.now:.0f}-{self._utterances}", speaker=who, text=text)
        self.give(t.UTTERANCE.of(heard))
        self.run(4.0)

    def speak(self, text: str, cause: str = "") -> None:
        self.give(t.REPLY.of(Speech(header=Header.at(self.now), text=text, cause=cause)))
        self.run(2.0)

    def drive(self, place: str = "kitchen_table") -> SkillCall:
        going = call(f"c{self.now:.0f}", "go_to", "o1", place=place)
        lease = Lease(
            header=Header.at(self.now), id="l1", call=going, resources=["base"],
            deadline=Header.at(self.now + 60).stamp, granted=True, reason="",
        )
        self.give(t.LEASE.of(lease))
        self.run(1.0)
        return going

    def dock(self) -> None:
        """The robot has driven onto its dock."""
        docking = call(f"c{self.now:.0f}", "dock", "o1")
        self.give(outcome(self.now, docking), t.WORLD_STATE.of(world(self.now, docked=True)))
        self.run(2.0)

    def stop(self, source: str = "ana") -> None:
        for latched in (True, False):
            state = StopState(header=Header.at(self.now), latched=latched, source=source, active=[])
            self.give(t.STOP_STATE.of(state))
            self.run(10.0)

    def teleop(self, mps: float) -> None:
        self.give(t.CMD_VEL_TELEOP.of(TwistStamped.planar(self.now, mps, 0.0)))
        self.run(1.0)

    def end(self) -> None:
        self.give(t.ENCOUNTER_END.of(EncounterEnd(header=Header.at(self.now), person="", why="test")))
        self.run(1.0)
        for _ in range(200):
            if self.learner.is_idle:
                break
            self.run(1.0)
        assert self.learner.flush()

    def later(self, seconds: float) -> None:
        """Time goes by without anybody there."""
        self.now += seconds
        self.run(1.0)

    def got(self, topic: t.Topic[Any]) -> list[Any]:
        return [one.value for one in self.sent if one.topic is topic]

    @property
    def guidance(self) -> Guidance:
        found: Guidance = self.got(t.GUIDANCE)[-1]
        return found

    @property
    def reminders(self) -> list[Reminder]:
        return [r for r in self.got(t.REMINDER) if not r.id.startswith("q-")]

    def store(self) -> Store:
        assert self.learner.flush()
        store = open_store(self.settings)
        assert store is not None
        return store

    def close(self) -> None:
        self.learner.close()
