"""The KV cells of a context, shared by the roles: who holds what, who makes room, and prefixes kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anima.planner.llm.base import LlmError

SEQUENCES = 24  # roles that hold cells at the same time
KEPT_PREFIX_FILES = 96  # about 6 MB each: judgements have short prefixes
KEPT_PER_ROLE = 3  # a prefix changes between encounters and with the configuration


@dataclass
class Sequence:
    """What the KV cells hold for a role."""

    role: str
    id: int
    background: bool
    tokens: list[int] = field(default_factory=list)
    used: int = 0


class Cells:
    """Gives each role a sequence, drops those unused for longest when room is short, background roles before others.

    `limit` is the number of cells. With `cache` the computed state of a role's prefix is kept in files there, so that
    a role that had to make room, or a new process, does not compute it again; `key` identifies model and library.
    """

    def __init__(self, lib: Any, context: Any, limit: int, cache: Path | None, key: str) -> None:
        self._lib, self._context, self._limit = lib, context, limit
        self._cache, self._key = cache, key
        self._held: dict[str, Sequence] = {}
        self._uses = 0

    def of(self, role: str, background: bool) -> Sequence:
        """The role's sequence; a new role takes a free one, or that of the role which is missed least."""
        self._uses += 1
        if role not in self._held:
            if len(self._held) < SEQUENCES:
                number = min(set(range(SEQUENCES)) - {s.id for s in self._held.values()})
            else:
                dropped = self._by_use()[0]
                self.truncate(dropped, 0)
                del self._held[dropped.role]
                number = dropped.id
            self._held[role] = Sequence(role, number, background)
        found = self._held[role]
        found.used, found.background = self._uses, background
        return found

    def forget(self, role: str) -> None:
        """Give a role's cells and sequence back."""
        if role in self._held:
            self.truncate(self._held[role], 0)
            del self._held[role]

    def make_room(self, sequence: Sequence, tokens: int) -> None:
        """Drop what other roles hold, the least missed first, until `tokens` more fit."""
        for other in self._by_use():
            if sum(len(s.tokens) for s in self._held.values()) + tokens <= self._limit:
                return
            if other is not sequence:
                self.truncate(other, 0)

    def truncate(self, sequence: Sequence, length: int) -> None:
        """Let go of everything behind the first `length` tokens."""
        memory = self._lib.llama_get_memory(self._context)
        self._lib.llama_memory_seq_rm(memory, sequence.id, length, -1)
        del sequence.tokens[length:]

    def _by_use(self) -> list[Sequence]:
        return sorted(self._held.values(), key=lambda s: (not s.background, s.used))

    # --- prefixes on disk ---------------------------------------------------------------------

    def _file(self, role: str, stable: Many[int]) -> Path | None:
        if self._cache is None or not stable:
            return None
        digest = hashlib.sha256(np.asarray(stable, np.int32).tobytes() + self._key.encode()).hexdigest()
        return self._cache / f"{role}-{digest[:24]}.kv"

    def restore(self, sequence: Sequence, stable: Many[int]) -> bool:
        """Have the sequence hold exactly the prefix `stable`, from its file; False if there is none of use."""
        file = self._file(sequence.role, stable)
        if file is None or not file.is_file():
            return False
        self.truncate(sequence, 0)
        self.make_room(sequence, len(stable))
        tokens = (self._lib.llama_token * len(stable))()
        count = ctypes.c_size_t(0)
        read = self._lib.llama_state_seq_load_file(
            self._context, str(file).encode(), sequence.id, tokens, len(stable), ctypes.byref(count)
        )
        if read and list(tokens[: count.value]) == list(stable):
            sequence.tokens = list(stable)
            os.utime(file)
            return True
        self.truncate(sequence, 0)
        file.unlink(missing_ok=True)
        return False

    def save(self, sequence: Sequence) -> None:
        """Keep what the sequence holds now as its role's prefix; the oldest files beyond the limits go."""
        file = self._file(sequence.role, sequence.tokens)
        if file is None:
            return
        tokens = (self._lib.llama_token * len(sequence.tokens))(*sequence.tokens)
        part = file.with_suffix(f".{os.getpid()}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            written = self._lib.llama_state_seq_save_file(
                self._context, str(part).encode(), sequence.id, tokens, len(tokens)
            )
            if written:
                part.replace(file)
            for pattern, kept in ((f"{sequence.role}-*.kv", KEPT_PER_ROLE), ("*.kv", KEPT_PREFIX_FILES)):
                for old in sorted(file.parent.glob(pattern), key=lambda f: f.stat().st_mtime)[:-kept]:
                    old.unlink(missing_ok=True)
        except OSError:
            part.unlink(missing_ok=True)  # a full disk costs the next start some seconds, not this turn


def model_key(path: Path) -> str:
    """Identifies a model file without reading a gigabyte: size, head and tail."""
    try:
        size = path.stat().st_size
        digest = hashlib.sha256(f"{size}".encode())
        with path.open("rb") as file:
            digest.update(file.read(1 << 20))
            file.seek(max(0, size - (1 << 20)))
            digest.update(file.read())
    except OSError as error:
        raise LlmError(f"{path}: can't be read ({error})") from error
    return digest.hexdigest()

def common(a: Many[int], b: Many[int]) -> int:
    """How many tokens two sequences begin with alike."""
    length = min(len(a), len(b))
    return next((i for i in range(length) if a[i] != b[i]), length)
