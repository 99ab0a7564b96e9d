"""Self-observation: after every exchange and every deed of a person: how they took it, what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from anima import topics as t
from anima.learning import effects, items, later, texts
from anima.learning.desk import Desk, is_yes, may_be
from anima.learning.effects import Asked
from anima.learning.evidence import Evidence
from anima.learning.items import Intention, Observation
from anima.learning.memories import remember
from anima.learning.signs import SIGNAL, Act, Sign
from anima.planner.judge import Judgement
from anima.types.base import Header
from anima.types.learning import Reaction, Reminder
from anima.types.mind import Utterance
from anima.world.quotes import LEFT_OUT, is_off_limits, own_words

HEARD_FOR_S = 300.0  # words that come later are no reaction to what was said before
_DRY = frozenset({"yes", "yes please", "yeah", "yep", "sure", "please do", "do that", "ok", "okay", "right", "exactly"})
_WISHES = {"shorter": "report_length=short", "longer": "report_length=full"}


@dataclass
class Said:
    """One utterance on its way through the judgements."""

    event: str
    encounter: str
    person: str
    own: str
    act: Act | None
    at: float
    explicit: Judgement | None = None
    wish: str = ""
    told: bool = False
    because: tuple[str, ...] = ()


@dataclass
class Exchange:
    """Follows what is said and done between the robot and people."""

    desk: Desk
    doing: Act | None = None
    spoken: Act | None = None
    doubt: Said | None = None
    asked_in: set[str] = field(default_factory=set)

    def about(self, now: float) -> Act | None:
        """The last thing of the robot that words now can be about."""
        recent = [act for act in (self.doing, self.spoken) if act is not None and 0 <= now - act.at <= HEARD_FOR_S]
        return max(recent, key=lambda act: act.at, default=None)

    # --- a person's words ------------------------------------------------------------------------

    def heard(self, now: float, utterance: Utterance, encounter: str) -> Asked | None:
        """Take an utterance in; returns the closed effect that it asks for, if any."""
        desk = self.desk
        own = own_words(utterance.text)
        if not own.strip(" …") or is_off_limits(own):
            return None  # nothing but somebody else's words, or nothing that may be learned
        event = desk.event(utterance.id or f"utterance@{now:.3f}")
        said = Said(event, encounter, utterance.speaker, own, self.about(now), now, because=(event,))
        if self._answers_doubt(now, said):
            return None
        quotes = LEFT_OUT in own  # what is left of a quotation is an introduction to it, and judged as a rule it isn't
        wish = effects.asked(own, desk.names) if desk.switches.lessons else None
        if wish is not None:
            self._wished(now, said, wish)
        elif not quotes and (desk.switches.lessons or desk.switches.selfmodel):
            self._judge_reaction(now, said)
        kept = False
        if desk.switches.intentions:
            kept = self._wanted_later(now, said)
        if desk.switches.facts and wish is None and not kept and not quotes:
            remember(desk, now, said.event, said.person, own, said.act.text if said.act is not None else "")
        return wish

    def _wished(self, now: float, said: Said, wish: Asked) -> None:
        """The words ask for something that a mechanism can obey."""
        seen = self._observation(said, "words", "correction", 1.0).model_copy(
            update={
                "explicit": wish.explicit, "effect": wish.effect, "hint": effects.rule(wish.effect),
                "situation": wish.situation, "category": "style" if wish.name != effects.SEARCH_ORDER else "behavior",
                "what": wish.name.replace("_", " "),
            }
        )
        self.keep(now, f"r-{said.event}", seen, said.because)
        self._teach_effect(now, said, wish.effect, wish.situation, wish.strength)

    def _teach_effect(self, now: float, said: Said, effect: str, situation: str, strength: str) -> None:
        stamp = self.desk.stamp(now)
        evidence = Evidence.model_validate({"event": said.event, "at_utc_s": stamp.utc_s, "strength": strength})
        book = self.desk.book
        self.desk.write(
            *book.teach_effect(said.person, effect, situation, evidence, stamp, effects.rule(effect))  # type: ignore[arg-type]
        )

    def _judge_reaction(self, now: float, said: Said) -> None:
        """Ask how the person took it, and whether they say how the robot shall act."""
        work, act = self.desk.work, said.act
        if effects.is_thanks(said.own) and act is not None:
            self.keep(now, f"r-{said.event}", self._observation(said, "words", "praise", 1.0), said.because)
            return
        slots = {"robot": act.text if act is not None else "", "person": said.own}

        def explicit(_: float, judged: Judgement) -> None:
            said.explicit = judged

        def wished(_: float, judged: Judgement) -> None:
            said.wish = _WISHES.get(judged.label, "") if judged.is_sure else ""

        if act is not None and act.situation == "report" and self.desk.switches.lessons:
            work.judge(now, "report_wish", slots, said.event, wished)
        work.judge(now, "explicit", slots, said.event, explicit)
        work.judge(now, "reaction", slots, said.event, lambda then, judged: self._reacted(then, said, judged))

    def _reacted(self, now: float, said: Said, judged: Judgement) -> None:
        told = said.explicit is not None and is_yes(said.explicit)
        kind = judged.label
        if said.act is None and not told:
            return
        if told and kind in ("neutral", "unsure", "engagement"):
            kind = "correction"
        if said.wish:
            strength = "told" if told else "said"
            seen = self._observation(said, "words", "correction" if kind in ("neutral", "unsure") else kind, judged.p)
            change = {
                "explicit": told,
                "effect": said.wish,
                "hint": effects.rule(said.wish),
                "situation": "report",
                "category": "style",
            }
            self.keep(now, f"r-{said.event}", seen.model_copy(update=change), said.because)
            self._teach_effect(now, said, said.wish, "report", strength)
            return
        seen = self._observation(said, "words", kind, judged.p).model_copy(update={"explicit": told})
        if kind in ("neutral", "unsure"):
            self._tell(now, f"r-{said.event}", seen, said.because)
            if kind == "unsure" and said.explicit is not None and may_be(said.explicit):
                self._ask(now, said)
            return
        self.keep(now, f"r-{said.event}", seen, said.because)
        if told or kind in ("correction", "frustration"):
            self._write_hint(now, said, f"r-{said.event}")

    def _write_hint(self, now: float, said: Said, id: str) -> None:
        act = said.act.text if said.act is not None else ""
        question = f"{texts.line('Robot', act)}\n{texts.line('Person', said.own)}"

        def wrote(then: float, text: str) -> None:
            if not text or is_off_limits(text):
                return
            for number, (seen_id, seen) in enumerate(self.desk.observed.get(said.encounter, [])):
                if seen_id == id:
                    richer = seen.model_copy(update={"hint": text})
                    self.desk.observed[said.encounter][number] = (id, richer)
                    self.desk.write(self.desk.book.observe(id, richer, said.because, self.desk.stamp(then)))
                    self._tell(then, id, richer, said.because)

        self.desk.work.write(now, texts.request("hint", question), said.event, wrote)

    # --- in doubt, ask ---------------------------------------------------------------------------

    def _ask(self, now: float, said: Said) -> None:
        """Once in an encounter, ask whether something was meant for the future."""
        if said.encounter in self.asked_in:
            return
        self.asked_in.add(said.encounter)
        self.doubt = said
        reminder = Reminder(
            header=Header.at(now), id=f"q-{said.event}", person=said.person,
            text="Shall I remember that for next time?", why="it is not clear whether this was meant for the future",
        )
        self.desk.sent.append(t.REMINDER.of(reminder))

    def _answers_doubt(self, now: float, said: Said) -> bool:
        doubt, self.doubt = self.doubt, None
        if doubt is None or doubt.person != said.person or said.own.lower().strip(" .!") not in _DRY:
            return False
        seen = self._observation(doubt, "words", "correction", 1.0).model_copy(update={"explicit": True})
        doubt.because = (doubt.event, said.event)
        self.keep(now, f"r-{doubt.event}", seen, doubt.because)
        self._write_hint(now, doubt, f"r-{doubt.event}")
        return True

    # --- deeds -----------------------------------------------------------------------------------

    def did(self, now: float, sign: Sign, encounter: str, person: str) -> None:
        """A person did something instead of speaking: a sign, never more."""
        event = self.desk.event(f"{sign.source}@{sign.at:.3f}")
        said = Said(event, encounter, person, "", sign.act, sign.at, because=(event, sign.act.id))
        seen = self._observation(said, sign.source, sign.kind, 1.0).model_copy(update={"what": sign.detail})
        stopped_driving = sign.source in ("stop", "teleop", "push") and sign.act.situation == "drive"
        if stopped_driving and self.desk.switches.lessons:
            effect = "speed_near_people=slow"
            seen = seen.model_copy(update={"effect": effect, "hint": effects.rule(effect)})
            self._teach_effect(now, said, effect, "drive", "shown")
        self.keep(now, f"r-{event}", seen, said.because)

    # --- the robot's words -----------------------------------------------------------------------

    def promised(self, now: float, id: str, text: str, encounter: str, person: str) -> None:
        """What the robot has just promised for later, if it did."""
        if is_off_limits(text):
            return
        found = later.promised(text, self.desk.stamp(now).utc_s, self.desk.zone)
        if found is not None:
            self._intend(now, f"i-{id}", found, encounter, person, text, (id,))
            return

        def judged(then: float, answer: Judgement) -> None:
            if is_yes(answer):
                self.desk.work.write(then, texts.request("do", texts.line("Robot", text)), id, wrote)

        def wrote(then: float, do: str) -> None:
            if do:
                self._intend(then, f"i-{id}", later.Later(do.rstrip("."), None), encounter, person, text, (id,))

        self.desk.work.judge(now, "commitment", {"robot": text}, id, judged)

    def fulfilled(self, now: float, id: str, text: str, person: str) -> None:
        """Ask whether what the robot has just said keeps one of its open promises."""
        mine = [(key, one) for key, one in self.desk.book.intentions.items() if one.person in ("", person)]
        for key, one in mine[:3]:

            def judged(then: float, answer: Judgement, key: str = key) -> None:
                if is_yes(answer):
                    self.desk.write(
                        *self.desk.book.mark(key, "kept", self.desk.stamp(then), f"kept by saying: {text[:120]}", (id,))
                    )

            self.desk.work.judge(now, "fulfilled", {"intention": one.do, "answer": text}, id, judged)

    def _wanted_later(self, now: float, said: Said) -> bool:
        found = later.wanted(said.own, self.desk.stamp(now).utc_s, self.desk.zone)
        if found is None:
            return False
        self._intend(now, f"i-{said.event}", found, said.encounter, said.person, said.own, said.because)
        return True

    def _intend(
        self, now: float, id: str, found: later.Later, encounter: str, person: str, said: str, because: tuple[str, ...]
    ) -> None:
        stamp = self.desk.stamp(now)
        wait_s = self.desk.book.tuning.intentions.next_encounter_after_s
        intention = Intention(
            do=found.do, person=person, due_utc_s=found.due_utc_s, not_before_utc_s=stamp.utc_s + wait_s,
            made_in=encounter, said=said[:300],
        )
        self.desk.write(*self.desk.book.intend(id[:200], intention, stamp, because))

    # --- observations ----------------------------------------------------------------------------

    def _observation(self, said: Said, source: str, kind: str, sure: float) -> Observation:
        act = said.act
        return Observation.model_validate(
            {
                "encounter": said.encounter, "person": said.person, "source": source,
                "act": act.text if act is not None else "", "said": said.own, "kind": kind,
                "signal": SIGNAL.get(kind, 0.0), "confidence": max(0.0, min(1.0, sure)),
                "situation": act.situation if act is not None else "", "at_utc_s": self.desk.stamp(said.at).utc_s,
            }
        )

    def keep(self, now: float, id: str, seen: Observation, because: tuple[str, ...]) -> None:
        """Write an observation down for the reflection at the encounter's end, and tell it."""
        if not self.desk.book.may_learn(items.OBSERVATION, id):
            return
        self.desk.observed.setdefault(seen.encounter, []).append((id, seen))
        self.desk.write(self.desk.book.observe(id, seen, because, self.desk.stamp(now)))
        self._tell(now, id, seen, because)

    def _tell(self, now: float, id: str, seen: Observation, because: tuple[str, ...]) -> None:
        fields = {name: getattr(seen, name) for name in Reaction.model_fields if hasattr(seen, name)}
        told = Reaction(
            header=Header.at(now), id=id, is_explicit=seen.explicit, because=list(because), **fields
        )
        self.desk.sent.append(t.REACTION.of(told))

    def dump(self) -> dict[str, Any]:
        """What words to come can be about, as JSON."""
        acts = {"doing": self.doing, "spoken": self.spoken}
        kept = {name: asdict(act) if act is not None else None for name, act in acts.items()}
        return {**kept, "asked_in": sorted(self.asked_in)}

    def load(self, data: Mapping[str, Any]) -> None:
        """Go on from what `dump` said."""
        doing, spoken = data["doing"], data["spoken"]
        self.doing = Act(**doing) if doing is not None else None
        self.spoken = Act(**spoken) if spoken is not None else None
        self.asked_in = set(data["asked_in"])
