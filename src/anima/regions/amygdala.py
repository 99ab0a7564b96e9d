"""Amygdala: how much an event matters now, and whether it breaks off a thought or a deed."""

from __future__ import annotations

from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.regions.salience.config import Interrupt, KindRule, load_salience
from anima.regions.salience.situation import Situation
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Event, Salient
from anima.types.mind import SkillCall
from anima.world.predicates import is_seen

_REPEATS_FELT = 5
_NEWS_S = 2.0  # a sight is news for so long
NEUTRAL = 0.5


class Amygdala:
    """Urgency is what the kind of event weighs by itself, and what the situation adds; threats weigh by temperament.

    An interrupt of execution takes back the running lease, one of deliberation makes the planner think anew. `step` is
    pure in (state, now, inbox).
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `ConfigError` when `config/salience.yaml` can't be used."""
        del settings
        self._tuning = load_salience()
        self._situation = Situation(self._tuning.repeat_window_s)
        self._caution = NEUTRAL
        self._drive = 0.0
        self._docked = False
        self._sought = ""  # the object of the condition in focus while nobody knows where it is
        self._found = ("", 0.0)  # what was sought last, and when it was seen: its event may come later than its sight
        self._last: Salient | None = None

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in the situation, then weigh each event."""
        situation = self._situation
        temperament, resources = inbox.last(t.TEMPERAMENT), inbox.last(t.RESOURCES)
        if temperament is not None:
            self._caution = temperament.caution
        if resources is not None:
            self._drive = resources.charge_drive
        backlogs = inbox.new(t.BACKLOG)
        for backlog in backlogs:
            situation.take_backlog(backlog)
        situation.take_leases(inbox.new(t.LEASE))
        situation.take_outcomes(inbox.new(t.OUTCOME))
        salients = [self._weigh(now, event) for event in inbox.new(t.EVENTS)]
        if backlogs or len(inbox.new(t.WORLD_STATE)):
            self._look(now, inbox)  # after the events: they were made from the state before
        if salients:
            self._last = salients[-1]
        return [t.SALIENCE.of(salient) for salient in salients]

    def _look(self, now: float, inbox: Inbox) -> None:
        world, focus = inbox.last(t.WORLD_STATE), self._situation.focus
        if world is None:
            return
        self._docked = world.docked
        thing = "" if focus is None else focus.condition.partition("(")[2].partition(",")[0].rstrip(")")
        if self._sought and is_seen(world, self._sought):
            self._found = (self._sought, now)
        self._sought = thing if "_" in thing and not is_seen(world, thing) else ""

    def _is_sought(self, now: float, name: str) -> bool:
        thing, at = self._found
        return name == self._sought or (name == thing and 0 <= now - at <= _NEWS_S)

    def _weigh(self, now: float, event: Event) -> Salient:
        tuning, situation = self._tuning, self._situation
        rule = tuning.rule(event.kind, event.subject)
        running = situation.running(now)
        count = situation.count(now, event)
        urgency, reasons = rule.urgency, [rule.why]
        for gain, reason in self._context(now, event, rule, running):
            urgency += gain
            reasons.append(reason)
        if count > 1 and rule.may != "none":
            urgency += tuning.repeat_gain * min(count - 1, _REPEATS_FELT)
            reasons.append(f"it came {count} times in a short while")
        if rule.threat and self._caution != NEUTRAL:
            urgency *= 1.0 + tuning.caution_gain * (self._caution - NEUTRAL) * 2.0
            reasons.append("a cautious robot minds" if self._caution > NEUTRAL else "a bold robot minds little")
        urgency = min(1.0, max(0.0, urgency))
        interrupts = self._interrupt(rule, urgency, count, running)
        return Salient(
            header=Header.at(now), event=event, urgency=urgency, why=f"{', '.join(reasons)}.", interrupts=interrupts
        )

    def _context(
        self, now: float, event: Event, rule: KindRule, running: list[SkillCall]
    ) -> list[tuple[float, str]]:
        """What the moment adds: how much, and the reason."""
        tuning, situation = self._tuning, self._situation
        found: list[tuple[float, str]] = []
        if event.kind == "utterance":
            if situation.gave_the_focus(event):
                found.append((tuning.giver_gain, f"{event.subject} gave the order that is worked on"))
            situation.note_speaker(event)
        elif situation.concerns_focus(event):
            found.append((tuning.focus_gain, "the objective in focus is about it"))
        if event.kind == "object_seen" and self._is_sought(now, event.subject):
            found.append((tuning.searched_gain, "it is what was looked for"))
        if event.kind == "released" and not situation.serves_to_release(now, event.subject):
            found.append((tuning.dropped_gain, "nothing that runs meant to let go of it"))
        if rule.threat and running:
            found.append((tuning.moving_gain, "the body is moving"))
        if rule.energy and self._drive > 0.0:
            found.append((tuning.drive_gain * self._drive, "the robot needs to charge"))
        return found

    def _interrupt(self, rule: KindRule, urgency: float, count: int, running: list[SkillCall]) -> Interrupt:
        tuning = self._tuning
        docking = self._docked or any(call.skill == "dock" for call in running)
        if rule.energy and docking:
            return "none"
        if rule.may == "execution" and running and count >= rule.after and urgency >= tuning.execution_from:
            return "execution"
        if rule.may != "none" and urgency >= tuning.deliberation_from:
            return "deliberation"
        return "none"

    def why(self) -> str:
        """One sentence: what mattered last, how much, and why."""
        last = self._last
        if last is None:
            return "Nothing has happened that could matter."
        cut = "" if last.interrupts == "none" else f", interrupts {last.interrupts}"
        return f"{last.event.text}: urgency {last.urgency:.2f}{cut}, because {last.why}"

    def dump(self) -> dict[str, Any]:
        """The whole state, as JSON."""
        return {
            "situation": self._situation.dump(),
            "caution": self._caution,
            "drive": self._drive,
            "docked": self._docked,
            "sought": self._sought,
            "found": list(self._found),
            "last": None if self._last is None else self._last.model_dump(mode="json"),
        }

    @classmethod
    def load(cls, settings: Settings, data: dict[str, Any]) -> Amygdala:
        """One that goes on from a dumped state."""
        out = cls(settings)
        out._situation.load(data["situation"])
        out._caution, out._drive = data["caution"], data["drive"]
        out._docked, out._sought = data["docked"], data["sought"]
        out._found = (data["found"][0], data["found"][1])
        out._last = None if data["last"] is None else Salient.model_validate(data["last"])
        return out
