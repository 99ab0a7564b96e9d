"""Dynamic parts and the Self at work: between the planner's turns, on its weights, within what can be afforded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.install.errors import ModelMissing
from anima.memory.embedding import Embedder, MiniLm
from anima.memory.errors import StoreError
from anima.memory.kinds import STANCE
from anima.memory.opening import default_file, home_id, open_store, run_clock
from anima.memory.store import IN_MEMORY, Store
from anima.parts import thinking
from anima.parts.asking import Answering, Train, Wish, cost_s
from anima.parts.context import Context
from anima.parts.happening import Diary, Happening, happening
from anima.parts.leaning import Leanings
from anima.parts.library import Due, PartLibrary
from anima.parts.roles import load_parts_tuning
from anima.parts.selves import load_pack, load_self
from anima.planner.judge import Judgement
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Completion, Mind, Request
from anima.planner.session import shared_model
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.glue import Salient
from anima.world.stop_words import is_resume, is_stop

_HEARD = "utterance"
_OVER = "_over"
_LOOK_FOR_DUE_S = 1.0
_LOOK_FOR_NOISY_S = 10.0
_UNREMARKABLE = frozenset({"done", "arrived", "object_seen", "object_moved", "power", "localization", "teleop"})


@dataclass
class _Thought:
    """A train of thought under way: what it is about, and the answer that it waits for."""

    about: str
    train: Train[None]
    waits: Answering | None = None
    answer: Completion | Judgement | None = None


class PartsSelf:
    """Events become bids, bids become choices, choices become stances, and what came of it changes the parts.

    One train of thought at a time; at most one turn of the model. Predictions that are due come first, then what is
    most salient, then, when nothing is to be done or the robot is docked, the looking after parts. What the model
    fails at is dropped, never retried at the planner's cost. With `learn.parts` off it does nothing at all.
    """

    def __init__(self, settings: Settings, model: Mind | None = None, embedder: Embedder | None = None) -> None:
        """Raises `ConfigError` for a Self, a pack or numbers that can't be used, and `StoreUnusable`.

        Without the model that finds parts by meaning it is off, and says so.
        """
        self._on = settings.learn.parts
        self._why = "It is switched off (learn.parts)." if not self._on else "Nothing has happened yet."
        if not self._on:
            return
        try:
            embedder = embedder or MiniLm.load()
        except ModelMissing as error:  # a robot that can't find its parts by meaning still plans and drives
            self._on, self._why = False, f"It can't find parts by meaning: {error}"
            return
        self._tuning = load_parts_tuning()
        self._robot = settings.robot
        self._places = load_places(settings.map_folder)
        store = self._store = open_store(settings) or Store(IN_MEMORY)
        self._home = home_id(settings)
        file = _index_file(settings)
        self._model = model or shared_model(settings.llm)
        self.context = Context(
            PartLibrary(store, embedder, file), run_clock(settings, store),
            load_self(settings.inner.self_name), self._tuning, known_names(settings), self._places,
            Diary(self._tuning.diary_kept), Leanings(self._tuning, self._places), isolated=settings.inner.isolated,
        )
        self._packs = [load_pack(name) for name in settings.inner.packs]
        self._packed = False
        self._thought: _Thought | None = None
        self._events: list[Happening] = []
        self._taken_at: list[float] = []
        self._not_before = float("-inf")
        self._looked_for_due = self._looked_for_noisy = float("-inf")
        self._idle_since: float | None = None
        self._last: float | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in what happened, read the answer that has come, ask the next thing that is due."""
        if not self._on:
            return []
        if self._last is not None and now < self._last:
            self._set_back(now)
        self._last = now
        context = self.context
        context.now = now
        if not self._packed:
            self._load_packs()
            context.leanings.restore(self._store.all(STANCE), self._home, context.clock)
            if context.leanings.until < math.inf:
                context.sent.append(t.STANCES.of(context.leanings.message(now)))
        self._sense(now, inbox)
        if context.leanings.expire(now):
            context.sent.append(t.STANCES.of(context.leanings.message(now)))
        self._go_on(now, inbox)
        if self._thought is None and self._may_think(now, inbox):
            self._begin(now, inbox)
        self._keep_stances(now)
        sent, context.sent = context.sent, []
        return sent

    def _keep_stances(self, now: float) -> None:
        context = self.context
        if not (changes := context.leanings.changes(now, self._home, context.clock)):
            return
        try:
            self._store.write(changes)
        except StoreError as error:  # it holds all the same, until the robot is switched off
            context.tally.refused = [*context.tally.refused, f"stances: {error}"][-20:]

    def _load_packs(self) -> None:
        """Core parts that aren't there yet; one that a person has put away stays away."""
        self._packed = True
        context = self.context
        for pack in self._packs:
            for part in pack.as_parts():
                id = f"{pack.name}-{part.name.lower().replace(' ', '-')}"
                cause = context.cause(f"it came with the pack {pack.name}", f"pack:{pack.name}", who="pack")
                if not self._is_kept(id):
                    context.change(lambda: context.library.create(part, cause, id=id), "loaded", f"pack:{pack.name}")  # noqa: B023

    def _is_kept(self, id: str) -> bool:
        try:
            self.context.library.get(id)
        except LookupError:
            return False
        return True

    # --- taking in -------------------------------------------------------------------------------

    def _sense(self, now: float, inbox: Inbox) -> None:
        world = inbox.last(t.WORLD_STATE)
        for event in inbox.new(t.EVENTS):
            self.context.diary.note(happening(event, 0.0, world, self._places))
        for salient in inbox.new(t.SALIENCE):
            if self._matters(salient):
                self._events.append(happening(salient.event, salient.urgency, world, self._places))
        if len(self._events) > self._tuning.waiting:
            self._events = sorted(self._events, key=lambda e: (-e.urgency, -e.at))[: self._tuning.waiting]
        backlog = inbox.last(t.BACKLOG)
        busy = backlog is not None and bool(backlog.focus)
        self._idle_since = None if busy else (self._idle_since if self._idle_since is not None else now)

    def _matters(self, salient: Salient) -> bool:
        event = salient.event
        if event.kind == _HEARD:
            words = event.text.partition(" said ")[2].strip("'\"")
            return not (is_stop(words, self._robot) or is_resume(words, self._robot))
        if event.kind.endswith(_OVER) or event.kind in _UNREMARKABLE:
            return False
        return salient.urgency >= self._tuning.least_urgency

    def _set_back(self, now: float) -> None:
        """The clock was set back: what waited belongs to another run."""
        self._events, self._taken_at = [], []
        self._not_before = self._looked_for_due = self._looked_for_noisy = float("-inf")
        self._idle_since = now

    # --- thinking --------------------------------------------------------------------------------

    def _may_think(self, now: float, inbox: Inbox) -> bool:
        if now < self._not_before:
            return False
        resources = inbox.last(t.RESOURCES)
        if resources is not None and (resources.must_dock or resources.think_budget_s < self._tuning.think_s):
            self._why = "It lets the thinking be: the body can't afford it."
            return False
        return self._is_quiet(now, inbox) or self._tuning.busy_share > 0

    def _is_quiet(self, now: float, inbox: Inbox) -> bool:
        world = inbox.last(t.WORLD_STATE)
        if world is not None and world.docked:
            return True
        return self._idle_since is not None and now - self._idle_since >= self._tuning.idle_s

    def _begin(self, now: float, inbox: Inbox) -> None:
        context = self.context
        due = self._next_due(now)
        if due is not None:
            said = due.suggestion.predicted_result
            self._thought = _Thought(f"what came of {said[:60]!r}", thinking.evaluate(context, due))
        elif (event := self._next_event(now)) is not None:
            self._thought = _Thought(f"{event.text[:60]!r}", thinking.live(context, event))
        elif not self._is_quiet(now, inbox):
            return
        elif context.touched:
            id = next(iter(context.touched))
            _, cause = context.touched.pop(id)
            self._thought = _Thought(f"whether {id} is one or two", thinking.look_at(context, id, cause))
        elif context.echoes:
            pair = next(iter(context.echoes))
            words = context.echoes.pop(pair)
            self._thought = _Thought(f"whether {' and '.join(pair)} are one", thinking.join(context, pair, words))
        elif id := self._next_noisy(now):
            self._thought = _Thought(f"how the results of {id} go together", thinking.consolidate(context, id))
        if self._thought is not None:
            self._advance(self._thought, None)

    def _next_due(self, now: float) -> Due | None:
        if now - self._looked_for_due < _LOOK_FOR_DUE_S:
            return None
        self._looked_for_due = now
        found = self.context.library.due(self.context.utc_s, most=1)
        return found[0] if found else None

    def _next_noisy(self, now: float) -> str:
        if now - self._looked_for_noisy < _LOOK_FOR_NOISY_S:
            return ""
        self._looked_for_noisy = now
        return next(iter(self.context.library.noisy()), "")

    def _next_event(self, now: float) -> Happening | None:
        """The most salient of what waits, as long as this minute has room for it."""
        self._taken_at = [at for at in self._taken_at if 0 <= now - at < 60.0]
        if not self._events or len(self._taken_at) >= self._tuning.events_per_minute:
            return None
        event = max(self._events, key=lambda e: (e.urgency, e.at))
        self._events.remove(event)
        self._taken_at.append(now)
        return event

    def _go_on(self, now: float, inbox: Inbox) -> None:
        """Take the answer that has come, and think on once the share of the model's time allows it."""
        thought = self._thought
        if thought is None or thought.waits is None:
            return
        if thought.answer is None and (answer := thought.waits.poll()) is not None:
            thought.answer = answer
            share = self._tuning.idle_share if self._idle_since is not None else max(self._tuning.busy_share, 0.01)
            self._not_before = now + cost_s(answer) * (1.0 / share - 1.0)
        if thought.answer is not None and self._may_think(now, inbox):
            answer, thought.answer = thought.answer, None
            self._advance(thought, answer)

    def _advance(self, thought: _Thought, answer: object) -> None:
        try:
            wish: Wish = thought.train.send(answer)
        except StopIteration:
            self._thought = None
            self._why = f"It has thought about {thought.about}."
            return
        except LookupError as error:  # a part was put away by somebody else meanwhile
            self._thought = None
            self._why = f"It gave up thinking about {thought.about}: {error}."
            return
        role = wish.role if isinstance(wish, Request) else wish.name
        self._why = f"It thinks about {thought.about} ({role})."
        thought.waits = Answering(wish, self._model)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is thought about, and nothing waits for it."""
        return not self._on or (self._thought is None and not self._events)

    def dump(self) -> dict[str, Any]:
        """Which parts there are, in which version, and what the Self holds: a record can be replayed from a moment at
        which there were none."""
        if not self._on:
            return {}
        parts = sorted([kept.id, kept.version] for kept in self.context.library.active())
        held = [[stance.kind, stance.target] for stance in self.context.leanings.message(0.0).stances]
        return {"parts": parts, "stances": held}

    def why(self) -> str:
        """One sentence: what is thought about now, or was last."""
        return self._why


def _index_file(settings: Settings) -> Path | None:
    return default_file().with_suffix(".parts.npz") if settings.memory_url == "" else None
