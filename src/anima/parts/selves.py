"""Selves and packs: who decides what matters, and the parts that it starts out with. Data: no code depends on them."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from anima.config import CONFIG, ConfigError, Tuning, parse, read_yaml
from anima.parts.schema import Part

SELVES = CONFIG / "selves"
PACKS = CONFIG / "packs"
PACKED_AT = "2026-01-01T00:00:00+00:00"


class SelfProfile(Tuning):
    """The affect of a Self (`config/selves/<name>.yaml`): what it values, fears and seeks, each a few words.

    Creating, following, changing: every such judgement is made in view of these and of nothing else. More items make
    more events matter; the wording decides which.
    """

    name: str
    persona: str = Field(max_length=200)
    values: list[str] = Field(min_length=1, max_length=6)
    fears: list[str] = Field(min_length=1, max_length=6)
    seeks: list[str] = Field(min_length=1, max_length=6)

    @property
    def affects(self) -> tuple[str, ...]:
        """Each affect as the Self says it, e.g. ``I fear letting somebody down``."""
        return (
            *(f"I value {item}" for item in self.values),
            *(f"I fear {item}" for item in self.fears),
            *(f"I seek {item}" for item in self.seeks),
        )

    @property
    def text(self) -> str:
        """The profile in a few sentences, as prompts show it."""
        return (
            f"I value {', '.join(self.values)}. I fear {', '.join(self.fears)}. I seek {', '.join(self.seeks)}."
        )


class PackedPart(Tuning):
    """A core part as a pack writes it: the fields of a part without its history."""

    name: str
    description: str
    personality: str = ""
    emotion: str
    intensity: str
    triggers: list[str] = Field(min_length=1)
    phrases: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    wants: list[str] = Field(min_length=1)
    conclude_when: str = ""


class Pack(Tuning):
    """Core parts for a role (`config/packs/<name>.yaml`)."""

    name: str
    description: str
    parts: list[PackedPart] = Field(min_length=1)

    def as_parts(self) -> list[Part]:
        """The parts as they are kept."""
        return [
            Part.model_validate(
                {
                    **part.model_dump(), "phrases": list(part.phrases), "responses": list(part.responses),
                    "suggestions_and_results": [], "core_part": True, "needs_evaluation": False,
                    "originating_event": {"timestamp": PACKED_AT, "result": f"It came with the pack {self.name!r}."},
                }
            )
            for part in self.parts
        ]


def load_self(name: str, folder: Path | None = None) -> SelfProfile:
    """A Self by name; raises `ConfigError` that names the file, or lists the Selves that there are."""
    file = _found(folder or SELVES, name, "Self")
    profile: SelfProfile = parse(SelfProfile, {"name": name, **read_yaml(file)}, str(file))
    return profile


def load_pack(name: str, folder: Path | None = None) -> Pack:
    """A pack by name; raises `ConfigError` that names the file, or lists the packs that there are."""
    file = _found(folder or PACKS, name, "pack")
    pack: Pack = parse(Pack, {"name": name, **read_yaml(file)}, str(file))
    return pack


def names_in(folder: Path) -> list[str]:
    """What can be loaded from a folder."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def _found(folder: Path, name: str, what: str) -> Path:
    file = folder / f"{name}.yaml"
    if not file.is_file():
        raise ConfigError(f"{folder}: no {what} {name!r}; there are {', '.join(names_in(folder)) or 'none'}")
    return file
