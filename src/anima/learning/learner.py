"""The learner: follows encounters, has their exchanges judged in the background, and gives guidance to the next one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from anima import topics as t
from anima.config import Settings
from anima.learning import items
from anima.learning.book import Book
from anima.learning.desk import Desk
from anima.learning.effects import newest, split
from anima.learning.encounters import Encounters
from anima.learning.exchange import Exchange
from anima.learning.guidance import compose, reminder_text
from anima.learning.items import Observation
from anima.learning.reflection import Reflection
from anima.learning.signs import Act, Signs
from anima.learning.tuning import load_learning_tuning
from anima.learning.work import Work
from anima.memory.opening import RunClock, open_store, run_clock
from anima.memory.rows import REAL_CLOCK
from anima.memory.store import Store
from anima.memory.writer import Writer
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Mind
from anima.planner.session import shared_model
from anima.planner.speech import is_composed, is_report
from anima.runtime.component import Inbox
from anima.skills.registry import render
from anima.skills.words import spoken
from anima.topics import Sent
from anima.types.base import Header
from anima.types.learning import Guidance, Reminder
from anima.types.mind import Lease, Speech

_WAITING = 5000
_SITUATIONS = {
    "go_to": "drive", "approach": "drive", "dock": "drive", "undock": "drive", "look_for": "search", "pick": "handle",
    "place": "handle", "hand_over": "handle", "say": "talk",
}


class Learner:
    """Observes how people take what the robot does, and keeps what is to be done differently next time.

    Model turns run in the background of the planner's and never hold up a step. What is learned is written when it is
    learned; it reaches the prefix when the next encounter begins. Without a memory nothing is learned.
    """

    def __init__(self, settings: Settings, model: Mind | None = None) -> None:
        """Raises `StoreUnusable` when the settings name a store that can't be opened."""
        tuning = load_learning_tuning()
        self._tuning = tuning
        self._encounters = Encounters(tuning.encounter)
        self._signs = Signs(tuning.reactions)
        self._store: Store | None = open_store(settings)
        self._writer: Writer | None = None
        self._active = self._store is not None
        clock = RunClock(REAL_CLOCK, 0.0)
        book = Book(tuning)
        if self._store is not None:
            clock = run_clock(settings, self._store)
            book.read(self._store)
            self._writer = Writer(self._store, _WAITING)
        # The person's zone is the machine's; it is asked once, so that a step depends on nothing but its inputs.
        zone = dt.datetime.fromtimestamp(0).astimezone().tzinfo or dt.timezone.utc
        self._desk = Desk(
            book, Work(model or shared_model(settings.llm)), clock, settings.learn, known_names(settings),
            settings.robot, zone,
        )
        self._exchange = Exchange(self._desk)
        self._reflection = Reflection(self._desk)
        self._guidance: Guidance | None = None
        self._effects: dict[str, dict[str, str]] = {}
        self._leases: dict[str, Lease] = {}
        self._raised: dict[str, tuple[str, str]] = {}
        self._raised_at = float("-inf")
        self._speaker = ""
        self._errands: frozenset[str] = frozenset()  # utterances that an errand came of: what answers them reports
        self._docked_at = float("-inf")
        self._left_over = True
        for item in self._store.all(items.OBSERVATION) if self._store is not None else ():
            seen = Observation.model_validate(item.data)
            self._desk.observed.setdefault(seen.encounter, []).append((item.id, seen))

    # --- the step --------------------------------------------------------------------------------

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Take in what came, poll the question that is with the model, say what has come up."""
        if not self._active:
            return []
        if self._left_over:
            self._left_over = False
            self._guide(now, "", anew=True)
        self._follow(now, inbox)
        for speech in (*inbox.new(t.SPEECH), *inbox.new(t.REPLY)):
            self._spoke(now, speech)
        for utterance in inbox.new(t.UTTERANCE):
            if utterance.text.strip():
                self._meet(now, utterance.speaker, utterance.id)
                self._signs.answered()
                wish = self._exchange.heard(now, utterance, self._encounter(utterance.speaker))
                if wish is not None:
                    self._obey(now, utterance.speaker, wish.effect)
                self._encounters.said(utterance.speaker, utterance.text)
        self._watch(now, inbox)
        self._end(now, inbox)
        self._look_back(now)
        self._bring_up(now)
        sent = self._desk.work.poll(now)
        sent += self._desk.sent
        self._desk.sent = []
        if self._desk.changes and self._writer is not None:
            self._writer.submit(self._desk.changes)
        self._desk.changes = []
        return sent

    def why(self) -> str:
        """One sentence: with whom it is, what it holds, what it asks."""
        if not self._active:
            return "It learns nothing: memory_url is none."
        book = self._desk.book
        held = sum(1 for one in book.lessons.values() if one.standing in ("established", "habit") or one.pinned)
        asks = len(self._desk.work.waiting)
        faults = "; ".join(f"{role}: {fault}" for role, fault in self._desk.work.faults.items())
        together = ", ".join(sorted(self._encounters.open)) or "nobody"
        lost = (
            f" {self._writer.lost} changes could not be kept." if self._writer is not None and self._writer.lost else ""
        )
        return (
            f"It is with {together}; {held} of {len(book.lessons)} lessons guide, {len(book.intentions)} intentions "
            f"are open, {asks} questions wait.{lost}{' Not judged: ' + faults if faults else ''}"
        )

    def close(self) -> None:
        """Write what waits and let go of the database."""
        if self._writer is not None:
            self._writer.close()

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all is on the disk; False when it is not within the time."""
        return self._writer is None or self._writer.flush(timeout_s)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being judged, written or reflected on, nor waits for that."""
        return self._desk.work.is_idle and not self._reflection.open and not self._passed()

    @property
    def book(self) -> Book:
        """What has been learned."""
        return self._desk.book

    # --- encounters ------------------------------------------------------------------------------

    def _encounter(self, person: str) -> str:
        known = self._encounters.open.get(person)
        return known.id if known is not None else ""

    def _meet(self, now: float, person: str, event: str) -> None:
        """Somebody is there: the first word of an encounter settles what guides in it."""
        id = f"e-{self._desk.clock.id}-{event or f'{now:.3f}'}"
        begun = self._encounters.meet(now, person, id)
        if begun is not None:
            if self._store is not None:
                self._store_again(now)
            self._desk.write(*self._desk.book.settle(self._desk.stamp(now)))
            self._effects.pop(person, None)
        if begun is not None or person != self._speaker:
            self._speaker = person
            self._guide(now, person, anew=begun is not None)

    def _store_again(self, now: float) -> None:
        """People may have edited what was learned with other tools; what we have not written yet goes first."""
        if self._writer is None or self._store is None or not self._desk.work.is_idle or self._desk.changes:
            return
        if self._writer.flush(0.0):
            self._desk.book.read(self._store)

    def _guide(self, now: float, person: str, anew: bool) -> None:
        """Say what guides with `person`: composed anew when the encounter begins, the same words until it ends."""
        encounter = self._encounter(person)
        known = self._guidance
        if not anew and known is not None and known.encounter == encounter:
            return
        utc_s = self._desk.stamp(now).utc_s
        self._guidance = compose(now, utc_s, encounter, person, self._desk.book, self._desk.switches)
        self._publish(now)

    def _obey(self, now: float, person: str, effect: str) -> None:
        """A wish that a mechanism can follow is followed at once; the words of the prefix stay as they are."""
        name, value = split(effect)
        self._effects.setdefault(person, {})[name] = value
        self._publish(now)

    def _publish(self, now: float) -> None:
        guidance = self._guidance
        if guidance is None:
            return
        told = newest([f"{name}={value}" for name, value in self._effects.get(guidance.person, {}).items()])
        change: dict[str, Any] = {name: value for name, value in told.items() if name != "search_order"}
        if "search_order" in told:
            change["search_order"] = told["search_order"].split(",")
        self._desk.sent.append(t.GUIDANCE.of(guidance.model_copy(update={"header": Header.at(now), **change})))

    def _end(self, now: float, inbox: Inbox) -> None:
        world, backlog = inbox.last(t.WORLD_STATE), inbox.last(t.BACKLOG)
        rests = world is not None and world.docked and not self._leases and (backlog is None or not backlog.focus)
        ended = self._encounters.end(now, self._docked_at if rests else float("-inf"))
        for request in inbox.new(t.ENCOUNTER_END):
            ended += self._encounters.end(now, float("-inf"), request.person, request.why or "somebody said so")
        for one in ended:
            if self._guidance is not None and self._guidance.encounter == one.encounter.id:
                self._speaker = ""

    def _passed(self) -> list[str]:
        """Encounters that are over and not reflected on yet; those from before a restart, too."""
        still = {one.id for one in self._encounters.open.values()}
        return [encounter for encounter in self._desk.observed if encounter not in still]

    def _look_back(self, now: float) -> None:
        """Reflect once nothing of what was said is being judged any more: the last words count as the first ones do."""
        if self._desk.work.is_idle:
            for encounter in self._passed():
                self._reflection.look_back(now, encounter)

    # --- what the robot does ---------------------------------------------------------------------

    def _follow(self, now: float, inbox: Inbox) -> None:
        """Know what the robot is doing: people react to that as well as to words."""
        for backlog in inbox.new(t.BACKLOG):
            self._errands = frozenset(o.source for o in backlog.objectives if o.source)
        for lease in inbox.new(t.LEASE):
            if lease.granted:
                self._leases[lease.id] = lease
                situation = _SITUATIONS.get(lease.call.skill, "rest")
                words = render(lease.call.skill, lease.call.arguments)
                text = f"[{spoken(words).replace('(', ' ').replace(')', '').replace(',', ' to')}]"
                self._exchange.doing = Act(lease.call.id, text, situation, now)
            else:
                self._leases.pop(lease.id, None)
        for outcome in inbox.new(t.OUTCOME):
            self._leases.pop(outcome.lease, None)
            if outcome.call.skill == "dock" and outcome.success:
                self._docked_at = now

    def _spoke(self, now: float, speech: Speech) -> None:
        """The robot said something."""
        situation = "report" if is_report(speech.text) or speech.cause in self._errands else "talk"
        id = self._desk.event(f"say@{now:.3f}")
        act = Act(id, speech.text, situation, now, speech.text.rstrip().endswith("?"))
        self._exchange.spoken = act
        if act.question:
            self._signs.asked(act)
        raised = self._raised.pop(speech.cause, None)
        if raised is not None:
            self._said_it(now, speech.cause, *raised)
        elif self._speaker and self._desk.switches.intentions and not is_composed(speech.text):
            encounter = self._encounter(self._speaker)
            self._exchange.promised(now, id, speech.text, encounter, self._speaker)
            self._exchange.fulfilled(now, id, speech.text, self._speaker)

    def _watch(self, now: float, inbox: Inbox) -> None:
        """Deeds of people, laid to whoever spoke last."""
        drives = any("base" in lease.resources for lease in self._leases.values())
        for sign in self._signs.step(now, inbox, self._exchange.doing or self._exchange.spoken, drives):
            person = self._speaker or "person"
            if not self._encounter(person):
                self._meet(now, person, sign.act.id)
            self._exchange.did(now, sign, self._encounter(person), person)

    # --- intentions ------------------------------------------------------------------------------

    def _bring_up(self, now: float) -> None:
        """Say what is due: at its time, or once its person is there again."""
        tuning = self._tuning.intentions
        if not self._desk.switches.intentions or 0 <= now - self._raised_at < tuning.raise_every_s:
            return
        present = {person: one.id for person, one in self._encounters.open.items()}
        for id, one in self._desk.book.due(self._desk.stamp(now).utc_s, present):
            if id in self._raised:
                continue
            why = "its time has come" if one.due_utc_s is not None else f"{one.person or 'somebody'} is there again"
            self._raised[id] = (one.do, present.get(one.person, ""))
            self._raised_at = now
            reminder = Reminder(header=Header.at(now), id=id, person=one.person, text=reminder_text(one.do), why=why)
            self._desk.sent.append(t.REMINDER.of(reminder))
            return

    def _said_it(self, now: float, id: str, do: str, encounter: str) -> None:
        """It was brought up. To ask, tell or remind is done by that; anything else stays open until it is done."""
        spoken_of = do.split(" ", 1)[0] in ("ask", "tell", "remind", "wish", "congratulate", "mention", "bring")
        state, why = ("kept", "it was said") if spoken_of else ("raised", "it was brought up")
        stamp = self._desk.stamp(now)
        self._desk.write(*self._desk.book.mark(id, state, stamp, why, (self._desk.event(f"say@{now:.3f}"),), encounter))

    # --- state -----------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """The state at the beginning of a record, as JSON; questions that are with the model are not in it."""
        book = self._desk.book
        return {
            "active": self._active,
            "left_over": self._left_over,
            "clock": {"id": self._desk.clock.id, "epoch_utc_s": self._desk.clock.epoch_utc_s},
            "encounters": self._encounters.dump(),
            "signs": self._signs.dump(),
            "book": book.dump(),
            "guidance": self._guidance.model_dump(mode="json") if self._guidance is not None else None,
            "effects": self._effects,
            "speaker": self._speaker,
            "errands": sorted(self._errands),
            "raised": self._raised,
            "observed": {
                encounter: [(id, one.model_dump(mode="json")) for id, one in seen]
                for encounter, seen in self._desk.observed.items()
            },
            "exchange": self._exchange.dump(),
        }

    @classmethod
    def load(cls, settings: Settings, data: Mapping[str, Any], model: Mind | None = None) -> Learner:
        """One that goes on from what `dump` said. It writes nothing: what it learns was written when it was lived."""
        learner = cls(settings.model_copy(update={"memory_url": "none"}), model)
        learner._active, learner._left_over = bool(data["active"]), bool(data["left_over"])
        learner._desk.clock = RunClock(**data["clock"])
        learner._desk.book.load(data["book"])
        learner._desk.observed = {
            encounter: [(id, Observation.model_validate(one)) for id, one in seen]
            for encounter, seen in data["observed"].items()
        }
        learner._encounters.load(data["encounters"])
        learner._signs.load(data["signs"])
        learner._exchange.load(data["exchange"])
        known = data["guidance"]
        learner._guidance = Guidance.model_validate(known) if known is not None else None
        learner._effects = {person: dict(told) for person, told in data["effects"].items()}
        learner._speaker = str(data["speaker"])
        learner._errands = frozenset(data["errands"])
        learner._raised = {id: (do, encounter) for id, (do, encounter) in data["raised"].items()}
        return learner
