"""The words for what is known: synonyms from `config/planner/lexicon.yaml` joined with the names themselves."""

from __future__ import annotations

import functools
from pathlib import Path

from pydantic import Field

from anima.body.places import load_places
from anima.config import CONFIG, ConfigError, Settings, Tuning, parse, read_yaml
from anima.planner.names import KnownNames

LEXICON_FILE = CONFIG / "planner" / "lexicon.yaml"


class Lexicon(Tuning):
    """Words of people, lower case, for the names of map and objects."""

    colours: dict[str, list[str]]
    other_colours: list[str]
    shapes: dict[str, list[str]]
    surface_kinds: dict[str, list[str]]
    rooms: dict[str, str]
    dock: list[str]
    person: list[str]
    coming_back: list[str]
    source: list[str]
    no_go: dict[str, list[str]]
    into_place: list[str]
    into_place_or_not: list[str]
    determiners: list[str]
    giving: list[str]
    pronouns: list[str]
    indefinite: list[str]
    adding: list[str]
    full: list[str]
    full_percent: int = Field(ge=1, le=100)
    common: str

    @functools.cached_property
    def common_words(self) -> frozenset[str]:
        """The ordinary words of orders."""
        return frozenset(self.common.split())

    def is_common(self, word: str) -> bool:
        """Whether the word, or what it is a form of, is an ordinary one ("goes", "placing", "located")."""
        endings = ("s", "es", "ed", "d", "ing")
        stems = [word, *(word.removesuffix(ending) for ending in endings if word.endswith(ending))]
        return any(stem in self.common_words or f"{stem}e" in self.common_words for stem in stems)


@functools.lru_cache(maxsize=2)
def load_lexicon(file: Path = LEXICON_FILE) -> Lexicon:
    """The lexicon in `file`; raises `ConfigError` that names the fault."""
    lexicon: Lexicon = parse(Lexicon, read_yaml(file), str(file))
    return lexicon


def known_names(settings: Settings) -> KnownNames:
    """The names of the map and of the objects that the settings point at; raises `ConfigError`."""
    places = load_places(settings.map_folder)
    source = CONFIG / "perception.yaml"
    objects = read_yaml(source).get("known_objects")
    if not isinstance(objects, list) or not all(isinstance(name, str) and "_" in name for name in objects):
        raise ConfigError(f"{source}: known_objects: expected a list of names such as red_cube, got {objects!r}")
    return KnownNames(
        places=tuple(places.names),
        surfaces=tuple(surface.name for surface in places.surfaces),
        objects=tuple(objects),
        no_go=tuple(area.name for area in places.no_go),
        rooms=tuple(room.name for room in places.rooms),
        surface_rooms={surface.name: surface.room for surface in places.surfaces},
        holders={surface.name: surface.holder for surface in places.surfaces if surface.holder},
    )
