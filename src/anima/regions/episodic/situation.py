"""A situation as a set of features ``key=value``, and how alike two are."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable

from anima.body.places import Places, UnknownPlace
from anima.regions.episodic.config import EpisodicTuning, SituationWeights
from anima.types.mind import Objective, WorldState
from anima.world.affordances import in_reach
from anima.world.predicates import ROBOT, Predicate, PredicateError, find_object

Features = frozenset[str]

_BETWEEN = "; "
NOWHERE, NOTHING = "none", "none"


def features_of(
    objective: Objective | None,
    state: WorldState,
    label: str,
    reflexes: Iterable[str],
    failed: Iterable[str],
    places: Places,
    tuning: EpisodicTuning,
) -> Features:
    """The situation of a robot that is about to act for `objective` (None: for a person who drives by hand)."""
    found = [f"room={state.room or NOWHERE}", f"place={state.place or NOWHERE}", f"held={state.holding or NOTHING}"]
    found.append(f"battery={_band(state.battery, tuning)}")
    found += [f"reflex={kind}" for kind in reflexes]
    found += [f"failed={skill}" for skill in failed]
    if label:
        found.append(f"label={label}")
    if state.docked:
        found.append("docked=yes")
    thing, goal, want = _meant(objective)
    found.append(f"want={want}")
    if goal:
        found.append(f"goal={goal}")
    if thing:
        found += [f"thing={thing}", *_about(thing, state, places)]
    return frozenset(found)


def _meant(objective: Objective | None) -> tuple[str, str, str]:
    """The object, the place and the kind of an objective."""
    if objective is None:
        return "", "", "by_hand"
    try:
        predicate = Predicate.parse(objective.condition)
    except PredicateError:
        return "", "", "unknown"
    if predicate.name == "at":
        thing, goal = predicate.args
        return ("", goal, "robot_at") if thing == ROBOT else (thing, goal, "object_at")
    thing = predicate.args[0] if predicate.name in ("holding", "seen", "told") else ""
    return thing, "", predicate.name


def _about(thing: str, state: WorldState, places: Places) -> list[str]:
    known = find_object(state, thing)
    if known is None or known.status != "confirmed":
        return [f"lies={'unknown' if known is None else known.status}"]
    about = [f"lies={known.place or NOWHERE}"]
    if in_reach(state, known):
        about.append("reach=yes")
    with contextlib.suppress(UnknownPlace):  # in the gripper, on the floor, or nowhere that has a name
        about.append(f"surface={places.surface(known.place).kind}")
    return about


def _band(battery: float, tuning: EpisodicTuning) -> str:
    if battery < tuning.low_battery:
        return "low"
    return "half" if battery < tuning.half_battery else "full"


def text_of(features: Features) -> str:
    """The canonical text of a situation: the same features, the same text."""
    return _BETWEEN.join(sorted(features))


def read(text: str) -> Features:
    """The features in the canonical text of a situation."""
    return frozenset(feature for feature in text.split(_BETWEEN) if "=" in feature)


class Weighing:
    """The weighted Jaccard similarity: the weight of what two situations share, over that of all that either has.

    Weights are whole thousandths, so that sums are the same in whatever order a set gives its features.
    """

    def __init__(self, weights: SituationWeights) -> None:
        self._of_key: dict[str, int] = {key: round(1000 * weight) for key, weight in weights.model_dump().items()}

    def of(self, feature: str) -> int:
        """The weight of one feature; 0 for a key that this version of the mind does not know."""
        return self._of_key.get(feature.partition("=")[0], 0)

    def total(self, features: Collection[str]) -> int:
        """The weight of a situation."""
        return sum(map(self.of, features))

    def alike(self, one: Features, other: Features) -> float:
        """0..1; 1 for the same situation, 0 for two that share nothing (or weigh nothing)."""
        return likeness(self.total(one & other), self.total(one), self.total(other))


def likeness(shared: int, one: int, other: int) -> float:
    """The similarity of two situations by their weights, and by the weight of what they share."""
    either = one + other - shared
    return shared / either if either > 0 else 0.0
