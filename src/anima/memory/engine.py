"""The two databases that a store can lie in, SQLite and PostgreSQL, each made to keep what it says it has kept."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from anima.memory.errors import StoreUnusable

WRITES = "anima_writes"
_LOCK = 0x616E696D61  # "anima"


def open_engine(url: str) -> Engine:
    """The database of a URL; nothing is read yet. Raises `StoreUnusable` for what is no URL of one that is known.

    Connections whose execution option `WRITES` is set write; they wait for each other.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "postgresql":
            engine = create_engine(_by_psycopg(parsed), pool_pre_ping=True)
            event.listen(engine, "begin", _queue_up)
            return engine
        if parsed.get_backend_name() != "sqlite":
            raise StoreUnusable(
                f"memory_url {parsed.render_as_string()!r}: it is neither SQLite nor PostgreSQL; write it as "
                "sqlite:////folder/mind.db or postgresql://user@host/database"
            )
        if parsed.database in (None, "", ":memory:"):
            engine = create_engine(parsed, poolclass=StaticPool, connect_args={"check_same_thread": False})
        else:
            engine = create_engine(parsed, connect_args={"timeout": 10.0})
    except (ArgumentError, ImportError, SQLAlchemyError) as error:
        raise StoreUnusable(
            f"memory_url {url!r}: {error}; write it as sqlite:////folder/mind.db or postgresql://user@host/database"
        ) from error
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _by_psycopg(url: URL) -> URL:
    return url if "+" in url.drivername else url.set(drivername="postgresql+psycopg")


def _queue_up(connection: Connection) -> None:
    # As with SQLite one writes at a time: versions follow each other, and what has a lower `seq` is seen no later.
    if connection.get_execution_options().get(WRITES, False):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def _prepare(connection: Any, _record: Any) -> None:
    """SQLite as a store of record: writers don't block readers, and what is committed is on the disk."""
    connection.isolation_level = None  # transactions begin where `_begin` says
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A writer takes the lock before it reads which version comes next.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
