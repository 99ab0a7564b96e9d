"""The folder of model files: which are there, and whether they are what the manifest says."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from anima.install.errors import DiskFull, HashMismatch, ModelMissing
from anima.install.manifest import Model

_CHUNK = 1 << 20

Advance = Callable[[int], None]
"""Told how many bytes are done so far."""


class State(Enum):
    """How a model file stands."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"  # there, of the right size, but its hash was not taken since it last changed
    WRONG = "wrong size"
    PARTIAL = "partly fetched"
    MISSING = "missing"


def default_folder() -> Path:
    """`anima/models` in the user's cache, which outlives a checkout."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "anima" / "models"


class ModelStore:
    """Model files under one folder. Files arrive whole and verified or not at all."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def path(self, model: Model) -> Path:
        """Where the file is or would be."""
        return self.folder / model.file

    def partial(self, model: Model) -> Path:
        """Where a download grows; named by the hash, so another version never continues this one's."""
        return self.folder / ".partial" / f"{model.sha256[:16]}-{model.file}"

    def state(self, model: Model) -> State:
        """How the file stands, without reading it: an earlier hash counts while size and time of change stay."""
        path = self.path(model)
        try:
            size_bytes = path.stat().st_size
        except FileNotFoundError:
            return State.PARTIAL if self.partial(model).exists() else State.MISSING
        if size_bytes != model.size_bytes:
            return State.WRONG
        return State.VERIFIED if self._note(model).get(model.file) == self._mark(model) else State.UNVERIFIED

    def require(self, model: Model) -> Path:
        """The file's path; raises ModelMissing when it is not there whole."""
        state = self.state(model)
        if state in (State.VERIFIED, State.UNVERIFIED):
            return self.path(model)
        raise ModelMissing(f"model {model.name} is {state.value}; run: ./anima models fetch {model.name}")

    def verify(self, model: Model, advance: Advance | None = None) -> None:
        """Take the file's hash. Raises ModelMissing or HashMismatch; a file that is wrong is left where it is."""
        path = self.path(model)
        if not path.is_file():
            raise ModelMissing(f"model {model.name} is missing: {path}; run: ./anima models fetch {model.name}")
        self._check(model, path, advance)
        self._remember(model)

    def adopt(self, model: Model, file: Path, advance: Advance | None = None) -> None:
        """Verify `file` (on the same file system) and move it to its place. Raises HashMismatch and leaves it then."""
        self._check(model, file, advance)
        os.replace(file, self.path(model))
        self._remember(model)

    def make_room(self, model: Model) -> None:
        """Make the folders; raises DiskFull when the file would not fit beside what is there already."""
        partial = self.partial(model)
        partial.parent.mkdir(parents=True, exist_ok=True)
        have_bytes = partial.stat().st_size if partial.exists() else 0
        # A tenth more: the source's own temporary files, and a file system is unwell when full to the brim.
        needed_bytes = int((model.size_bytes - have_bytes) + 0.1 * model.size_bytes)
        free_bytes = shutil.disk_usage(self.folder).free
        if free_bytes < needed_bytes:
            raise DiskFull(
                f"{model.name} needs {needed_bytes / 1e9:.2f} GB in {self.folder}, {free_bytes / 1e9:.2f} GB are free; "
                "make room, or set XDG_CACHE_HOME to a larger disk"
            )

    def _check(self, model: Model, path: Path, advance: Advance | None) -> None:
        size_bytes = path.stat().st_size
        if size_bytes != model.size_bytes:
            raise HashMismatch(
                f"{path} has {size_bytes} bytes, {model.name} has {model.size_bytes}; delete it and fetch again"
            )
        digest = hashlib.sha256()
        done_bytes = 0
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
                done_bytes += len(chunk)
                if advance:
                    advance(done_bytes)
        if digest.hexdigest() != model.sha256:
            raise HashMismatch(
                f"{path} is not {model.name}: its sha256 is {digest.hexdigest()}, the manifest says {model.sha256}; "
                "delete it and fetch again"
            )

    def _mark(self, model: Model) -> list[str | int]:
        status = self.path(model).stat()
        return [model.sha256, status.st_size, status.st_mtime_ns]

    def _note(self, model: Model) -> dict[str, list[str | int]]:
        try:
            note = json.loads((self.folder / f".{model.file}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def _remember(self, model: Model) -> None:
        note = self.folder / f".{model.file}.json"
        try:
            note.write_text(json.dumps({model.file: self._mark(model)}), encoding="utf-8")
        except OSError:
            return  # a read-only cache is fine: the hash is then taken again each time that somebody asks
