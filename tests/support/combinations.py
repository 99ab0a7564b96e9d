"""Combinations of events in the pure mind, drawn by a seed, and what must hold through all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from anima import topics as t
from anima.config import Settings
from anima.runtime.local_graph import Logged
from anima.skills.registry import SKILLS
from anima.types.mind import Backlog, Lease, Utterance, Verdict
from anima.world.stop_words import is_stop
from anima_sim.pure_mind import ORDERS, ChoosingModel, PureMind
from anima_sim.symbolic import MOVING, Trouble

TICK_S = 0.1
PACE = 0.25
EVENTS_S = 6.0  # in which the events come
SETTLE_S = 8.0  # and how long the mind then has until it must be seen to decide or to wait
PATIENCE_S = 90.0
REACTION_S = 0.35  # from a stop to the last lease taken back: three ticks
ENDED = frozenset({"done", "failed", "declined", "cancelled"})

SETTINGS = Settings()
_ORDERS = sorted(ORDERS)
Event = Callable[["Combination"], None]


class Combination:
    """One mind, one world, some events close together; `faults` is what went wrong, empty if nothing did."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.luck = random.Random(seed)
        self.faults: list[str] = []
        self.told: list[str] = []
        moods = self.luck.choice([0.0, 0.0, 0.05])
        model = ChoosingModel(random.Random(seed), moods=moods, strays=self.luck.choice([0.0, 0.2]))
        self.trouble = Trouble(
            grasp_fails=self.luck.choice([0.0, 0.3, 1.0]), search_fails=self.luck.choice([0.0, 0.5]),
            drive_fails=self.luck.choice([0.0, 0.1]),
        )
        self.mind = PureMind(SETTINGS, seed, self.trouble, model, tick_s=TICK_S, pace=PACE)
        self.flat = self.mind.flat
        self._watch = _Watch(self)
        self.mind.graph.tap(self._watch.see)

    def run(self) -> list[str]:
        """Let everything happen; returns the faults."""
        self.mind.graph.run_for(0.4)
        self.note("order")
        self.mind.say(self.luck.choice(_ORDERS))
        plan = sorted((self.luck.uniform(0.3, EVENTS_S), name) for name in self._draw())
        for at, name in plan:
            while self.mind.now < at:
                self.mind.graph.tick()
            self.note(name)
            EVENTS[name](self)
        while self.mind.now < EVENTS_S:
            self.mind.graph.tick()
        self._mend()
        self.mind.graph.run_for(SETTLE_S)
        self._watch.at_the_end()
        return self.faults

    def _draw(self) -> list[str]:
        return self.luck.sample(sorted(EVENTS), self.luck.randint(2, 5))

    def _mend(self) -> None:
        """All that was wrong is mended; only the latched stop stays, which a person must reset."""
        trouble = self.trouble
        trouble.blocked.clear()
        trouble.stalled_until = trouble.blind_until = trouble.lost_until = trouble.silent_until = -1.0
        trouble.mute_skill_until = -1.0
        for kind in ("process_silent", "obstacle"):
            self.flat.reflex(kind, active=False)

    def note(self, what: str) -> None:
        """Keep what happened when, for whoever has to find out what went wrong."""
        self.told.append(f"{self.mind.now:.1f} {what}")

    def fault(self, what: str) -> None:
        """Something that must never be."""
        if len(self.faults) < 5:
            self.faults.append(f"seed {self.seed} at {self.mind.now:.1f} s: {what} (events: {', '.join(self.told)})")


@dataclass
class _Watch:
    """Sees everything that is sent, and holds it to the rules."""

    of: Combination
    backlog: Backlog | None = None
    leases: dict[str, Lease] = field(default_factory=dict)
    silent_since: float | None = None
    latched_at: float | None = None

    def see(self, logged: Logged) -> None:
        value, name = logged.sent.value, logged.sent.topic.name
        self._look_at_stops(logged.at)
        if isinstance(value, Utterance):
            # Only whole words of a person move it again; what else is said is answered, not obeyed.
            self.silent_since = logged.at if is_stop(value.text, "anima") else None
        elif name == t.OPERATOR_CALL.name:
            self.silent_since = None
        elif isinstance(value, Backlog):
            self._see_backlog(value)
        elif isinstance(value, Lease):
            self._see_lease(logged.at, value)
        elif name == t.OUTCOME.name:
            self.leases.pop(value.lease, None)  # type: ignore[attr-defined]  # an Outcome
        elif isinstance(value, Verdict) and not (value.accepted or (value.failure and value.reason)):
            self.of.fault(f"{value.call.skill} was refused without a reason")

    def _see_backlog(self, backlog: Backlog) -> None:
        focused = [o.id for o in backlog.objectives if o.state == "focused"]
        if len(focused) > 1 or (backlog.focus and focused != [backlog.focus]) or (focused and not backlog.focus):
            self.of.fault(f"the focus is {backlog.focus!r}, but {focused} are focused")
        if not backlog.why:
            self.of.fault("the backlog doesn't say why")
        for objective in backlog.objectives:
            if objective.state in ("failed", "declined", "parked", "cancelled") and not objective.reason:
                self.of.fault(f"{objective.condition} is {objective.state} for no reason")
        self.backlog = backlog

    def _see_lease(self, at: float, lease: Lease) -> None:
        if not lease.granted:
            if not lease.reason:
                self.of.fault(f"the lease of {lease.call.skill} was taken back without a reason")
            self.leases.pop(lease.id, None)
            return
        if not at < lease.deadline.seconds <= at + SKILLS[lease.call.skill].timeout_s + 1e-6:
            self.of.fault(f"{lease.call.skill} was leased until {lease.deadline.seconds:.1f} s")
        for other in self.leases.values():
            if set(other.resources) & set(lease.resources):
                self.of.fault(f"{lease.call.skill} and {other.call.skill} are leased the same part of the body")
        self.leases[lease.id] = lease
        if not MOVING & set(lease.resources) or lease.call.skill == "stop":
            return
        if self.latched_at is not None and at - self.latched_at > REACTION_S:
            self.of.fault(f"{lease.call.skill} was leased while the software stop was latched")
        if self.silent_since is not None and at > self.silent_since:
            self.of.fault(f"{lease.call.skill} was leased though the person said stop and nothing since")

    def _look_at_stops(self, at: float) -> None:
        latched = self.of.flat.latched
        self.latched_at = (at if self.latched_at is None else self.latched_at) if latched else None
        since = max((s for s in (self.latched_at, self.silent_since) if s is not None), default=None)
        if since is None or at - since <= REACTION_S:
            return
        for lease in list(self.leases.values()):
            if MOVING & set(lease.resources) and lease.header.stamp.seconds <= since:
                self.leases.pop(lease.id)
                self.of.fault(f"{lease.call.skill} still had its lease {at - since:.1f} s after the stop")

    def at_the_end(self) -> None:
        """The mind has come back to an act, or says what it waits for; if not yet, it must within `PATIENCE_S`: a
        tactic that led nowhere stays forbidden for a while."""
        self.of.faults += [f"seed {self.of.seed}: {what}" for what in self.of.flat.overlaps]
        if self.backlog is None:
            self.of.fault("the gate never said what it does")
            return
        if not self.of.mind.graph.run_until(self._goes_on, PATIENCE_S):
            open_ones = [f"{o.condition} {o.state}" for o in self.backlog.objectives if o.state not in ENDED]
            self.of.fault(f"nothing goes on for {PATIENCE_S:g} s, with {', '.join(open_ones)}")

    def _goes_on(self) -> bool:
        assert self.backlog is not None
        open_ones = [o for o in self.backlog.objectives if o.state not in ENDED]
        return bool(self.leases) or all(o.state == "parked" and o.reason for o in open_ones)


def _say(*texts: str) -> Event:
    return lambda c: void(c.mind.say(c.luck.choice(texts)))


def void(_: object) -> None:
    """An event has no result."""


def _for(name: str, low_s: float, high_s: float) -> Event:
    """A trouble of the flat for a while."""
    return lambda c: setattr(c.trouble, name, c.mind.now + c.luck.uniform(low_s, high_s))


def _drain(c: Combination) -> None:
    c.flat.battery = c.luck.choice([0.04, 0.12, 0.2])
    c.flat.docked = False


def _unlatch(c: Combination) -> None:
    c.flat.unlatch()
    if c.luck.random() < 0.5:
        c.mind.say("go on")


def _carry_off(c: Combination) -> None:
    c.flat.carry_off(c.luck.choice(sorted(c.flat.lies)), c.luck.choice(["shelf", "kitchen_table", "floor"]))


def _drive(c: Combination) -> None:
    skill, arguments = c.luck.choice([("go_to", '{"place": "kitchen"}'), ("stop", "{}"), ("wait", '{"seconds": 2}')])
    c.mind.drive(skill, arguments)


EVENTS: dict[str, Event] = {
    "order": _say(*_ORDERS),
    "another order": _say(*_ORDERS),
    "question": _say("how is your battery?"),
    "stop word": _say("Stop!", "halt", "anima, stop now"),
    "go on": _say("go on"),
    "chatter": _say("what a lovely day", "hm", ""),
    "by hand": _drive,
    "software stop": lambda c: c.flat.latch(),
    "software stop reset": _unlatch,
    "low battery": _drain,
    "camera lost": _for("blind_until", 1.0, 6.0),
    "place lost": _for("lost_until", 0.5, 4.0),
    "senses silent": _for("silent_until", 0.5, 5.0),
    "wheel stalled": _for("stalled_until", 0.5, 4.0),
    "skill mute": _for("mute_skill_until", 0.5, 8.0),
    "path blocked": lambda c: c.trouble.blocked.update({p: c.mind.now + 4.0 for p in ("person", "shelf", "kitchen")}),
    "process silent": lambda c: c.flat.reflex("process_silent", active=True, detail="perception"),
    "process back": lambda c: c.flat.reflex("process_silent", active=False),
    "obstacle": lambda c: c.flat.reflex("obstacle", active=True, detail="0.2 m ahead"),
    "dropped": lambda c: c.flat.drop(),
    "carried off": _carry_off,
}


def faults_of(seeds: Iterable[int]) -> list[str]:
    """What went wrong in these combinations; here, where worker processes find it by its module's name."""
    return [fault for seed in seeds for fault in Combination(seed).run()]
