"""The rows of the store: one per version of an item, chained by digests, never changed once written."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import JsonValue
from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    event,
)

from anima.memory.errors import BadData

SCHEMA = 1
REAL_CLOCK = "utc"

METADATA = MetaData()

VERSIONS = Table(
    "item_version",
    METADATA,
    Column("seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("kind", String(64), nullable=False),
    Column("id", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("data", JSON, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("valid_from", Double, nullable=False),
    Column("clock", String(64), nullable=False),
    Column("clock_s", Double, nullable=False),
    Column("who", String(64), nullable=False),
    Column("why", Text, nullable=False),
    Column("because", JSON, nullable=False),
    Column("digest", String(64), nullable=False),
    UniqueConstraint("kind", "id", "version"),
    sqlite_autoincrement=True,
)
META = Table(
    "meta", METADATA, Column("key", String(32), primary_key=True), Column("value", String(200), nullable=False)
)

# Even a hand in the database, or a bug to come, can't rewrite the past by accident.
for _verb in ("UPDATE", "DELETE"):
    event.listen(
        VERSIONS,
        "after_create",
        DDL(  # type: ignore[no-untyped-call]
            f"CREATE TRIGGER IF NOT EXISTS no_{_verb.lower()} BEFORE {_verb} ON item_version "
            "BEGIN SELECT RAISE(ABORT, 'versions are never changed or deleted'); END"
        ).execute_if(dialect="sqlite"),
    )
for _statement in (
    "CREATE OR REPLACE FUNCTION versions_stay() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'versions are never changed or deleted'; END $$",
    "CREATE TRIGGER versions_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON item_version "
    "FOR EACH STATEMENT EXECUTE FUNCTION versions_stay()",
):
    event.listen(VERSIONS, "after_create", DDL(_statement).execute_if(dialect="postgresql"))  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Stamp:
    """When something holds: UTC seconds, and the same moment on the clock of the run that says so.

    `clock` is ``utc`` for the real one, else the id of a simulated run; `clock_s` is that clock's reading, so that
    any time inside the data can be told in UTC: ``t + (utc_s - clock_s)``.
    """

    utc_s: float
    clock: str
    clock_s: float


@dataclass(frozen=True)
class Change:
    """A new version of an item to be written: what (`data` None: as it was), by whom, why, from which events.

    With `on_version` it is written only while that is the item's newest version (0: while there is no such item).
    """

    kind: str
    id: str
    data: Mapping[str, Any] | None
    who: str
    why: str
    at: Stamp
    because: tuple[str, ...] = ()
    archived: bool = False
    on_version: int | None = None


@dataclass(frozen=True)
class Item:
    """A version of an item as it is kept."""

    kind: str
    id: str
    version: int
    data: Mapping[str, JsonValue]
    archived: bool
    at: Stamp
    who: str
    why: str
    because: tuple[str, ...]
    digest: str = field(repr=False)
    seq: int = field(default=0, repr=False, compare=False)
    """Its place in the order in which everything was written; 0 until it is read back."""

    @classmethod
    def of_row(cls, row: Any) -> Item:
        """The item in a row of `VERSIONS`."""
        return cls(
            row.kind, row.id, row.version, row.data, row.archived, Stamp(row.valid_from, row.clock, row.clock_s),
            row.who, row.why, tuple(row.because), row.digest, row.seq,
        )

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return f"{self.kind} {self.id!r} version {self.version}"

    def change(self) -> Change:
        """The change that made it."""
        return Change(self.kind, self.id, self.data, self.who, self.why, self.at, self.because, self.archived)

    def values(self) -> dict[str, Any]:
        """The columns of its row."""
        return {
            "kind": self.kind, "id": self.id, "version": self.version, "data": dict(self.data),
            "archived": self.archived, "valid_from": self.at.utc_s, "clock": self.at.clock,
            "clock_s": self.at.clock_s, "who": self.who, "why": self.why, "because": list(self.because),
            "digest": self.digest,
        }


def next_item(change: Change, before: Item | None, data: Mapping[str, JsonValue]) -> Item:
    """The version that follows `before` (None: the first). Raises `BadData` for what JSON can't say."""
    version = 1 if before is None else before.version + 1
    # As a database gives it back: a float, and no zero with a sign.
    at = Stamp(float(change.at.utc_s) + 0.0, change.at.clock, float(change.at.clock_s) + 0.0)
    change = replace(change, at=at)
    digest = digest_of(change, version, data, "" if before is None else before.digest)
    return Item(
        change.kind, change.id, version, data, change.archived, change.at, change.who, change.why, change.because,
        digest,
    )


def digest_of(change: Change, version: int, data: Mapping[str, JsonValue], before: str) -> str:
    """SHA-256 over a version and the digest of the one before it, so that a changed past shows."""
    at = change.at
    if not (math.isfinite(at.utc_s) and math.isfinite(at.clock_s)):
        raise BadData(f"{change.kind} {change.id}: its time is no number: {at}")
    row = [
        before, change.kind, change.id, version, dict(data), change.archived, at.utc_s, at.clock, at.clock_s,
        change.who, change.why, list(change.because),
    ]
    try:
        text = json.dumps(row, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise BadData(f"{change.kind} {change.id}: JSON can't say it: {error}") from error
    return hashlib.sha256(text.encode()).hexdigest()
