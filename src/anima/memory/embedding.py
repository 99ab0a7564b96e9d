"""Texts as vectors whose directions tell how alike they mean: all-MiniLM-L6-v2 through ONNX, and its tokenizer."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from anima.install.manifest import Manifest
from anima.install.store import ModelStore

MODEL, VOCABULARY = "all-minilm-l6-v2-int8", "all-minilm-l6-v2-vocabulary"
DIMENSIONS = 384
TOKENS = 128
"""What a text has beyond so many tokens (about 100 words) is not looked at."""

Vectors = NDArray[np.float32]

_WORD_CHARACTERS = 100
_CACHE = 4096


class Embedder(Protocol):
    """Turns texts into unit vectors. `name` changes whenever the vectors do: an index of another name is stale."""

    name: str
    dimensions: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, shape (texts, dimensions); the same text always gives the same."""


class WordPieces:
    """BERT's uncased tokenizer: clean, lower, strip accents, split at spaces and punctuation, then longest pieces."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: Mapping[str, int] = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown, self._begin, self._end = (self._ids[name] for name in ("[UNK]", "[CLS]", "[SEP]"))

    @classmethod
    def load(cls, file: Path) -> WordPieces:
        """From a vocabulary file, one piece a line."""
        return cls(file.read_text(encoding="utf-8").splitlines())

    def ids(self, text: str, most: int = TOKENS) -> list[int]:
        """The ids of a text's tokens between the two that mark its ends; at most so many in all."""
        found: list[int] = []
        for word in _words(text[: 16 * most * 4]):
            if len(found) >= most - 2:
                break
            found.extend(self._pieces(word))
        return [self._begin, *found[: most - 2], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _WORD_CHARACTERS:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else f"##{word[start:end]}"
                if piece in self._ids:
                    found.append(self._ids[piece])
                    start = end
                    break
            else:
                return [self._unknown]
        return found


def _words(text: str) -> list[str]:
    out: list[str] = []
    for character in text:
        category = unicodedata.category(character)
        if character in "\t\n\r" or category == "Zs":
            out.append(" ")
        elif character == "\ufffd" or category in ("Cc", "Cf", "Cs", "Co"):
            continue
        elif _is_ideograph(character):
            out.append(f" {character} ")
        else:
            out.append(character.lower())
    stripped = (c for c in unicodedata.normalize("NFD", "".join(out)) if unicodedata.category(c) != "Mn")
    spaced = (f" {c} " if _is_punctuation(c) else c for c in stripped)
    return "".join(spaced).split()


def _is_punctuation(character: str) -> bool:
    code = ord(character)
    # Every sign of ASCII that is neither letter nor digit counts, also those that Unicode calls symbols.
    ascii_sign = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_sign or unicodedata.category(character).startswith("P")


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    return (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF or 0x2F800 <= code <= 0x2FA1F
    )


class MiniLm:
    """Sentence vectors of 384 numbers on one core, some milliseconds a sentence.

    Texts are taken one by one: the model's integer arithmetic scales with whatever shares a batch, and a text must
    give the same vector whatever it stands beside. The last few thousand are remembered.
    """

    dimensions = DIMENSIONS

    def __init__(self, model_file: Path, vocabulary_file: Path, name: str = MODEL, threads: int = 1) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.name = name
        self._pieces = WordPieces.load(vocabulary_file)
        self._session: Any = ort.InferenceSession(str(model_file), options, providers=["CPUExecutionProvider"])
        self._one = lru_cache(maxsize=_CACHE)(self._embedded)

    @classmethod
    def load(cls, threads: int = 1, models: ModelStore | None = None) -> MiniLm:
        """The fetched model. Raises `ModelMissing`, which says how it is fetched."""
        store, manifest = models or ModelStore(), Manifest.load()
        model = manifest.get(MODEL)
        name = f"{MODEL}-{model.sha256[:12]}"
        return cls(store.require(model), store.require(manifest.get(VOCABULARY)), name, threads)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, shape (texts, 384)."""
        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack([self._one(text) for text in texts])

    def _embedded(self, text: str) -> Vectors:
        ids = np.array([self._pieces.ids(text)], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden: Vectors = self._session.run(None, feed)[0][0]
        mean = hidden.mean(axis=0)
        vector: Vectors = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        vector.setflags(write=False)
        return vector
