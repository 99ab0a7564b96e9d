"""Kill the writer of a mind again and again, at any moment, and look whether anything that it acknowledged is lost."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from anima.memory.embedding import Embedder, MiniLm
from anima.memory.kinds import PART
from anima.memory.rows import Stamp
from anima.memory.store import Store
from anima.parts.library import Cause, PartLibrary
from anima_sim.bench.options import BenchParser
from anima_sim.made_parts import MadeParts

LIFE_S = 0.15
_AT_WORK = 0.7
_VERIFIED_EVERY = 50
_ALIVE = 60


@dataclass
class Torment:
    """What was seen. `lost`, `faults` and `wrong_index` must stay empty."""

    kills: int = 0
    acknowledged: int = 0
    unacknowledged: int = 0
    rebuilt: int = 0
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    wrong_index: list[str] = field(default_factory=list)

    @property
    def unharmed(self) -> bool:
        """Whether nothing was lost."""
        return not (self.lost or self.faults or self.wrong_index)


class Killer:
    """A mind in a folder or a database whose writer is killed; what it acknowledged is remembered outside of it.

    The writer makes, patches, divides, joins and archives parts and writes the index, as fast as it can. Between
    kills the index file is sometimes cut short or removed too.
    """

    def __init__(self, url: str, index_file: Path, embedder: Embedder, seed: int) -> None:
        self._url, self._file, self._embedder = url, index_file, embedder
        self._made = MadeParts(seed, texts=100)
        embedder.embed(self._made.texts())  # the writers inherit what it remembers
        self._luck = random.Random(seed)
        self._acknowledged: dict[tuple[str, int], str] = {}
        self.seen = Torment()

    def kill_once(self) -> None:
        """One life of the writer and its end."""
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe(duplex=False)
        arguments = (self._url, self._file, self._embedder, self._made, there, self._luck.randrange(1 << 30))
        writer = context.Process(target=_write_for_ever, args=arguments, daemon=True)
        writer.start()
        there.close()
        if self._luck.random() < _AT_WORK:
            here.poll(10.0)  # it has written something; the rest die while they open the store or the index
        time.sleep(self._luck.uniform(0.0, LIFE_S))
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        new = {}
        while True:
            try:
                id, version, digest = here.recv()
            except (EOFError, OSError):  # a last word that broke off was no acknowledgement
                break
            new[(id, version)] = digest
        self._acknowledged |= new
        self.seen.kills += 1
        self._look(new)

    def _look(self, new: dict[tuple[str, int], str]) -> None:
        self._harm_index()
        seen = self.seen
        with Store(self._url) as store:
            for (id, version), digest in new.items():
                found = {item.version: item.digest for item in store.history(PART, id)}
                if found.get(version) != digest:
                    seen.lost.append(f"kill {seen.kills}: {id} version {version}")
            if seen.kills % _VERIFIED_EVERY == 0:
                self.verify(store)
            self._check_index(store)

    def verify(self, store: Store) -> None:
        """Look at everything: the chain of digests, and every version that was ever acknowledged."""
        self.seen.faults += store.verify()
        kept = {(item.id, item.version): item.digest for item in store.since(PART, 0)}
        for key, digest in self._acknowledged.items():
            if kept.get(key) != digest:
                self.seen.lost.append(f"after {self.seen.kills} kills: {key[0]} version {key[1]}")
        self.seen.acknowledged = len(self._acknowledged)
        self.seen.unacknowledged = len(kept) - len(self._acknowledged)

    def _harm_index(self) -> None:
        if not self._file.exists():
            return
        harm = self._luck.random()
        if harm < 0.05:
            os.truncate(self._file, self._luck.randrange(self._file.stat().st_size + 1))
        elif harm < 0.1:
            self._file.unlink()

    def _check_index(self, store: Store) -> None:
        library = PartLibrary(store, self._embedder, self._file)
        there = self._file.exists()
        self.seen.rebuilt += bool(library.index.rebuilt_because and there)
        library.refresh()
        living = {item.id: item for item in store.all(PART)}
        if set(library.index.keys()) != set(living):
            self.seen.wrong_index.append(f"kill {self.seen.kills}: it holds other parts than the store")
        elif living:
            kept = library.get(self._luck.choice(sorted(living)))
            woken = library.retrieve([kept.part.search_texts()[0]], len(living))
            if kept.id not in {activated.kept.id for activated in woken}:
                self.seen.wrong_index.append(f"kill {self.seen.kills}: {kept.id} is not found")


def _write_for_ever(
    url: str, file: Path, embedder: Embedder, made: MadeParts, told: Connection, seed: int
) -> None:
    luck = random.Random(seed)
    made.shuffle(seed)
    with Store(url) as store:
        library = PartLibrary(store, embedder, file)
        while True:
            now = time.time()
            cause = Cause("writer", "something happened", Stamp(now, "utc", now), (f"event-{luck.randrange(1000)}",))
            living = store.all(PART, newest=_ALIVE)
            act, kept = luck.random(), []
            if len(living) < 5 or act < 0.25:
                kept = [library.create(made.one(now), cause)]
            elif act < 0.75:
                before = luck.choice(living)
                step = {"op": "replace", "path": "/personality", "value": f"I have seen {luck.randrange(1 << 30)}."}
                some: dict[str, Any] = {"op": "replace", "path": "/triggers", "value": luck.sample(made.triggers, 3)}
                if act < 0.6:
                    some = {"op": "add", "path": "/phrases/-", "value": f"That is {luck.randrange(1 << 30)}!"}
                if act > 0.6 or len(before.data["phrases"]) < 60:  # type: ignore[arg-type]
                    kept = [library.patch(before.id, [step, some], cause)]
            elif act < 0.80:
                into = [made.one(now).model_copy(update={"suggestions_and_results": []}) for _ in range(2)]
                kept = library.split(luck.choice(living).id, into, cause)
            elif act < 0.84:
                one, other = luck.sample([item.id for item in living], 2)
                into = [made.one(now).model_copy(update={"suggestions_and_results": []})]
                kept = [library.merge([one, other], into[0], cause)]
            elif act < 0.97 or len(living) < _ALIVE // 2:
                library.retrieve([luck.choice(made.triggers)], 5)
                library.close()
            else:
                kept = [library.archive(luck.choice(living).id, cause)]
            for part in kept:
                told.send((part.id, part.version, store.get(PART, part.id, part.version).digest))


def bench_kills(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """SIGKILLs at random moments of a write load: nothing that was acknowledged may be lost."""
    parser = BenchParser("kills", bench_kills.__doc__)
    parser.add_argument("--kills", type=int, default=1000, help="how often it is killed (default 1000)")
    parser.add_argument("--url", default="", help="a database that may be written to; empty: a new SQLite file")
    options = parser.parse_args(arguments)
    embedder = MiniLm.load()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="anima-kills-") as folder:
        url = options.url or f"sqlite:///{folder}/mind.db"
        killer = Killer(url, Path(folder) / "parts.index", embedder, seed)
        for _ in track(range(options.kills), "killing", console=console):
            killer.kill_once()
        with Store(url) as store:
            killer.verify(store)
    seen = killer.seen
    for line in [*seen.lost, *seen.faults, *seen.wrong_index][:20]:
        console.print(f"[red]{line}[/red]")
    figures = {
        "kills": seen.kills, "acknowledged_versions": seen.acknowledged,
        "written_but_not_acknowledged": seen.unacknowledged, "lost": len(seen.lost), "faults": len(seen.faults),
        "indexes_made_anew": seen.rebuilt, "wrong_indexes": len(seen.wrong_index),
        "seconds": time.monotonic() - began,
    }
    console.print("limits: nothing lost, no faults, no wrong index")
    return figures, seen.unharmed
