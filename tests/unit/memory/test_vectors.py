"""Finding by meaning: what is alike is found, and the index is made anew whenever it can't be trusted."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support.parts_rig import cause, part

from anima.install.manifest import Manifest
from anima.install.store import ModelStore
from anima.memory import nearest
from anima.memory.embedding import VOCABULARY, MiniLm, WordPieces
from anima.memory.kinds import PART
from anima.memory.nearest import Nearest
from anima.memory.store import Store
from anima.memory.vectors import MeaningIndex
from anima.parts.library import PartLibrary


@pytest.fixture(scope="module")
def embedder() -> MiniLm:
    return MiniLm.load()


def unit(rng: np.random.Generator, count: int, dimensions: int = 16) -> np.ndarray:
    made = rng.normal(size=(count, dimensions))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


# --- words -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces.load(ModelStore().require(Manifest.load().get(VOCABULARY)))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("A dog barks!", [101, 1037, 3899, 11286, 2015, 999, 102]),
        ("naïve Café", [101, 15743, 7668, 102]),
        ("don't", [101, 2123, 1005, 1056, 102]),
        ("日本", [101, 1864, 1876, 102]),
        ("unaffable tokenization", [101, 14477, 20961, 3468, 19204, 3989, 102]),
        ("a\tb\nc", [101, 1037, 1038, 1039, 102]),
        ("x" * 101, [101, 100, 102]),
        ("", [101, 102]),
    ],
)
def test_texts_become_the_tokens_that_the_model_was_trained_on(pieces: WordPieces, text: str, ids: list[int]) -> None:
    assert pieces.ids(text) == ids


def test_a_text_of_any_length_is_cut_to_what_the_model_reads(pieces: WordPieces) -> None:
    assert len(pieces.ids("word " * 100_000)) == 128


def test_what_means_the_same_points_the_same_way(embedder: MiniLm) -> None:
    texts = ["A dog barks outside", "Hearing barking in the distance", "I need to finish my math homework"]
    vectors = embedder.embed(texts)
    assert vectors.shape == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > 0.2 > vectors[0] @ vectors[2]


def test_a_text_gives_the_same_vector_whatever_it_stands_beside(embedder: MiniLm) -> None:
    fresh = MiniLm.load()
    alone = embedder.embed(["the rug stalls my wheel"])[0]
    beside = fresh.embed(["a much longer text that shares the call " * 5, "the rug stalls my wheel"])[1]
    assert np.array_equal(alone, beside)


# --- neighbours ------------------------------------------------------------------------------------


def filled(count: int, seed: int = 1) -> tuple[Nearest, dict[str, np.ndarray]]:
    vectors = unit(np.random.default_rng(seed), count)
    truth = {f"k{number}": vector for number, vector in enumerate(vectors)}
    found = Nearest(16)
    found.build(list(truth), vectors)
    return found, truth


def recall(found: Nearest, truth: dict[str, np.ndarray], queries: int = 50) -> float:
    """Share of the ten really nearest that are found."""
    keys, matrix = list(truth), np.stack(list(truth.values()))
    hits = 0
    for query in unit(np.random.default_rng(99), queries):
        best = {keys[row] for row in np.argsort(-(matrix @ query))[:10]}
        hits += len(best & {hit.key for hit in found.search(query[None], 10)[0]})
    return hits / (10 * queries)


@pytest.mark.parametrize("count", [1, 10, 500, 3_000])
def test_few_are_compared_exactly_and_many_nearly_so(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 1_000)
    found, truth = filled(count)
    assert len(found) == count
    if count >= 10:
        assert recall(found, truth) >= (0.99 if count > 1_000 else 1.0)


def test_what_is_replaced_and_removed_is_no_longer_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 300)
    found, truth = filled(1_500)
    luck = np.random.default_rng(3)
    for number in range(0, 1_500, 3):
        truth[f"k{number}"] = unit(luck, 1)[0]
        found.put(f"k{number}", truth[f"k{number}"])
    for number in range(1, 1_500, 3):
        found.remove(f"k{number}")
        del truth[f"k{number}"]
    found.remove("nobody")
    assert sorted(found.keys()) == sorted(truth)
    assert len(found) == len(truth)
    assert recall(found, truth) >= 0.99
    for key in list(truth)[:20]:
        assert found.search(truth[key][None], 1)[0][0].key == key


def test_one_that_changes_a_thousand_times_hides_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 200)
    found, truth = filled(600)
    luck = np.random.default_rng(4)
    for _ in range(1_000):
        truth["k5"] = unit(luck, 1)[0]
        found.put("k5", truth["k5"])
    assert recall(found, truth) >= 0.99
    assert len(found) == 600


def test_all_of_it_comes_back_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT", 200)
    found, _ = filled(900)
    found.remove("k3")
    again = Nearest.load(16, found.dump())
    query = unit(np.random.default_rng(5), 3)
    assert again.search(query, 10) == found.search(query, 10)
    again.put("k3", query[0])
    assert again.search(query[:1], 1)[0][0].key == "k3"
    with pytest.raises(ValueError, match="differ"):
        Nearest.load(16, {**found.dump(), "old_keys": np.frombuffer(b"[]", dtype=np.uint8)})


# --- the index beside the store --------------------------------------------------------------------


def begin(store: Store, embedder: MiniLm, file: Path, count: int = 4) -> MeaningIndex:
    library = PartLibrary(store, embedder)
    for number in range(count):
        library.create(part(f"Part {number}", f"I am about matter {number}.", [f"matter {number}"]), cause())
    index = MeaningIndex(store, PART, embedder, file)
    index.refresh()
    index.save()
    return index


def test_it_goes_on_where_it_was_and_takes_in_what_came_since(url: str, tmp_path: Path, embedder: MiniLm) -> None:
    file = tmp_path / "parts.index"
    with Store(url) as store:
        assert begin(store, embedder, file).rebuilt_because == "there was none"
        PartLibrary(store, embedder).archive("part-2", cause())
        again = MeaningIndex(store, PART, embedder, file)
        assert again.rebuilt_because == ""
        assert [item.id for item in again.refresh()] == ["part-2"]
        assert again.keys() == ["part-0", "part-1", "part-3"]
        assert again.search(["matter 3"], 1)[0].key == "part-3"


@pytest.mark.parametrize("harm", ["gone", "cut", "flipped", "empty", "nonsense"])
def test_a_damaged_index_is_made_anew(harm: str, tmp_path: Path, embedder: MiniLm) -> None:
    file = tmp_path / "parts.index"
    with Store(f"sqlite:///{tmp_path}/mind.db") as store:
        whole = begin(store, embedder, file)
        data = bytearray(file.read_bytes())
        middle = len(data) // 2
        data[middle] ^= 0xFF
        written = {"cut": bytes(data[:middle]), "flipped": bytes(data), "empty": b"", "nonsense": os.urandom(2_000)}
        file.unlink() if harm == "gone" else file.write_bytes(written[harm])
        again = MeaningIndex(store, PART, embedder, file)
        again.refresh()
        assert again.rebuilt_because
        assert again.keys() == whole.keys()
        assert again.search(["matter 1"], 4) == whole.search(["matter 1"], 4)


def test_an_index_of_another_store_or_another_embedder_is_not_trusted(tmp_path: Path, embedder: MiniLm) -> None:
    file = tmp_path / "parts.index"
    with Store(f"sqlite:///{tmp_path}/mind.db") as store:
        begin(store, embedder, file)
        renamed = MiniLm.load()
        renamed.name = "another"
        assert "another embedder" in MeaningIndex(store, PART, renamed, file).rebuilt_because
    with Store(f"sqlite:///{tmp_path}/other.db") as other:
        PartLibrary(other, embedder).create(part("Somebody else"), cause())
        index = MeaningIndex(other, PART, embedder, file)
        assert "another store" in index.rebuilt_because
        index.refresh()
        assert index.keys() == ["somebody-else"]


def test_an_index_that_can_t_be_written_is_only_slower_to_open(tmp_path: Path, embedder: MiniLm) -> None:
    (tmp_path / "file").write_text("in the way")
    with Store(f"sqlite:///{tmp_path}/mind.db") as store:
        index = begin(store, embedder, tmp_path / "file" / "parts.index")
        assert index.search(["matter 1"], 1)[0].key == "part-1"


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path, embedder: MiniLm) -> None:
    file = tmp_path / "parts.index"
    (tmp_path / "parts.index.4711.new").write_bytes(b"half of it")
    with Store(f"sqlite:///{tmp_path}/mind.db") as store:
        begin(store, embedder, file)
    assert [path.name for path in tmp_path.glob("parts.index*")] == ["parts.index"]


def test_kinds_that_have_no_texts_are_not_searched(tmp_path: Path, embedder: MiniLm) -> None:
    with Store(f"sqlite:///{tmp_path}/mind.db") as store:
        mood = {"initiative": 0.5, "persistence": 0.5, "caution": 0.5}
        store.put("temperament", "t", mood, who="dmn", why="x", at=cause().at)
        with pytest.raises(TypeError, match="search_texts"):
            MeaningIndex(store, "temperament", embedder).refresh()
