"""A call as drives and work of the arm, and one seeded run of it in a kinematic model."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from random import Random
from typing import Any

from anima.regions.rollouts.config import ProspectionTuning
from anima.regions.rollouts.experience import GRASP, SLIP, WAY, Experience
from anima.regions.rollouts.ways import Leg, Point2, Ways
from anima.types.mind import SkillCall, WorldState
from anima.world.predicates import PERSON, find_object

UNDOCKED_M = 0.6  # how far undock() drives


@dataclass(frozen=True)
class Energy:
    """Shares of the battery: what is in it, what a metre and a second cost, what is not to be spent."""

    share: float
    per_m: float
    per_s: float
    reserve: float

    def of(self, metres: float, seconds: float) -> float:
        """What a drive, or the time of something else, costs."""
        return metres * self.per_m + seconds * self.per_s


@dataclass(frozen=True)
class Plan:
    """A call: what is driven, in turn (`search`: it ends after any of the legs, nobody knows which), and then done by
    the arm. `thing`: what it is about."""

    skill: str
    legs: tuple[Leg, ...]
    thing: str = ""
    search: bool = False

    @property
    def metres(self) -> float:
        """All that may be driven."""
        return sum(leg.metres for leg in self.legs)

    @property
    def way(self) -> str:
        """The name of the last drive's way, or empty."""
        return self.legs[-1].way if self.legs and not self.search else ""


@dataclass(frozen=True)
class Run:
    """What one rollout came to. `left`: the share of the battery when it is back at the dock afterwards."""

    success: float
    cost_s: float
    energy: float
    hazard: float
    left: float


def plan_of(call: SkillCall, world: WorldState, ways: Ways) -> Plan | None:
    """The call as drives and work; None for one that neither drives nor grasps, or that the map can't place."""
    try:
        arguments: Any = json.loads(call.arguments or "{}")
        thing, place, surface = (str(arguments.get(key, "")) for key in ("object", "place", "surface"))
    except (ValueError, AttributeError):
        return None
    here: Point2 = (world.robot.position.x, world.robot.position.y)
    if not (world.localized and math.isfinite(here[0]) and math.isfinite(here[1])):
        return None
    match call.skill:
        case "go_to":
            goal = place
        case "dock":
            return Plan(call.skill, (ways.to_place(here, ways.dock_name),))
        case "undock":
            return Plan(call.skill, (Leg(UNDOCKED_M, (ways.dock.x, ways.dock.y), 0.0, "undock"),))
        case "place":
            goal = surface
        case "hand_over":
            goal = PERSON
        case "approach" | "pick":
            known = find_object(world, thing)
            if known is None:
                return None
            if not ways.knows(known.place):
                leg = ways.to_point(here, (known.position.x, known.position.y))
                return Plan(call.skill, (leg,), thing)
            goal = known.place
        case "look_for":
            return Plan(call.skill, _tour(here, thing, world, ways), thing, search=True)
        case _:
            return None
    if not ways.knows(goal):
        return None
    if goal in (world.place, world.room):
        stays = Leg(0.0, here, ways.home_m(here), "")
        return Plan(call.skill, (stays,), thing)
    return Plan(call.skill, (ways.to_place(here, goal),), thing)


def _tour(here: Point2, thing: str, world: WorldState, ways: Ways) -> tuple[Leg, ...]:
    """Where it was last seen, then the nearest surface that is left, and so on."""
    known = find_object(world, thing)
    left, at = list(ways.surfaces), here
    legs: list[Leg] = []
    while left:
        if not legs and known is not None and known.place in left:
            name = known.place
        else:
            name = min(left, key=lambda surface: (ways.distance_m(at, surface), surface))
        left.remove(name)
        # Between two surfaces the straight line will do: a search per stop would cost more than it tells.
        leg = ways.straight_to(at, name) if legs else ways.to_place(here, name)
        legs.append(leg)
        at = leg.end
    return tuple(legs)


def imagine(
    plan: Plan,
    energy: Energy,
    carrying: bool,
    experience: Experience,
    tuning: ProspectionTuning,
    rng: Random,
    seen_failures: float,
) -> Run:
    """One run with pace, chances and, for a search, its end drawn from what was lived.

    `seen_failures`: how often the same call failed in remembered situations like this (negative: worked). What is
    driven fails by a blocked way or a slipping wheel, the rest by its skill; with something in the hand a slip or a
    failed grip is a hazard, and so is a battery too flat to come back.
    """
    drive = tuning.drive
    legs = plan.legs[: rng.randint(1, len(plan.legs))] if plan.search else plan.legs
    success, cost_s, metres, dropped = 1.0, 0.0, 0.0, 0.0
    slip = experience.chance(SLIP, drive.slip, tuning, rng)
    for leg in legs:
        if leg.metres <= 0.0:
            continue
        if not math.isfinite(leg.metres):
            success = 0.0
            continue
        blocked = experience.chance(WAY + leg.way, drive.blocked, tuning, rng)
        pace = max(0.05, rng.gauss(experience.speed_mps, drive.speed_spread * experience.speed_mps))
        metres += leg.metres
        cost_s += leg.metres / pace + drive.leg_s + blocked * drive.blocked_s
        dropped = 1.0 - (1.0 - dropped) * (1.0 - slip)
        success *= (1.0 - blocked) * (1.0 - slip)
    work_s = experience.lasting_s.get(plan.skill, 0.0) * max(1, len(legs) if plan.search else 1)
    if plan.skill in tuning.failing:
        kind = GRASP + plan.thing if plan.skill == "pick" else plan.skill
        failing = experience.chance(kind, tuning.failing[plan.skill], tuning, rng, seen_failures)
        success *= 1.0 - failing
        dropped = 1.0 - (1.0 - dropped) * (1.0 - failing) if plan.skill in ("place", "hand_over") else dropped
    elif seen_failures:
        success *= 1.0 - experience.chance("", 0.01, tuning, rng, seen_failures)
    spent = energy.of(metres, cost_s + work_s * tuning.arm_factor)
    home_m = legs[-1].home_m if legs else 0.0
    left = energy.share - spent - energy.of(home_m, home_m / experience.speed_mps)
    stranded = left < tuning.flat_share and plan.skill != "dock"
    return Run(
        success=0.0 if stranded else success,
        cost_s=cost_s + work_s,
        energy=min(spent, 1.0),
        hazard=1.0 if stranded else (dropped if carrying else 0.0),
        left=left,
    )
