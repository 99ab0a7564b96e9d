"""The kinds of items that are kept, and what each one's data must be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from anima.types.glue import Episode
from anima.types.mind import Objective

EPISODE, OBJECTIVE, TEMPERAMENT = "episode", "objective", "temperament"
LIVED, RECALLED = "lived", "recalled"


class Dispositions(BaseModel):
    """What is kept of a temperament: where it has drifted to, each 0..1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    initiative: float = Field(ge=0, le=1)
    persistence: float = Field(ge=0, le=1)
    caution: float = Field(ge=0, le=1)


class LivedEpisode(Episode):
    """An episode as it may be kept: from the robot's own life."""

    origin: Literal["lived"]


KINDS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {EPISODE: LivedEpisode, OBJECTIVE: Objective, TEMPERAMENT: Dispositions}
)
