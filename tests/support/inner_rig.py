"""The inner life on the bench: trains of thought driven by a scripted mind, and a node to step."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from anima.body.places import load_places
from anima.config import Settings
from anima.memory.embedding import MiniLm
from anima.memory.opening import RunClock
from anima.memory.store import IN_MEMORY, Store
from anima.parts.asking import Ask, Train, Wish
from anima.parts.context import Context
from anima.parts.happening import Diary, Happening
from anima.parts.leaning import Leanings
from anima.parts.library import KeptPart, PartLibrary
from anima.parts.roles import load_parts_tuning
from anima.parts.schema import Part
from anima.parts.selves import load_self
from anima.planner.judge import Judgement
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Completion, Request
from anima.topics import Topic

SETTINGS = Settings()
EPOCH = 1_771_000_000.0
BID = {
    "want": "I want to keep off the rug.", "lean": "avoid rug", "focus": "none", "predict": "The wheels stall again",
    "sure": "likely", "within": "10 minutes",
}
PART = {
    "felt": "I fear repeating a mistake", "name": "Wary of the Rug", "description": "I believe the rug holds wheels.",
    "emotion": "Caution", "intensity": "High", "triggers": ["A wheel stalls on the rug", "The rug is near"],
    "wants": ["Keep off the rug"], "phrase": "I go around the rug.", "conclude_when": "The rug was crossed often",
}
REWRITTEN = {
    "result": "The robot crossed without trouble.", "description": "I am less sure now: dry rugs may be fine.",
    "intensity": "Low", "trigger": "1", "narrowed": "A wheel stalls on the wet rug",
}


def choose(request: Request, follow: str = "A") -> str:
    """A Self that follows one of the bids and ignores the rest."""
    letters = [line[0] for line in request.messages[-1].content.splitlines() if line[1:3] == ". "]
    chosen = {
        letter: "follow: I fear repeating a mistake" if letter == follow else "ignore: it is not the moment"
        for letter in letters
    }
    return json.dumps({**chosen, "first": follow})


@dataclass
class ScriptedMind:
    """Answers wishes: judgements from `judged` (label by name, else unsure), turns from `turns` (text by role)."""

    judged: dict[str, str] = field(default_factory=dict)
    turns: dict[str, str | Callable[[Request], str]] = field(default_factory=dict)
    asked: list[Wish] = field(default_factory=list)

    def answer(self, wish: Wish) -> Completion | Judgement:
        """What it says to a wish."""
        self.asked.append(wish)
        if isinstance(wish, Ask):
            label = self.judged.get(wish.name, "")
            return Judgement(wish.name, label, label, 0.9, {label: 0.9}) if label else Judgement(wish.name)
        text = self.turns.get(wish.role.removeprefix("parts."), "")
        text = text(wish) if callable(text) else text
        return Completion(text=text) if text else Completion(error="nothing was scripted")

    def think(self, train: Train[Any]) -> Any:
        """Drive a train of thought to its end."""
        answer: object = None
        try:
            while True:
                answer = self.answer(train.send(answer))
        except StopIteration as stop:
            return stop.value

    def shown(self, role: str) -> list[str]:
        """The last messages of the turns of a role."""
        return [w.messages[-1].content for w in self.asked if isinstance(w, Request) and w.role == f"parts.{role}"]


def scripted(judged: Mapping[str, str] | None = None, **turns: Any) -> ScriptedMind:
    """A scripted mind whose Self follows the first bid."""
    dumped = {role: text if callable(text) else json.dumps(text) for role, text in turns.items()}
    return ScriptedMind(dict(judged or {}), {"choose": choose, **dumped})


@functools.cache
def embedder() -> MiniLm:
    """The real one: it is quick, and what wakes a part is its business."""
    return MiniLm.load()


def context(self_name: str = "helper", isolated: bool = False, now: float = 100.0) -> Context:
    """A mind without a past."""
    tuning, places = load_parts_tuning(), load_places(SETTINGS.map_folder)
    return Context(
        PartLibrary(Store(IN_MEMORY), embedder()), RunClock("sim-test", EPOCH), load_self(self_name), tuning,
        known_names(SETTINGS), places, Diary(tuning.diary_kept), Leanings(tuning, places), isolated, now,
    )


def event(text: str, origin: Any = "lived", at: float = 100.0, where: str = "rug", id: str = "e1") -> Happening:
    """Something that happened on the rug, unless it is said to have been elsewhere."""
    return Happening(id, at, text, origin, 0.8, "failure", where, (2.4, 4.2))


STALL = event("go_to(person): stalled, a wheel does not turn on the rug")


def part(name: str = "Wary of the Rug", **update: Any) -> Part:
    """A part about the rug; `update` changes fields."""
    fields: dict[str, Any] = {
        "name": name, "description": "I believe that the rug holds the wheels.", "suggestions_and_results": [],
        "core_part": False, "needs_evaluation": False,
        "originating_event": {"timestamp": "2026-02-13T13:29:51+00:00", "result": "It stalled on the rug."},
        "conclude_when": "The rug was crossed often", "emotion": "Caution", "intensity": "High", "personality": "",
        "triggers": ["A wheel stalls on the rug", "The rug is near"], "phrases": ["I go around the rug."],
        "responses": [], "wants": ["Keep off the rug"],
    } | update
    return Part.model_validate(fields)


def kept(mind: Context, given: Part) -> KeptPart:
    """The part, in the library."""
    return mind.library.create(given, mind.cause("the test wants it", "test"))


def sent(mind: Context, topic: Topic[Any]) -> list[Any]:
    """What was sent on a topic."""
    return [item.value for item in mind.sent if item.topic is topic]
