"""The stances that hold: what followed bids lean to, as areas and names that mechanisms below understand."""

from __future__ import annotations

import math

import numpy as np

from anima.body.places import Places
from anima.parts.choosing import Voiced
from anima.parts.happening import Happening
from anima.parts.roles import PartsTuning
from anima.parts.vocabulary import HERE
from anima.types.base import Header, Time
from anima.types.parts import Stance, Stances

_HELD_BACK_S = 900.0  # nobody is kept quiet for longer without being asked again
_MARGIN_M = 0.15


class Leanings:
    """Stances by kind and target: a newer one takes the place of an older one about the same."""

    def __init__(self, tuning: PartsTuning, places: Places) -> None:
        self._tuning, self._places = tuning, places
        self._held: dict[tuple[str, str], Stance] = {}

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
        self._held[lean.kind, target] = Stance(
            bid=voiced.id, part=part, name=voiced.part.name, kind=lean.kind, target=target,
            area=np.array(box or (), dtype=np.float64), weight=self._tuning.stance_weight,
            until=Time.at(now + lasts_s), why=why,
        )  # fmt: skip
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
