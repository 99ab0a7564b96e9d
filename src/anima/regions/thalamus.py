"""Thalamus: everything sensed, said or finished becomes events, so many and no more."""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.regions.relay import sources
from anima.regions.relay.config import load_relay
from anima.regions.relay.sources import BatteryWatch, WorldWatch
from anima.regions.relay.traffic import Fact, Traffic
from anima.regions.relay.trends import BatteryTrend, WheelTrend
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.glue import Event
from anima.types.mind import WorldState
from anima.world.state import diff, means_the_same


class Thalamus:
    """Routes facts into `Event`s: equal ones are counted, what goes on and on is told ever more rarely, and each
    source has so many tokens. Utterances and the software stop always pass. Nothing is lost: over time the events and
    their `repeats` add up to the facts that came.

    `step` is pure in (state, now, inbox).
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/thalamus.yaml` can't be used."""
        del settings
        tuning = load_relay()
        self._traffic = Traffic(tuning)
        self._battery = BatteryWatch(tuning.battery)
        self._world_watch = WorldWatch(tuning.moved_m)
        self._fall = BatteryTrend(tuning.trends)
        self._wheels = WheelTrend(tuning.trends)
        self._world: WorldState | None = None
        self._latched = False
        self._now: float | None = None
        self._last: Event | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """What was held back and is due, then what is new."""
        if self._now is not None and now < self._now:
            self._traffic.clock_set_back(now)
            self._world = None  # what was known belongs to another run
        self._now = now
        events = self._traffic.due(now)
        for fact in self._facts(now, inbox):
            event = self._traffic.offer(now, fact)
            if event is not None:
                events.append(event)
        if events:
            self._last = events[-1]
        return [t.EVENTS.of(event) for event in events]

    def _facts(self, now: float, inbox: Inbox) -> list[Fact]:
        facts = [sources.utterance(message) for message in inbox.new(t.UTTERANCE)]
        for state in inbox.new(t.STOP_STATE):
            facts += sources.stop(self._latched, state)
            self._latched = state.latched
        for event in inbox.new(t.REFLEX_EVENT):
            facts += sources.reflex(event)
        facts += [sources.outcome(message) for message in inbox.new(t.OUTCOME)]
        for verdict in inbox.new(t.VERDICT):
            facts += sources.refusal(verdict)
        facts += [sources.by_hand(verdict) for verdict in inbox.new(t.OPERATOR_VERDICT)]
        facts += [sources.sign(message) for message in inbox.new(t.SIGNS)]
        facts += [sources.conflict(message) for message in inbox.new(t.CONFLICT)]
        for battery in inbox.new(t.BATTERY):
            facts += self._battery.take(battery)
            if 0.0 <= battery.percentage <= 1.0:
                facts += self._fall.take(now, battery.percentage, self._wheels.motion)
        for world in inbox.new(t.WORLD_STATE):
            facts += self._differences(world)
        joints = inbox.last(t.JOINT_STATES)
        if joints is not None and self._wheels.is_due(now):
            where = "" if self._world is None else self._world.place or self._world.room
            facts += self._wheels.take(now, joints, where)
        return facts

    def _differences(self, world: WorldState) -> list[Fact]:
        old = self._world
        if old is None:
            self._world_watch.begin(world)
        elif means_the_same(old, world):
            return []
        self._world = world
        return [] if old is None else self._world_watch.take(diff(old, world), world)

    def why(self) -> str:
        """One sentence: what it last passed on, and how much it holds back."""
        last = f"It last passed on: {self._last.text}" if self._last is not None else "Nothing has happened yet"
        held = self._traffic.waiting
        return f"{last}; {held} repeats are held back." if held else f"{last}."

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "traffic": self._traffic.dump(),
            "battery": {"level": self._battery.level, "plugged": self._battery.plugged},
            "fall": self._fall.dump(),
            "wheels": self._wheels.dump(),
            "spots": {name: list(spot) for name, spot in self._world_watch.spots.items()},
            "world": None if self._world is None else self._world.model_dump(mode="json"),
            "latched": self._latched,
            "now": self._now,
            "last": None if self._last is None else self._last.model_dump(mode="json"),
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Thalamus:
        """One that goes on from a dumped state."""
        out = cls(settings)
        out._traffic.load(data["traffic"])
        out._battery.level, out._battery.plugged = data["battery"]["level"], data["battery"]["plugged"]
        out._fall.load(data["fall"])
        out._wheels.load(data["wheels"])
        out._world_watch.spots = {name: (x, y) for name, (x, y) in data["spots"].items()}
        out._world = None if data["world"] is None else WorldState.model_validate(data["world"])
        out._latched, out._now = data["latched"], data["now"]
        out._last = None if data["last"] is None else Event.model_validate(data["last"])
        return out
