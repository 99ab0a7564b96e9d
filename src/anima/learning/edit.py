"""What a person may do with what was learned: correct it, pin it, forget it. Old versions stay; nothing is deleted."""

from __future__ import annotations

from typing import Any

from anima.learning import items
from anima.learning.effects import rule
from anima.learning.evidence import Evidence
from anima.memory.errors import BadData
from anima.memory.rows import Change, Item, Stamp
from anima.memory.store import Store

WHO = "person"
PINNABLE = frozenset({items.LESSON, items.BELIEF})
_WORDS = {
    items.LESSON: "rule", items.BELIEF: "text", items.PORTRAIT: "text", items.INTENTION: "do", items.FACT: "content",
}


def events_of(item: Item) -> list[str]:
    """The events that an item was learned from: its evidence, and what each of its versions names."""
    data = item.data
    evidence = data.get("evidence")
    found = [str(e["event"]) for e in evidence if isinstance(e, dict)] if isinstance(evidence, list) else []
    if isinstance(data.get("event"), str):
        found.append(str(data["event"]))
    return list(dict.fromkeys([*found, *item.because]))


def forget(store: Store, kind: str, id: str, at: Stamp, why: str = "a person had it forgotten") -> Item:
    """Archive an item, and see that the same events never teach such a thing again. Raises `NotThere`."""
    item = store.get(kind, id)
    events = sorted({event for version in store.history(kind, id) for event in events_of(version)})
    # An observation `r-x` is what was made of the event `x`: both stand for the same evidence.
    events = sorted({*events, *(e[2:] for e in events if e.startswith("r-")), *(f"r-{e}" for e in events)})
    tomb = {"kind": kind, "id": id, "events": events}
    store.write(
        [
            Change(items.FORGOTTEN, f"{kind}:{id}"[:200], tomb, WHO, why, at, tuple(events[:20])),
            Change(kind, id, None, WHO, why, at, tuple(item.because), archived=True),
        ]
    )
    return store.get(kind, id)


def pin(store: Store, kind: str, id: str, at: Stamp, pinned: bool = True) -> Item:
    """Hold a lesson or belief for certain, whatever comes, until it is let go. Raises `NotThere`, `BadData`."""
    if kind not in PINNABLE:
        raise BadData(f"a {kind} can't be pinned; lessons and beliefs can")
    data = {**store.get(kind, id).data, "pinned": pinned}
    return store.put(kind, id, data, who=WHO, why="pinned by a person" if pinned else "let go by a person", at=at)


def correct(store: Store, kind: str, id: str, words: str, at: Stamp) -> Item:
    """Put an item into a person's own words. What was learned before counts no longer; what they say is told evidence.

    A lesson may be given an effect (``report_length=short``) instead of words. Raises `NotThere`, `BadData`.
    """
    if kind not in _WORDS:
        raise BadData(f"a {kind} can't be corrected; {', '.join(sorted(_WORDS))} can")
    data: dict[str, Any] = dict(store.get(kind, id).data)
    event = f"correction@{at.utc_s:.3f}"
    told = Evidence(event=event, at_utc_s=at.utc_s, strength="told").model_dump(mode="json")
    if kind == items.LESSON:
        effect = words if "=" in words and " " not in words else ""
        if effect:
            try:
                words = rule(effect)
            except ValueError as error:
                raise BadData(str(error)) from error
        data |= {"effect": effect, "evidence": [told], "standing": "habit"}
    elif kind == items.BELIEF:
        data["evidence"] = [told]
    data[_WORDS[kind]] = words
    return store.put(kind, id, data, who=WHO, why="corrected by a person", at=at, because=[event])


def drop(store: Store, id: str, at: Stamp) -> Item:
    """An intention is not wanted any more: it is archived as dropped."""
    data = {**store.get(items.INTENTION, id).data, "state": "dropped"}
    store.write([Change(items.INTENTION, id, data, WHO, "dropped by a person", at, archived=True)])
    return store.get(items.INTENTION, id)
