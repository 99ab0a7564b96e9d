"""The patch door: how a language model changes what is kept. A patch is taken whole, or refused whole with the reason.

A patch is a JSON Patch (RFC 6902) with three things narrowed, because its writer is not to be trusted:

- items of lists are addressed by id (`/triggers/3f2a9c01`), never by a position, and all ids are those of the version
  before the patch; `/triggers/-` adds at the end. An id follows from what never changes about an item (`item_id`),
  so a patch that was made on an older version meets the same item, or none;
- only what the kind's `PatchRules` name can be reached, and only `add`, `replace`, `remove` and `test` are known;
- two operations that touch the same place contradict each other.

What is left is compiled to positions on a copy, each change behind a `test` of what it expects there, applied, checked
as a whole against the kind's model, and written as a new version that says who, why and because of which events.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsonpatch
from pydantic import BaseModel, ValidationError

from anima.memory.errors import NotThere, Overtaken
from anima.memory.patch_limits import LIMITS, Limits, measured, parsed
from anima.memory.patch_refusals import (
    Contradictory,
    NoCause,
    NotWhatItHolds,
    PatchMalformed,
    PathRefused,
    TestFailed,
    UnknownTarget,
)
from anima.memory.rows import Change, Item, Stamp
from anima.memory.store import Store

Operation = Mapping[str, Any]
Patch = Sequence[Operation] | str

_END = "-"
_KEYS = {"add": {"op", "path", "value"}, "replace": {"op", "path", "value"}, "test": {"op", "path", "value"}}
_KEYS["remove"] = {"op", "path"}
_TRIES = 5


@dataclass(frozen=True)
class ListRule:
    """How the items of a list are known, and what may become of them.

    `identity` names the fields that make an item what it is; empty, the whole item does (a list of texts). Of an item
    with an identity only `changeable` fields can be replaced, each of them only while it is empty: what was once
    lived is not told otherwise later. `replaceable`: the whole list may be given anew.
    """

    identity: tuple[str, ...] = ()
    changeable: frozenset[str] = frozenset()
    addable: bool = True
    removable: bool = True
    replaceable: bool = False


@dataclass(frozen=True)
class PatchRules:
    """What of a kind's items a patch can reach: `fields` to be replaced (``a`` or ``a/b``), and lists with items."""

    fields: frozenset[str]
    lists: Mapping[str, ListRule]


def item_id(item: object, rule: ListRule) -> str:
    """The id of a list's item: eight hexadecimal digits of a SHA-256 over what never changes about it."""
    what = [item.get(name) for name in rule.identity] if rule.identity and isinstance(item, Mapping) else item
    text = json.dumps(what, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def addresses(data: Mapping[str, Any], rules: PatchRules) -> dict[str, dict[str, Any]]:
    """The items of each list by id, in their order: what a patch can name."""
    return {name: {item_id(item, rule): item for item in data[name]} for name, rule in rules.lists.items()}


def apply_patch(
    store: Store,
    kind: str,
    id: str,
    patch: Patch,
    *,
    who: str,
    why: str,
    at: Stamp,
    because: Sequence[str],
    on_version: int | None = None,
    limits: Limits = LIMITS,
) -> Item:
    """Write the version of an item that a patch makes of it, and return it.

    `patch` is a list of operations or the JSON text of one. `because` names the events that it came from; there must
    be some. With `on_version` it is refused once the item has moved on (`Overtaken`). Raises a `PatchRefused` that says
    what is wrong where, `NotThere` when there is no such item or it is archived; after either nothing has changed.
    """
    for _ in range(_TRIES):
        before = store.get(kind, id)
        if before.archived:
            raise NotThere(f"{kind} {id!r} is archived; what is put away is not changed")
        if on_version not in (None, before.version):
            raise Overtaken(f"{kind} {id!r} is in version {before.version}, the patch was made on {on_version}")
        change = patch_change(store, before, patch, who=who, why=why, at=at, because=because, limits=limits)
        try:
            return store.write([change])[0]
        except Overtaken:
            continue  # somebody wrote in between: ids still mean the same, so what it says is looked at anew
    raise Overtaken(f"{kind} {id!r} changes faster than the patch can be written; try again")


def patch_change(
    store: Store,
    before: Item,
    patch: Patch,
    *,
    who: str,
    why: str,
    at: Stamp,
    because: Sequence[str],
    limits: Limits = LIMITS,
) -> Change:
    """The change that a patch makes of an item, to be written with others (`Store.write`). Raises as `apply_patch`."""
    if not because or not all(isinstance(event, str) and event.strip() for event in because):
        raise NoCause(f"{before.kind} {before.id!r}: a change names the events that it came from; this one names none")
    model = store.model(before.kind)
    data = patched(before.data, patch, model, limits)
    return Change(before.kind, before.id, data, who, why, at, tuple(because), on_version=before.version)


def patched(data: Mapping[str, Any], patch: Patch, model: type[BaseModel], limits: Limits = LIMITS) -> dict[str, Any]:
    """What a patch makes of an item's data, checked against its model; `data` stays as it is. Raises `PatchRefused`."""
    rules = getattr(model, "patch_rules", None)
    if not isinstance(rules, PatchRules):
        raise PathRefused(f"a {model.__name__} is not changed by patches")
    operations = parsed(patch, limits)
    compiled = _Compiler(data, rules).compile(operations)
    after: dict[str, Any]
    try:
        after = jsonpatch.JsonPatch(compiled).apply(copy.deepcopy(dict(data)))
        after = model.model_validate(after).model_dump(mode="json")
    except jsonpatch.JsonPatchTestFailed as error:
        raise TestFailed(f"what the patch expects is not there: {error}") from error
    except ValidationError as error:
        faults = "; ".join(f"{'/'.join(map(str, e['loc'])) or 'data'}: {e['msg']}" for e in error.errors()[:5])
        raise NotWhatItHolds(f"it would no longer be a {model.__name__}: {faults}") from error
    except jsonpatch.JsonPatchException as error:
        raise PatchMalformed(f"it can't be applied: {error}") from error
    measured(after, limits.item)
    _guard(data, after, rules)
    return after


def _guard(before: Mapping[str, Any], after: Mapping[str, Any], rules: PatchRules) -> None:
    """What no patch can change is as it was, whichever way it was tried."""
    heads = {field.partition("/")[0] for field in rules.fields} | set(rules.lists)
    for name in before.keys() | after.keys():
        if name not in heads and before.get(name) != after.get(name):
            raise PathRefused("it never changes", path=f"/{name}")
    for name, rule in rules.lists.items():
        old = {item_id(item, rule): item for item in before[name]}
        for item in after[name] if rule.identity else ():
            if (was := old.get(id := item_id(item, rule))) is None:
                continue
            for field in rule.changeable:
                if was[field] and was[field] != item[field]:
                    raise Contradictory("what was lived is not told otherwise later", path=f"/{name}/{id}/{field}")


class _Compiler:
    """Turns operations on ids into operations on positions, each change behind a test of what stands there."""

    def __init__(self, data: Mapping[str, Any], rules: PatchRules) -> None:
        self._data = data
        self._rules = rules
        self._items = addresses(data, rules)
        # What stands at each position while the patch is applied; None for what the patch itself has added.
        self._order: dict[str, list[str | None]] = {name: list(items) for name, items in self._items.items()}
        self._touched: dict[tuple[str, ...], int] = {}
        self._out: list[dict[str, Any]] = []

    def compile(self, operations: Sequence[Operation]) -> list[dict[str, Any]]:
        """A plain JSON Patch. Raises `PatchRefused` that names the operation, counted from 1, and its path."""
        changes = 0
        for number, operation in enumerate(operations, 1):
            op, path, keys = _shape(number, operation)
            if op != "test":
                changes += 1
                self._claim(number, op, path, keys)
            if keys[0] in self._rules.lists:
                self._in_list(number, op, path, keys, operation)
            elif "/".join(keys) in self._rules.fields:
                self._field(number, op, path, keys, operation)
            else:
                raise PathRefused(f"this can't be changed; there are {self._reachable()}", op=number, path=path)
        if not changes:
            raise PatchMalformed("it changes nothing")
        return self._out

    def _reachable(self) -> str:
        fields = [f"/{name}" for name in sorted(self._rules.fields)]
        return ", ".join(fields + [f"/{name}/<id>" for name in sorted(self._rules.lists)])

    def _claim(self, number: int, op: str, path: str, keys: tuple[str, ...]) -> None:
        if op == "add" and keys[-1] == _END:
            keys = (*keys[:-1], f"{_END}{number}")  # adding twice is no contradiction, adding to what is replaced is
        for held, earlier in self._touched.items():
            shorter = min(len(held), len(keys))
            if held[:shorter] == keys[:shorter]:
                raise Contradictory(f"operation {earlier} changes this too", op=number, path=path)
        self._touched[keys] = number

    def _field(self, number: int, op: str, path: str, keys: tuple[str, ...], operation: Operation) -> None:
        if op not in ("replace", "test"):
            raise PathRefused(f"a field is there for good: replace it, don't {op} it", op=number, path=path)
        value: Any = self._data
        for key in keys:
            if not isinstance(value, Mapping) or key not in value:
                raise UnknownTarget("there is no such field", op=number, path=path)
            value = value[key]
        self._emit(number, op, path, path, value, operation)

    def _in_list(self, number: int, op: str, path: str, keys: tuple[str, ...], operation: Operation) -> None:
        name, rule = keys[0], self._rules.lists[keys[0]]
        if len(keys) == 1:
            if op == "replace" and not rule.replaceable:
                raise PathRefused("its items are kept: add, remove or replace them one by one", op=number, path=path)
            if op not in ("replace", "test"):
                raise PathRefused(f"the list is there for good: don't {op} it", op=number, path=path)
            self._emit(number, op, path, path, self._data[name], operation)
            return
        if keys[1:] == (_END,):
            if op != "add" or not rule.addable:
                raise PathRefused(f"the end of the list can be added to, not {op}", op=number, path=path)
            self._order[name].append(None)
            self._out.append({"op": "add", "path": path, "value": operation["value"]})
            return
        id = keys[1]
        if op == "add":
            raise PathRefused(f"things are added at the end: /{name}/{_END}", op=number, path=path)
        if id not in self._items[name]:
            known = ", ".join(self._items[name]) or "none"
            hint = "; items are named by id, not by position" if id.isdigit() and len(id) < 8 else ""
            raise UnknownTarget(f"no item {id!r}{hint}; there are {known}", op=number, path=path)
        if id not in self._order[name]:
            raise Contradictory("an earlier operation has removed it", op=number, path=path)
        item = self._items[name][id]
        where = f"/{name}/{self._order[name].index(id)}"
        if len(keys) == 2:
            self._item(number, op, path, where, item, rule, operation)
            if op == "remove":
                self._order[name].remove(id)
            return
        field = keys[2]
        if len(keys) > 3 or not isinstance(item, Mapping) or field not in item:
            raise UnknownTarget("there is no such field in it", op=number, path=path)
        if op != "test" and (op != "replace" or field not in rule.changeable):
            only = ", ".join(sorted(rule.changeable)) or "nothing"
            raise PathRefused(f"of an item only {only} can be replaced", op=number, path=path)
        self._emit(number, op, path, f"{where}/{field}", item[field], operation)

    def _item(
        self, number: int, op: str, path: str, where: str, item: Any, rule: ListRule, operation: Operation
    ) -> None:
        if op == "remove" and not rule.removable:
            raise PathRefused("what is in this list stays in it", op=number, path=path)
        if op == "replace" and rule.identity:
            only = ", ".join(f"{path}/{name}" for name in sorted(rule.changeable)) or "nothing"
            raise PathRefused(f"an item stays what it is; of it can be replaced: {only}", op=number, path=path)
        self._emit(number, op, path, where, item, operation)

    def _emit(self, number: int, op: str, path: str, where: str, value: Any, operation: Operation) -> None:
        if op == "test":
            # All that is expected is expected of the version before the patch, so it can be looked at here.
            if json.dumps(operation["value"], sort_keys=True) != json.dumps(value, sort_keys=True):
                raise TestFailed("what the patch expects is not there", op=number, path=path)
            return
        self._out.append({"op": "test", "path": where, "value": copy.deepcopy(value)})
        step = {"op": op, "path": where}
        self._out.append(step if op == "remove" else {**step, "value": copy.deepcopy(operation["value"])})


def _shape(number: int, operation: Operation) -> tuple[str, str, tuple[str, ...]]:
    """The operation's name, path and path segments; raises what is wrong with its form."""
    if not isinstance(operation, Mapping):
        raise PatchMalformed(f"an operation is an object, this is {type(operation).__name__}", op=number)
    op, path = operation.get("op"), operation.get("path")
    if not isinstance(op, str) or op not in _KEYS:
        raise PatchMalformed(f"unknown operation {str(op)[:40]!r}; there are {', '.join(_KEYS)}", op=number)
    if not isinstance(path, str) or not path.startswith("/"):
        raise PatchMalformed(f"a path begins with a slash, this is {str(path)[:80]!r}", op=number)
    if operation.keys() != _KEYS[op]:
        raise PatchMalformed(f"{op} has {', '.join(sorted(_KEYS[op]))} and nothing else", op=number, path=path)
    keys = []
    for part in path[1:].split("/"):
        if "~" in part.replace("~0", "").replace("~1", ""):
            raise PatchMalformed("a tilde in a path is written ~0, a slash ~1", op=number, path=path)
        keys.append(part.replace("~1", "/").replace("~0", "~"))
    return op, path, tuple(keys)

