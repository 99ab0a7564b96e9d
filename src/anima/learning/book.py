"""What has been learned, in memory: every change of it is a `Change` for the store that names its events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from anima.learning import items as i
from anima.learning.effects import split
from anima.learning.evidence import Evidence, Standing, confidence, standing, strongest
from anima.learning.items import Belief, Fact, Forgotten, Intention, Lesson, Observation, Portrait, Situation, Weighted
from anima.learning.likeness import is_negated, likeness
from anima.learning.tuning import LearningTuning
from anima.memory.rows import Change, Stamp
from anima.memory.store import Store
from anima.world.quotes import is_off_limits

M = TypeVar("M", bound=BaseModel)
WHO = "learner"
ALIKE = 0.6  # from which likeness on two rules, or two beliefs, count as the same
EVIDENCE_KEPT = 200


class Book:
    """Lessons, beliefs, the portrait, intentions and facts as they are now.

    Every method that learns returns the changes to write and takes them in itself. Nothing is learned from an event
    that a forgotten item was learned from, nor about what is off limits (`quotes.is_off_limits`).
    """

    def __init__(self, tuning: LearningTuning) -> None:
        self.tuning = tuning
        self.lessons: dict[str, Lesson] = {}
        self.beliefs: dict[str, Belief] = {}
        self.portrait: Portrait | None = None
        self.intentions: dict[str, Intention] = {}
        self.facts: dict[str, Fact] = {}
        self.forgotten: dict[str, set[str]] = {}

    def read(self, store: Store) -> None:
        """Take over what the store says now, edits of people by other tools included."""
        self.lessons = dict(_read(store, i.LESSON, Lesson))
        self.beliefs = dict(_read(store, i.BELIEF, Belief))
        self.portrait = dict(_read(store, i.PORTRAIT, Portrait)).get(i.SELF)
        self.intentions = dict(_read(store, i.INTENTION, Intention))
        self.facts = dict(_read(store, i.FACT, Fact))
        self.forgotten = {}
        for _, one in _read(store, i.FORGOTTEN, Forgotten):
            self.forgotten.setdefault(one.kind, set()).update(one.events)

    def dump(self) -> dict[str, Any]:
        """All of it, as JSON."""
        kinds: dict[str, Mapping[str, BaseModel]] = {
            "lessons": self.lessons, "beliefs": self.beliefs, "intentions": self.intentions, "facts": self.facts,
        }
        return {
            **{name: {id: one.model_dump(mode="json") for id, one in held.items()} for name, held in kinds.items()},
            "portrait": self.portrait.model_dump(mode="json") if self.portrait is not None else None,
            "forgotten": {kind: sorted(events) for kind, events in self.forgotten.items()},
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Go on from what `dump` said."""
        self.lessons = {id: Lesson.model_validate(one) for id, one in data["lessons"].items()}
        self.beliefs = {id: Belief.model_validate(one) for id, one in data["beliefs"].items()}
        self.intentions = {id: Intention.model_validate(one) for id, one in data["intentions"].items()}
        self.facts = {id: Fact.model_validate(one) for id, one in data["facts"].items()}
        self.portrait = Portrait.model_validate(data["portrait"]) if data["portrait"] is not None else None
        self.forgotten = {kind: set(events) for kind, events in data["forgotten"].items()}

    def may_learn(self, kind: str, event: str) -> bool:
        """Whether this kind of item may still be learned from the event."""
        return event not in self.forgotten.get(kind, ())

    # --- lessons ---------------------------------------------------------------------------------

    def sure(self, item: Lesson | Belief, now_utc_s: float) -> float:
        """How much of a lesson or belief is held to be so, 0..1; a pinned one is certain."""
        return 1.0 if item.pinned else confidence(item.evidence, now_utc_s, self.tuning.confidence)

    def in_force(self, person: str) -> list[tuple[str, Lesson]]:
        """The lessons that reach behaviour with `person`, theirs and everybody's, by their ids' order.

        Of two values of one effect the person's own counts before everybody's.
        """
        guiding = [
            (id, lesson)
            for id, lesson in sorted(self.lessons.items())
            if lesson.person in ("", person) and (lesson.pinned or Standing(lesson.standing).guides)
        ]
        own = {split(lesson.effect)[0] for _, lesson in guiding if lesson.effect and lesson.person}
        return [(id, one) for id, one in guiding if not one.effect or one.person or split(one.effect)[0] not in own]

    def settle(self, stamp: Stamp) -> list[Change]:
        """Weigh all lessons anew: what an encounter begins with, or ends with."""
        changes = []
        for id, lesson in list(self.lessons.items()):
            now = standing(Standing(lesson.standing), self.sure(lesson, stamp.utc_s), self.tuning.confidence)
            if now.value != lesson.standing:
                why = f"confidence is {self.sure(lesson, stamp.utc_s):.2f}: {lesson.standing} became {now.value}"
                changes.append(self._put_lesson(id, lesson.model_copy(update={"standing": now.value}), stamp, why, ()))
        return changes

    def teach_effect(
        self, person: str, effect: str, situation: Situation, evidence: Evidence, stamp: Stamp, rule: str
    ) -> list[Change]:
        """A sign for a value of a closed effect, and so against its other values in the same scope."""
        if not self.may_learn(i.LESSON, evidence.event):
            return []
        name, value = split(effect)
        changes = [
            self._weigh(f"{person}:{name}:{value}"[:200], person, situation, effect, rule, "behavior", evidence, stamp)
        ]
        against = evidence.model_copy(update={"sign": -evidence.sign})
        for id, other in list(self.lessons.items()):
            if other.person == person and other.effect != effect and split(other.effect)[0] == name:
                changes.append(self._add(id, other, against, stamp))
        return changes

    def teach_rule(
        self, person: str, situation: Situation, rule: str, category: str, evidence: Evidence, stamp: Stamp,
        same: str = "", against: Sequence[str] = (),
    ) -> list[Change]:
        """A sign for a rule in words; `same` and `against` are ids of lessons that a judge found alike or opposed.

        Without a judgement, likeness of words decides. Only lessons of the same person and situation are touched.
        """
        if not self.may_learn(i.LESSON, evidence.event) or is_off_limits(rule):
            return []
        scope = {
            id: one
            for id, one in self.lessons.items()
            if one.person == person and one.situation == situation and not one.effect
        }
        opposed = [id for id in against if id in scope]
        if same not in scope:
            same = ""
            alike = sorted(((likeness(rule, one.rule), id) for id, one in scope.items()), reverse=True)
            for degree, id in alike:
                if degree >= ALIKE and id not in opposed:
                    if is_negated(rule, scope[id].rule):
                        opposed.append(id)
                    elif not same:
                        same = id
        changes = [
            self._add(id, scope[id], evidence.model_copy(update={"sign": -evidence.sign}), stamp)
            for id in opposed
            if id != same
        ]
        id = same or self._new_id(f"{person}:{situation or 'any'}:{slug(rule)}", self.lessons)
        return [*changes, self._weigh(id, person, situation, "", rule, category, evidence, stamp)]

    def confirm(self, id: str, evidence: Evidence, stamp: Stamp) -> list[Change]:
        """One more sign for or against a lesson that is there."""
        lesson = self.lessons.get(id)
        if lesson is None or not self.may_learn(i.LESSON, evidence.event):
            return []
        return [self._add(id, lesson, evidence, stamp)]

    def _weigh(
        self,
        id: str,
        person: str,
        situation: Situation,
        effect: str,
        rule: str,
        category: str,
        evidence: Evidence,
        stamp: Stamp,
    ) -> Change:
        known = self.lessons.get(id)
        if known is None:
            known = Lesson.model_validate(
                {"rule": rule[:200], "person": person, "situation": situation, "effect": effect, "category": category}
            )
        return self._add(id, known, evidence, stamp)

    def _add(self, id: str, lesson: Lesson, evidence: Evidence, stamp: Stamp) -> Change:
        kept = lesson.model_copy(update={"evidence": merged(lesson.evidence, evidence)})
        before, after = (self.sure(one, stamp.utc_s) for one in (lesson, kept))
        word = (
            ("told to" if evidence.strength == "told" else "confirmed")
            if evidence.sign > 0
            else ("told otherwise" if evidence.strength == "told" else "contradicted")
        )
        return self._put_lesson(id, kept, stamp, f"{word}: confidence {before:.2f} -> {after:.2f}", (evidence.event,))

    def _put_lesson(self, id: str, lesson: Lesson, stamp: Stamp, why: str, because: tuple[str, ...]) -> Change:
        self.lessons[id] = lesson
        return Change(i.LESSON, id, lesson.model_dump(mode="json"), WHO, why, stamp, because)

    # --- observations ----------------------------------------------------------------------------

    def observe(self, id: str, seen: Observation, because: Iterable[str], stamp: Stamp) -> Change:
        """Write a reaction down."""
        why = f"{seen.person} {seen.kind} ({seen.source}) about: {seen.act[:80]}"
        return Change(i.OBSERVATION, id, seen.model_dump(mode="json"), WHO, why, stamp, tuple(because))

    # --- beliefs and the portrait ----------------------------------------------------------------

    def believe(self, text: str, evidence: Evidence, stamp: Stamp, same: str = "") -> list[Change]:
        """A sign for a belief of the robot about itself; against one that it denies."""
        if not self.may_learn(i.BELIEF, evidence.event) or is_off_limits(text):
            return []
        alike = sorted(((likeness(text, one.text), id) for id, one in self.beliefs.items()), reverse=True)
        degree, nearest = alike[0] if alike else (0.0, "")
        if same not in self.beliefs:
            same = nearest if degree >= ALIKE else ""
        if same and is_negated(text, self.beliefs[same].text):
            evidence = evidence.model_copy(update={"sign": -evidence.sign})
        id = same or self._new_id(slug(text), self.beliefs)
        known = self.beliefs.get(id)
        if known is None:
            try:
                known = Belief(text=text)
            except ValidationError:
                return []  # not a sentence about itself
        kept = known.model_copy(update={"evidence": merged(known.evidence, evidence)})
        before, after = (self.sure(one, stamp.utc_s) for one in (known, kept))
        self.beliefs[id] = kept
        why = f"{'borne out' if evidence.sign > 0 else 'denied'}: weight {before:.2f} -> {after:.2f}"
        return [Change(i.BELIEF, id, kept.model_dump(mode="json"), WHO, why, stamp, (evidence.event,))]

    def weighted(self, now_utc_s: float) -> list[Weighted]:
        """The beliefs by falling weight."""
        found = [
            Weighted(belief=id, text=one.text, weight=self.sure(one, now_utc_s), events=[e.event for e in one.evidence])
            for id, one in self.beliefs.items()
        ]
        return sorted(found, key=lambda w: (-w.weight, w.belief))

    def repaint(self, text: str, encounter: str, because: Iterable[str], stamp: Stamp) -> list[Change]:
        """A new version of the portrait, when words or weights have changed."""
        beliefs = [one.model_copy(update={"weight": round(one.weight, 3)}) for one in self.weighted(stamp.utc_s)]
        known = self.portrait
        if known is not None and (known.text, known.beliefs) == (text, beliefs):
            return []
        self.portrait = Portrait(text=text, beliefs=beliefs, encounter=encounter)
        why = f"revised after encounter {encounter}"
        return [Change(i.PORTRAIT, i.SELF, self.portrait.model_dump(mode="json"), WHO, why, stamp, tuple(because))]

    # --- intentions ------------------------------------------------------------------------------

    def intend(self, id: str, intention: Intention, stamp: Stamp, because: Iterable[str]) -> list[Change]:
        """Keep something for later; the same thing for the same person is not kept twice."""
        because = tuple(because)
        if is_off_limits(intention.do) or any(not self.may_learn(i.INTENTION, event) for event in because):
            return []
        for other in self.intentions.values():
            if (
                other.state == "open"
                and other.person == intention.person
                and likeness(other.do, intention.do) >= 0.9
                and other.due_utc_s == intention.due_utc_s
            ):
                return []
        return [self._put_intention(id, intention, stamp, "promised", because)]

    def due(self, now_utc_s: float, present: dict[str, str]) -> list[tuple[str, Intention]]:
        """What comes up now: what has a time when it has come; the rest at a later encounter with its person.

        `present` is person -> id of the open encounter. What was raised in an encounter is not raised in it again.
        """
        found = []
        for id, one in sorted(self.intentions.items(), key=lambda pair: (pair[1].due_utc_s or 0.0, pair[0])):
            if one.state not in ("open", "raised"):
                continue
            if one.due_utc_s is not None:
                if one.due_utc_s <= now_utc_s and one.state == "open":
                    found.append((id, one))
                continue
            here = present.get(one.person) if one.person else next(iter(present.values()), None)
            if here and here not in (one.made_in, one.raised_in) and now_utc_s >= one.not_before_utc_s:
                found.append((id, one))
        return found

    def mark(
        self, id: str, state: str, stamp: Stamp, why: str, because: Iterable[str] = (), encounter: str = ""
    ) -> list[Change]:
        """An intention was raised, kept or dropped. What is over is archived and does not come up again."""
        one = self.intentions.get(id)
        if one is None:
            return []
        moved = one.model_copy(update={"state": state, "raised_in": encounter or one.raised_in})
        return [self._put_intention(id, moved, stamp, why, tuple(because))]

    def _put_intention(self, id: str, one: Intention, stamp: Stamp, why: str, because: tuple[str, ...]) -> Change:
        over = one.state in ("kept", "dropped")
        if over:
            self.intentions.pop(id, None)
        else:
            self.intentions[id] = one
        return Change(i.INTENTION, id, one.model_dump(mode="json"), WHO, why, stamp, because, over)

    # --- facts -----------------------------------------------------------------------------------

    def note(self, id: str, fact: Fact, stamp: Stamp) -> list[Change]:
        """Keep a fact; what it supersedes is archived. What is known already is not noted again."""
        if not self.may_learn(i.FACT, fact.event) or any(
            likeness(fact.content, known.content) >= 0.99 and not is_negated(fact.content, known.content)
            for known_id, known in self.facts.items()
            if known.person == fact.person and known_id not in fact.supersedes
        ):
            return []
        changes = [
            Change(i.FACT, old, None, WHO, f"superseded by {id}", stamp, (fact.event,), True)
            for old in fact.supersedes
            if self.facts.pop(old, None) is not None
        ]
        self.facts[id] = fact
        why = f"{fact.person} said so" + (f"; it grew out of {', '.join(fact.because)}" if fact.because else "")
        return [*changes, Change(i.FACT, id, fact.model_dump(mode="json"), WHO, why, stamp, (fact.event,))]

    def facts_about(self, person: str) -> list[tuple[str, Fact]]:
        """The facts of a person, core ones first, then by importance and age."""
        own = [(id, one) for id, one in self.facts.items() if one.person == person]
        return sorted(own, key=lambda pair: (not pair[1].core, -pair[1].importance, -pair[1].at_utc_s))

    @staticmethod
    def _new_id(id: str, taken: dict[str, Lesson] | dict[str, Belief]) -> str:
        id = id[:190]
        number = 2
        found = id
        while found in taken:
            found, number = f"{id}-{number}", number + 1
        return found


def merged(evidence: Sequence[Evidence], one: Evidence) -> list[Evidence]:
    """`evidence` with one more. An event that is in it counts once, at the strongest. The oldest fall out."""
    before = next((e for e in evidence if e.event == one.event), None)
    if before is not None and strongest(before, one) is before:
        return list(evidence)
    return [*(e for e in evidence if e.event != one.event), one][-EVIDENCE_KEPT:]


def slug(text: str) -> str:
    """A text as part of an id: lower case, words joined by hyphens, at most 60 characters."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60].rstrip("-") or "it"


def _read(store: Store, kind: str, model: type[M]) -> Iterator[tuple[str, M]]:
    for item in store.all(kind):
        try:
            yield item.id, model.model_validate(item.data)
        except ValidationError:
            continue  # written by another version of the mind; it stays in the store
