"""Opening the store that the settings name, and what regions and gate start from: what was kept, in this run's time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from anima.config import Settings
from anima.console.folders import state_folder
from anima.memory.errors import NotThere, StoreUnusable
from anima.memory.kinds import (
    BODY_COSTS,
    EPISODE,
    OBJECTIVE,
    POSITION,
    RISKS,
    TEMPERAMENT,
    Dispositions,
    KeptCosts,
    KeptPosition,
    KeptRisks,
)
from anima.memory.rows import REAL_CLOCK, Item, Stamp
from anima.memory.store import Store
from anima.runtime.supervisor import own_namespace
from anima.types.base import Time
from anima.types.glue import Episode
from anima.types.mind import Objective

M = TypeVar("M", bound=BaseModel)

INTERRUPTED = "interrupted by a restart"
_OPEN = frozenset({"pending", "focused", "parked"})


@dataclass(frozen=True)
class RunClock:
    """The ROS clock of this run against UTC: `epoch_utc_s` is the UTC at which it reads 0.

    The real clock is UTC itself. A simulated one starts anew at 0 in each run, and may run faster than the wall:
    it is laid behind everything that is remembered, so that what was lived in it is younger than all before.
    """

    id: str
    epoch_utc_s: float

    def stamp(self, now: float) -> Stamp:
        """The moment at which the clock reads `now`."""
        return Stamp(self.epoch_utc_s + now, self.id, now)

    def reading(self, utc_s: float) -> float:
        """What the clock would have shown; negative before a simulated run."""
        return utc_s - self.epoch_utc_s

    @property
    def is_real(self) -> bool:
        """Whether it goes on across restarts."""
        return self.id == REAL_CLOCK


def default_file() -> Path:
    """Where a robot remembers unless it is told otherwise: ``~/.local/state/anima/mind.db``.

    In a namespace, e.g. ``ada``, it is ``mind-ada.db``: two robots don't share a mind.
    """
    space = own_namespace().replace("/", "-")
    return state_folder() / (f"mind-{space}.db" if space else "mind.db")


def open_store(settings: Settings) -> Store | None:
    """The store that the settings name, or None where nothing is kept. Raises `StoreUnusable`."""
    if settings.memory_url == "none":
        return None
    if settings.memory_url:
        return Store(settings.memory_url)
    file = default_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(f"{file}: {error}; free it, or set memory_url") from error
    return Store(f"sqlite:///{file}")


def run_clock(settings: Settings, store: Store) -> RunClock:
    """The clock of the run that starts now."""
    if settings.sim == "none":
        return RunClock(REAL_CLOCK, 0.0)
    epoch_utc_s = max(time.time(), store.newest_utc_s() or 0.0)
    return RunClock(f"sim-{epoch_utc_s:.3f}", epoch_utc_s)


def remembered_episodes(settings: Settings, most: int) -> list[Episode]:
    """The episodes that were lived last, oldest first, each `at` in this run's time. Empty where nothing is kept."""
    store = open_store(settings)
    if store is None:
        return []
    with store:
        clock = run_clock(settings, store)
        found = []
        for item in store.all(EPISODE, newest=most):
            try:
                episode = Episode.model_validate(item.data)
            except ValidationError:
                continue  # written by another version of the mind; it stays in the store, and `verify` tells of it
            found.append(episode.model_copy(update={"at": Time.at(clock.reading(item.at.utc_s))}))
        return found


def remembered_temperament(settings: Settings) -> Dispositions | None:
    """Where the temperament of the settings' personality had drifted to, or None when it starts anew."""
    return _remembered(settings, TEMPERAMENT, settings.temperament, Dispositions)


def body_id(settings: Settings) -> str:
    """Under which id a body's costs are kept: a simulated one costs something else."""
    return settings.robot if settings.sim == "none" else f"{settings.robot}-{settings.sim}"


def home_id(settings: Settings) -> str:
    """Under which id the risks of a body in its home are kept."""
    return f"{body_id(settings)}:{settings.map}"


def remembered_costs(settings: Settings) -> KeptCosts | None:
    """What was learned of this body's costs, or None when nothing was yet."""
    return _remembered(settings, BODY_COSTS, body_id(settings), KeptCosts)


def remembered_risks(settings: Settings) -> KeptRisks | None:
    """What calls have taught this body in this home, or None when nothing did yet."""
    return _remembered(settings, RISKS, home_id(settings), KeptRisks)


def remembered_position(settings: Settings) -> KeptPosition | None:
    """Where this body last stood in this home, or None when that is not known."""
    return _remembered(settings, POSITION, home_id(settings), KeptPosition)


def _remembered(settings: Settings, kind: str, id: str, model: type[M]) -> M | None:
    store = open_store(settings)
    if store is None:
        return None
    with store:
        try:
            return model.model_validate(store.get(kind, id).data)
        except (NotThere, ValidationError):
            return None


def restored_objectives(settings: Settings) -> list[Objective]:
    """The objectives that were open when the last run ended, parked, in their order, with their times in this run's.

    Their ids are those in the store, which no utterance of this run can have. Empty where nothing is kept.
    """
    store = open_store(settings)
    if store is None:
        return []
    with store:
        clock = run_clock(settings, store)
        found = [_restored(item, clock) for item in store.all(OBJECTIVE)]
    objectives = [objective for objective in found if objective is not None]
    return sorted(objectives, key=lambda objective: (objective.created.seconds, objective.order))


def _restored(item: Item, clock: RunClock) -> Objective | None:
    try:
        objective = Objective.model_validate(item.data)
    except ValidationError:
        return None
    if objective.state not in _OPEN:
        return None
    created_utc_s = objective.created.seconds + item.at.utc_s - item.at.clock_s
    return objective.model_copy(
        update={
            "id": item.id, "state": "parked", "reason": INTERRUPTED, "created": Time.at(clock.reading(created_utc_s))
        }
    )
