"""The names that may be spoken of: the known map's places and surfaces, the known objects, and what is off limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_SEPARATORS = re.compile(r"[\s_\-]+")
_ARTICLES = frozenset({"the", "a", "an", "my", "your"})
_CLOSE = ((4, 1), (7, 2))  # words of at least so many letters may be off by so many edits


@dataclass(frozen=True)
class KnownNames:
    """Canonical names (``red_cube``, ``kitchen_table``).

    `places` is everything that can be driven to: rooms, surfaces, dock, person. `surfaces` is where things can be
    put. `no_go` are names of the map that must never be driven to. `surface_rooms` says which room a surface is in,
    `holders` at which person a surface is.
    """

    places: tuple[str, ...]
    surfaces: tuple[str, ...]
    objects: tuple[str, ...]
    no_go: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    surface_rooms: dict[str, str] = field(default_factory=dict, hash=False)
    holders: dict[str, str] = field(default_factory=dict, hash=False)

    def surfaces_in(self, room: str) -> tuple[str, ...]:
        """The surfaces that stand in `room`."""
        return tuple(s for s in self.surfaces if self.surface_rooms.get(s) == room)


def canonical(text: str) -> str:
    """Lower case, words joined by one underscore, no article in front: ``The Red-Cube `` -> ``red_cube``."""
    words = [w for w in _SEPARATORS.split(text.strip().strip("\"'").rstrip(".,!?").lower()) if w]
    while len(words) > 1 and words[0] in _ARTICLES:
        words.pop(0)
    return "_".join(words)


def edits(a: str, b: str) -> int:
    """Edit distance with neighbouring letters swapped counting as one (optimal string alignment)."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]


def is_close(word: str, known: str) -> bool:
    """Whether `word` is a plausible misspelling of `known`; short words must be exact."""
    allowed = max((n for letters, n in _CLOSE if min(len(word), len(known)) >= letters), default=0)
    return word == known or (abs(len(word) - len(known)) <= allowed and edits(word, known) <= allowed)


def resolve(text: str, known: Iterable[str]) -> str | None:
    """The one known name that `text` means: exact, in another word order, or misspelt; None when none or several."""
    known = tuple(known)
    name = canonical(text)
    if name in known:
        return name
    if len(name) > 60:
        return None
    squeezed = [k for k in known if k.replace("_", "") == name.replace("_", "")]
    if len(squeezed) == 1:
        return squeezed[0]
    words = sorted(name.split("_"))
    same_words = [k for k in known if sorted(k.split("_")) == words]
    if len(same_words) == 1:
        return same_words[0]
    near = [
        k
        for k in known
        if len(k.split("_")) == name.count("_") + 1
        and all(is_close(a, b) for a, b in zip(name.split("_"), k.split("_"), strict=True))
    ]
    return near[0] if len(near) == 1 else None
