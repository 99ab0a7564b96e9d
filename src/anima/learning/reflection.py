"""Reflection at the end of an encounter: observations become lessons, beliefs, and a new version of the portrait."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from anima.learning import items, texts
from anima.learning.desk import Desk
from anima.learning.effects import split
from anima.learning.evidence import Evidence
from anima.learning.guidance import portrait_text
from anima.learning.items import Lesson, Observation
from anima.learning.likeness import likeness
from anima.memory.rows import Change
from anima.planner.judge import Judgement

_COMPARED_FROM = 0.15  # a lesson that shares less with the new rule is not asked about
_COMPARED = 3
_ACTED = {
    "praise": "The person praised it",
    "engagement": "The person picked it up",
    "correction": "The person corrected me",
    "frustration": "The person was annoyed",
    "disengagement": "The person showed no interest",
}
_OF_PEOPLE = re.compile(
    r"\bI (?:have|own|live|moved|married|work(?:ed)? (?:as|at|in|for)|am called|was born|study|eat|drink|slept|sleep)\b"
    r"|\bmy (?:own )?(?:mother|father|mum|mom|dad|son|daughter|sister|brother|wife|husband|cat|dog|house|flat|"
    r"job|child|friend)\b"
    r"|\byou(?:r|rs)?\b",
    re.IGNORECASE,
)


@dataclass
class Reflection:
    """Looks back at encounters, one after the other, in background turns. An encounter is done when its portrait is."""

    desk: Desk
    open: dict[str, int] = field(default_factory=dict)

    def look_back(self, now: float, encounter: str) -> None:
        """Begin to reflect on what was observed in an encounter that is over."""
        seen = self.desk.observed.get(encounter, [])
        if not seen or encounter in self.open:
            return
        self.open[encounter] = 1
        for id, one in seen:
            if self.desk.switches.lessons:
                self._learn(now, encounter, id, one)
            if self.desk.switches.selfmodel and one.kind in _ACTED and one.act:
                self._believe(now, encounter, id, one)
        self._done(now, encounter)

    # --- lessons ---------------------------------------------------------------------------------

    def _learn(self, now: float, encounter: str, id: str, seen: Observation) -> None:
        if seen.kind == "praise":
            stamp = self.desk.stamp(now)
            for lesson_id, lesson in self.desk.book.in_force(seen.person):
                if lesson.situation in ("", seen.situation) and split(lesson.effect)[0] != "address":
                    self.desk.write(*self.desk.book.confirm(lesson_id, self._evidence(id, seen, "shown"), stamp))
            return
        if seen.effect or not seen.hint:
            return  # a closed effect was learned when it was heard
        rivals = self._rivals(seen)
        against: list[str] = []
        same: list[str] = []
        self.open[encounter] += 1

        def learn(then: float) -> None:
            strength = "told" if seen.explicit else "shown"
            changes = self.desk.book.teach_rule(
                seen.person,
                seen.situation,
                seen.hint,
                seen.category,
                self._evidence(id, seen, strength),
                self.desk.stamp(then),
                same=next(iter(same), ""),
                against=against,
            )
            self.desk.write(*changes)
            self._done(then, encounter)

        left = 0

        def judged(then: float, answer: Judgement, rival: str) -> None:
            nonlocal left
            left -= 1
            if answer.is_sure and answer.label in ("contradicts", "same"):
                (against if answer.label == "contradicts" else same).append(rival)
            if left == 0:
                learn(then)

        for rival, lesson in rivals:
            slots = {"first": lesson.rule, "second": seen.hint}
            left += self.desk.work.judge(now, "contradicts", slots, id, lambda t, a, r=rival: judged(t, a, r))  # type: ignore[misc]
        if left == 0:
            learn(now)

    def _rivals(self, seen: Observation) -> list[tuple[str, Lesson]]:
        """The lessons of the same scope that speak of the same matter."""
        found = [
            (likeness(seen.hint, one.rule), id, one)
            for id, one in self.desk.book.lessons.items()
            if one.person == seen.person and one.situation == seen.situation and not one.effect
        ]
        found.sort(key=lambda item: (-item[0], item[1]))
        return [(id, one) for degree, id, one in found[:_COMPARED] if degree >= _COMPARED_FROM]

    # --- beliefs and the portrait ----------------------------------------------------------------

    def _believe(self, now: float, encounter: str, id: str, seen: Observation) -> None:
        said = f": {seen.said}" if seen.said else f" ({seen.what})" if seen.what else ""
        question = f"{texts.line('Robot', seen.act)}\n{texts.line(_ACTED[seen.kind], said.lstrip(': '))}"
        self.open[encounter] += 1

        def wrote(then: float, text: str) -> None:
            if text and not is_of_people(text, seen, self.desk.name_of(seen.person)):
                strength = "said" if seen.explicit else "shown"
                stamp = self.desk.stamp(then)
                self.desk.write(*self.desk.book.believe(text, self._evidence(id, seen, strength), stamp))
            self._done(then, encounter)

        self.desk.work.write(now, texts.request("belief", question), id, wrote)

    def _done(self, now: float, encounter: str) -> None:
        self.open[encounter] -= 1
        if self.open[encounter] > 0:
            return
        if not self.desk.switches.selfmodel:
            self._finish(now, encounter)
            return
        beliefs = self.desk.book.weighted(self.desk.stamp(now).utc_s)
        shown = self.desk.book.tuning.guidance
        strong = [one for one in beliefs if one.weight >= shown.belief_shown_from][: shown.beliefs_shown]
        if not strong:
            self._paint(now, encounter, "")
            return
        question = "\n".join(f"{one.weight:.1f} {one.text}" for one in strong)
        self.desk.work.write(
            now, texts.request("portrait", question), encounter, lambda then, text: self._paint(then, encounter, text)
        )

    def _paint(self, now: float, encounter: str, text: str) -> None:
        """The model's words stand when they say nothing that the beliefs don't; else the beliefs speak themselves."""
        stamp, book = self.desk.stamp(now), self.desk.book
        fallback = portrait_text(book, stamp.utc_s, self.desk.robot)
        people = {one.person for _, one in self.desk.observed.get(encounter, [])}
        names = {word.lower() for person in people for word in (person, self.desk.name_of(person))} - {
            "person",
            "the person",
        }
        if not text or not is_grounded(text, [one.text for one in book.weighted(stamp.utc_s)], names):
            text = fallback
        elif not text.startswith("I'm "):
            text = f"I'm {self.desk.robot.title()}. {text}"
        because = [id for id, _ in self.desk.observed.get(encounter, [])]
        self.desk.write(*book.repaint(text, encounter, because, stamp))
        self._finish(now, encounter)

    def _finish(self, now: float, encounter: str) -> None:
        """What was reflected on is put away."""
        del self.open[encounter]
        stamp = self.desk.stamp(now)
        for id, _ in self.desk.observed.pop(encounter, []):
            why = f"reflected on after encounter {encounter}"
            self.desk.write(Change(items.OBSERVATION, id, None, "learner", why, stamp, archived=True))

    def _evidence(self, id: str, seen: Observation, strength: str) -> Evidence:
        sign = -1 if seen.kind == "disengagement" and not seen.hint else 1
        return Evidence.model_validate({"event": id, "at_utc_s": seen.at_utc_s, "strength": strength, "sign": sign})


def is_of_people(text: str, seen: Observation, name: str) -> bool:
    """Whether a would-be belief is about the person instead of the robot: their name, their "I", what they own."""
    if _OF_PEOPLE.search(text):
        return True
    if name.lower() not in ("the person", "") and re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
        return True
    of_themselves = re.search(r"\b(?:I|I'm|my|me)\b", seen.said, re.IGNORECASE) is not None
    return of_themselves and likeness(text, seen.said) >= 0.75


def is_grounded(text: str, beliefs: Iterable[str], names: Iterable[str]) -> bool:
    """Whether each sentence of a portrait rests on a belief and none names a person."""
    if any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in names if name):
        return False
    known = list(beliefs)
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if s]
    return bool(sentences) and all(any(likeness(s, one) >= 0.5 for one in known) for s in sentences)
