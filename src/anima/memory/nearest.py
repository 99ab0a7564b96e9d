"""Nearest neighbours among named unit vectors: compared in full while they are few, else first in short form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

EXACT = 4096
"""So many of the youngest vectors are compared in full, which takes a millisecond; older ones first in short form."""

_MOVED = 64
_AXES = 128
_CANDIDATES = 400
_LEARNT_FROM = 8192
_WORN = 0.25
# The robot's other cores are left to others.
faiss.omp_set_num_threads(1)


@dataclass(frozen=True)
class Hit:
    """A name and how alike it is: the cosine, -1..1."""

    key: str
    score: float


class Nearest:
    """Unit vectors by key. A key's vector can be replaced and removed at any time.

    The older ones are compared in short form: along the 128 axes on which they differ most, a byte each. The 400 that
    look best so are compared in full. 100,000 take two milliseconds on one core. What is replaced is only marked; when
    a quarter is marked, or they have become twice as many as the axes were found for, all are put in short form anew
    (a second for 100,000).
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._young = _Slots(dimensions)
        self._clear_old()

    def _clear_old(self) -> None:
        self._short: _Short | None = None
        self._old = np.zeros((0, self._dimensions), dtype=np.float32)
        self._old_count = 0
        self._old_keys: list[str] = []
        self._row: dict[str, int] = {}
        self._living = np.zeros(0, dtype=bool)
        self._selector: Any = None

    def __len__(self) -> int:
        return len(self._young.row) + len(self._row)

    def __contains__(self, key: str) -> bool:
        return key in self._young.row or key in self._row

    def keys(self) -> Iterable[str]:
        """All keys, in no particular order."""
        yield from self._young.row
        yield from self._row

    def put(self, key: str, vector: Vectors) -> None:
        """Have `key` at `vector` (of length 1), wherever it was before."""
        if key in self._row:
            self.remove(key)
        self._young.put(key, vector)
        if len(self._young.row) > EXACT:
            keys = list(self._young.keys[:_MOVED])
            vectors = self._young.vectors[: len(keys)].copy()
            for moved in keys:
                self._young.remove(moved)
            self._grow(keys, vectors)

    def remove(self, key: str) -> None:
        """Forget `key`; nothing happens when it is not there."""
        if key in self._young.row:
            self._young.remove(key)
        elif key in self._row:
            self._living[self._row.pop(key)] = False
            self._selector = None
            if self._old_count > EXACT and len(self._row) < (1 - _WORN) * self._old_count:
                self._rebuild()

    def build(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Begin anew with these; shape (keys, dimensions)."""
        self._clear_old()
        self._young = _Slots(self._dimensions)
        if len(keys) > EXACT:
            self._grow(keys, vectors)
        else:
            for key, vector in zip(keys, vectors, strict=True):
                self._young.put(key, vector)

    def search(self, queries: Vectors, k: int) -> list[list[Hit]]:
        """The k most alike of each query (shape (queries, dimensions)), best first, ties by key."""
        hits = [self._young.search(query, k) for query in queries]
        if self._row:
            assert self._short is not None
            most = min(max(_CANDIDATES, k), self._old_count)
            found = self._short.nearest(queries, most, self._select() if len(self._row) < self._old_count else None)
            for query, rows, gathered in zip(queries, found, hits, strict=True):
                rows = rows[rows >= 0]
                scores = _cosines(self._old[rows], query)
                gathered += [Hit(self._old_keys[rows[n]], float(scores[n])) for n in _best(scores, k)]
        return [sorted(gathered, key=lambda hit: (-hit.score, hit.key))[:k] for gathered in hits]

    def _select(self) -> Any:
        if self._selector is None:
            bits = np.packbits(self._living[: self._old_count], bitorder="little")
            make: Any = faiss.IDSelectorBitmap
            self._selector = (make(bits), bits)  # the selector only borrows the bits
        return self._selector[0]

    def _grow(self, keys: Sequence[str], vectors: Vectors) -> None:
        start, end = self._old_count, self._old_count + len(keys)
        if end > len(self._old):
            wider = np.zeros((max(end, len(self._old) * 5 // 4), self._dimensions), dtype=np.float32)
            wider[:start] = self._old[:start]
            self._old = wider
            self._living = np.concatenate([self._living[:start], np.zeros(len(wider) - start, dtype=bool)])
        self._old[start:end] = vectors
        self._living[start:end] = True
        self._old_keys.extend(keys)
        self._row.update((key, start + number) for number, key in enumerate(keys))
        self._old_count = end
        self._selector = None
        if self._short is None or end > 2 * self._short.learnt:
            self._short = _Short.of(self._old[:end])
        else:
            self._short.add(vectors)

    def _rebuild(self) -> None:
        rows = np.array(sorted(self._row.values()), dtype=np.int64)
        keys, vectors = [self._old_keys[row] for row in rows], self._old[rows]
        self._clear_old()
        self._grow(keys, vectors)

    # --- on disk ---------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays that `load` takes."""
        count = self._old_count
        return {
            "old": self._old[:count], "living": self._living[:count], "old_keys": _texts(self._old_keys),
            "young": self._young.vectors[: len(self._young.keys)], "young_keys": _texts(self._young.keys),
            **({} if self._short is None else self._short.dump()),
        }

    @classmethod
    def load(cls, dimensions: int, arrays: Mapping[str, NDArray[Any]]) -> Nearest:
        """What `dump` gave. Raises `ValueError` for arrays that don't fit together."""
        found = cls(dimensions)
        old, living, young = arrays["old"], arrays["living"], arrays["young"]
        old_keys, young_keys = _lines(arrays["old_keys"]), _lines(arrays["young_keys"])
        if old.shape != (len(old_keys), dimensions) or young.shape != (len(young_keys), dimensions):
            raise ValueError("keys and vectors differ in number")
        for key, vector in zip(young_keys, young, strict=True):
            found._young.put(key, vector)
        if old_keys:
            found._short = _Short.load(dimensions, arrays)
            if len(found._short) != len(old_keys) or living.shape != (len(old_keys),):
                raise ValueError("the short forms are of other vectors")
            found._old, found._living, found._old_keys = old, living, old_keys
            found._old_count = len(old_keys)
            found._row = {key: row for row, key in enumerate(old_keys) if living[row]}
        return found


class _Short:
    """Vectors in short form, in the order in which they came; `learnt` is from how many the axes were found.

    A query is laid on the same axes as it is, and a vector without the mean of all: that leaves out of each cosine
    only what both have beyond the axes, and the same for every vector.
    """

    def __init__(self, axes: Vectors, mean: Vectors, codes: Any, learnt: int) -> None:
        self._axes, self._mean, self._codes, self.learnt = axes, mean, codes, learnt

    def __len__(self) -> int:
        return int(self._codes.ntotal)

    @classmethod
    def of(cls, vectors: Vectors) -> _Short:
        """These vectors, shape (vectors, dimensions), along the axes on which they differ most."""
        sample = vectors[:: -(-len(vectors) // _LEARNT_FROM)]
        mean = sample.mean(axis=0)
        _, axes = np.linalg.eigh((sample - mean).T @ (sample - mean))  # by how much they differ, rising
        axes = np.ascontiguousarray(axes[:, ::-1][:, :_AXES], dtype=np.float32)
        make: Any = faiss.IndexScalarQuantizer
        codes = make(axes.shape[1], faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        codes.train((vectors - mean) @ axes)
        found = cls(axes, mean, codes, len(vectors))
        found.add(vectors)
        return found

    def add(self, vectors: Vectors) -> None:
        """Have these too."""
        self._codes.add((vectors - self._mean) @ self._axes)

    def nearest(self, queries: Vectors, count: int, selector: Any) -> NDArray[np.int64]:
        """Per query (shape (queries, dimensions)) the numbers of the `count` best, -1 where there are fewer."""
        laid = np.einsum("ij,jk->ik", queries, self._axes)
        parameters: Any = faiss.SearchParameters()
        parameters.sel = selector
        rows: NDArray[np.int64] = self._codes.search(laid, count, params=parameters)[1]
        return rows

    def dump(self) -> dict[str, NDArray[Any]]:
        """All of it as arrays that `load` takes."""
        codes = faiss.serialize_index(self._codes)
        return {"axes": self._axes, "mean": self._mean, "codes": codes, "learnt": np.array(self.learnt)}

    @classmethod
    def load(cls, dimensions: int, arrays: Mapping[str, NDArray[Any]]) -> _Short:
        """What `dump` gave. Raises `ValueError` for arrays that don't fit together."""
        axes, mean, codes = arrays["axes"], arrays["mean"], faiss.deserialize_index(arrays["codes"])
        if axes.shape != (dimensions, codes.d) or mean.shape != (dimensions,):
            raise ValueError("the axes are of other vectors")
        return cls(axes, mean, codes, int(arrays["learnt"]))


class _Slots:
    """Vectors in the first slots of an array, in no order, compared one by one."""

    def __init__(self, dimensions: int) -> None:
        self.vectors = np.zeros((64, dimensions), dtype=np.float32)
        self.keys: list[str] = []
        self.row: dict[str, int] = {}

    def put(self, key: str, vector: Vectors) -> None:
        row = self.row.setdefault(key, len(self.keys))
        if row == len(self.keys):
            self.keys.append(key)
            if row == len(self.vectors):
                self.vectors = np.concatenate([self.vectors, np.zeros_like(self.vectors)])
        self.vectors[row] = vector

    def remove(self, key: str) -> None:
        row, last = self.row.pop(key), self.keys.pop()
        if last != key:
            self.keys[row], self.row[last] = last, row
            self.vectors[row] = self.vectors[len(self.keys)]

    def search(self, query: Vectors, k: int) -> list[Hit]:
        count = len(self.keys)
        if not count:
            return []
        scores = _cosines(self.vectors[:count], query)
        return [Hit(self.keys[row], float(scores[row])) for row in _best(scores, k)]


def _best(scores: Vectors, k: int) -> Iterable[int]:
    return range(len(scores)) if len(scores) <= k else np.argpartition(-scores, k - 1)[:k]


def _cosines(vectors: Vectors, query: Vectors) -> Vectors:
    # Not the matrix product: its library would wake a thread per core for what one does in a millisecond.
    scores: Vectors = np.einsum("ij,j->i", vectors, query)
    return scores


def _texts(keys: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(list(keys)).encode(), dtype=np.uint8)


def _lines(array: NDArray[Any]) -> list[str]:
    found: list[str] = json.loads(array.tobytes())
    return found
