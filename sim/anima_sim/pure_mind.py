"""The pure mind: planner, gate and all glue regions in one process on the symbolic flat; no ROS, no real model."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Generic

from anima import topics as t
from anima.brain import TABLE, Row
from anima.config import Settings
from anima.planner.llm.base import Completion, Given, Mind, Read, Reading, Request, Weighed, Weighing
from anima.runtime.component import Component
from anima.runtime.local_graph import LocalGraph
from anima.runtime.processes import Process
from anima.types.base import Header
from anima.types.mind import SkillCall, Utterance
from anima_sim.symbolic import SymbolicFlat, Trouble

ROW = Row(
    "symbolic_flat", "", Process.BODY, 50, "anima_sim.symbolic:SymbolicFlat",
    takes=(t.LEASE,),
    gives=(
        t.WORLD_STATE, t.OUTCOME, t.SKILL_FEEDBACK, t.SPEECH, t.STOP_STATE, t.REFLEX_EVENT, t.BATTERY, t.JOINT_STATES,
        t.POSE,
    ),
    doc="the flat as facts, with a body that takes its time",
    wakes=(t.LEASE,),
)

PLANNER = "prefrontal_planner"
ASKING = frozenset({PLANNER, "learner"})
# The symbolic flat knows what these would find out from pictures, and does what these would do with motors.
_BODILY = frozenset({"parietal_affordance", "motor_cortex"})
# The inner life asks a real model far more than it can be given here; it is there when it is handed in as `replace`.
_INNER = frozenset({"parts_self"})
ROWS: tuple[Row, ...] = (
    ROW,
    *(row for row in TABLE if row.process in (Process.BRAIN, Process.PLANNER) and row.node not in _BODILY | _INNER),
)
GLUE: tuple[str, ...] = tuple(row.node for row in ROWS if row.process is Process.BRAIN)

ORDERS = {
    "bring me the red cube": "bring(red_cube, person)",
    "put the orange ball on the shelf": "bring(orange_ball, shelf)",
    "where is the cyan cube?": "find(cyan_cube)",
    "go to the office": "go(office)",
    "come to me": "go(person)",
    "go to the office and then to the kitchen": "go(office) go(kitchen)",
    "pick up the green cube": "hold(green_cube)",
    "go charge": "charge()",
    "how is your battery?": "answer(battery)",
    "take the red cube and the cyan cube to the shelf": "bring(red_cube, shelf) bring(cyan_cube, shelf)",
}


@dataclass
class _Turn(Generic[Given]):
    answer: Given
    polls: int

    def poll(self) -> Given | None:
        self.polls -= 1
        return self.answer if self.polls < 0 else None

    def cancel(self) -> None:
        self.answer, self.polls = changed(self.answer, error="cancelled"), 0  # type: ignore[type-var]


@dataclass
class ChoosingModel:
    """Reads the known orders, and chooses among the calls that it is offered: mostly the first, else by chance.

    `moods` is the share of turns that fail or answer nonsense, `slow` how many looks a turn takes.
    """

    luck: random.Random
    moods: float = 0.0
    slow: int = 2
    strays: float = 0.1
    asked: list[Request] = field(default_factory=list)

    def start(self, request: Request) -> _Turn[Completion]:
        """A turn that ends after some looks."""
        if request.choices == ("ok",):
            return _Turn(Completion(text="ok"), 0)
        if request.background:
            return _Turn(Completion(text="none."), 0)
        if self.luck.random() < self.moods:
            odd = self.luck.choice([Completion(text="nonsense"), Completion(error="the model broke"), Completion()])
            return _Turn(odd, self.slow)
        return _Turn(Completion(text=self._answer(request)), self.luck.randint(0, self.slow))

    def _answer(self, request: Request) -> str:
        if request.choices:
            stray = self.luck.random() < self.strays
            return self.luck.choice(request.choices) if stray else request.choices[0]
        said = request.messages[-1].content.splitlines()[0].strip('"')
        return ORDERS.get(said, "answer(battery)")

    def read(self, reading: Reading) -> _Turn[Read]:
        """It has no hidden states."""
        return _Turn(reading.failed("this model can't be looked into"), 0)

    def weigh(self, weighing: Weighing) -> _Turn[Weighed]:
        """It has no probabilities."""
        return _Turn(weighing.failed("this model can't weigh"), 0)

    def close(self) -> None:
        """Nothing is held."""


class PureMind:
    """A mind to talk to. `flat` is its world, `graph` its regions, `model` what stands in for the language model."""

    def __init__(
        self,
        settings: Settings | None = None,
        seed: int = 0,
        trouble: Trouble | None = None,
        model: Mind | None = None,
        tick_s: float = 0.02,
        pace: float = 1.0,
        build: Callable[[Row, Mind | None], Component] | None = None,
        without: frozenset[str] = frozenset(),
        replace: Mapping[str, Component] | None = None,
    ) -> None:
        """`build` makes the components (a journal's, for instance); `without` leaves regions out, to see their part."""
        self.settings = settings or Settings(seed=seed)
        self.flat = SymbolicFlat(self.settings, seed, trouble, pace)
        self.model = model or ChoosingModel(random.Random(seed + 1))
        inner = [row for row in TABLE if row.node in _INNER & set(replace or ())]
        rows = [row for row in (*ROWS, *inner) if row.node not in without]
        make = build or self._plain
        given: dict[str, Component] = {ROW.node: self.flat, **(replace or {})}
        given |= {
            row.node: make(row, self.model if row.node in ASKING else None) for row in rows if row.node not in given
        }
        self.graph = LocalGraph(self.settings, rows, replace=given, tick_s=tick_s)
        self._said = 0

    def _plain(self, row: Row, model: Mind | None) -> Component:
        return row.load()(self.settings, model) if model is not None else row.build(self.settings)

    @property
    def now(self) -> float:
        """Simulated time, seconds."""
        return self.graph.now

    def say(self, text: str, speaker: str = "ana") -> str:
        """A person says something; returns the utterance's id."""
        self._said += 1
        heard = Utterance(header=Header.at(self.now), id=f"u{self._said}", speaker=speaker, text=text)
        self.graph.send(t.UTTERANCE.of(heard))
        return heard.id

    def drive(self, skill: str, arguments: str = "{}") -> None:
        """A person drives a skill by hand."""
        self._said += 1
        call = SkillCall(
            header=Header.at(self.now), id=f"operator-{self._said}", skill=skill, arguments=arguments, objective="",
            source="operator", because=[],
        )
        self.graph.send(t.OPERATOR_CALL.of(call))
