"""World state as a value: its facts, what of it has meaning, and the difference of two in lines for people to read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import JsonValue

from anima.types.mind import WorldState
from anima.world.predicates import ROBOT, Predicate, holds
from anima.world.tracks import GRIPPER

_KEYED = ("objects", "surfaces")
CHARGE_STEP = 10
MOVED_M = 0.03


class DiffError(ValueError):
    """A line that is no difference of two world states, or doesn't fit the state that it is applied to."""


def facts_of(state: WorldState, lacks: Iterable[str] = ()) -> list[str]:
    """The true predicates of the vocabulary in canonical text, sorted; `lacks` are the parts that the body has not.

    Of `charged(n)` only the highest full ten is listed: the others follow from it, and would change all the time. That
    a held object is at the gripper is said by `holding`.
    """
    candidates = [Predicate("docked"), Predicate("hand_empty")]
    candidates += [Predicate("at", (ROBOT, place)) for place in {state.place, state.room} if place]
    candidates += [Predicate("holding", (state.holding,))] if state.holding else []
    for thing in state.objects:
        candidates.append(Predicate("seen", (thing.name,)))
        if thing.place and thing.place != GRIPPER:
            candidates.append(Predicate("at", (thing.name, thing.place)))
    charge = min(100, int(state.battery * 100 + 1e-6)) // CHARGE_STEP * CHARGE_STEP
    candidates.append(Predicate("charged", (str(charge),)))
    true = {str(candidate) for candidate in candidates if holds(candidate, state)}
    return sorted(true | {str(Predicate("lacks", (part,))) for part in lacks})


def means_the_same(old: WorldState, new: WorldState) -> bool:
    """Whether no decision could depend on the difference of the two; noise in poses and coverage makes none."""
    if _meaning(old) != _meaning(new):
        return False
    was = {thing.name: thing.position for thing in old.objects if thing.place != GRIPPER}
    return all(
        math.dist((was[thing.name].x, was[thing.name].y), (thing.position.x, thing.position.y)) < MOVED_M
        for thing in new.objects
        if thing.name in was
    )


def _meaning(state: WorldState) -> tuple[object, ...]:
    return (
        state.room,
        state.place,
        state.holding,
        state.docked,
        state.stopped,
        state.localized,
        tuple((thing.name, thing.status, thing.place) for thing in state.objects),
        tuple((surface.name, round(surface.coverage, 1)) for surface in state.surfaces),
        tuple(state.facts),
    )


def diff(old: WorldState, new: WorldState) -> list[str]:
    """What changed, a line each, so that `rebuild(old, diff(old, new)) == new`.

    ``place: "" -> "kitchen_table"`` for a changed value, ``objects.red_cube.status: "tentative" -> "confirmed"`` for
    one of a named part, ``+ objects.red_cube: {…}`` and ``- objects.red_cube`` for parts, ``+ seen(red_cube)`` and
    ``- seen(red_cube)`` for facts. Values are JSON; parts and facts of both states are sorted by name.
    """
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    lines: list[str] = []
    for key in after:
        if key == "facts":
            continue
        if key in _KEYED:
            lines += _parts(key, before[key], after[key])
        elif before[key] != after[key]:
            lines.append(f"{key}: {_json(before[key])} -> {_json(after[key])}")
    lines += [f"- {fact}" for fact in old.facts if fact not in new.facts]
    lines += [f"+ {fact}" for fact in new.facts if fact not in old.facts]
    return lines


def _parts(key: str, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    was, now = {part["name"]: part for part in before}, {part["name"]: part for part in after}
    lines = [f"- {key}.{name}" for name in was if name not in now]
    for name, part in now.items():
        if name not in was:
            lines.append(f"+ {key}.{name}: {_json(part)}")
            continue
        lines += [
            f"{key}.{name}.{field}: {_json(was[name][field])} -> {_json(value)}"
            for field, value in part.items()
            if was[name][field] != value
        ]
    return lines


def rebuild(old: WorldState, lines: Iterable[str]) -> WorldState:
    """The state that `diff` was taken to, from the one that it was taken from. Raises `DiffError` for other lines."""
    data = old.model_dump(mode="json")
    facts = set(old.facts)
    parts = {key: {part["name"]: part for part in data[key]} for key in _KEYED}
    for line in lines:
        try:
            _apply(line, data, parts, facts)
        except (KeyError, ValueError, IndexError) as error:
            raise DiffError(f"{line!r} doesn't apply to the world state of {old.header.stamp.seconds:.2f} s") from error
    for key in _KEYED:
        data[key] = [parts[key][name] for name in sorted(parts[key])]
    data["facts"] = sorted(facts)
    return WorldState.model_validate(data)


def _apply(line: str, data: dict[str, Any], parts: dict[str, dict[str, Any]], facts: set[str]) -> None:
    if line[:2] in ("+ ", "- "):
        added, body = line[0] == "+", line[2:]
        key, dot, rest = body.partition(".")
        if key in parts and dot:
            name, _, value = rest.partition(": ")
            if added:
                parts[key][name] = json.loads(value)
            else:
                del parts[key][name]
        elif added:
            facts.add(str(Predicate.parse(body)))
        else:
            facts.remove(body)
        return
    path, _, change = line.partition(": ")
    decoder = json.JSONDecoder()
    _, end = decoder.raw_decode(change)
    if change[end : end + 4] != " -> ":
        raise ValueError("no arrow between two values")
    value = json.loads(change[end + 4 :])
    keys: Sequence[str] = path.split(".")
    if len(keys) == 3:
        part = parts[keys[0]][keys[1]]
        part[keys[2]]  # an unknown field is an error
        part[keys[2]] = value
    elif len(keys) == 1 and path in data and path not in _KEYED and path != "facts":
        data[path] = value
    else:
        raise KeyError(path)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
