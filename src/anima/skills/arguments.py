"""The typed parameters of the skills."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Arguments(BaseModel):
    """Parameters of a skill: typed, closed, immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class NoArguments(Arguments):
    """Nothing to say."""


class ToPlace(Arguments):
    """A named place: a room, a surface, the dock, the person."""

    place: str


class OfObject(Arguments):
    """A graspable object by name, e.g. ``red_cube``."""

    object: str


class ObjectOnto(Arguments):
    """An object in the hand, and the surface to put it on."""

    object: str
    surface: str


class Say(Arguments):
    """Either a text to speak, or an object whose whereabouts to tell (composed from what is known)."""

    text: str = Field(default="", max_length=200)
    object: str = ""


class Wait(Arguments):
    """How long to stand still, seconds."""

    seconds: float = Field(gt=0, le=60)
