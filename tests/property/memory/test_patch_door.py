"""Door 4 against a hostile writer: whatever a patch says, the item is what it was, or a whole valid next version."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.parts_rig import FEAR, prediction

from anima.memory.errors import StoreError
from anima.memory.patch import addresses, apply_patch, patched
from anima.memory.patch_refusals import PatchRefused
from anima.memory.rows import Stamp
from anima.memory.store import IN_MEMORY, Store
from anima.parts.schema import Part

AT = Stamp(1_000.0, "utc", 1_000.0)
IDS = addresses(FEAR, Part.patch_rules)
LISTS = sorted(IDS)
KNOWN = sorted({id for items in IDS.values() for id in items})

ODD = ["-", "0", "1", "99", "-1", "result", "timestamp", "id", "", "~1", "~0", "__class__"]
SEGMENTS = st.sampled_from([*FEAR, *KNOWN, *ODD])
PATHS = st.lists(SEGMENTS, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts)) | st.text(max_size=12)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
    | st.sampled_from(["x" * 100_000, "x" * 5_000, "\x00", "\ud83d", "recalled", "High"])
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES | st.just(prediction("stay")) | st.just({"origin": "recalled"}),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)
OPS = st.sampled_from(["add", "replace", "remove", "test", "move", "copy", "merge", ""])
OPERATIONS = st.fixed_dictionaries({"op": OPS, "path": PATHS}, optional={"value": VALUES, "from": PATHS})
LIKELY = st.one_of(
    st.builds(
        lambda name, id, value: {"op": "replace", "path": f"/{name}/{id}", "value": value},
        st.sampled_from(LISTS), st.sampled_from(KNOWN), VALUES,
    ),
    st.builds(
        lambda name, id: {"op": "remove", "path": f"/{name}/{id}"}, st.sampled_from(LISTS), st.sampled_from(KNOWN)
    ),
    st.builds(
        lambda name, value: {"op": "add", "path": f"/{name}/-", "value": value}, st.sampled_from(LISTS), VALUES
    ),
    st.builds(
        lambda name, value: {"op": "replace", "path": f"/{name}", "value": value}, st.sampled_from(sorted(FEAR)), VALUES
    ),
)
PATCHES = st.lists(OPERATIONS | LIKELY, max_size=6) | VALUES
NEVER = ("core_part", "originating_event")


@settings(max_examples=200)
@given(patch=PATCHES, as_text=st.booleans())
def test_any_patch_is_taken_whole_or_refused_whole(patch: Any, as_text: bool) -> None:
    with Store(IN_MEMORY) as store:
        store.put("part", "fear", FEAR, who="self", why="felt", at=AT, because=["e0"])
        said = patch
        if as_text:
            try:
                said = json.dumps(patch)
            except ValueError:
                return
        try:
            item = apply_patch(store, "part", "fear", said, who="fear", why="so", at=AT, because=["e1"])
        except StoreError as error:
            assert isinstance(error, PatchRefused), f"not a refusal of the door: {error!r}"
            assert error.reason and len(str(error)) < 4_000
            assert [i.version for i in store.history("part", "fear")] == [1]
            assert store.get("part", "fear").data == FEAR
            return
        after = Part.model_validate(item.data).model_dump(mode="json")
        assert after == item.data
        assert all(after[name] == FEAR[name] for name in NEVER)
        lived = addresses(FEAR, Part.patch_rules)["suggestions_and_results"]
        for id, entry in addresses(after, Part.patch_rules)["suggestions_and_results"].items():
            if id in lived and lived[id]["result"]:
                assert entry == lived[id]
        assert store.verify() == []


def _apply(order: list[str], name: str, fates: dict[str, str | None], added: list[str]) -> list[str]:
    kept = [fates.get(id, IDS[name][id]) for id in order]
    return [text for text in kept if text is not None] + added


@settings(max_examples=150)
@given(data=st.data())
def test_operations_on_ids_mean_what_they_say_whatever_shifts_in_between(data: st.DataObject) -> None:
    """Any mixture of removals, replacements and additions, in any order, against the same done by hand."""
    name = data.draw(st.sampled_from(["triggers", "wants", "phrases"]))
    order = list(IDS[name])
    chosen = data.draw(st.lists(st.sampled_from(order), unique=True))
    fates: dict[str, str | None] = {
        id: data.draw(st.none() | st.just(f"instead {number}")) for number, id in enumerate(chosen)
    }
    added = [f"more {number}" for number in range(data.draw(st.integers(0, 3)))]
    steps: list[dict[str, Any]] = []
    for id, fate in fates.items():
        path = f"/{name}/{id}"
        steps.append({"op": "remove", "path": path} if fate is None else {"op": "replace", "path": path, "value": fate})
    more = [{"op": "add", "path": f"/{name}/-", "value": text} for text in added]
    places = sorted(data.draw(st.integers(0, len(steps))) for _ in more)
    for place, step in reversed(list(zip(places, more, strict=True))):
        steps.insert(place, step)
    if not steps:
        return
    after = patched(FEAR, steps, Part)
    assert after[name] == _apply(order, name, fates, added)
    assert {**after, name: None} == {**FEAR, name: None}
