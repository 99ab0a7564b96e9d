"""Which known names the words of an utterance can mean, and which words mean nothing that is known.

This narrows what may be decoded; what the sentence as a whole asks for is the model's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anima.planner.lexicon import Lexicon
from anima.planner.names import KnownNames, is_close
from anima.world.predicates import PERSON

DOCK = "dock"
MAX_GAP_WORDS = 3  # "the thing that's blue and kind of round" is one thing, "the blue … (six words) … ball" two
_WORD = re.compile(r"[a-z0-9']+")
_NUMBER = re.compile(r"\d{1,3}")


@dataclass(frozen=True)
class Group:
    """Words that together mean one thing: what it can be (none: nothing known), and the words.

    `indefinite` when any such thing will do ("a cube"), `source` when said as where something comes from;
    `at` is the place of the first of them in the sentence.
    """

    candidates: tuple[str, ...]
    words: tuple[str, ...]
    indefinite: bool = False
    source: bool = False
    at: int = 0

    @property
    def text(self) -> str:
        """The words as said."""
        return " ".join(self.words)


@dataclass(frozen=True)
class Grounding:
    """What an utterance speaks of. `objects` and `places` are in the order of mention.

    `person_at` and `dock_at` are where the last word for the speaker and for the charger stands, None without any.
    `unknown_place` and `unknown_thing` tell whether an unknown word stands where a place or a thing would;
    `nowhere` that what was asked for would lead to such a place; `recipient` that the speaker shall be given something.
    """

    objects: tuple[Group, ...]
    places: tuple[Group, ...]
    person_at: int | None
    dock_at: int | None
    no_go: tuple[str, ...]
    pronoun: bool
    percent: int | None
    unknown: tuple[str, ...]
    unknown_place: bool
    unknown_thing: bool
    nowhere: bool
    recipient: bool
    adding: bool

    @property
    def person(self) -> bool:
        """Whether the speaker is spoken of, as in "to me", "here", "come back"."""
        return self.person_at is not None

    @property
    def dock(self) -> bool:
        """Whether dock or charging is spoken of."""
        return self.dock_at is not None

    @property
    def mismatched(self) -> tuple[Group, ...]:
        """Descriptions that fit nothing known, such as "black cube"."""
        return tuple(group for group in self.objects if not group.candidates)


def words_of(text: str) -> list[str]:
    """Lower-case words; 's is cut off."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    return [w[:-2] if w.endswith("'s") and len(w) > 3 else w.strip("'") for w in words if w.strip("'")]


@dataclass(frozen=True)
class _Hit:
    """A describing word: its position, its axis (colour, shape, room, kind), and the names that it admits."""

    at: int
    axis: str
    admits: frozenset[str]
    word: str


def ground(text: str, names: KnownNames, lexicon: Lexicon) -> Grounding:
    """What the words of `text` can mean. Pure."""
    words = words_of(text)
    used: set[int] = set()
    objects = _groups(_object_hits(words, names, lexicon, used), words, lexicon, split_misfits=False)
    places = _groups(_place_hits(words, names, lexicon, used), words, lexicon, split_misfits=True)
    no_go = tuple(
        area for area in names.no_go if any(w == area or w in lexicon.no_go.get(area, ()) for w in words)
    )
    used |= {i for i, w in enumerate(words) if any(w == a or w in lexicon.no_go.get(a, ()) for a in no_go)}
    numbers = [int(w) for w in words if _NUMBER.fullmatch(w) and int(w) <= 100]
    dock = _last(words, lexicon.dock)
    person = (*lexicon.person, *(lexicon.coming_back if dock is None else ()))
    percent = numbers[0] if numbers else lexicon.full_percent if set(words) & set(lexicon.full) else None
    ordinary = {*lexicon.dock, *lexicon.person, *lexicon.coming_back, *lexicon.pronouns, *lexicon.full}
    unknown = [
        i
        for i, word in enumerate(words)
        if i not in used and word not in ordinary and not lexicon.is_common(word) and not _NUMBER.fullmatch(word)
    ]
    given = _is_given(words, lexicon)
    roles = [_role(i, words, unknown, lexicon) for i in unknown]
    return Grounding(
        objects=objects,
        places=places,
        person_at=_last(words, person),
        dock_at=dock,
        no_go=no_go,
        pronoun=any(w in lexicon.pronouns for w in words),
        percent=None if dock is None else percent,
        unknown=tuple(dict.fromkeys(words[i] for i in unknown)),
        unknown_place=any(role in ("place", "place or deed", "either") for role in roles),
        nowhere="place" in roles and not given,
        unknown_thing=any(role in ("thing", "either") for role in roles)
        or ("other" in roles and not any(group.candidates for group in objects)),
        recipient=given,
        adding=bool(words) and (words[0] in lexicon.adding or words[-1] in ("too", "also")),
    )


def _role(at: int, words: Sequence[str], unknown: Sequence[int], lexicon: Lexicon) -> str:
    """What the unknown word at `at` would be by what stands before it."""
    i = at - 1
    while i >= 0 and i in unknown:
        i -= 1
    determined = i >= 0 and words[i] in lexicon.determiners
    i -= determined
    before = words[i] if i >= 0 else ""
    if before in lexicon.into_place:
        return "place" if determined else "place or deed"  # "to the garden", "to garden"
    if before in lexicon.into_place_or_not:
        return "either"
    if determined:
        return "thing"
    return "deed" if at == 0 or words[at - 1] in ("please", *lexicon.adding) else "other"


def _is_given(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a word of giving goes with the speaker: "bring me", "hand it to us", "get it for me"."""
    for i, word in enumerate(words):
        if word in lexicon.giving:
            after = [w for w in words[i + 1 : i + 4] if w not in lexicon.pronouns and w not in ("to", "for")]
            if after and after[0] in ("me", "us"):
                return True
    return False


def _last(words: Sequence[str], wanted: Iterable[str]) -> int | None:
    """Where the last of the wanted words stands, or None."""
    wanted = set(wanted)
    return max((i for i, word in enumerate(words) if word in wanted), default=None)


def _object_hits(words: Sequence[str], names: KnownNames, lexicon: Lexicon, used: set[int]) -> list[_Hit]:
    colours = {name.split("_", 1)[0] for name in names.objects}
    shapes = {name.split("_", 1)[1] for name in names.objects}

    def admits(position: int, values: Iterable[str]) -> frozenset[str]:
        wanted = set(values)
        return frozenset(n for n in names.objects if n.split("_", 1)[position] in wanted)

    hits = []
    for i, word in enumerate(words):
        colour = _known(word, colours, lexicon.colours, lexicon)
        shape = _known(word, shapes, lexicon.shapes, lexicon)
        if colour or word in lexicon.other_colours:
            hits.append(_Hit(i, "colour", admits(0, colour), word))
        elif shape:
            hits.append(_Hit(i, "shape", admits(1, shape), word))
        else:
            continue
        used.add(i)
    return hits


def _place_hits(words: Sequence[str], names: KnownNames, lexicon: Lexicon, used: set[int]) -> list[_Hit]:
    hits = []
    i = 0
    while i < len(words):
        pair = "_".join(words[i : i + 2])
        room = next((r for r in names.rooms if r == pair or r.replace("_", "") == words[i]), None)
        width = 2 if room is not None and room == pair else 1
        room = room or _one(words[i], names.rooms, lexicon) or lexicon.rooms.get(words[i])
        kinds = [s for s in names.surfaces if words[i].removesuffix("s") in s.split("_")]
        kinds = lexicon.surface_kinds.get(words[i], kinds)
        if room in names.rooms:
            admits = {room, *(s for s in names.surfaces if names.surface_rooms.get(s) == room)}
            hits.append(_Hit(i, "room", frozenset(admits), " ".join(words[i : i + width])))
        elif kinds and words[i] != PERSON:
            hits.append(_Hit(i, "kind", frozenset(kinds), words[i]))
        else:
            i += 1
            continue
        used.update(range(i, i + width))
        i += width
    return hits


def _known(word: str, names: Iterable[str], synonyms: dict[str, list[str]], lexicon: Lexicon) -> list[str]:
    if word in synonyms:
        return synonyms[word]
    for form in (word, word.removesuffix("s")):
        if form in names:
            return [form]
    found = _one(word, names, lexicon)
    return [found] if found else []


def _one(word: str, names: Iterable[str], lexicon: Lexicon) -> str | None:
    """The one name that `word` is or misspells; an ordinary word is no misspelling ("pick" is not "pink")."""
    if word in lexicon.common_words:
        return None
    close = [name for name in names if word[0] == name[0] and is_close(word, name)]
    return close[0] if len(close) == 1 else None


def _groups(hits: Sequence[_Hit], words: Sequence[str], lexicon: Lexicon, *, split_misfits: bool) -> tuple[Group, ...]:
    """Neighbouring hits on different axes describe one thing; a second word on an axis begins the next thing.

    Two that admit nothing together are one thing that is not known (a "red ball"), or with `split_misfits` two
    things ("go to the kitchen, then to the shelf").
    """
    groups: list[list[_Hit]] = []
    for hit in hits:
        current = groups[-1] if groups else []
        fits = bool(current) and all(h.axis != hit.axis for h in current)
        near = bool(current) and hit.at - current[-1].at <= MAX_GAP_WORDS + 1
        together = fits and near and (not split_misfits or bool(_admitted([*current, hit])))
        if together:
            current.append(hit)
        else:
            groups.append([hit])
    found: dict[tuple[str, ...], Group] = {}
    for group in groups:
        candidates = _admitted(group)
        before = words[max(0, group[0].at - 3) : group[0].at]
        said = tuple(h.word for h in group)
        key = candidates or said
        found.setdefault(
            key,
            Group(
                candidates,
                said,
                indefinite=any(w in lexicon.indefinite for w in before[-1:]),
                source=any(w in lexicon.source for w in before),
                at=group[0].at,
            ),
        )
    return tuple(found.values())


def _admitted(group: Sequence[_Hit]) -> tuple[str, ...]:
    common = frozenset.intersection(*(h.admits for h in group))
    # A room named alone means the room; together with a kind of surface it means the surface.
    if [h.axis for h in group] == ["room"]:
        common = group[0].admits
    return tuple(sorted(common))
