"""The one store of what must survive: versioned items in a database, appended to and never changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError
from sqlalchemy import Connection, bindparam, func, select, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from anima.memory.engine import WRITES, open_engine
from anima.memory.errors import BadData, NotThere, Overtaken, RecalledEvidence, StoreUnusable, UnknownKind
from anima.memory.kinds import KINDS, RECALLED
from anima.memory.patch_refusals import NoCause
from anima.memory.rows import META, METADATA, SCHEMA, VERSIONS, Change, Item, Stamp, next_item

IN_MEMORY = "sqlite://"
_TRIES = 3
_PAGE = 1000

# Asked at every event: put together once, for putting together costs more than answering.
# `kind || ''` keeps SQLite from going through all items of the kind by its index: what is new lies at the end.
_SINCE = (
    select(VERSIONS).where(VERSIONS.c.kind.concat("") == bindparam("of_kind"), VERSIONS.c.seq > bindparam("after"))
    .order_by(VERSIONS.c.seq)
)
_SINCE_AT_MOST = _SINCE.limit(bindparam("most"))
_LATEST_OF_SOME = (
    select(func.max(VERSIONS.c.seq).label("seq"))
    .where(VERSIONS.c.kind == bindparam("of_kind"), VERSIONS.c.id.in_(bindparam("ids", expanding=True)))
    .group_by(VERSIONS.c.id)
    .subquery()
)
_SOME = select(VERSIONS).join(_LATEST_OF_SOME, VERSIONS.c.seq == _LATEST_OF_SOME.c.seq)


class Store:
    """Items (kind, id) with all their versions: who wrote each, when, why, and from which events.

    What `put`, `archive` and `write` return is on the disk: it survives a killed process and a lost battery. A call
    that raises has changed nothing. Nothing is overwritten or deleted: a new version supersedes, an archived one is
    left out of `all`. Data must be what its kind says, and nothing in it may have come out of memory as a recall
    (`RecalledEvidence`): memory must not become its own witness. A change of a kind that language models may change
    (it has `patch_rules`) names the events that it came from. Threads may share a store; processes may share its
    file.
    """

    def __init__(self, url: str, kinds: Mapping[str, type[BaseModel]] = KINDS) -> None:
        """`url` as SQLAlchemy writes it, e.g. ``sqlite:////var/lib/anima/mind.db``; `IN_MEMORY` for one that ends
        with the process. Raises `StoreUnusable` when there is no usable database."""
        self._kinds = kinds
        self._lock = threading.RLock()
        self._engine = open_engine(url)
        self._ways = {writes: self._engine.execution_options(**{WRITES: writes}) for writes in (False, True)}
        self._place = self._engine.url.render_as_string(hide_password=True)
        try:
            with self._transaction(writes=True) as connection:
                METADATA.create_all(connection)
                self._check_schema(connection)
        except StoreUnusable:
            self._engine.dispose()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database; what was written stays."""
        self._engine.dispose()

    # --- writing ---------------------------------------------------------------------------------

    def put(
        self,
        kind: str,
        id: str,
        data: Mapping[str, Any],
        *,
        who: str,
        why: str,
        at: Stamp,
        because: Sequence[str] = (),
    ) -> Item:
        """Write a new version of an item. One that says what the current version says already writes nothing."""
        return self.write([Change(kind, id, data, who, why, at, tuple(because))])[0]

    def archive(self, kind: str, id: str, *, who: str, why: str, at: Stamp, because: Sequence[str] = ()) -> Item:
        """Put an item away: a new version that `all` leaves out. Raises `NotThere` when there is no such item."""
        return self.write([Change(kind, id, None, who, why, at, tuple(because), archived=True)])[0]

    def write(self, changes: Sequence[Change]) -> list[Item]:
        """Write all of the changes, or none when one of them can't be; returns the current versions."""
        checked = [(change, self._checked(change)) for change in changes]
        for attempt in range(_TRIES):
            try:
                with self._transaction(writes=True) as connection:
                    return [self._append(connection, change, data) for change, data in checked]
            except _Overtaken:
                # Another process took the version's number; only possible where writers don't wait for each other.
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def adopt(self, items: Sequence[Item]) -> int:
        """Take in versions that another store wrote, digests and all; all of them or none. Returns how many were new.

        An item's versions must follow each other, and what is here already of an item must be the same: two minds
        that went different ways are not mixed. Raises `BadData` or `UnknownKind` that names the version.
        """
        for item in items:
            self._checked(item.change())
        with self._transaction(writes=True) as connection:
            return sum(self._adopted(connection, item) for item in items)

    def _adopted(self, connection: Connection, item: Item) -> bool:
        here = self._current(connection, item.kind, item.id, item.version)
        if here is not None:
            if here.digest != item.digest:
                raise BadData(f"{item.name}: there is another version of that number in {self._place}")
            return False
        before = self._current(connection, item.kind, item.id)
        expected = next_item(item.change(), before, item.data)
        if item.version != expected.version:
            raise BadData(f"{item.name}: version {expected.version} is missing before it")
        if item.digest != expected.digest:
            raise BadData(f"{item.name}: it is not what was written, or follows another past")
        connection.execute(VERSIONS.insert().values(**item.values()))
        return True

    def model(self, kind: str) -> type[BaseModel]:
        """What the data of a kind's items must be. Raises `UnknownKind`."""
        if kind not in self._kinds:
            raise UnknownKind(f"no kind {kind!r}; there are {', '.join(sorted(self._kinds))}")
        return self._kinds[kind]

    def _checked(self, change: Change) -> dict[str, JsonValue] | None:
        name = f"{change.kind} {change.id!r}"
        model = self.model(change.kind)
        if not (0 < len(change.id) <= 200 and change.who and len(change.who) <= 64 and change.why):
            raise BadData(f"{name}: an item needs an id of at most 200 characters, a who and a why")
        said = (change.id, change.who, change.why, change.at.clock, *change.because)
        if not all(isinstance(text, str) and _is_text(text) for text in said):
            raise BadData(f"{name}: id, who, why and because are texts, without NUL and half characters")
        if hasattr(model, "patch_rules") and not change.because:
            raise NoCause(f"{name}: a change of what a language model may change names the events that it came from")
        if change.data is None:
            return None
        if _is_recalled(change.data):
            raise RecalledEvidence(f"{name}: it came out of memory; only what was lived can be kept")
        try:
            data: dict[str, JsonValue] = model.model_validate(change.data).model_dump(mode="json")
        except ValidationError as error:
            faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'data'}: {e['msg']}" for e in error.errors())
            raise BadData(f"{name}: {faults}") from error
        if _is_recalled(data):
            raise RecalledEvidence(f"{name}: it came out of memory; only what was lived can be kept")
        return data

    def _append(self, connection: Connection, change: Change, data: dict[str, JsonValue] | None) -> Item:
        before = self._current(connection, change.kind, change.id)
        version = 0 if before is None else before.version
        if change.on_version not in (None, version):
            raise Overtaken(
                f"{change.kind} {change.id!r} is in version {version} now, and the change was made on version "
                f"{change.on_version}; read it again"
            )
        if data is None:
            if before is None:
                raise NotThere(f"there is no {change.kind} {change.id!r} to archive")
            data = dict(before.data)
        item = next_item(change, before, data)
        if before is not None and before.data == data and before.archived == change.archived:
            return before
        connection.execute(VERSIONS.insert().values(**item.values()))
        return item

    # --- reading ---------------------------------------------------------------------------------

    def get(self, kind: str, id: str, version: int | None = None) -> Item:
        """An item as it is now, archived or not, or in an older version. Raises `NotThere`."""
        with self._transaction() as connection:
            item = self._current(connection, kind, id, version)
        if item is None:
            which = "" if version is None else f" in version {version}"
            raise NotThere(f"there is no {kind} {id!r}{which} in {self._place}")
        return item

    def history(self, kind: str, id: str) -> list[Item]:
        """All versions of an item, oldest first; empty when there is none."""
        wanted = (VERSIONS.c.kind == kind) & (VERSIONS.c.id == id)
        with self._transaction() as connection:
            rows = connection.execute(select(VERSIONS).where(wanted).order_by(VERSIONS.c.version))
            return [Item.of_row(row) for row in rows]

    def all(self, kind: str, newest: int | None = None) -> list[Item]:
        """The current versions of a kind's items that are not archived, in the order of their last change.

        `newest` leaves out all but the last so many.
        """
        latest = (
            select(func.max(VERSIONS.c.seq).label("seq"))
            .where(VERSIONS.c.kind == kind)
            .group_by(VERSIONS.c.id)
            .subquery()
        )
        query = (
            select(VERSIONS)
            .join(latest, VERSIONS.c.seq == latest.c.seq)
            .where(VERSIONS.c.archived.is_(False))
            .order_by(VERSIONS.c.seq.desc())
        )
        with self._transaction() as connection:
            rows = connection.execute(query if newest is None else query.limit(newest))
            return [Item.of_row(row) for row in rows][::-1]

    def since(self, kind: str, seq: int, most: int | None = None) -> list[Item]:
        """The versions of a kind's items that were written after `seq`, in their order; at most so many."""
        values: dict[str, object] = {"of_kind": kind, "after": seq}
        query = _SINCE
        if most is not None:
            query, values["most"] = _SINCE_AT_MOST, most
        with self._transaction() as connection:
            return [Item.of_row(row) for row in connection.execute(query, values)]

    def digest_at(self, seq: int) -> str | None:
        """The digest of the version with that `seq`, or None when there is none."""
        with self._transaction() as connection:
            found: str | None = connection.execute(select(VERSIONS.c.digest).where(VERSIONS.c.seq == seq)).scalar()
            return found

    def some(self, kind: str, ids: Sequence[str]) -> dict[str, Item]:
        """The current versions of some items by id, archived or not; those that there are."""
        with self._transaction() as connection:
            rows = connection.execute(_SOME, {"of_kind": kind, "ids": list(ids)})
            return {row.id: Item.of_row(row) for row in rows}

    def everything(self) -> Iterator[Item]:
        """All versions of all items, in the order in which they were written; those that come meanwhile not."""
        with self._transaction() as connection:
            last = connection.execute(select(func.max(VERSIONS.c.seq))).scalar() or 0
        seq = 0
        while seq < last:
            wanted = (VERSIONS.c.seq > seq) & (VERSIONS.c.seq <= last)
            with self._transaction() as connection:
                rows = connection.execute(select(VERSIONS).where(wanted).order_by(VERSIONS.c.seq).limit(_PAGE)).all()
            if not rows:
                return
            yield from (Item.of_row(row) for row in rows)
            seq = rows[-1].seq

    def newest_utc_s(self) -> float | None:
        """The latest moment that anything in the store is about, or None when it is empty."""
        with self._transaction() as connection:
            found: float | None = connection.execute(select(func.max(VERSIONS.c.valid_from))).scalar()
            return found

    def verify(self) -> list[str]:
        """What is wrong with the store, a sentence each: damaged pages, gaps, a changed past, unreadable data.

        Empty when all is well.
        """
        faults: list[str] = []
        with self._transaction() as connection:
            if connection.dialect.name == "sqlite":
                said = connection.execute(text("PRAGMA integrity_check")).scalars().all()
                faults += [f"{self._place}: {line}" for line in said if line != "ok"]
            order = (VERSIONS.c.kind, VERSIONS.c.id, VERSIONS.c.version)
            before: Item | None = None
            for row in connection.execute(select(VERSIONS).order_by(*order)):
                item = Item.of_row(row)
                if before is not None and (before.kind, before.id) != (item.kind, item.id):
                    before = None
                faults += self._faults(item, before)
                before = item
        return faults

    def _faults(self, item: Item, before: Item | None) -> Iterator[str]:
        name = item.name
        expected = next_item(item.change(), before, item.data)
        if item.version != expected.version:
            yield f"{name}: version {expected.version} is missing"
        elif item.digest != expected.digest:
            yield f"{name}: it is not what was written"
        model = self._kinds.get(item.kind)
        if model is None:
            yield f"{name}: nothing here knows this kind"
            return
        try:
            model.model_validate(item.data)
        except ValidationError as error:
            yield f"{name}: not readable as {item.kind}: {error.error_count()} faults"

    def _current(self, connection: Connection, kind: str, id: str, version: int | None = None) -> Item | None:
        wanted = (VERSIONS.c.kind == kind) & (VERSIONS.c.id == id)
        if version is not None:
            wanted &= VERSIONS.c.version == version
        query = select(VERSIONS).where(wanted).order_by(VERSIONS.c.version.desc()).limit(1)
        row = connection.execute(query).first()
        return None if row is None else Item.of_row(row)

    # --- the database ----------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, writes: bool = False) -> Iterator[Connection]:
        with self._lock:
            try:
                with self._ways[writes].begin() as connection:
                    yield connection
            except IntegrityError as error:
                if writes and "item_version" in str(error.orig) and "unique" in str(error.orig).lower():
                    raise _Overtaken(f"{self._place}: another process wrote the same version") from error
                raise StoreUnusable(f"{self._place}: {error.orig}") from error
            except SQLAlchemyError as error:
                cause = getattr(error, "orig", None) or error
                raise StoreUnusable(
                    f"{self._place}: {cause}. Nothing of this was written. Make room or free the file; if it is "
                    "damaged, move it away and a new one is begun; memory_url=none keeps nothing"
                ) from error

    def _check_schema(self, connection: Connection) -> None:
        found = connection.execute(select(META.c.value).where(META.c.key == "schema")).scalar()
        if found is None:
            connection.execute(META.insert().values(key="schema", value=str(SCHEMA)))
        elif found != str(SCHEMA):
            raise StoreUnusable(
                f"{self._place}: it was written in layout {found}, this version reads {SCHEMA}; use the version that "
                "wrote it, or another memory_url"
            )


class _Overtaken(StoreUnusable):
    """Another process wrote the version that this one was about to write."""


def _is_text(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_recalled(data: object) -> bool:
    """Whether anything in the data, however deep, says of itself that it came out of memory."""
    waiting = [data]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, BaseModel):
            thing = dict(thing)
        if isinstance(thing, Mapping):
            if thing.get("origin") == RECALLED:
                return True
            waiting.extend(thing.values())
        elif isinstance(thing, list | tuple):
            waiting.extend(thing)
    return False
