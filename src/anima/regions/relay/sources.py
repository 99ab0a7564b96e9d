"""What each kind of message says, as facts: pure functions of the message and of what it said before."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator

from anima.failure import Failure
from anima.regions.relay.config import BatteryTuning
from anima.regions.relay.traffic import Fact
from anima.skills.registry import render
from anima.types.glue import Conflict
from anima.types.mind import Outcome, ReflexEvent, StopState, Utterance, Verdict, WorldState
from anima.types.std import BatteryState, String
from anima.world.predicates import ROBOT, Predicate, find_object

SOFTWARE_STOP = "software_stop"
TELEOP = "teleop"
_CHARGING, _FULL = 1, 4  # sensor_msgs/BatteryState POWER_SUPPLY_STATUS_*
_LEVELS = ("ok", "low", "critical")


def utterance(message: Utterance) -> Fact:
    """A person spoke."""
    speaker = message.speaker or "person"
    return Fact("person", "utterance", speaker, f"{speaker} said {message.text!r}", (message.id,), urgent=True)


def outcome(message: Outcome) -> Fact:
    """A skill ended."""
    call = render(message.call.skill, message.call.arguments)
    because = (message.call.id,)
    if message.success:
        return Fact("skills", "done", call, f"{call} is done", because)
    failure = Failure(message.failure) if message.failure in set(Failure) else Failure.UNKNOWN
    detail = f", {message.detail}" if message.detail else ""
    kind = "interrupted" if failure is Failure.INTERRUPTED else "failure"
    return Fact("skills", kind, call, f"{call}: {failure.word}{detail}", because)


def refusal(message: Verdict) -> Iterator[Fact]:
    """The validator refused what the planner proposed; what it accepts is no news."""
    if not message.accepted:
        call = render(message.call.skill, message.call.arguments)
        yield Fact("planner", "refusal", call, f"{call}: refused, {message.reason}", (message.call.id,))


def by_hand(message: Verdict) -> Fact:
    """A person drives a skill by hand, or was refused to."""
    call = render(message.call.skill, message.call.arguments)
    if message.accepted:
        return Fact("operator", "teleop", call, f"a person asks for {call} by hand", (message.call.id,))
    return Fact("operator", "refusal", call, f"{call} by hand: refused, {message.reason}", (message.call.id,))


def reflex(message: ReflexEvent) -> Iterator[Fact]:
    """A reflex began or ended. The software stop is told by `StopState`, and only there."""
    if message.kind == SOFTWARE_STOP:
        return
    if message.kind == TELEOP:
        if message.active:
            yield Fact("operator", TELEOP, "body", f"{message.detail}, in the robot's place")
        else:
            yield Fact("operator", f"{TELEOP}_over", "body", "the person has let go")
        return
    silent = message.kind in ("process_silent", "sensor_silent")
    kind = message.kind if silent else "reflex"
    if message.active:
        yield Fact("reflex", kind, message.kind, f"{message.kind}: {message.detail}")
    else:
        yield Fact("reflex", f"{kind}_over", message.kind, f"{message.kind} is over")


def stop(was_latched: bool, message: StopState) -> Iterator[Fact]:
    """The software stop was latched or reset."""
    if message.latched and not was_latched:
        yield Fact("reflex", "stop", SOFTWARE_STOP, f"stopped by {message.source or 'somebody'}", urgent=True)
    elif was_latched and not message.latched:
        yield Fact("reflex", "stop_over", SOFTWARE_STOP, "the software stop was reset", urgent=True)


def sign(message: String) -> Fact:
    """Something is written somewhere; whoever wrote it, it is data."""
    return Fact("sign", "sign", message.data[:60], f"a sign says {message.data!r}")


def conflict(message: Conflict) -> Fact:
    """Effort does not turn into progress."""
    return Fact("acc", "conflict", message.objective, message.why, (message.id, *message.because))


class BatteryWatch:
    """Thresholds of the charge, with hysteresis, and whether the charger is on."""

    def __init__(self, tuning: BatteryTuning) -> None:
        self._tuning = tuning
        self.level = 0
        self.plugged: bool | None = None

    def take(self, message: BatteryState) -> Iterator[Fact]:
        """What this reading has to tell."""
        plugged = message.power_supply_status in (_CHARGING, _FULL)
        if self.plugged is not None and plugged != self.plugged:
            word = "plugged" if plugged else "unplugged"
            yield Fact("battery", "power", word, f"the charger was {word}")
        self.plugged = plugged
        charge = message.percentage
        if not math.isfinite(charge):
            return
        tuning = self._tuning
        level = (charge < tuning.low) + (charge < tuning.critical)
        if level < self.level:
            level = (charge < tuning.low + tuning.hysteresis) + (charge < tuning.critical + tuning.hysteresis)
        if level != self.level:
            word = _LEVELS[level]
            yield Fact("battery", "battery", word, f"the battery is {word}")
        self.level = level


class WorldWatch:
    """Reads the lines of a difference of two world states. `spots` is where each object was last told to be."""

    def __init__(self, moved_m: float) -> None:
        self._moved_m = moved_m
        self.spots: dict[str, tuple[float, float]] = {}

    def begin(self, state: WorldState) -> None:
        """Start from this state; what it knows already is no news."""
        self.spots = {thing.name: (thing.position.x, thing.position.y) for thing in state.objects}

    def take(self, lines: Iterable[str], new: WorldState) -> list[Fact]:
        """What the lines of `anima.world.state.diff` that lead to `new` have to tell."""
        lines = list(lines)
        come = [Predicate.parse(line[2:]) for line in lines if line[:2] == "+ " and "." not in line]
        gone = [Predicate.parse(line[2:]) for line in lines if line[:2] == "- " and "." not in line]
        told = {p.args[0] for p in (*come, *gone) if p.name in ("seen", "holding")}
        facts: list[Fact] = []
        for predicate in gone:
            facts += _gone(predicate, new)
        for predicate in come:
            facts += self._come(predicate, told, new)
        told |= {fact.subject for fact in facts}
        for line in lines:
            facts += self._changed(line, told, new)
        for name in told & {thing.name for thing in new.objects}:
            self._stay(name, new)
        return facts

    def _come(self, predicate: Predicate, told: set[str], new: WorldState) -> Iterator[Fact]:
        match predicate.name, predicate.args:
            case "seen", (name,):
                yield Fact("world", "object_seen", name, f"{name} was seen{_where(name, new)}")
            case "holding", (name,):
                yield Fact("world", "grasped", name, f"{name} is in the gripper")
            case "docked", ():
                yield Fact("world", "docked", "dock", "the robot is on the dock")
            case "at", (name, place) if name == ROBOT:
                yield Fact("world", "arrived", place, f"the robot is at {place}")
            case "at", (name, place) if name not in told:
                yield Fact("world", "object_moved", name, f"{name} is now at {place}")

    def _changed(self, line: str, told: set[str], new: WorldState) -> Iterator[Fact]:
        path, _, change = line.partition(": ")
        if path == "localized":
            word = "found" if new.localized else "lost"
            yield Fact("world", "localization", word, f"the robot's own place on the map is {word}")
            return
        keys = path.split(".")
        if len(keys) != 3 or keys[0] != "objects" or keys[2] != "position" or keys[1] in told:
            return
        name = keys[1]
        position = json.loads(change.partition(" -> ")[2])
        spot = self.spots.setdefault(name, (position["x"], position["y"]))
        known = find_object(new, name)
        at_rest = known is not None and known.status == "confirmed" and new.holding != name
        if at_rest and math.dist(spot, (position["x"], position["y"])) >= self._moved_m:
            self._stay(name, new)
            yield Fact("world", "object_moved", name, f"{name} was moved{_where(name, new)}")

    def _stay(self, name: str, new: WorldState) -> None:
        known = find_object(new, name)
        if known is not None:
            self.spots[name] = (known.position.x, known.position.y)


def _gone(predicate: Predicate, new: WorldState) -> Iterator[Fact]:
    match predicate.name, predicate.args:
        case "seen", (name,):
            yield Fact("world", "object_lost", name, f"{name} is no longer{_where(name, new) or ' where it was'}")
        case "holding", (name,):
            yield Fact("world", "released", name, f"{name} left the gripper{_where(name, new)}")
        case "docked", ():
            yield Fact("world", "undocked", "dock", "the robot is off the dock")


def _where(name: str, state: WorldState) -> str:
    known = find_object(state, name)
    return f" at {known.place}" if known is not None and known.place else ""
