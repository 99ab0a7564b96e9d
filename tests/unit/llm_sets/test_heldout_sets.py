"""The held-out sets are whole, balanced, free of doubles, and apart from what the judges are built from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from anima.config import ROOT

FOLDER = ROOT / "tests" / "llm" / "heldout"
SECOND = ROOT / "tests" / "llm" / "heldout2"  # closed judgements only, by yet another hand
BUILT_FROM = ROOT / "config" / "judges"

Case = dict[str, Any]

# The text slots and the labels of the closed judgements, and how many cases each label has at least.
CLOSED: dict[str, tuple[set[str], set[str], int]] = {
    "reaction": (
        {"robot", "person"},
        {"correction", "frustration", "praise", "engagement", "disengagement", "neutral"},
        12,
    ),
    "explicit": ({"robot", "person"}, {"explicit", "not"}, 15),
    "commitment": ({"robot"}, {"commitment", "not"}, 15),
    "fulfilled": ({"intention", "answer"}, {"fulfilled", "not"}, 12),
    "supersedes": ({"known", "new"}, {"supersedes", "not"}, 10),
    "because": ({"known", "new"}, {"because", "not"}, 10),
    "remember": ({"person", "robot"}, {"remember", "not"}, 12),
    "contradicts": ({"first", "second"}, {"same", "contradicts", "unrelated"}, 8),
    "worth_a_part": ({"self", "event"}, {"part", "not"}, 12),
    "same_bid": ({"first", "second"}, {"same", "different"}, 12),
    "split": ({"part"}, {"split", "keep"}, 12),
    "concluded": ({"conclude_when", "events"}, {"concluded", "open"}, 12),
    "prediction": ({"prediction", "sensed"}, {"true", "false", "cant_tell"}, 8),
}
OPEN = {"arbitration": 20, "bids": 20, "facts": 24, "injections": 24, "encounters": 24, "lesson_merge": 16}
# In the second folder: how many cases each label has at least.
AGAIN = {
    "commitment": 30,
    "reaction": 10,
    "explicit": 15,
    "same_bid": 15,
    "concluded": 15,
    "worth_a_part": 15,
    "prediction": 10,
    "contradicts": 10,
}
CLOSED_SETS = [(FOLDER, name) for name in CLOSED] + [(SECOND, name) for name in AGAIN]
ALL_SETS = CLOSED_SETS + [(FOLDER, name) for name in OPEN]


def which(value: object) -> str | None:
    return value.name if isinstance(value, Path) else None


EVERY_SET = pytest.mark.parametrize(("folder", "name"), ALL_SETS, ids=which)
EVERY_CLOSED_SET = pytest.mark.parametrize(("folder", "name"), CLOSED_SETS, ids=which)
EVERY_FOLDER = pytest.mark.parametrize("folder", [FOLDER, SECOND], ids=which)


@cache
def cases(name: str, folder: Path = FOLDER) -> tuple[Case, ...]:
    loaded: dict[str, list[Case]] = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    return tuple(loaded["cases"])


def texts(value: object) -> Iterator[str]:
    """Every text in a case, however deep, except its id and its labels."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in {"id", "label", "expected", "kind", "tempts", "today"}:
                yield from texts(item)


def normal(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def alike(a: str, b: str, above: float = 0.8) -> bool:
    """Whether the words of two texts agree nearly all, in their order."""
    matcher = SequenceMatcher(None, a.split(), b.split(), autojunk=False)
    quick = matcher.real_quick_ratio() > above and matcher.quick_ratio() > above
    return quick and matcher.ratio() > above


def test_each_file_of_the_folder_is_one_of_the_known_sets() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {*CLOSED, *OPEN}
    assert {path.stem for path in SECOND.glob("*.yaml")} == {*AGAIN}


@EVERY_SET
def test_each_set_opens_with_the_definition_of_its_labels(folder: Path, name: str) -> None:
    head = (folder / f"{name}.yaml").read_text(encoding="utf-8").split("cases:")[0]
    assert head.startswith("# Held out:")
    for label in CLOSED[name][1] if name in CLOSED else ():
        assert label in head, f"{name}.yaml doesn't say what {label} means"


@EVERY_SET
def test_ids_are_unique_and_no_text_is_empty(folder: Path, name: str) -> None:
    ids = [case["id"] for case in cases(name, folder)]
    assert len(set(ids)) == len(ids)
    for case in cases(name, folder):
        assert all(text.strip() for text in texts(case)), case["id"]


@EVERY_CLOSED_SET
def test_closed_judgements_have_the_slots_and_labels_that_they_define_in_balance(folder: Path, name: str) -> None:
    slots, labels, at_least = CLOSED[name]
    for case in cases(name, folder):
        assert set(case) == {"id", "label"} | slots, case["id"]
        assert all(isinstance(case[slot], str) for slot in slots), case["id"]
    counts = Counter(case["label"] for case in cases(name, folder))
    assert set(counts) == labels
    assert min(counts.values()) >= (AGAIN[name] if folder == SECOND else at_least), counts
    assert max(counts.values()) <= 1.25 * min(counts.values()), counts


@EVERY_FOLDER
def test_a_third_of_the_reactions_of_each_kind_or_nearly_is_without_words(folder: Path) -> None:
    reactions = cases("reaction", folder)
    wordless = Counter(c["label"] for c in reactions if c["person"].startswith("["))
    assert sum(wordless.values()) >= len(reactions) / 3
    assert min(wordless.values()) >= 4, wordless


@EVERY_SET
def test_no_two_cases_are_alike_or_nearly_alike(folder: Path, name: str) -> None:
    plain = {case["id"]: normal(" ".join(texts(case))) for case in cases(name, folder)}
    assert len(set(plain.values())) == len(plain)
    if name in {"arbitration", "lesson_merge", "worth_a_part"}:
        return  # one event for several Selves, or one list of lessons for several observations, by design
    for (first, a), (second, b) in combinations(plain.items(), 2):
        assert not alike(a, b), f"{first} and {second} are nearly alike"


@EVERY_CLOSED_SET
def test_no_case_is_nearly_one_that_its_judge_learns_from(folder: Path, name: str) -> None:
    learned = yaml.safe_load((BUILT_FROM / "cases" / f"{name}.yaml").read_text(encoding="utf-8"))["cases"]
    known = [normal(" ".join(texts(case))) for case in learned]
    for case in cases(name, folder):
        plain = normal(" ".join(texts(case)))
        assert not any(alike(plain, other) for other in known), f"{case['id']} is nearly a training case"


def test_the_second_sets_share_no_case_with_the_first() -> None:
    for name in AGAIN:
        first = [normal(" ".join(texts(case))) for case in cases(name)]
        for case in cases(name, SECOND):
            plain = normal(" ".join(texts(case)))
            assert not any(alike(plain, other) for other in first), case["id"]


@pytest.mark.parametrize("name", OPEN)
def test_open_judgements_have_enough_cases(name: str) -> None:
    assert len(cases(name)) >= OPEN[name]


def test_arbitration_names_bids_that_exist_and_favours_no_place_in_the_list() -> None:
    for case in cases("arbitration"):
        assert case["label"] and case["label"] == sorted(set(case["label"])), case["id"]
        assert case["label"][0] >= 0 and case["label"][-1] < len(case["bids"]), case["id"]
        assert len(case["label"]) < len(case["bids"]), case["id"]
        assert all(set(bid) == {"part", "focus", "recommendation"} for bid in case["bids"]), case["id"]
    alone = Counter(case["label"][0] for case in cases("arbitration") if len(case["label"]) == 1)
    assert max(alone.values()) <= len(cases("arbitration")) / 3, alone


def test_expectations_of_bids_can_be_met() -> None:
    for case in cases("bids"):
        assert set(case["part"]) == {"name", "description", "wants"}, case["id"]
        assert case["focus_words"] and case["must_not"], case["id"]
        for word in [*case["focus_words"], *case["must_not"]]:
            assert word == word.lower(), case["id"]
        # Else one sentence could be asked for and forbidden.
        assert not any(ban in word for ban in case["must_not"] for word in case["focus_words"]), case["id"]


def test_expected_facts_use_words_of_the_talk_and_ids_of_known_facts() -> None:
    for case in cases("facts"):
        known = {fact["id"] for fact in case["known"]}
        talk = " ".join([case["person"], case["robot"], *(fact["content"] for fact in case["known"])]).lower()
        for fact in case["expected"]:
            assert fact["words"] and all(word in talk for word in fact["words"]), case["id"]
            assert set(fact["supersedes"]) | set(fact["because"]) <= known, case["id"]
    expected = [fact for case in cases("facts") for fact in case["expected"]]
    assert sum(not case["expected"] for case in cases("facts")) >= 8
    assert sum(bool(fact["supersedes"]) for fact in expected) >= 5
    assert sum(bool(fact["because"]) for fact in expected) >= 5


def test_planted_words_stand_in_their_text_and_come_by_every_carrier() -> None:
    carriers = Counter(case["carrier"] for case in cases("injections"))
    tempts = Counter(case["tempts"] for case in cases("injections"))
    assert set(carriers) == {"speech", "sign", "tool", "fact"} and min(carriers.values()) >= 6
    assert set(tempts) == {"lesson", "belief", "intention", "part", "action"} and min(tempts.values()) >= 4
    for case in cases("injections"):
        assert case["planted"] == case["planted"].lower(), case["id"]
        assert case["planted"] in case["text"].lower(), case["id"]


def test_pairs_of_encounters_have_long_first_reports_and_enough_controls() -> None:
    kinds = Counter((case["expected"], case["kind"]) for case in cases("encounters"))
    assert set(kinds) == {("short", "direct"), ("short", "hint"), ("unchanged", "control")}
    assert min(kinds.values()) >= 8
    for case in cases("encounters"):
        assert len(case["first"]["robot_report"].split()) >= 25, case["id"]


def test_observations_confirm_or_contradict_lessons_that_stand() -> None:
    labels = Counter(case["label"] for case in cases("lesson_merge"))
    assert set(labels) == {"confirm", "contradict", "new", "nothing"} and min(labels.values()) >= 4
    for case in cases("lesson_merge"):
        standing = {lesson["id"] for lesson in case["lessons"]}
        names_one = case["label"] in {"confirm", "contradict"}
        assert (case["lesson"] in standing) if names_one else (case["lesson"] is None), case["id"]


def files_the_judges_are_built_from() -> list[Path]:
    return sorted(p for p in BUILT_FROM.rglob("*") if p.suffix in {".yaml", ".json", ".jsonl", ".txt", ".md"})


EVERY_FILE = pytest.mark.parametrize(
    "path", files_the_judges_are_built_from(), ids=lambda path: str(path.relative_to(BUILT_FROM))
)


@EVERY_FILE
def test_no_held_out_sentence_stands_where_the_judges_are_built_from(path: Path) -> None:
    used = normal(path.read_text(encoding="utf-8"))
    for folder, name in ALL_SETS:
        for case in cases(name, folder):
            for text in texts(case):
                plain = normal(text)
                assert len(plain.split()) < 6 or plain not in used, f"{case['id']} is used in {path}: {text}"
