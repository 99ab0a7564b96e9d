"""The stances that hold: what followed bids lean to, as areas and names that mechanisms below understand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from anima.body.places import Places
from anima.memory.kinds import STANCE
from anima.memory.opening import RunClock
from anima.memory.rows import Change, Item
from anima.parts.choosing import Voiced
from anima.parts.happening import Happening
from anima.parts.roles import PartsTuning
from anima.parts.vocabulary import HERE
from anima.types.base import Header, Time
from anima.types.parts import Stance, Stances

_HELD_BACK_S = 900.0  # nobody is kept quiet for longer without being asked again
_MARGIN_M = 0.15


class KeptStance(BaseModel):
    """What is kept of a stance, with its end in UTC seconds: what the Self holds, it holds across restarts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bid: str
    part: str
    name: str
    kind: Literal["avoid", "prefer", "hold_back"]
    target: str
    area: Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=4)]
    weight: float = Field(ge=0, le=1)
    until_utc_s: float = Field(allow_inf_nan=False)
    why: str


class Leanings:
    """Stances by kind and target: a newer one takes the place of an older one about the same."""

    def __init__(self, tuning: PartsTuning, places: Places) -> None:
        self._tuning, self._places = tuning, places
        self._held: dict[tuple[str, str], Stance] = {}
        self._kept: dict[tuple[str, str], Stance] = {}
        self._events: dict[tuple[str, str], str] = {}

    def restore(self, items: Iterable[Item], home: str, clock: RunClock) -> None:
        """Take up again what was held in this `home` when the last run ended, and has not run out meanwhile."""
        for item in items:
            if not item.id.startswith(f"{home}/"):
                continue
            try:
                kept = KeptStance.model_validate(item.data)
            except ValidationError:
                continue  # written by another version of the mind; `verify` tells of it
            fields = kept.model_dump(exclude={"area", "until_utc_s"})
            area, until = np.array(kept.area, dtype=np.float64), Time.at(clock.reading(kept.until_utc_s))
            key = (kept.kind, kept.target)
            self._held[key] = self._kept[key] = Stance(**fields, area=area, until=until)

    def changes(self, now: float, home: str, clock: RunClock) -> list[Change]:
        """What has changed of all that holds since this was asked last, to be written down for `restore`."""
        at, found = clock.stamp(now), []
        for key, stance in self._held.items():
            if self._kept.get(key) is not stance:
                fields = stance.model_dump(exclude={"area", "until"})
                until_utc_s = clock.stamp(stance.until.seconds).utc_s
                data = {**fields, "area": [float(x) for x in stance.area], "until_utc_s": until_utc_s}
                because = (self._events.get(key, stance.bid), stance.bid)
                found.append(Change(STANCE, _id(home, key), data, "self", stance.why, at, because))
        for key in self._kept.keys() - self._held.keys():
            why = "it has run out, or its part was put away"
            found.append(Change(STANCE, _id(home, key), None, "self", why, at, archived=True))
        self._kept = dict(self._held)
        return found

    def follow(self, now: float, voiced: Voiced, part: str, event: Happening, why: str) -> bool:
        """Take up what a followed bid leans to; whether anything holds now that did not."""
        lean = voiced.draft.leaning
        if lean.kind in ("none", "speak"):
            return False
        box = self._area(lean.target, event)
        target = lean.target
        if target == HERE and box is not None:
            x, y = 0.5 * (box[0] + box[2]), 0.5 * (box[1] + box[3])
            target = f"spot at {x:.1f}, {y:.1f}"
        lasts_s = self._tuning.stance_s
        if lean.kind == "hold_back":
            lasts_s = min(voiced.draft.within_s, _HELD_BACK_S)
        self._events[lean.kind, target] = event.id
        self._held[lean.kind, target] = Stance(
            bid=voiced.id, part=part, name=voiced.part.name, kind=lean.kind, target=target,
            area=np.array(box or (), dtype=np.float64), weight=self._tuning.stance_weight,
            until=Time.at(now + lasts_s), why=why,
        )
        return True

    def _area(self, target: str, event: Happening) -> tuple[float, float, float, float] | None:
        if target == HERE and event.spot is not None:
            (x, y), r = event.spot, self._tuning.spot_m
            return x - r, y - r, x + r, y + r
        box = self._places.area_of(target)
        return None if box is None else (box[0] - _MARGIN_M, box[1] - _MARGIN_M, box[2] + _MARGIN_M, box[3] + _MARGIN_M)

    def drop(self, part: str) -> bool:
        """Let go of what a part leaned to, when it is put away; whether there was anything."""
        gone = [key for key, stance in self._held.items() if stance.part == part]
        for key in gone:
            del self._held[key]
        return bool(gone)

    def expire(self, now: float) -> bool:
        """Let go of what has run out; whether there was anything. A clock that was set back ends all."""
        longest = max(self._tuning.stance_s, _HELD_BACK_S)
        gone = [k for k, s in self._held.items() if not now < s.until.seconds <= now + longest + 1.0]
        for key in gone:
            del self._held[key]
        return bool(gone)

    def message(self, now: float) -> Stances:
        """All that holds."""
        return Stances(header=Header.at(now), stances=list(self._held.values()))

    @property
    def until(self) -> float:
        """When the next one runs out, seconds; `inf` when none holds."""
        return min((stance.until.seconds for stance in self._held.values()), default=math.inf)


def _id(home: str, key: tuple[str, str]) -> str:
    return f"{home}/{' '.join(key).strip()}"[:200]
