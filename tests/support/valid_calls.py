"""Calls that must be accepted, each with a world in which it makes sense."""

from __future__ import annotations

import json
import math
import random
from typing import Any

from anima.planner.names import KnownNames
from anima.skills.registry import SKILLS
from anima.types.base import Header, Time
from anima.types.mind import ObjectState, SkillCall, WorldState
from anima.types.std import Point, Pose, Quaternion, Vector3

COLOURS = ("red", "blue", "green", "yellow", "orange", "purple", "cyan", "pink")
SHAPES = ("cube", "cylinder", "ball", "block")
ROOMS = ("kitchen", "living_room", "office", "corridor")
SURFACES = ("kitchen_table", "office_table", "shelf", "person_tray")
ZERO = Time(sec=0, nanosec=0)


def known_names(luck: random.Random) -> KnownNames:
    every = [f"{colour}_{shape}" for colour in COLOURS for shape in SHAPES]
    objects = luck.sample(every, luck.randint(1, 8))
    return KnownNames(
        places=(*ROOMS, *SURFACES, "dock", "person"), surfaces=SURFACES, objects=tuple(objects), no_go=("stairs",)
    )


def thing(name: str, status: str, place: str, x: float, y: float) -> ObjectState:
    colour, _, shape = name.partition("_")
    return ObjectState(
        name=name, colour=colour, shape=shape, status=status, position=Point(x=x, y=y, z=0.42), yaw=0.0,
        size=Vector3(x=0.04, y=0.04, z=0.04), place=place, last_seen=ZERO, confidence=0.9,
    )


def world(*things: ObjectState, room: str = "kitchen", place: str = "", holding: str = "", docked: bool = False,
          x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> WorldState:
    return WorldState(
        header=Header.at(1.0, "map"),
        robot=Pose(
            position=Point(x=x, y=y, z=0.0),
            orientation=Quaternion(x=0.0, y=0.0, z=math.sin(yaw / 2), w=math.cos(yaw / 2)),
        ),
        room=room, place=place, holding=holding, docked=docked, battery=0.8, stopped=False, localized=True,
        objects=list(things), surfaces=[], facts=[],
    )


def call(skill: str, arguments: str) -> SkillCall:
    return SkillCall(
        header=Header.at(1.0), id="c1", skill=skill, arguments=arguments, objective="o1", source="planner", because=[]
    )


def valid(luck: random.Random) -> tuple[SkillCall, WorldState, KnownNames]:
    """A call that must be accepted: for each skill a situation is built in which it makes sense."""
    names = known_names(luck)
    obj = luck.choice(names.objects)
    surface = luck.choice(SURFACES)
    x, y, yaw = (luck.uniform(-5, 5) for _ in range(3))
    ahead = luck.uniform(0.16, 0.30)
    bearing = luck.uniform(-0.8, 0.8)
    # base_link to the shoulder is 0.139 m forward; the object lies `ahead` of the shoulder, `bearing` off the axis
    fx, fy = 0.139 + ahead * math.cos(bearing), ahead * math.sin(bearing)
    reach = (x + math.cos(yaw) * fx - math.sin(yaw) * fy, y + math.sin(yaw) * fx + math.cos(yaw) * fy)
    here: dict[str, Any] = {"x": x, "y": y, "yaw": yaw}
    skill = luck.choice(sorted(SKILLS))
    arguments: dict[str, Any] = {}
    state = world(**here)
    if skill == "go_to":
        arguments = {"place": luck.choice(names.places)}
    elif skill == "look_for":
        arguments = {"object": obj}
    elif skill == "approach":
        arguments = {"object": obj}
        state = world(thing(obj, "confirmed", surface, 3.0, 3.0), **here)
    elif skill == "pick":
        arguments = {"object": obj}
        state = world(thing(obj, "confirmed", surface, *reach), place=surface, **here)
    elif skill == "place":
        arguments = {"object": obj, "surface": surface}
        state = world(thing(obj, "confirmed", "gripper", *reach), place=surface, holding=obj, **here)
    elif skill == "hand_over":
        arguments = {"object": obj}
        state = world(thing(obj, "confirmed", "gripper", *reach), place="person", holding=obj, **here)
    elif skill == "undock":
        state = world(docked=True, **here)
    elif skill == "relocalize":
        state = state.model_copy(update={"localized": False})
    elif skill == "wait":
        arguments = {"seconds": luck.choice([luck.uniform(1e-6, 60), luck.randint(1, 60), 60, 60.0])}
    elif skill == "say":
        text = "".join(chr(luck.randint(32, 126)) for _ in range(luck.randint(1, 200)))
        arguments = luck.choice([{"object": obj}, {"text": text}])
    return call(skill, json.dumps(arguments)), state, names
