"""Facts: what of a person's words is worth weeks, what it replaces, what it grew out of, and whom it is about."""

from __future__ import annotations

import re

from anima.learning import items, texts
from anima.learning.desk import Desk, is_yes
from anima.learning.items import Entity, Fact, Relation
from anima.learning.likeness import likeness
from anima.memory.rows import Change
from anima.planner.judge import Judgement
from anima.world.quotes import is_off_limits

_FEW_WORDS = 3
_COMPARED = 3
_KINDS = {
    "person": "mother|father|mum|mom|dad|sister|brother|son|daughter|wife|husband|partner|friend|neighbour|neighbor|"
    "boss|colleague|aunt|uncle|grandmother|grandfather|grandma|grandpa|cousin|doctor|dentist|baby|child|girlfriend|boyfriend",
    "pet": "cat|dog|hamster|rabbit|parrot|bird|fish|horse|tortoise|kitten|puppy",
    "place": "house|flat|office|garden|school|city|town|village",
    "org": "company|club|team|choir|band",
}
_CORE = re.compile(
    r"\b(name|called|birthday|born|lives?|married|works?|allerg\w*|mother|father|sister|brother|son|daughter|wife|husband|cat|dog|prefers?)\b"
)
_ADVICE = re.compile(r"\b(should|must|shall|has to|ought|please)\b|\b(robot|you)\b", re.IGNORECASE)
_POSSESSED = re.compile(
    rf"['’]s (?P<noun>{'|'.join(_KINDS.values())})\b(?: (?:is |was )?(?:called |named )?(?P<name>[A-Z][a-z'-]+))?"
)
_NAMES = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z][\w'-]*")


def remember(desk: Desk, now: float, event: str, person: str, own: str, act: str) -> None:
    """Ask whether the words are worth remembering, then for the fact in them, then what it does to known ones."""
    if len(own.split()) < _FEW_WORDS or own.rstrip().endswith("?"):
        return
    name = desk.name_of(person)

    def judged(then: float, answer: Judgement) -> None:
        if is_yes(answer):
            request = texts.request("fact", texts.line(name, own), name)
            desk.work.write(then, request, event, lambda later, text: _compare(desk, later, event, person, name, text))

    desk.work.judge(now, "remember", {"person": own, "robot": act}, event, judged)


def _compare(desk: Desk, now: float, event: str, person: str, name: str, text: str) -> None:
    """Ask what the fact replaces and what it grew out of, among the known ones that it resembles most."""
    if not text or is_off_limits(text) or _ADVICE.search(text):
        return
    known = [(likeness(text, fact.content), id, fact.content) for id, fact in desk.book.facts_about(person)]
    near = [(id, content) for _, id, content in sorted(known, reverse=True)[:_COMPARED]]
    found: dict[str, list[str]] = {"supersedes": [], "because": []}
    left = 2 * len(near)

    def end(then: float) -> None:
        because = [id for id in found["because"] if id not in found["supersedes"]]
        _note(desk, then, event, person, name, text, found["supersedes"], because)

    def answer(relation: str, id: str, then: float, judged: Judgement) -> None:
        nonlocal left
        left -= 1
        if is_yes(judged):
            found[relation].append(id)
        if left == 0:
            end(then)

    asked = 0
    for id, content in near:
        for relation in found:
            asked += desk.work.judge(
                now,
                relation,
                {"known": content, "new": text},
                event,
                lambda then, judged, r=relation, i=id: answer(r, i, then, judged),  # type: ignore[misc]
            )
    left -= 2 * len(near) - asked
    if asked == 0:
        end(now)


def _note(
    desk: Desk, now: float, event: str, person: str, name: str, text: str, supersedes: list[str], because: list[str]
) -> None:
    stamp = desk.stamp(now)
    entities, relations = spoken_of(text, person, name, event)
    fact = Fact(
        content=text[:300], person=person, core=_CORE.search(text) is not None, entities=[e.name for e in entities],
        supersedes=supersedes, because=because, event=event, at_utc_s=stamp.utc_s,
        importance=0.7 if _CORE.search(text) else 0.5,
    )
    changes = desk.book.note(f"f-{event}"[:200], fact, stamp)
    if not changes:
        return
    for entity in entities:
        data = entity.model_dump(mode="json")
        changes.append(
            Change(items.ENTITY, entity.name[:200], data, "learner", f"{person} spoke of it", stamp, (event,))
        )
    for one in relations:
        id = f"{one.src} {one.relation} {one.dst}"[:200]
        data = one.model_dump(mode="json")
        changes.append(Change(items.RELATION, id, data, "learner", f"{person} said so", stamp, (event,)))
    desk.write(*changes)


def spoken_of(text: str, person: str, name: str, event: str) -> tuple[list[Entity], list[Relation]]:
    """Whom and what a fact is about: ``Lena's cat Wasabi`` is a pet called Wasabi, which is the cat of Lena."""
    entities = {name: Entity(name=name, type="person", aliases=[person] if person != name else [])}
    relations: list[Relation] = []
    for match in _POSSESSED.finditer(text):
        noun = match["noun"]
        kind = next(kind for kind, nouns in _KINDS.items() if noun in nouns.split("|"))
        other = match["name"] or f"{name}'s {noun}"
        entities[other] = Entity.model_validate({"name": other, "type": kind})
        relations.append(Relation(src=other, relation=f"{noun} of", dst=name, event=event))
    for found in _NAMES.findall(text):
        word = re.sub(r"['’]s$", "", found)
        entities.setdefault(word, Entity(name=word, type="thing"))
    return list(entities.values()), relations
