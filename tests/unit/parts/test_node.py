"""When the inner life thinks: after the planner, within what the body can afford, the most salient first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.gate_rig import objective, resources, world
from support.glue_rig import backlog
from support.inner_rig import BID, REWRITTEN, choose, embedder, part

from anima import topics as t
from anima.config import ConfigError, InnerSettings, Settings, Switches
from anima.install.errors import ModelMissing
from anima.memory.kinds import STANCE
from anima.memory.store import Store
from anima.parts.node import PartsSelf
from anima.planner.llm.base import Completion, Pending, Read, Reading, Request, Task, Weighed, Weighing
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Event, Salient
from anima.types.std import Pose

SAFE = Settings(inner=InnerSettings(packs=("safety",)))


class Answered:
    def __init__(self, answer: object) -> None:
        self._answer = answer

    def poll(self) -> object:
        return self._answer

    def cancel(self) -> None:
        self._answer = Completion(error="cancelled")


class ScriptedModel:
    """Answers turns from a script at once; its judgement is never sure."""

    def __init__(self, script: Callable[[Request], str]) -> None:
        self.script = script
        self.asked: list[Task[object]] = []

    def start(self, request: Request) -> Pending[Completion]:
        self.asked.append(request)  # type: ignore[arg-type]
        return Answered(Completion(text=self.script(request), decode_s=4.0))  # type: ignore[return-value]

    def read(self, reading: Reading) -> Pending[Read]:
        self.asked.append(reading)  # type: ignore[arg-type]
        return Answered(reading.failed("scripted"))  # type: ignore[return-value]

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        self.asked.append(weighing)  # type: ignore[arg-type]
        return Answered(weighing.failed("scripted"))  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing is held."""


def says(request: Request) -> str:
    if request.role == "parts.choose":
        return choose(request)
    return json.dumps({**BID, "lean": "none"})


class Bench:
    """The node, stepped five times a second."""

    def __init__(self, settings: Settings = SAFE, script: Callable[[Request], str] = says) -> None:
        self.model = ScriptedModel(script)
        self.node = PartsSelf(settings, self.model, embedder() if settings.learn.parts else None)
        self.inbox, self.now, self.sent = Inbox(), 100.0, []  # type: ignore[var-annotated]

    def run(self, seconds: float, *given: Sent) -> list[Sent]:
        for item in given:
            self.inbox.deliver(item)
        new: list[Sent] = []
        for _ in range(round(seconds * 5)):
            self.now += 0.2
            new += self.node.step(self.now, self.inbox)
            self.inbox.clear()
        self.sent += new
        return new

    @property
    def written(self) -> list[str]:
        return [task.messages[-1].content for task in self.model.asked if isinstance(task, Request)]


def matters(now: float, text: str, urgency: float = 0.8, source: str = "skills", kind: str = "failure") -> Sent:
    event = Event(
        header=Header.at(now), id=f"{text[:12]}@{now:.1f}", source=source, kind=kind, subject="", text=text, repeats=0,
        because=[],
    )
    return t.SALIENCE.of(Salient(header=Header.at(now), event=event, urgency=urgency, why="", interrupts="none"))


STALLED = "go_to(person): stalled, a wheel stalls and the robot gets stuck"


def of(sent: list[Sent], topic: t.Topic) -> list:  # type: ignore[type-arg]
    return [item.value for item in sent if item.topic is topic]


def test_a_pack_brings_its_core_parts_once() -> None:
    bench = Bench()
    loaded = of(bench.run(1.0), t.PART_CHANGES)
    assert [c.what for c in loaded] == ["loaded", "loaded"] and {c.event for c in loaded} == {"pack:safety"}
    assert all(k.part.core_part for k in bench.node.context.library.active())


def test_a_salient_event_is_bid_about_and_chosen_in_the_background() -> None:
    bench = Bench()
    (choice,) = of(bench.run(5.0, resources(100.0), matters(100.0, STALLED)), t.BIDS)
    assert choice.self_name == "helper" and choice.mode == "standard" and choice.bids
    assert all(task.background for task in bench.model.asked)


def test_without_parts_it_asks_nothing_and_says_nothing() -> None:
    bench = Bench(Settings(learn=Switches(parts=False)))
    assert bench.run(5.0, resources(100.0), matters(100.0, STALLED)) == [] and bench.model.asked == []
    assert "switched off" in bench.node.why()


def test_a_body_that_must_dock_spends_nothing_on_thinking() -> None:
    bench = Bench()
    bench.run(5.0, resources(100.0, must_dock=True), matters(100.0, STALLED))
    assert bench.model.asked == []
    bench.run(5.0, resources(106.0))
    assert bench.model.asked != []


def test_only_so_many_events_a_minute_are_taken_up_and_the_most_salient_first() -> None:
    bench = Bench()
    many = [matters(100.0, f"{STALLED} number {n}", 0.3 + 0.05 * n) for n in range(10)]
    choices = of(bench.run(30.0, resources(100.0), *many), t.BIDS)
    assert len(choices) == 4
    assert "number 9" in choices[0].about and "number 8" in choices[1].about


def test_what_hardly_matters_and_what_only_says_stop_is_left_alone() -> None:
    bench = Bench()
    low = matters(100.0, STALLED, 0.1)
    stop = matters(100.0, "ana said 'stop'", 0.9, source="person", kind="utterance")
    bench.run(5.0, resources(100.0), low, stop)
    assert bench.model.asked == []


def test_while_the_robot_works_it_thinks_half_of_the_time() -> None:
    quiet, busy = Bench(), Bench()
    events = [matters(100.0, f"{STALLED} {n}") for n in range(3)]
    quiet.run(20.0, resources(100.0), *events)
    busy.run(20.0, resources(100.0), backlog(100.0, objective("o1", "docked")), *events)
    assert 0 < len(busy.written) < len(quiet.written)


def test_an_event_knows_where_the_robot_was() -> None:
    bench = Bench()
    on_the_rug = world(100.0, robot=Pose.planar(2.4, 4.2, 0.0))
    (choice,) = of(bench.run(5.0, on_the_rug, matters(100.0, STALLED)), t.BIDS)
    assert "at rug" in choice.about


def test_a_clock_that_is_set_back_leaves_it_able_to_think() -> None:
    bench = Bench()
    bench.run(5.0, resources(100.0), matters(100.0, STALLED))
    bench.now = 3.0
    assert of(bench.run(5.0, matters(3.0, f"{STALLED} anew")), t.BIDS)


def test_a_model_that_fails_costs_the_thought_and_the_next_event_is_lived() -> None:
    answers = iter(["", "nonsense"])
    bench = Bench(script=lambda request: next(answers, None) or says(request))
    bench.run(5.0, resources(100.0), matters(100.0, STALLED))
    assert of(bench.run(5.0, matters(105.0, f"{STALLED} again")), t.BIDS)


@pytest.mark.parametrize(
    ("inner", "said"),
    [(InnerSettings(self_name="nobody"), "no Self 'nobody'"), (InnerSettings(packs=("war",)), "no pack 'war'")],
)
def test_an_unknown_self_or_pack_says_which_there_are(inner: InnerSettings, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        PartsSelf(Settings(inner=inner), ScriptedModel(says), embedder())


def test_without_the_model_that_finds_parts_by_meaning_it_is_off_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> None:
        raise ModelMissing("it is not there: anima models fetch")

    monkeypatch.setattr("anima.parts.node.MiniLm.load", missing)
    node = PartsSelf(SAFE, ScriptedModel(says))
    assert node.step(1.0, Inbox()) == [] and "anima models fetch" in node.why() and node.dump() == {}


def test_the_same_life_is_lived_again_from_the_same_answers() -> None:
    lives = []
    for _ in range(2):
        bench = Bench()
        assert bench.node.dump() == {"parts": [], "stances": []}
        bench.run(5.0, resources(100.0), matters(100.0, STALLED))
        lives.append([item.value for item in bench.sent])
    assert lives[0] and lives[0] == lives[1]


def keeps_off(request: Request) -> str:
    return choose(request) if request.role == "parts.choose" else json.dumps(BID)


def test_what_the_self_holds_it_holds_after_a_restart_until_it_has_run_out(tmp_path: Path) -> None:
    kept = SAFE.model_copy(update={"memory_url": f"sqlite:///{tmp_path}/mind.db"})
    on_the_rug = world(100.0, robot=Pose.planar(2.4, 4.2, 0.0))
    first = Bench(kept, keeps_off)
    (held,) = of(first.run(5.0, on_the_rug, resources(100.0), matters(100.0, STALLED)), t.STANCES)[-1].stances
    assert (held.kind, held.target) == ("avoid", "rug")

    again = Bench(kept, keeps_off)
    (stance,) = of(again.run(0.4), t.STANCES)[0].stances
    assert (stance.kind, stance.target, stance.why) == (held.kind, held.target, held.why)
    assert np.array_equal(stance.area, held.area) and again.now < stance.until.seconds <= held.until.seconds

    other_home = Bench(kept.model_copy(update={"robot": "anima", "sim": "none"}), keeps_off)
    assert of(other_home.run(0.4), t.STANCES) == []

    again.now = stance.until.seconds + 1.0
    assert of(again.run(0.4), t.STANCES)[-1].stances == []
    with Store(kept.memory_url) as store:
        assert store.all(STANCE) == [] and store.verify() == []
        (version, *_) = store.history(STANCE, "anima-mujoco:flat/avoid rug")
        assert version.because[0].startswith("go_to(perso") and version.who == "self"
    assert of(Bench(kept, keeps_off).run(0.4), t.STANCES) == []


def test_a_part_whose_results_do_not_go_together_is_looked_at_when_it_is_quiet() -> None:
    bench = Bench(script=lambda request: json.dumps(REWRITTEN))
    context = bench.node.context
    marked = part(needs_evaluation=True)
    context.library.create(marked, context.cause("the test wants it", "e1"))
    bench.run(4.0, resources(100.0), backlog(100.0, objective("o1", "docked")))
    assert context.library.noisy() == ["wary-of-the-rug"]  # not while it works
    (change,) = of(bench.run(10.0, backlog(104.0)), t.PART_CHANGES)
    assert (change.part, change.what, change.event) == ("wary-of-the-rug", "updated", "e1")
    assert context.library.noisy() == []
