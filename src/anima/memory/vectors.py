"""Finding what is kept by what it means: an index that follows the store, and is made anew when it can't be trusted."""

from __future__ import annotations

import contextlib
import os
import threading
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from pydantic import ValidationError

from anima.memory.embedding import Embedder, Vectors
from anima.memory.nearest import Hit, Nearest
from anima.memory.rows import Item
from anima.memory.store import Store

FORMAT = 2
_BATCH = 500
_SAVED_EVERY = 256

Progress = Callable[[int, int], None]
"""Told how many items are in the index, and how many there will be."""


@runtime_checkable
class Searchable(Protocol):
    """A kind's model that can be found by meaning."""

    def search_texts(self) -> list[str]:
        """What it is about, then the cues that it belongs to."""


class MeaningIndex:
    """The items of one kind that are not archived, by what their texts mean.

    It is derived: whatever is in the file beside the store (none: it is kept in memory), the store is right. The file
    says up to which version it was made and by which embedder; what was written since is added, and a file that is
    missing, damaged, of another store or of another embedder is made anew. Threads may share it.
    """

    def __init__(self, store: Store, kind: str, embedder: Embedder, file: Path | None = None) -> None:
        self._store = store
        self._kind = kind
        self._model = store.model(kind)
        self._embedder = embedder
        self._file = file
        self._lock = threading.RLock()
        self._near = Nearest(embedder.dimensions)
        self._seq, self._digest, self._unsaved = 0, "", 0
        self.rebuilt_because = self._open()
        """Why it was made anew when it was opened; empty when it went on."""

    def __len__(self) -> int:
        return len(self._near)

    def keys(self) -> list[str]:
        """The ids of the items in it, sorted."""
        with self._lock:
            return sorted(self._near.keys())

    def refresh(self, progress: Progress | None = None) -> list[Item]:
        """Take in what was written since; returns the newest version of each item that changed, oldest first."""
        with self._lock:
            changed: dict[str, Item] = {}
            while batch := self._store.since(self._kind, self._seq, _BATCH):
                newest = {item.id: item for item in batch}
                for item in newest.values():
                    changed.pop(item.id, None)
                    changed[item.id] = item
                self._take(list(newest.values()))
                self._seq, self._digest = batch[-1].seq, batch[-1].digest
                self._unsaved += len(newest)
                if progress is not None:
                    progress(len(self._near), self._seq)
            if self._unsaved >= _SAVED_EVERY:
                self.save()
            return list(changed.values())

    def search(self, texts: Sequence[str], k: int) -> list[Hit]:
        """The k items that are most alike any of the texts, best first; each with its best cosine."""
        if not texts or k < 1:
            return []
        queries = self._embedder.embed(texts)
        with self._lock:
            found = self._near.search(queries, k)
        best: dict[str, float] = {}
        for hits in found:
            for hit in hits:
                best[hit.key] = max(hit.score, best.get(hit.key, -1.0))
        return [Hit(key, score) for key, score in sorted(best.items(), key=lambda item: (-item[1], item[0]))][:k]

    def save(self) -> None:
        """Write the file, whole or not at all. An index that can't be written is only slower to open."""
        if self._file is None:
            return
        with self._lock:
            head = {"format": FORMAT, "embedder": self._embedder.name, "seq": self._seq, "digest": self._digest}
            draft = self._file.with_name(f"{self._file.name}.{os.getpid()}.new")
            with contextlib.suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
                for left in self._file.parent.glob(f"{self._file.name}.*.new"):
                    left.unlink()  # by a process that was killed; one that is at it loses no more than this writing
                with draft.open("wb") as stream:
                    arrays: dict[str, Any] = {**head, **self._near.dump()}
                    np.savez(stream, **arrays)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(draft, self._file)
                self._unsaved = 0

    def _take(self, items: Sequence[Item]) -> None:
        keys, vectors = [], []
        for item in items:
            if item.archived:
                self._near.remove(item.id)
                continue
            try:
                found = self._model.model_validate(item.data)
            except ValidationError:
                self._near.remove(item.id)  # written by another version of the mind; `verify` tells of it
                continue
            if not isinstance(found, Searchable):
                raise TypeError(f"{self._model.__name__} has no search_texts, so it can't be found by meaning")
            keys.append(item.id)
            vectors.append(self._vector(found.search_texts()))
        if len(self._near) == 0 and keys:
            self._near.build(keys, np.stack(vectors))
            return
        for key, vector in zip(keys, vectors, strict=True):
            self._near.put(key, vector)

    def _vector(self, texts: Sequence[str]) -> Vectors:
        return blend(self._embedder.embed(texts))

    def _open(self) -> str:
        if self._file is None:
            return "it is kept in memory"
        if not self._file.exists():
            return "there was none"
        try:
            with np.load(self._file, allow_pickle=False) as arrays:
                if int(arrays["format"]) != FORMAT or str(arrays["embedder"]) != self._embedder.name:
                    return "it was made by another embedder or in another format"
                seq, digest = int(arrays["seq"]), str(arrays["digest"])
                if seq and self._store.digest_at(seq) != digest:
                    return "it was made from another store"
                near = Nearest.load(self._embedder.dimensions, arrays)
        except (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
            return f"it can't be read: {error}"
        self._near, self._seq, self._digest = near, seq, digest
        return ""


def blend(vectors: Vectors) -> Vectors:
    """One direction for an item with several texts, shape (texts, dimensions): what it is about weighs as much as all
    its cues together."""
    mixed = vectors[0] if len(vectors) == 1 else vectors[0] + vectors[1:].mean(axis=0)
    blended: Vectors = (mixed / max(float(np.linalg.norm(mixed)), 1e-12)).astype(np.float32)
    return blended
