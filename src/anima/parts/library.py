"""The library of parts: where they are made, changed, divided, joined and put away, and where an event finds them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anima.memory.difference import Difference, differences
from anima.memory.embedding import Embedder
from anima.memory.errors import BadData, NotThere, Overtaken
from anima.memory.kinds import PART, PART_LINEAGE
from anima.memory.patch import Patch, apply_patch
from anima.memory.patch_refusals import NoCause
from anima.memory.rows import Change, Item, Stamp
from anima.memory.store import Store
from anima.memory.vectors import MeaningIndex, Progress
from anima.parts.schema import Lineage, Part, Suggestion, first_id

_HELD = 4096
"""So many parts that were woken lately are held as they were read, until they change."""


@dataclass(frozen=True)
class KeptPart:
    """A part in one of its versions: since when (`at`), by whom, why, and because of which events."""

    id: str
    version: int
    part: Part
    archived: bool
    at: Stamp
    who: str
    why: str
    because: tuple[str, ...]

    @classmethod
    def of(cls, item: Item) -> KeptPart:
        """The part that an item holds."""
        part = Part.model_validate(item.data)
        return cls(item.id, item.version, part, item.archived, item.at, item.who, item.why, item.because)


@dataclass(frozen=True)
class Activated:
    """A part that an event wakes, and how alike they are: the cosine, -1..1."""

    kept: KeptPart
    score: float


@dataclass(frozen=True)
class Due:
    """A prediction whose time is over and that nobody has looked at: `/suggestions_and_results/<entry>/result`."""

    kept: KeptPart
    entry: str
    suggestion: Suggestion
    due_utc_s: float


@dataclass(frozen=True)
class Cause:
    """Who changes something, why, when, and because of which events (ids; there must be at least one)."""

    who: str
    why: str
    at: Stamp
    because: Sequence[str]


class PartLibrary:
    """All parts of one mind. Nothing in it is lost: every call writes versions, whole or not at all.

    What is archived (concluded, divided, joined) is never activated or due, and can still be read. Threads may share
    a library; other processes may write to the same store, and are seen at the next call.
    """

    def __init__(self, store: Store, embedder: Embedder, index_file: Path | None = None) -> None:
        self._store = store
        self.index = MeaningIndex(store, PART, embedder, index_file)
        """Where it finds parts by meaning; follows the store by itself."""
        self._pending: dict[str, list[tuple[float, str]]] = {}
        self._read = False
        self._noisy: set[str] = set()
        self._held: dict[str, KeptPart] = {}
        self._reading = threading.RLock()  # what is held is as new as the index

    # --- changing --------------------------------------------------------------------------------

    def create(self, part: Part, cause: Cause, id: str = "", lineage: Lineage | None = None) -> KeptPart:
        """Keep a new part; its id is made from its name unless one is given.

        Raises `Overtaken` when the given id is taken, `BadData` for what no part is.
        """
        while True:
            chosen = id or self._free_id(part.name, ())
            changes = self._birth(chosen, part, lineage, cause)
            try:
                return KeptPart.of(self._store.write(changes)[0])
            except Overtaken:
                if id:
                    raise

    def patch(self, id: str, patch: Patch, cause: Cause, on_version: int | None = None) -> KeptPart:
        """Change a part by a patch (`memory.patch`). Raises `PatchRefused`, `NotThere`, `Overtaken`."""
        item = apply_patch(
            self._store, PART, id, patch, who=cause.who, why=cause.why, at=cause.at, because=cause.because,
            on_version=on_version,
        )
        return KeptPart.of(item)

    def archive(self, id: str, cause: Cause) -> KeptPart:
        """Put a part away: it stays as it is, and bids no more. Raises `NotThere`."""
        return KeptPart.of(self._store.write([self._end(self._live(id), cause)])[0])

    def split(self, id: str, into: Sequence[Part], cause: Cause) -> list[KeptPart]:
        """Divide a part into two or more, each for a slice of its contexts; it is archived and knows what came of it.

        What they bring along of `suggestions_and_results` must have been lived by it. Raises `BadData`, `NotThere`.
        """
        if len(into) < 2:
            raise BadData(f"{id}: a part divides into two or more")
        return self._succeed([self._live(id)], into, Lineage(split_from=id), cause)

    def merge(self, ids: Sequence[str], into: Part, cause: Cause) -> KeptPart:
        """Join parts that say the same; they are archived and know what came of them. Raises as `split`."""
        if len(set(ids)) < 2 or len(set(ids)) < len(ids):
            raise BadData("two or more different parts are joined")
        lineage = Lineage(merged_from=list(ids))
        return self._succeed([self._live(id) for id in ids], [into], lineage, cause)[0]

    def _succeed(
        self, sources: Sequence[KeptPart], into: Sequence[Part], lineage: Lineage, cause: Cause
    ) -> list[KeptPart]:
        lived = [entry for source in sources for entry in source.part.suggestions_and_results]
        for part in into:
            for entry in part.suggestions_and_results:
                if entry not in lived:
                    raise BadData(f"{part.name!r} remembers what none before it lived: {entry.your_suggestion[:80]!r}")
        ids: list[str] = []
        for part in into:
            ids.append(self._free_id(part.name, ids))
        changes = [self._birth(id, part, lineage, cause) for id, part in zip(ids, into, strict=True)]
        births = [change for pair in changes for change in pair]
        ends = [self._end(source, cause) for source in sources]
        for source in sources:
            before = self._lineage_item(source.id)
            known = Lineage() if before is None else Lineage.model_validate(before.data)
            data = known.model_copy(update={"superseded_by": ids}).model_dump(mode="json")
            version = 0 if before is None else before.version
            ends.append(self._change(PART_LINEAGE, source.id, data, cause, on_version=version))
        written = {item.id: item for item in self._store.write([*births, *ends]) if item.kind == PART}
        return [KeptPart.of(written[id]) for id in ids]

    def _birth(self, id: str, part: Part, lineage: Lineage | None, cause: Cause) -> list[Change]:
        changes = [self._change(PART, id, part.model_dump(mode="json"), cause, on_version=0)]
        if lineage is not None:
            changes.append(self._change(PART_LINEAGE, id, lineage.model_dump(mode="json"), cause, on_version=0))
        return changes

    def _end(self, kept: KeptPart, cause: Cause) -> Change:
        return self._change(PART, kept.id, None, cause, archived=True, on_version=kept.version)

    def _change(self, kind: str, id: str, data: Mapping[str, Any] | None, cause: Cause, **more: Any) -> Change:
        if not cause.because or not all(event.strip() for event in cause.because):
            raise NoCause(f"{kind} {id!r}: a change names the events that it came from; this one names none")
        return Change(kind, id, data, cause.who, cause.why, cause.at, tuple(cause.because), **more)

    def _free_id(self, name: str, taken: Sequence[str]) -> str:
        held = list(taken)
        while self._store.some(PART, [id := first_id(name, held)]):
            held.append(id)
        return id

    def _live(self, id: str) -> KeptPart:
        kept = self.get(id)
        if kept.archived:
            raise NotThere(f"part {id!r} is archived: {kept.why}")
        return kept

    # --- reading ---------------------------------------------------------------------------------

    def get(self, id: str, version: int | None = None) -> KeptPart:
        """A part, archived or not, now or in an older version. Raises `NotThere`."""
        return KeptPart.of(self._store.get(PART, id, version))

    def active(self) -> list[KeptPart]:
        """All parts that are not archived, in the order of their last change."""
        return [KeptPart.of(item) for item in self._store.all(PART)]

    def history(self, id: str) -> list[KeptPart]:
        """All versions of a part, oldest first. Raises `NotThere`."""
        items = self._store.history(PART, id)
        if not items:
            raise NotThere(f"there is no part {id!r}")
        return [KeptPart.of(item) for item in items]

    def lineage(self, id: str) -> Lineage:
        """Where a part comes from and what came of it."""
        item = self._lineage_item(id)
        return Lineage() if item is None else Lineage.model_validate(item.data)

    def diff(self, id: str, before: int, after: int) -> list[Difference]:
        """What is different in a later version of a part. Raises `NotThere`."""
        return differences(self._store.get(PART, id, before).data, self._store.get(PART, id, after).data, Part)

    def _lineage_item(self, id: str) -> Item | None:
        return self._store.some(PART_LINEAGE, [id]).get(id)

    # --- finding ---------------------------------------------------------------------------------

    def refresh(self, progress: Progress | None = None) -> None:
        """Take in what was written since the last call; happens by itself, and can take long on the first one."""
        with self._reading:
            changed = self.index.refresh(progress)
            for item in changed:
                self._held.pop(item.id, None)
            if not self._read:
                self._read = True
                changed = self._store.all(PART)
            for item in changed:
                self._pending.pop(item.id, None)
                self._noisy.discard(item.id)
                if not item.archived and item.data.get("needs_evaluation") is True:
                    self._noisy.add(item.id)
                if not item.archived and (pending := _pending_of(item)):
                    self._pending[item.id] = pending

    def retrieve(self, queries: Sequence[str], k: int) -> list[Activated]:
        """The k parts that the queries wake, strongest first."""
        with self._reading:
            self.refresh()
            hits = self.index.search(queries, k)
            kept = self._hold(hit.key for hit in hits)
        found = [(kept[hit.key], hit.score) for hit in hits if hit.key in kept]
        return [Activated(part, score) for part, score in found if not part.archived]

    def _hold(self, ids: Iterable[str]) -> dict[str, KeptPart]:
        """The parts of these ids, those that there are; read only where they are not held."""
        wanted = list(ids)
        found = {id: self._held.pop(id) for id in wanted if id in self._held}
        if missing := [id for id in wanted if id not in found]:
            found |= {id: KeptPart.of(item) for id, item in self._store.some(PART, missing).items()}
        self._held |= found  # at the end: what was not asked for lately goes first
        while len(self._held) > _HELD:
            del self._held[next(iter(self._held))]
        return found

    def due(self, now_utc_s: float, most: int | None = None) -> list[Due]:
        """The predictions whose time is over and whose result is not known, longest overdue first."""
        self.refresh()
        late = sorted(
            (due, id, entry) for id, pending in self._pending.items() for due, entry in pending if due <= now_utc_s
        )[:most]
        items = self._store.some(PART, sorted({id for _, id, _ in late}))
        found = []
        for due, id, entry in late:
            kept = KeptPart.of(items[id])
            suggestion = next((s for s in kept.part.suggestions_and_results if s.id == entry), None)
            if suggestion is not None and not kept.archived:
                found.append(Due(kept, entry, suggestion, due))
        return found

    def noisy(self) -> list[str]:
        """The parts whose results don't fit together (`needs_evaluation`), by id."""
        self.refresh()
        return sorted(self._noisy)

    def __len__(self) -> int:
        return len(self.index)

    def close(self) -> None:
        """Write the index down, so that the next start is quick. The store is not closed."""
        self.index.save()


def _pending_of(item: Item) -> list[tuple[float, str]]:
    entries = item.data.get("suggestions_and_results")
    if not isinstance(entries, list) or not any(isinstance(e, dict) and not e.get("result") for e in entries):
        return []
    try:
        kept = [Suggestion.model_validate(entry) for entry in entries]
    except ValidationError:
        return []  # written by another version of the mind; `verify` tells of it
    return [(suggestion.due_utc_s, suggestion.id) for suggestion in kept if suggestion.due_utc_s is not None]
