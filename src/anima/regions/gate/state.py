"""Everything that the gate knows between two steps."""

from __future__ import annotations

from pydantic import BaseModel

from anima.regions.gate.backlog import Backlog
from anima.regions.gate.hearing import Hearing
from anima.regions.gate.leases import Leases
from anima.types.glue import Condition, Forecast, Resources, Temperament
from anima.types.mind import SkillCall, StopState, WorldState
from anima.types.parts import PartBid, Stance


class State(BaseModel):
    """Everything that the gate knows between two steps."""

    now: float | None = None
    backlog: Backlog = Backlog()
    leases: Leases = Leases()
    deferred: SkillCall | None = None  # accepted, until the sensors have shown what the call before it came to
    deferred_at: float = 0.0
    waiting: list[SkillCall] = []  # accepted calls of a person, until their parts of the body are at rest
    calls: list[str] = []  # ids of calls that were decided about
    own_calls: int = 0  # calls that the gate made itself
    own_objectives: int = 0  # objectives that the robot wanted of itself
    hearing: Hearing = Hearing()
    hear_until: float | None = None  # what is said is heard before anything goes on
    heard_at: float = 0.0
    answered: list[str] = []  # ids of utterances that objectives came from
    hushed: bool = False  # stopped by a person: nothing begins that nobody asked for
    world: WorldState | None = None
    stop: StopState | None = None
    resources: Resources | None = None
    condition: Condition | None = None
    temperament: Temperament | None = None
    forecasts: dict[str, Forecast] = {}  # by the id of the call
    transient_at: float | None = None  # when a transient reason to park was last there
    survival_at: float | None = None  # when the way to the dock was last put first
    refused_at: float | None = None  # when the validator last refused a step of it
    explored_at: list[float] = []
    words: PartBid | None = None  # a bid that waits for the voice
    words_at: float = 0.0
    spoke_up_at: list[float] = []  # when a part last had the voice
    stances: list[Stance] = []
    told: list[str] = []  # the backlog as it was last published
    told_at: float = 0.0
