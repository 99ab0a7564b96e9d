"""A mind as a file: all versions of everything, one JSON object a line, sealed by a SHA-256 over all of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from anima.memory.errors import BadData, StoreError
from anima.memory.patch_limits import Size, measured, strictly
from anima.memory.patch_refusals import PatchRefused
from anima.memory.rows import SCHEMA, Item, Stamp
from anima.memory.store import Store

FORMAT = "anima-mind"
LINE_BYTES = 4 * 1024 * 1024
_SIZE = Size(bytes=LINE_BYTES, depth=32, values=200_000)

Progress = Callable[[int], None]
"""Told how many versions are done."""


class BadExport(StoreError):
    """A file that is no whole, untouched export of a mind; the message says which line and why."""


class _Line(BaseModel):
    """A version as a line of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: str = Field(max_length=64)
    id: str = Field(max_length=200)
    version: int = Field(ge=1)
    data: dict[str, JsonValue]
    archived: bool
    utc_s: float
    clock: str = Field(max_length=64)
    clock_s: float
    who: str = Field(max_length=64)
    why: str
    because: list[str]
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")

    def item(self) -> Item:
        """The version."""
        at = Stamp(self.utc_s, self.clock, self.clock_s)
        return Item(
            self.kind, self.id, self.version, self.data, self.archived, at, self.who, self.why, tuple(self.because),
            self.digest,
        )


def write_export(items: Iterable[Item], file: Path, progress: Progress | None = None) -> int:
    """Write a file, whole or not at all; returns how many versions are in it. Raises `OSError`."""
    draft = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            count = 0
            for count, line in enumerate(export_lines(items), 1):
                stream.write(line + "\n")
                if progress is not None:
                    progress(count - 1)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)
    return count - 2  # the first line and the seal


def export_lines(items: Iterable[Item]) -> Iterator[str]:
    """The lines of a file: what it is, the versions, the seal."""
    seal = hashlib.sha256()
    written = 0
    head = _json({"format": FORMAT, "layout": SCHEMA})
    seal.update(head.encode())
    yield head
    for item in items:
        line = _json(
            {
                "kind": item.kind, "id": item.id, "version": item.version, "data": dict(item.data),
                "archived": item.archived, "utc_s": item.at.utc_s, "clock": item.at.clock, "clock_s": item.at.clock_s,
                "who": item.who, "why": item.why, "because": list(item.because), "digest": item.digest,
            }
        )
        seal.update(line.encode())
        written += 1
        yield line
    yield _json({"versions": written, "sha256": seal.hexdigest()})


def read_export(file: Path) -> list[Item]:
    """The versions in a file. Raises `BadExport` when one byte of it is not as it was written, `OSError`."""
    seal = hashlib.sha256()
    items: list[Item] = []
    sealed = False
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(LINE_BYTES + 1):
            number += 1
            where = f"{file}, line {number}"
            if sealed:
                raise BadExport(f"{where}: something stands behind the end")
            if not line.endswith(b"\n"):
                raise BadExport(f"{where}: it is cut off, or longer than {LINE_BYTES} bytes")
            value = _parsed(line, where)
            if number == 1:
                _check_head(value, where)
            elif "sha256" in value:
                if value != {"versions": len(items), "sha256": seal.hexdigest()}:
                    raise BadExport(f"{where}: what stands before it is not what was sealed; the file was changed")
                sealed = True
            else:
                items.append(_item(value, where))
            seal.update(line[:-1])
    if not sealed:
        raise BadExport(f"{file}: the end is missing; it is empty or was cut off")
    return items


def import_mind(store: Store, file: Path) -> tuple[int, int]:
    """Take a file's versions into a store, all or none; returns how many there were and how many were new.

    Raises `BadExport` for a bad file, `BadData` when it and the store went different ways, `OSError`.
    """
    items = read_export(file)
    return len(items), store.adopt(items)


def _check_head(value: dict[str, Any], where: str) -> None:
    if value.get("format") != FORMAT:
        raise BadExport(f"{where}: this is no export of a mind (anima mind export)")
    if value.get("layout") != SCHEMA:
        raise BadExport(f"{where}: it is in layout {value.get('layout')}, this version reads {SCHEMA}")


def _item(value: dict[str, Any], where: str) -> Item:
    try:
        return _Line.model_validate(value).item()
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'line'}: {e['msg']}" for e in error.errors()[:3])
        raise BadExport(f"{where}: {faults}") from error


def _parsed(line: bytes, where: str) -> dict[str, Any]:
    try:
        value = strictly(line.decode("utf-8"))
        measured(value, _SIZE)
    except (UnicodeDecodeError, PatchRefused) as error:
        raise BadExport(f"{where}: {getattr(error, 'reason', error)}") from error
    if not isinstance(value, dict):
        raise BadExport(f"{where}: expected an object")
    return value


def _json(value: dict[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise BadData(f"{value.get('kind')} {value.get('id')!r}: JSON can't say it: {error}") from error
