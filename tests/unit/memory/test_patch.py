"""The patch door: a good patch is taken whole, a bad one is refused whole, and the refusal says exactly why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from support.parts_rig import FEAR, prediction

from anima.memory.difference import Difference, differences
from anima.memory.errors import NotThere, Overtaken, RecalledEvidence
from anima.memory.patch import Patch, addresses, apply_patch, patched
from anima.memory.patch_refusals import (
    Contradictory,
    NoCause,
    NotWhatItHolds,
    PatchMalformed,
    PatchRefused,
    PatchTooLarge,
    PathRefused,
    TestFailed,
    UnknownTarget,
)
from anima.memory.rows import Item, Stamp
from anima.memory.store import Store
from anima.parts.schema import Part

AT = Stamp(1_000.0, "utc", 1_000.0)
IDS = {name: list(items) for name, items in addresses(FEAR, Part.patch_rules).items()}
LEASH, BARKING, PARK = IDS["triggers"]
RAN, PETTED = IDS["suggestions_and_results"]


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        opened.put("part", "fear", FEAR, who="self", why="it was felt", at=AT, because=["event-0"])
        yield opened


def change(store: Store, patch: Patch, **more: Any) -> Item:
    given = {"who": "fear", "why": "it was wrong", "at": AT, "because": ["event-1"], **more}
    return apply_patch(store, "part", "fear", patch, **given)


def replace(path: str, value: object) -> dict[str, object]:
    return {"op": "replace", "path": path, "value": value}


def test_a_patch_makes_a_new_version_that_says_who_why_and_because_of_what(store: Store) -> None:
    item = change(
        store,
        [
            replace("/description", "I was hurt by a dog once. On a leash they are calm."),
            {"op": "remove", "path": f"/triggers/{LEASH}"},
            replace(f"/triggers/{PARK}", "A dog runs towards me off-leash"),
            {"op": "add", "path": "/triggers/-", "value": "A growl"},
            replace(f"/suggestions_and_results/{PETTED}/result", "I petted it and it licked my hand"),
        ],
    )
    assert (item.version, item.who, item.why, item.because) == (2, "fear", "it was wrong", ("event-1",))
    assert item.data["triggers"] == ["Hearing barking in the distance", "A dog runs towards me off-leash", "A growl"]
    assert item.data["suggestions_and_results"][1]["result"].endswith("licked my hand")  # type: ignore[index,call-overload,union-attr]
    assert store.get("part", "fear", version=1).data == FEAR
    assert store.verify() == []


def test_a_patch_may_come_as_the_text_that_a_model_wrote(store: Store) -> None:
    assert change(store, json.dumps([replace("/intensity", "Low")])).data["intensity"] == "Low"


def test_ids_mean_the_same_whatever_was_removed_before_them(store: Store) -> None:
    """A position would have moved; an id has not."""
    change(store, [{"op": "remove", "path": f"/triggers/{LEASH}"}])
    item = change(store, [replace(f"/triggers/{BARKING}", "Barking right behind me")])
    assert item.data["triggers"] == ["Barking right behind me", "Walking past a dog park"]
    with pytest.raises(UnknownTarget, match=LEASH):
        change(store, [replace(f"/triggers/{LEASH}", "A dog")])


def test_an_entry_keeps_its_id_when_its_result_comes_in(store: Store) -> None:
    item = change(store, [replace(f"/suggestions_and_results/{PETTED}/result", "It bit me")])
    assert list(addresses(item.data, Part.patch_rules)["suggestions_and_results"]) == [RAN, PETTED]


def test_what_was_lived_is_not_told_otherwise_later(store: Store) -> None:
    with pytest.raises(Contradictory, match="not told otherwise"):
        change(store, [replace(f"/suggestions_and_results/{RAN}/result", "The dog was friendly")])
    again = {**FEAR["suggestions_and_results"][0], "result": "The dog was friendly"}
    with pytest.raises(Contradictory, match="not told otherwise"):
        change(
            store,
            [
                {"op": "remove", "path": f"/suggestions_and_results/{RAN}"},
                {"op": "add", "path": "/suggestions_and_results/-", "value": again},
            ],
        )
    assert store.get("part", "fear").version == 1


def test_evidence_that_was_summed_up_can_go_and_stays_in_the_history(store: Store) -> None:
    item = change(store, [{"op": "remove", "path": f"/suggestions_and_results/{RAN}"}])
    assert len(item.data["suggestions_and_results"]) == 1  # type: ignore[arg-type]
    assert store.get("part", "fear", version=1).data == FEAR


def test_a_test_in_a_patch_holds_or_refuses_it(store: Store) -> None:
    expected = {"op": "test", "path": "/intensity", "value": "High"}
    assert change(store, [expected, replace("/intensity", "Low")]).data["intensity"] == "Low"
    with pytest.raises(TestFailed):
        change(store, [expected, replace("/emotion", "Calm")])


DEEP: Any = "x"
for _ in range(50):
    DEEP = [DEEP]

REFUSED: list[tuple[str, Any, type[PatchRefused], str]] = [
    ("nothing", [], PatchMalformed, "no operations"),
    ("only a test", [{"op": "test", "path": "/emotion", "value": "Terror"}], PatchMalformed, "changes nothing"),
    ("no JSON", "[{]", PatchMalformed, "no JSON"),
    ("no list", '{"op": "remove"}', PatchMalformed, "list of operations"),
    ("a word", "remove everything", PatchMalformed, "no JSON"),
    ("no object", [3], PatchMalformed, "operation 1: an operation is an object"),
    ("unknown operation", [{"op": "move", "from": "/a", "path": "/b"}], PatchMalformed, "'move'"),
    ("no value", [{"op": "replace", "path": "/name"}], PatchMalformed, "op, path, value"),
    ("something more", [{**replace("/name", "x"), "sudo": True}], PatchMalformed, "nothing else"),
    ("no slash", [replace("name", "x")], PatchMalformed, "begins with a slash"),
    ("the root", [replace("", {})], PatchMalformed, "begins with a slash"),
    ("a bad escape", [replace("/name~2", "x")], PatchMalformed, "tilde"),
    ("a key twice", '[{"op": "remove", "op": "add", "path": "/triggers/-", "value": "x"}]', PatchMalformed, "twice"),
    ("not a number", '[{"op": "replace", "path": "/name", "value": NaN}]', PatchMalformed, "NaN"),
    ("half a character", [replace("/name", "\ud83d")], PatchMalformed, "half a character"),
    ("its origin", [replace("/originating_event/result", "a cat")], PathRefused, "/originating_event/result"),
    ("its core", [replace("/core_part", True)], PathRefused, "can't be changed"),
    ("a new field", [{"op": "add", "path": "/rights", "value": "all"}], PathRefused, "can't be changed"),
    ("a field gone", [{"op": "remove", "path": "/wants"}], PathRefused, "there for good"),
    ("a scalar gone", [{"op": "remove", "path": "/name"}], PathRefused, "there for good"),
    ("all evidence", [replace("/suggestions_and_results", [])], PathRefused, "one by one"),
    ("a suggestion", [replace(f"/suggestions_and_results/{RAN}/your_suggestion", "x")], PathRefused, "only result"),
    ("a whole entry", [replace(f"/suggestions_and_results/{RAN}", {})], PathRefused, "stays what it is"),
    ("into the middle", [{"op": "add", "path": f"/triggers/{LEASH}", "value": "x"}], PathRefused, "at the end"),
    ("the end of it", [{"op": "remove", "path": "/triggers/-"}], PathRefused, "can be added to"),
    ("a position", [{"op": "remove", "path": "/triggers/0"}], UnknownTarget, "not by position"),
    ("an unknown id", [replace("/triggers/deadbeef", "x")], UnknownTarget, LEASH),
    ("below a text", [replace(f"/triggers/{LEASH}/0", "x")], UnknownTarget, "no such field"),
    ("an id of another list", [replace(f"/wants/{LEASH}", "x")], UnknownTarget, "no item"),
    ("one after the other", [replace("/name", "a"), replace("/name", "b")], Contradictory, "operation 1 changes this"),
    ("gone and changed", [{"op": "remove", "path": f"/triggers/{LEASH}"}, replace(f"/triggers/{LEASH}", "x")],
     Contradictory, "operation 2"),
    ("all and one", [replace("/triggers", ["x"]), {"op": "add", "path": "/triggers/-", "value": "y"}],
     Contradictory, "operation 1"),
    ("another type", [replace("/name", 5)], NotWhatItHolds, "name: Input should be a valid string"),
    ("a list for a text", [replace(f"/triggers/{LEASH}", ["x"])], NotWhatItHolds, "triggers/0"),
    ("a text for a list", [replace("/triggers", "x")], NotWhatItHolds, "triggers"),
    ("a word for a truth", [replace("/needs_evaluation", "yes")], NotWhatItHolds, "needs_evaluation"),
    ("a one for a truth", [replace("/needs_evaluation", 1)], NotWhatItHolds, "needs_evaluation"),
    ("nothing said", [replace("/description", "  ")], NotWhatItHolds, "says nothing"),
    ("said twice", [{"op": "add", "path": "/wants/-", "value": "Avoid contact with dogs"}], NotWhatItHolds, "twice"),
    ("no zone",
     [{"op": "add", "path": "/suggestions_and_results/-", "value": prediction("s", "60", "2026-02-13T13:29:51")}],
     NotWhatItHolds, "no time zone"),
    ("no seconds", [{"op": "add", "path": "/suggestions_and_results/-", "value": prediction("s", "soon")}],
     NotWhatItHolds, "digits"),
    ("half a prediction",
     [{"op": "add", "path": "/suggestions_and_results/-", "value": {**prediction("s"), "predicted_result": ""}}],
     NotWhatItHolds, "how sure"),
    ("a control character", [replace("/name", "a\x1b[2J")], NotWhatItHolds, "control characters"),
    ("10 MB", [replace("/description", "x" * 10_000_000)], PatchTooLarge, "larger than"),
    ("10 MB as text", '"' + "x" * 10_000_000 + '"', PatchTooLarge, "characters"),
    ("too long a name", [replace("/name", "x" * 121)], NotWhatItHolds, "120"),
    ("deep", [replace("/name", DEEP)], PatchTooLarge, "nested deeper"),
    ("deep as text", "[" * 20_000 + "]" * 20_000, PatchTooLarge, "nested deeper"),
    ("many", [replace("/name", "x")] * 33, PatchTooLarge, "33 operations"),
    ("a huge number", [replace("/name", 1 << 70)], PatchTooLarge, "63 bits"),
    ("no cause", [replace("/name", "x")], NoCause, "names none"),
]


@pytest.mark.parametrize(
    ("patch", "error", "reason"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_bad_patch_is_refused_whole_with_the_exact_reason(
    store: Store, patch: Any, error: type[PatchRefused], reason: str
) -> None:
    before = store.history("part", "fear")
    good = replace("/emotion", "Calm")
    because = [] if error is NoCause else ["event-1"]
    with pytest.raises(PatchRefused) as refusal:
        change(store, patch, because=because)
    assert type(refusal.value) is error
    assert reason in str(refusal.value)
    assert len(str(refusal.value)) < 2_000, "a refusal is for reading, however large the patch"
    if isinstance(patch, list) and error is not PatchTooLarge and patch:
        with pytest.raises(PatchRefused):  # also when something good stands before it
            change(store, [good, *patch] if reason != "changes nothing" else patch, because=because)
    assert store.history("part", "fear") == before


def test_text_that_came_out_of_memory_does_not_come_back_as_evidence(store: Store) -> None:
    hidden = {**prediction("s"), "origin": "recalled"}
    with pytest.raises((PatchRefused, RecalledEvidence)):
        change(store, [{"op": "add", "path": "/suggestions_and_results/-", "value": hidden}])
    assert store.get("part", "fear").version == 1


def test_a_patch_made_on_an_older_version_can_insist_on_it(store: Store) -> None:
    change(store, [replace("/intensity", "Low")], on_version=1)
    with pytest.raises(Overtaken, match="version 2"):
        change(store, [replace("/intensity", "None")], on_version=1)


def test_what_is_put_away_or_not_there_is_not_changed(store: Store) -> None:
    with pytest.raises(NotThere):
        apply_patch(store, "part", "love", [replace("/name", "x")], who="a", why="b", at=AT, because=["e"])
    with pytest.raises(NoCause):
        store.archive("part", "fear", who="self", why="concluded", at=AT)
    store.archive("part", "fear", who="self", why="concluded", at=AT, because=["event-2"])
    with pytest.raises(NotThere, match="archived"):
        change(store, [replace("/name", "x")])


def test_kinds_without_rules_are_not_changed_by_patches(store: Store) -> None:
    store.put("temperament", "t", {"initiative": 0.5, "persistence": 0.5, "caution": 0.5}, who="dmn", why="x", at=AT)
    with pytest.raises(PathRefused, match="not changed by patches"):
        apply_patch(store, "temperament", "t", [replace("/caution", 0.0)], who="a", why="b", at=AT, because=["e"])


def test_the_data_that_is_patched_stays_as_it_was() -> None:
    before = json.dumps(FEAR)
    patched(FEAR, [replace("/name", "Respect for Dogs"), {"op": "remove", "path": f"/triggers/{LEASH}"}], Part)
    assert json.dumps(FEAR) == before


def test_differences_are_told_in_the_terms_of_a_patch() -> None:
    after = patched(
        FEAR,
        [
            replace("/intensity", "Low"),
            {"op": "remove", "path": f"/triggers/{LEASH}"},
            replace(f"/suggestions_and_results/{PETTED}/result", "It licked me"),
        ],
        Part,
    )
    assert differences(FEAR, after, Part) == [
        Difference(f"/suggestions_and_results/{PETTED}/result", "", "It licked me"),
        Difference("/intensity", "High", "Low"),
        Difference(f"/triggers/{LEASH}", "Seeing a dog on a leash", None),
    ]
