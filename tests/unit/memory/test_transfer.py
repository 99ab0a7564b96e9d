"""A mind goes into a file and comes out of it unchanged, on either database; a bad file is refused whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.parts_rig import cause, part
from support.stores import new_url

from anima.memory.embedding import MiniLm
from anima.memory.errors import BadData, StoreError
from anima.memory.rows import Stamp
from anima.memory.store import Store
from anima.memory.transfer import import_mind, read_export, write_export
from anima.parts.library import PartLibrary

AT = Stamp(1_000.0, "utc", 1_000.0)
REPLACED = {"op": "replace", "path": "/intensity", "value": "Low"}


@pytest.fixture(scope="module")
def embedder() -> MiniLm:
    return MiniLm.load()


def live(store: Store, embedder: MiniLm) -> None:
    library = PartLibrary(store, embedder)
    library.create(part(), cause())
    library.create(part("Größe „zählt“ 🐕"), cause())
    library.patch("fear-of-dogs", [REPLACED], cause("it was harmless"))
    library.archive("fear-of-dogs", cause("no more dogs"))
    mood = {"initiative": 0.1 + 0.2, "persistence": 1e-300, "caution": 1.0}
    store.put("temperament", "default", mood, who="dmn", why="it drifted", at=AT)


@pytest.fixture
def file(tmp_path: Path, embedder: MiniLm) -> Path:
    with Store(f"sqlite:///{tmp_path}/old.db") as store:
        live(store, embedder)
        assert write_export(store.everything(), tmp_path / "mind.jsonl") == 5
    return tmp_path / "mind.jsonl"


@pytest.mark.parametrize(("old", "new"), [("sqlite", "postgresql"), ("postgresql", "sqlite")])
def test_a_mind_moves_from_one_database_to_the_other_with_its_whole_past(
    old: str, new: str, tmp_path: Path, embedder: MiniLm
) -> None:
    (tmp_path / "a").mkdir()
    with Store(new_url(old, tmp_path)) as here, Store(new_url(new, tmp_path / "a")) as there:
        live(here, embedder)
        write_export(here.everything(), tmp_path / "mind.jsonl")
        assert import_mind(there, tmp_path / "mind.jsonl") == (5, 5)
        assert list(there.everything()) == list(here.everything())
        assert there.verify() == []
        assert import_mind(there, tmp_path / "mind.jsonl") == (5, 0), "again changes nothing"
        write_export(there.everything(), tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "mind.jsonl").read_bytes()


def test_what_came_since_is_added_to_what_is_there(file: Path, tmp_path: Path, embedder: MiniLm) -> None:
    with Store(f"sqlite:///{tmp_path}/new.db") as there:
        import_mind(there, file)
        with Store(f"sqlite:///{tmp_path}/old.db") as here:
            PartLibrary(here, embedder).create(part("Roly"), cause())
            write_export(here.everything(), file)
        assert import_mind(there, file) == (6, 1)


def test_minds_that_went_different_ways_are_not_mixed(file: Path, url: str, embedder: MiniLm) -> None:
    with Store(url) as store:
        PartLibrary(store, embedder).create(part("Größe „zählt“ 🐕", "I am another."), cause(), id="gr-e-z-hlt")
        before = list(store.everything())
        with pytest.raises(BadData, match="another version of that number"):
            import_mind(store, file)
        assert list(store.everything()) == before


def sealed(lines: list[str]) -> str:
    """A file whose seal is right, whatever is in it."""
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    seal = json.dumps({"versions": len(lines) - 1, "sha256": digest}, separators=(",", ":"))
    return "".join(f"{line}\n" for line in [*lines, seal])


def forged(change: Callable[[list[str]], object]) -> Callable[[str], str]:
    def forge(text: str) -> str:
        lines = text.splitlines()[:-1]
        change(lines)
        return sealed(lines)

    return forge


def set_field(line: int, field: str, value: object) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[line] = json.dumps({**json.loads(lines[line]), field: value}, separators=(",", ":"))

    return change


def set_line(line: int, text: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[line] = text

    return change


BAD: list[tuple[str, Callable[[str], str], str]] = [
    ("empty", lambda text: "", "end is missing"),
    ("cut in a line", lambda text: text[: len(text) // 2], "cut off"),
    ("cut at a line", lambda text: "\n".join(text.splitlines()[:3]) + "\n", "end is missing"),
    ("a letter changed", lambda text: text.replace("Terror", "Terrur", 1), "was changed"),
    ("a line gone", lambda text: "\n".join(text.splitlines()[:2] + text.splitlines()[3:]) + "\n", "was changed"),
    ("more behind", lambda text: text + "{}\n", "behind the end"),
    ("no export", lambda text: '{"hello": 1}\n', "no export of a mind"),
    ("a layout to come", forged(set_field(0, "layout", 99)), "layout 99"),
    ("forged data", forged(set_field(1, "why", "because I say so")), "not what was written"),
    ("a version missing", forged(lambda lines: lines.pop(1)), "version 1 is missing"),
    ("an unknown kind", forged(set_field(1, "kind", "grudge")), "grudge"),
    ("another type", forged(set_field(1, "version", "1")), "version"),
    ("something more", forged(set_field(1, "sudo", True)), "sudo"),
    ("bad data", forged(set_field(5, "data", {"initiative": 7})), "initiative"),
    ("recalled", forged(set_field(5, "data", {"origin": "recalled"})), "came out of memory"),
    ("no JSON", forged(set_line(2, "{nonsense")), "line 3: it is no JSON"),
    ("no object", forged(set_line(2, "[]")), "line 3: expected an object"),
    ("bottomless", forged(set_line(2, "[" * 50_000)), "line 3: it is nested"),
    ("not a number", forged(set_line(2, '{"utc_s": NaN}')), "line 3: JSON has no number NaN"),
    ("a line of 5 MB", forged(set_line(2, '{"x": "' + "x" * 5_000_000 + '"}')), "line 3: it is cut off, or longer"),
]


@pytest.mark.parametrize(("harm", "reason"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_file_is_refused_whole(
    file: Path, tmp_path: Path, embedder: MiniLm, harm: Callable[[str], str], reason: str
) -> None:
    file.write_text(harm(file.read_text(encoding="utf-8")), encoding="utf-8")
    with Store(f"sqlite:///{tmp_path}/new.db") as store:
        PartLibrary(store, embedder).create(part("Roly"), cause())
        before = list(store.everything())
        with pytest.raises(StoreError) as refusal:
            import_mind(store, file)
        assert reason in str(refusal.value)
        assert list(store.everything()) == before


def test_a_file_is_written_whole_or_not_at_all(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()

    def breaks_off() -> object:
        yield from read_export(file)[:2]
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write_export(breaks_off(), file)  # type: ignore[arg-type]
    assert file.read_bytes() == whole
    assert [path.name for path in tmp_path.glob("mind.jsonl*")] == ["mind.jsonl"]
