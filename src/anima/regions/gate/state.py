"""Everything that the gate knows between two steps."""

from __future__ import annotations

from pydantic import BaseModel

from anima.regions.gate.hearing import Hearing
from anima.regions.gate.leases import Leases
from anima.regions.gate.objectives import Backlog
from anima.types.mind import SkillCall, StopState, WorldState


class State(BaseModel):
    """Everything that the gate knows between two steps."""

    now: float | None = None
    backlog: Backlog = Backlog()
    leases: Leases = Leases()
    deferred: SkillCall | None = None  # accepted, until the sensors have shown what the call before it came to
    waiting: list[SkillCall] = []  # accepted calls of a person, until their parts of the body are at rest
    calls: list[str] = []  # ids of calls that were decided about
    hearing: Hearing = Hearing()
    world: WorldState | None = None
    stop: StopState | None = None
    transient_at: float | None = None  # when a transient reason to park was last there
    told: str = ""  # the backlog as it was last published
    told_at: float = 0.0
