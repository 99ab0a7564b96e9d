"""Situations drawn by chance: any world, any past, any worries; the planner's packet is made of one."""

from __future__ import annotations

import random

from anima.config import Settings
from anima.failure import Failure
from anima.planner.bias import Bias
from anima.planner.lexicon import known_names
from anima.planner.options import Step
from anima.planner.packet import Concern, Situation
from anima.types.base import Header, Time
from anima.types.mind import Objective, ObjectState, SurfaceState, WorldState
from anima.types.std import Point, Pose, Vector3
from anima.world.state import facts_of

NAMES = known_names(Settings())
TRENDS = (
    "left wheel current rising while reversing on the rug", "battery falls fast while it drives",
    "the camera is silent", "green_cube was moved", "a person asks for wait(5) by hand",
)
ENDS = (Failure.NONE, Failure.PATH_BLOCKED, Failure.SLIP, Failure.GRASP_FAILED, Failure.PERCEPTION_MISS)
DETAILS = ("", "the jaws closed on nothing\nat all " * 3)


def condition(luck: random.Random) -> str:
    """A condition that may be an objective on the known map."""
    thing, surface = luck.choice(NAMES.objects), luck.choice([s for s in NAMES.surfaces if s not in NAMES.holders])
    return luck.choice(
        [
            f"at({thing}, {surface})", f"at({thing}, person)", f"at(robot, {luck.choice(NAMES.rooms)})", "docked",
            f"holding({thing})", "hand_empty", "charged(80)", f"told({thing})", f"seen({thing})",
        ]
    )


def state(luck: random.Random) -> WorldState:
    """A coherent world."""
    docked = luck.random() < 0.15
    place = "dock" if docked else luck.choice(["", *NAMES.surfaces, "person"])
    things = luck.sample(NAMES.objects, luck.randint(0, len(NAMES.objects)))
    holding = luck.choice(things) if things and luck.random() < 0.3 else ""
    objects = []
    for name in sorted(things):
        status = "confirmed" if name == holding else luck.choice(["confirmed", "confirmed", "absent", "tentative"])
        where = "gripper" if name == holding else luck.choice([*NAMES.surfaces, "floor"])
        colour, _, shape = name.partition("_")
        objects.append(
            ObjectState(
                name=name, colour=colour, shape=shape, status=status,
                position=Point(x=luck.choice([0.39, 4.0]), y=0.0, z=0.42), yaw=0.0,
                size=Vector3(x=0.04, y=0.04, z=0.04), place=where, last_seen=Time.at(9.0), confidence=0.9,
            )
        )
    made = WorldState(
        header=Header.at(10.0, "map"), robot=Pose(), room=luck.choice(NAMES.rooms), place=place, holding=holding,
        docked=docked, battery=round(luck.uniform(0.02, 1.0), 2), stopped=luck.random() < 0.15,
        localized=luck.random() < 0.9, objects=objects, facts=[],
        surfaces=[
            SurfaceState(name=name, coverage=luck.choice([0.0, 0.3, 0.9]), last_viewed=Time.at(5.0))
            for name in NAMES.surfaces
        ],
    )
    return made.model_copy(update={"facts": facts_of(made)})


def situation(luck: random.Random) -> Situation:
    """A moment: often plain, sometimes with more going on than fits."""
    crowded = luck.choice([0, 1, 3, 12])
    wanted = condition(luck)
    objective = Objective(
        id="o", condition=wanted, said="", source="", order=0, state="focused", reason="", created=Time.at(0.0)
    )
    plain = Situation(objective, state(luck), NAMES)
    calls = (*plain.options().way, *plain.options().possible)
    steps = tuple(
        Step(luck.choice(calls), luck.choice(ENDS), luck.choice(DETAILS), "next")
        for _ in range(luck.randint(0, crowded))
    )
    concerns = tuple(
        Concern(luck.choice(["trend", "silent", "conflict"]), f"{luck.choice(TRENDS)} {n}", round(luck.random(), 3))
        for n in range(luck.randint(0, crowded))
    )
    news = tuple(luck.choice(TRENDS) for _ in range(luck.randint(0, crowded)))
    bias = Bias(
        barred={call: "oscillation: it leads nowhere" for call in calls if luck.random() < 0.1 * crowded},
        avoid={call: "last time this failed: slip" for call in calls if luck.random() < 0.05 * crowded},
        prefer={call: "worked before" for call in calls if luck.random() < 0.05 * crowded},
    )
    recall = tuple(f"like before: {luck.choice(calls)} slip" for _ in range(min(crowded, 3)))
    return Situation(
        objective, plain.state, NAMES, steps, news, luck.choice(["", "wait(5): no"]), concerns, recall,
        luck.choice(["", "FOCUSED", "RUMINATING", "IDLE_SOCIAL"]), luck.choice(["", "driven", "steady"]), bias,
    )
