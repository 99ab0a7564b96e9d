"""The folder of model files knows what it holds."""

from __future__ import annotations

import os

import pytest

from anima.install.errors import HashMismatch, ModelMissing
from anima.install.manifest import Model
from anima.install.store import ModelStore, State


def _put(store: ModelStore, model: Model, data: bytes) -> None:
    store.folder.mkdir(parents=True, exist_ok=True)
    store.path(model).write_bytes(data)


def test_a_missing_model_s_error_says_the_command_that_fetches_it(model: Model, store: ModelStore) -> None:
    with pytest.raises(ModelMissing, match=r"\./anima models fetch tiny"):
        store.require(model)


def test_a_file_that_changed_after_its_hash_was_taken_is_no_longer_verified(
    model: Model, store: ModelStore, content: bytes
) -> None:
    _put(store, model, content)
    store.verify(model)
    _put(store, model, b"\x00" * len(content))
    os.utime(store.path(model), ns=(1, 1))
    assert store.state(model) is State.UNVERIFIED
    with pytest.raises(HashMismatch, match="is not tiny"):
        store.verify(model)


def test_a_file_of_another_size_is_wrong_without_reading_it(model: Model, store: ModelStore) -> None:
    _put(store, model, b"short")
    assert store.state(model) is State.WRONG
    with pytest.raises(ModelMissing, match="wrong size"):
        store.require(model)


def test_a_torn_note_beside_the_file_only_means_that_the_hash_is_taken_again(
    model: Model, store: ModelStore, content: bytes
) -> None:
    _put(store, model, content)
    (store.folder / f".{model.file}.json").write_text("{", encoding="utf-8")
    assert store.state(model) is State.UNVERIFIED
    store.verify(model)
    assert store.state(model) is State.VERIFIED
