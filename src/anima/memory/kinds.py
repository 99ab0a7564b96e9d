"""The kinds of items that are kept, and what each one's data must be.

A new kind is one line in `_MODELS`: its name, and where its pydantic model stands. The model may say two things more:
`patch_rules: ClassVar[PatchRules]` lets a language model change such items through the patch door (`memory.patch`),
and a method `search_texts(self) -> list[str]` lets them be found by meaning (`memory.vectors`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from anima.types.glue import Episode

EPISODE, OBJECTIVE, TEMPERAMENT = "episode", "objective", "temperament"
PART, PART_LINEAGE, STANCE = "part", "part_lineage", "stance"
BODY_COSTS, RISKS, POSITION = "body_costs", "risks", "position"
LIVED, RECALLED = "lived", "recalled"

# By name, not by class: what a kind holds may itself be built on the store.
_MODELS = {
    EPISODE: "anima.memory.kinds:LivedEpisode",
    OBJECTIVE: "anima.types.mind:Objective",
    TEMPERAMENT: "anima.memory.kinds:Dispositions",
    BODY_COSTS: "anima.memory.kinds:KeptCosts",
    RISKS: "anima.memory.kinds:KeptRisks",
    POSITION: "anima.memory.kinds:KeptPosition",
    PART: "anima.parts.schema:Part",
    PART_LINEAGE: "anima.parts.schema:Lineage",
    STANCE: "anima.parts.leaning:KeptStance",
    "lesson": "anima.learning.items:Lesson",
    "belief": "anima.learning.items:Belief",
    "portrait": "anima.learning.items:Portrait",
    "intention": "anima.learning.items:Intention",
    "fact": "anima.learning.items:Fact",
    "entity": "anima.learning.items:Entity",
    "relation": "anima.learning.items:Relation",
    "observation": "anima.learning.items:Observation",
    "forgotten": "anima.learning.items:Forgotten",
}


class Dispositions(BaseModel):
    """What is kept of a temperament: where it has drifted to, each 0..1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    initiative: float = Field(ge=0, le=1)
    persistence: float = Field(ge=0, le=1)
    caution: float = Field(ge=0, le=1)


class KeptCosts(BaseModel):
    """What is kept of a body's costs (`types.costs.BodyCosts`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share_per_s: float = Field(ge=0, le=1)
    share_per_m: float = Field(ge=0, le=1)
    cruise_mps: float = Field(gt=0, le=10)
    joules: float = Field(ge=0, allow_inf_nan=False)
    metres: float = Field(ge=0, allow_inf_nan=False)
    failed_grasps: int = Field(ge=0)


class KeptPosition(BaseModel):
    """Where the robot last stood, in the map: metres, radians."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)
    yaw: float = Field(allow_inf_nan=False)


_Count = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class KeptRisks(BaseModel):
    """What is kept of the risks and times that calls taught (`types.costs.Risks`): by kind tries and failures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lived: dict[str, tuple[_Count, _Count]]
    speed_mps: float = Field(gt=0, le=10)
    lasting_s: dict[str, _Count]
    been: list[str]


class LivedEpisode(Episode):
    """An episode as it may be kept: from the robot's own life."""

    origin: Literal["lived"]


class _Kinds(Mapping[str, type[BaseModel]]):
    """The models by kind, each imported when it is first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)
        self._found: dict[str, type[BaseModel]] = {}

    def __getitem__(self, kind: str) -> type[BaseModel]:
        if kind not in self._found:
            module, _, name = self._places[kind].partition(":")
            model: type[BaseModel] = getattr(importlib.import_module(module), name)
            self._found[kind] = model
        return self._found[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


KINDS: Mapping[str, type[BaseModel]] = _Kinds(_MODELS)
