"""The library of parts: made, found by an event, changed, divided, joined, put away; and nothing is ever lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.parts_rig import NOW, cause, part, prediction
from support.stores import url

from anima.memory.embedding import MiniLm
from anima.memory.errors import BadData, NotThere, Overtaken
from anima.memory.patch_refusals import NoCause
from anima.memory.store import Store
from anima.parts.library import PartLibrary
from anima.parts.schema import Lineage, Part, utc_s

__all__ = ["url"]

ROLY = part("Roly", "I know Roly from the workshop.", ["Roly speaks to me", "firmware of the motor", "Roly is sad"])
HOMEWORK = part(
    "Homework: Math Assignment", "I want the math homework finished today.", ["procrastination", "a game is opened"]
)
STYLE = part("Report Style Preferences (Taylor)", "I care that reports are specific.", ["report", "summary", "rewrite"])


@pytest.fixture(scope="module")
def embedder() -> MiniLm:
    return MiniLm.load()


@pytest.fixture
def library(url: str, embedder: MiniLm) -> Iterator[PartLibrary]:
    with Store(url) as store:
        yield PartLibrary(store, embedder)
        assert store.verify() == []


def woken(library: PartLibrary, *queries: str, k: int = 2) -> list[str]:
    return [activated.kept.id for activated in library.retrieve(queries, k)]


@pytest.fixture
def full(library: PartLibrary) -> PartLibrary:
    for each in (part(), HOMEWORK, ROLY, STYLE):
        library.create(each, cause())
    return library


def test_an_event_wakes_the_part_that_it_concerns(full: PartLibrary) -> None:
    assert woken(full, "There is a dog in the park")[0] == "fear-of-dogs"
    assert woken(full, "Could you rewrite that summary?")[0] == "report-style-preferences-taylor"
    assert woken(full, "Roly says the motor firmware does not build")[0] == "roly"
    assert woken(full, "let's play a video game instead of math")[0] == "homework-math-assignment"


def test_several_queries_wake_what_each_of_them_concerns(full: PartLibrary) -> None:
    assert set(woken(full, "a dog barks", "a message from Roly", k=2)) == {"fear-of-dogs", "roly"}
    scores = [activated.score for activated in full.retrieve(["a dog barks"], 4)]
    assert scores == sorted(scores, reverse=True)
    assert full.retrieve([], 3) == full.retrieve(["dog"], 0) == []


def test_a_part_is_kept_with_the_reason_and_the_event(library: PartLibrary) -> None:
    kept = library.create(part(), cause("the dog frightened me", because=("event-7", "event-8")))
    assert (kept.id, kept.version, kept.because) == ("fear-of-dogs", 1, ("event-7", "event-8"))
    assert library.get("fear-of-dogs") == kept
    with pytest.raises(NoCause):
        library.create(part(), cause(because=()))
    assert library.create(part(), cause()).id == "fear-of-dogs-2"
    with pytest.raises(Overtaken):
        library.create(part(), cause(), id="fear-of-dogs")


def test_a_reworded_part_is_found_by_its_new_words(full: PartLibrary) -> None:
    full.patch(
        "homework-math-assignment",
        [
            {"op": "replace", "path": "/name", "value": "Violin practice"},
            {"op": "replace", "path": "/description", "value": "I want the violin to be practised."},
            {"op": "replace", "path": "/triggers", "value": ["the violin is out of its case"]},
        ],
        cause("the homework was done, the violin was not"),
    )
    assert woken(full, "somebody plays the violin")[0] == "homework-math-assignment"
    assert [kept.part.name for kept in full.history("homework-math-assignment")] == [
        "Homework: Math Assignment", "Violin practice"
    ]
    paths = [change.path.split("/")[1] for change in full.diff("homework-math-assignment", 1, 2)]
    assert paths == ["name", "description", "triggers", "triggers", "triggers"]


def test_a_concluded_part_sleeps_and_is_not_gone(full: PartLibrary) -> None:
    full.archive("homework-math-assignment", cause("the assignment was handed in"))
    assert "homework-math-assignment" not in woken(full, "math homework", k=9)
    assert "homework-math-assignment" not in {kept.id for kept in full.active()}
    kept = full.get("homework-math-assignment")
    assert kept.archived and kept.part == HOMEWORK and kept.why == "the assignment was handed in"
    with pytest.raises(NotThere, match="handed in"):
        full.archive("homework-math-assignment", cause())
    with pytest.raises(NotThere):
        full.patch("homework-math-assignment", [{"op": "replace", "path": "/name", "value": "x"}], cause())


def test_a_prediction_comes_back_when_its_time_is_over_and_only_until_it_is_judged(library: PartLibrary) -> None:
    made = part(suggestions_and_results=[prediction("stay", "60"), prediction("go", "3600"), prediction("hide", "30")])
    kept = library.create(made, cause())
    said = utc_s("2026-02-13T13:29:51-08:00")
    assert library.due(said + 29.0) == []
    assert [due.suggestion.your_suggestion for due in library.due(said + 61.0)] == ["hide", "stay"]
    assert len(library.due(said + 61.0, most=1)) == 1
    late = library.due(said + 61.0)[1]
    assert late.due_utc_s == said + 60.0
    result = {"op": "replace", "path": f"/suggestions_and_results/{late.entry}/result", "value": "It barked once"}
    library.patch(kept.id, [result], cause("its time was over"))
    assert [due.suggestion.your_suggestion for due in library.due(said + 61.0)] == ["hide"]
    library.archive(kept.id, cause("there are no more dogs"))
    assert library.due(said + 1e6) == []


def test_what_is_due_is_known_again_after_a_restart(url: str, tmp_path: Path, embedder: MiniLm) -> None:
    with Store(url) as store:
        library = PartLibrary(store, embedder, tmp_path / "parts.index")
        library.create(part(suggestions_and_results=[prediction("stay", "60")]), cause())
        library.retrieve(["dog"], 1)
        library.close()
    with Store(url) as store:
        library = PartLibrary(store, embedder, tmp_path / "parts.index")
        assert library.index.rebuilt_because == ""
        assert [due.suggestion.your_suggestion for due in library.due(NOW)] == ["stay"]
        assert woken(library, "a dog") == ["fear-of-dogs"]


def test_a_part_that_grew_too_large_divides_and_its_descent_is_known(full: PartLibrary) -> None:
    technical = part("Roly — technical mode", "I build firmware with Roly.", ["firmware of the motor"])
    rapport = part("Roly — emotional rapport mode", "I am there for Roly.", ["Roly is sad"])
    one, other = full.split("roly", [technical, rapport], cause("two tones in one part"))
    assert (one.id, other.id) == ("roly-technical-mode", "roly-emotional-rapport-mode")
    assert full.get("roly").archived
    assert full.lineage("roly") == Lineage(superseded_by=[one.id, other.id])
    assert full.lineage(one.id) == Lineage(split_from="roly")
    assert woken(full, "the motor firmware", k=1) == [one.id]
    assert woken(full, "Roly is sad and cries", k=1) == [other.id]


def test_parts_that_say_the_same_join(full: PartLibrary) -> None:
    second = full.create(part("Dread of Dogs"), cause())
    joined = full.merge(["fear-of-dogs", second.id], part("Care around Dogs"), cause("they always bid the same"))
    assert full.lineage(joined.id) == Lineage(merged_from=["fear-of-dogs", second.id])
    assert full.lineage(second.id).superseded_by == [joined.id]
    assert woken(full, "a dog on a leash", k=1) == [joined.id]
    with pytest.raises(NotThere):
        full.merge(["fear-of-dogs", joined.id], part("Again"), cause())


def test_a_division_keeps_its_own_descent_when_it_ends_in_turn(full: PartLibrary) -> None:
    halves = [part("Roly at work", "I work.", ["work"]), part("Roly at rest", "I rest.", ["rest"])]
    one, other = full.split("roly", halves, cause())
    whole = full.merge([one.id, other.id], part("Roly again", "I know Roly.", ["Roly"]), cause())
    assert full.lineage(one.id) == Lineage(split_from="roly", superseded_by=[whole.id])


def test_division_and_joining_make_up_no_past_and_happen_whole_or_not_at_all(full: PartLibrary) -> None:
    before = {kept.id: kept.version for kept in full.active()}
    made_up = part("Roly at work", "I work.", ["work"]).model_copy(
        update={"suggestions_and_results": part().suggestions_and_results}
    )
    with pytest.raises(BadData, match="none before it lived"):
        full.split("roly", [made_up, HOMEWORK], cause())
    with pytest.raises(BadData, match="two or more"):
        full.split("roly", [HOMEWORK], cause())
    with pytest.raises(BadData):
        full.merge(["roly", "roly"], ROLY, cause())
    with pytest.raises(NotThere):
        full.merge(["roly", "nobody"], ROLY, cause())
    assert {kept.id: kept.version for kept in full.active()} == before


def test_another_process_s_parts_are_seen(url: str, embedder: MiniLm) -> None:
    with Store(url) as mine, Store(url) as theirs:
        here, there = PartLibrary(mine, embedder), PartLibrary(theirs, embedder)
        there.create(part(), cause())
        assert woken(here, "dog") == ["fear-of-dogs"]
        there.archive("fear-of-dogs", cause())
        assert woken(here, "dog") == []


def test_two_parts_of_one_name_at_once_both_get_an_id(url: str, embedder: MiniLm) -> None:
    with Store(url) as mine, Store(url) as theirs:
        ids = [PartLibrary(store, embedder).create(part(), cause()).id for store in (mine, theirs)]
    assert ids == ["fear-of-dogs", "fear-of-dogs-2"]


def test_the_seed_of_a_part_is_what_is_kept(full: PartLibrary) -> None:
    kept = full.get("roly")
    assert Part.model_validate(kept.part.model_dump()) == ROLY
