"""A PostgreSQL server for tests: Debian's binaries, a folder of its own, a UNIX socket, no port."""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

_USER = "anima"
_schemas = itertools.count(1)


def fresh_url() -> str:
    """The URL of an empty store on the session's server, which is started when first asked for."""
    folder = _server()
    schema = f"mind_{os.getpid()}_{next(_schemas)}"
    with psycopg.connect(f"host={folder} user={_USER} dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")  # type: ignore[arg-type]
    return f"postgresql://{_USER}@/postgres?host={folder}&options=-csearch_path%3D{schema}"


@functools.cache
def _server() -> Path:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not programs:
        pytest.skip("PostgreSQL's server is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="anima-postgres-"))
    owner = _owner(folder)
    data, tools = folder / "data", programs[-1].parent

    def run(*command: str | Path) -> None:
        # Its output goes to a file: the server keeps what it inherits, and a pipe would never end.
        with (folder / "log").open("a") as log:
            subprocess.run([str(word) for word in command], check=True, cwd=folder, stdout=log, stderr=log, **owner)

    run(tools / "initdb", "-D", data, "-U", _USER, "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
    # Processes are killed in these tests, not the machine: what is handed to the kernel is safe.
    options = f"-k {folder} -c listen_addresses='' -c fsync=off -c max_connections=60 -c shared_buffers=16MB"
    run(tools / "pg_ctl", "-D", data, "-w", "-o", options, "start")
    started_by = os.getpid()

    def stop() -> None:
        if os.getpid() == started_by:
            run(tools / "pg_ctl", "-D", data, "-m", "immediate", "stop")
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return folder


def _owner(folder: Path) -> dict[str, object]:
    """The server refuses to run as root: then somebody without rights runs it."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    (folder / "log").touch()
    os.chown(folder / "log", nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
