"""What changed between two versions of an item, in the terms in which a patch would say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from anima.memory.patch import PatchRules, item_id


@dataclass(frozen=True)
class Difference:
    """One place that is not what it was: `before` is None for what is new, `after` for what is gone."""

    path: str
    before: Any
    after: Any


def differences(before: Mapping[str, Any], after: Mapping[str, Any], model: type[BaseModel]) -> list[Difference]:
    """All places that differ; items of lists that the model's patch rules know are told apart by id."""
    rules = getattr(model, "patch_rules", None)
    lists = rules.lists if isinstance(rules, PatchRules) else {}
    found: list[Difference] = []
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name not in lists:
            found += _below(f"/{name}", old, new)
            continue
        olds, news = ({item_id(item, lists[name]): item for item in side or ()} for side in (old, new))
        for id in [*olds, *(id for id in news if id not in olds)]:
            found += _below(f"/{name}/{id}", olds.get(id), news.get(id))
        if list(olds) == list(news) or set(olds) != set(news):
            continue
        found.append(Difference(f"/{name}", list(olds), list(news)))  # the same items in another order
    return found


def _below(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from _below(f"{path}/{name}", before.get(name), after.get(name))
    else:
        yield Difference(path, before, after)
