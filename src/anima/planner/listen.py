"""Hearing: the request that turns an utterance into a reading, its grammar, and how the answer is read."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anima.config import CONFIG, Tuning, parse, read_yaml
from anima.planner.grounding import Grounding, Group, ground
from anima.planner.lexicon import Lexicon
from anima.planner.llm.base import Message, Request
from anima.planner.names import KnownNames
from anima.planner.objectives import MAX_GOALS, REASONS, TOPICS, NotUnderstood, Understanding, check_goal
from anima.world.predicates import PERSON, ROBOT, Predicate

LISTEN_FILE = CONFIG / "planner" / "listen.yaml"
MAX_UTTERANCE_CHARS = 300
_CALL = re.compile(r"([a-z_]+)\(([^()]*)\)")
_REPLY = re.compile(r'reply\("([^"]*)"\)\Z')


class _Names(Tuning):
    places: list[str]
    surfaces: list[str]
    rooms: list[str]
    surface_rooms: dict[str, str]
    objects: list[str]
    no_go: list[str]


class ListenPrompt(Tuning):
    """`config/planner/listen.yaml`: instructions and worked examples, with the names that the examples speak of."""

    system: str
    names: _Names
    examples: list[tuple[str, str]]


@functools.lru_cache(maxsize=2)
def load_listen_prompt(file: Path = LISTEN_FILE) -> ListenPrompt:
    """The prompt in `file`; raises `ConfigError` that names the fault."""
    prompt: ListenPrompt = parse(ListenPrompt, read_yaml(file), str(file))
    return prompt


@dataclass(frozen=True)
class _Item:
    """Something mentioned that goals may speak of: an object, a place to go, or the charger."""

    key: str
    goals: tuple[tuple[str, tuple[str, ...]], ...]
    must: bool
    at: int


@dataclass(frozen=True)
class Hearing:
    """An utterance with what its words can mean: everything that is needed to ask the model and read its answer."""

    text: str
    grounding: Grounding
    names: KnownNames
    things: dict[str, Group]
    places: dict[str, Group]

    @classmethod
    def of(cls, text: str, names: KnownNames, lexicon: Lexicon, referent: str = "") -> Hearing:
        """`referent` is the object that "it" would mean, or empty."""
        text = " ".join(text.split())[:MAX_UTTERANCE_CHARS]
        found = ground(text, names, lexicon)
        groups = [group for group in found.objects if group.candidates]
        if not found.objects and found.pronoun and referent:
            groups = [Group((referent,), ("it",))]
        things = {_label(group): group for group in groups}
        return cls(text, found, names, things, {_label(group): group for group in found.places})

    # --- slots --------------------------------------------------------------------------------

    def destinations(self) -> dict[str, tuple[str, ...]]:
        """Slot text -> the surfaces (or the person) that it can mean, for `bring`."""
        if self.grounding.recipient and len(self.things) == 1:
            return {PERSON: (PERSON,)}
        return self._all_destinations()

    def _all_destinations(self) -> dict[str, tuple[str, ...]]:
        slots: dict[str, tuple[str, ...]] = {}
        for group in (group for group in self.grounding.places if not group.source):
            surfaces = tuple(c for c in group.candidates if c in self.names.surfaces)
            if any(c in self.names.rooms for c in group.candidates):
                surfaces = tuple(s for s in surfaces if s not in self.names.holders) or surfaces
            surfaces = tuple(dict.fromkeys(self.names.holders.get(s, s) for s in surfaces))
            if len(surfaces) == 1:
                slots[surfaces[0]] = surfaces
            elif surfaces:
                slots[_slot(group)] = surfaces
        slots[PERSON] = (PERSON,)
        return slots

    def stops(self) -> dict[str, tuple[str, ...]]:
        """Slot text -> the places that it can mean, for `go`; whoever is given something is not driven to besides."""
        stops = self._all_stops()
        if self.grounding.recipient and self.things:
            stops.pop(PERSON, None)
        return stops

    def _all_stops(self) -> dict[str, tuple[str, ...]]:
        slots: dict[str, tuple[str, ...]] = {}
        for group in (group for group in self.grounding.places if not (group.source and self.things)):
            slots |= self._stop(group)
        if self.grounding.person:
            slots[PERSON] = (PERSON,)
        return slots

    def _stop(self, group: Group) -> dict[str, tuple[str, ...]]:
        rooms = tuple(c for c in group.candidates if c in self.names.rooms)
        found = tuple(dict.fromkeys(self.names.holders.get(c, c) for c in rooms or group.candidates))
        return {found[0] if len(found) == 1 else _slot(group): found}

    # --- the request --------------------------------------------------------------------------

    def question(self) -> str:
        """The user turn: the words as quoted data, and the names that they can mean."""
        places = dict.fromkeys((*self._all_stops(), *self._all_destinations()))
        if not self.grounding.person:
            places.pop(PERSON, None)
        parts = [*self.things, *places, *(["dock"] if self.grounding.dock else [])]
        line = f"names: {', '.join(parts) or 'none'}"
        unknown = [*(group.text for group in self.grounding.mismatched), *self.grounding.unknown]
        if unknown:
            line += f"; unknown: {', '.join(unknown)}"
        if self.grounding.no_go:
            line += f"; off limits: {', '.join(self.grounding.no_go)}"
        return f'"{self.text.replace(chr(34), chr(39))}"\n{line}'

    def grammar(self) -> str:
        """GBNF of every reading that the words allow: goals about mentioned names only, each mention at most once."""
        rules = {"root": "", "text": "[A-Za-z0-9 ,.'!?-]{1,120}"}
        heads = [*self._other_heads(rules)]
        items = self._items()
        if items and not self.grounding.nowhere:  # half of an order is not what was asked for
            heads.insert(0, self._goals_rule(items, frozenset(item.key for item in items), MAX_GOALS, rules, {}))
        rules["root"] = " | ".join(heads)
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"

    def _other_heads(self, rules: dict[str, str]) -> Sequence[str]:
        found = self.grounding
        unknown = bool(found.unknown or found.mismatched)
        allowed = {
            "unknown_object": found.unknown_thing or bool(found.mismatched),
            "unknown_place": found.unknown_place,
            "forbidden": bool(found.no_go),
            # Ordinary words about a known thing ask for nothing that can't be done.
            "not_able": unknown or bool(found.no_go) or not self.things,
        }
        reasons = " | ".join(f'"{reason}"' for reason in REASONS if allowed[reason])
        decline = [f'"decline(" ({reasons}) ")"'] if reasons else []
        topics = " | ".join(f'"{topic}"' for topic in TOPICS)
        return (
            *decline,
            f'"answer(" ({topics}) ")"',
            '"reply(\\"" text "\\")"',
            *(() if self.things and (found.places or found.person) else ('"cancel()"',)),
        )

    def _items(self) -> list[_Item]:
        targets = tuple(self.destinations())
        items = [
            _Item(
                f"t{i}",
                (*(("bring", (slot, to)) for to in targets), ("find", (slot,)), ("hold", (slot,))),
                must=group.words != ("it",),
                at=group.at,
            )
            for i, (slot, group) in enumerate(self.things.items())
        ]
        said_at = {stop: group.at for group in self.grounding.places for stop in self._stop(group)}
        said_at[PERSON] = self.grounding.person_at or 0
        items += [_Item(f"p-{stop}", (("go", (stop,)),), must=False, at=said_at[stop]) for stop in self.stops()]
        if self.grounding.dock_at is not None:
            percent = self.grounding.percent
            charge = ("charge", (str(percent),) if percent else ())
            items.append(_Item("dock", (charge,), must=False, at=self.grounding.dock_at))
        return items[:7]

    def _goals_rule(
        self,
        items: Sequence[_Item],
        left: frozenset[str],
        depth: int,
        rules: dict[str, str],
        made: dict[tuple[frozenset[str], int], str],
    ) -> str:
        """The rule for one goal about one of the items `left`, and what may follow; returns its name."""
        key = (left, depth)
        if key in made:
            return made[key]
        name = made[key] = f"goals{len(made)}"
        rules[name] = ""  # holds the place, so that rules read from the first goal to the last
        options: dict[str, list[str]] = {}
        for item in (item for item in items if item.key in left):
            for verb, slots in item.goals:
                after = left - {item.key} - self._consumed(verb, slots)
                after -= {other.key for other in items if not other.must and other.at < item.at}
                may_end = not any(other.must for other in items if other.key in after)
                more = bool(after) and depth > 1
                if not may_end and not more:
                    continue
                follow = f'" " {self._goals_rule(items, after, depth - 1, rules, made)}' if more else ""
                tail = f"({follow})?" if follow and may_end else follow
                options.setdefault(tail, []).append(f'"{verb}({", ".join(slots)})"')
        rules[name] = " | ".join(f"({' | '.join(calls)}) {tail}".rstrip() for tail, calls in options.items())
        return name

    def _consumed(self, verb: str, slots: tuple[str, ...]) -> frozenset[str]:
        """Places that a delivery has dealt with: going there once more was not asked for."""
        if verb != "bring":
            return frozenset()
        to = slots[1]
        return frozenset({f"p-{to}", f"p-{self.names.surface_rooms.get(to, '')}"})

    # --- reading the answer -------------------------------------------------------------------

    def read(self, answer: str) -> Understanding:
        """The reading that the model gave. Raises `NotUnderstood` when `answer` is none (a server without grammars)."""
        answer = answer.strip()
        if reply := _REPLY.match(answer):
            return Understanding("reply", detail=reply[1].strip())
        calls = _CALL.findall(answer)
        if not calls or re.sub(r"\s+", "", _CALL.sub("", answer)):
            raise NotUnderstood(f"{answer[:120]!r} is not a list of calls")
        if len(calls) == 1 and (other := self._other(*calls[0])) is not None:
            return other
        goals: list[Predicate] = []
        dropped: list[str] = []
        for verb, text in calls[:MAX_GOALS]:
            slots = tuple(part.strip() for part in text.split(",") if part.strip())
            goal = self._goal(verb, slots)
            if isinstance(goal, Understanding):
                return goal
            fault = check_goal(goal, self.names)
            if fault or goal in goals:
                dropped.append(fault or f"{goal} twice")
            else:
                goals.append(goal)
        if not goals:
            raise NotUnderstood(f"{answer[:120]!r}: {'; '.join(dropped)}")
        return Understanding("do", tuple(goals), dropped=tuple(dropped))

    def _other(self, verb: str, text: str) -> Understanding | None:
        if verb == "decline" and text in REASONS:
            return Understanding("decline", detail=text)
        if verb == "answer" and text in TOPICS:
            return Understanding("answer", detail=text)
        return Understanding("cancel") if verb == "cancel" and not text else None

    def _goal(self, verb: str, slots: tuple[str, ...]) -> Predicate | Understanding:
        """The goal of one call; a question instead when a slot can mean several things."""
        match verb, slots:
            case "charge", ():
                return Predicate("docked")
            case "charge", (percent,) if percent.isdigit() and int(percent) <= 100:
                return Predicate("charged", (percent,))
            case "go", (slot,) if slot in self.stops():
                places = self.stops()[slot]
                return Predicate("at", (ROBOT, places[0])) if len(places) == 1 else _which(slot, places)
            case "bring", (slot, to) if slot in self.things and to in self.destinations():
                targets = self.destinations()[to]
                thing = self._thing(slot)
                if isinstance(thing, Understanding):
                    return thing
                return Predicate("at", (thing, targets[0])) if len(targets) == 1 else _which(to, targets)
            case ("find" | "hold"), (slot,) if slot in self.things:
                thing = self._thing(slot)
                if isinstance(thing, Understanding):
                    return thing
                return Predicate("told" if verb == "find" else "holding", (thing,))
        raise NotUnderstood(f"{verb}({', '.join(slots)}) speaks of something that was not said")

    def _thing(self, slot: str) -> str | Understanding:
        group = self.things[slot]
        if len(group.candidates) == 1 or group.indefinite:
            return group.candidates[0]
        return _which(slot, group.candidates)


def _label(group: Group) -> str:
    return group.candidates[0] if len(group.candidates) == 1 else _slot(group)


def _slot(group: Group) -> str:
    """What stands in a call for words that can mean several things: the words."""
    return re.sub(r"[^a-z0-9]+", "_", group.text)


def _which(slot: str, options: Sequence[str]) -> Understanding:
    spoken = [option.replace("_", " ") for option in options]
    listed = f"{', the '.join(spoken[:-1])} or the {spoken[-1]}"
    return Understanding("ask", detail=f"Which {slot.replace('_', ' ')} do you mean: the {listed}?")


def prefix(prompt: ListenPrompt, lexicon: Lexicon) -> tuple[Message, ...]:
    """The turns that are the same bytes in every request: instructions and examples."""
    n = prompt.names
    names = KnownNames(
        places=tuple(n.places), surfaces=tuple(n.surfaces), objects=tuple(n.objects), no_go=tuple(n.no_go),
        rooms=tuple(n.rooms), surface_rooms=n.surface_rooms,
    )
    turns = [Message("system", prompt.system.strip())]
    for said, meant in prompt.examples:
        turns += [Message("user", Hearing.of(said, names, lexicon).question()), Message("assistant", meant)]
    return tuple(turns)


def request(
    hearing: Hearing, stable: tuple[Message, ...], prefill_budget_s: float, decode_budget_s: float
) -> Request:
    """One turn of the role "listen"."""
    return Request(
        role="listen",
        messages=(*stable, Message("user", hearing.question())),
        stable=len(stable),
        grammar=hearing.grammar(),
        max_tokens=80,
        prefill_budget_s=prefill_budget_s,
        decode_budget_s=decode_budget_s,
    )
