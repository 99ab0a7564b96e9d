"""Every skill once: its parameters, the resources that it holds, its preconditions, its budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from pydantic import ValidationError

from anima.skills.arguments import Arguments, NoArguments, ObjectOnto, OfObject, Say, ToPlace, Wait
from anima.types.mind import WorldState
from anima.world import affordances
from anima.world.affordances import Unmet


class Resource(Enum):
    """A part of the body that at most one lease holds at a time."""

    BASE = "base"
    ARM = "arm"
    GRIPPER = "gripper"
    VOICE = "voice"


class UnknownSkill(LookupError):
    """No skill of that name."""


class InvalidArguments(ValueError):
    """Arguments that the skill's parameters do not admit."""


@dataclass(frozen=True)
class Skill:
    """What the mind knows of a skill; the motor program behind it lives in `anima.skills.programs`.

    `needs` are the parts of a body (`body.equipment.Part`) without which it can't be done at all.
    """

    name: str
    doc: str
    arguments: type[Arguments]
    resources: frozenset[Resource]
    timeout_s: float
    needs: tuple[str, ...]
    here_and_now: Callable[[Arguments, WorldState], Sequence[Unmet]]

    def unmet(self, arguments: Arguments, state: WorldState) -> Sequence[Unmet]:
        """The preconditions that do not hold; of a skill that this body can't do only that."""
        return affordances.missing(self.needs, state) or self.here_and_now(arguments, state)

    def parse(self, text: str) -> Arguments:
        """The arguments in the JSON object `text`; raises `InvalidArguments` naming field and fault."""
        try:
            return self.arguments.model_validate_json(text or "{}")
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors()
            )
            raise InvalidArguments(f"{self.name}: {faults}") from error


_MOVE = frozenset({Resource.BASE})
_MANIPULATE = frozenset({Resource.BASE, Resource.ARM, Resource.GRIPPER})
_GIVE = _MANIPULATE | {Resource.VOICE}  # what is handed over is announced
_HANDS, _EYES, _DOCK = ("arm", "camera"), ("camera",), ("dock",)


def _skill(
    name: str,
    arguments: type[Arguments],
    resources: frozenset[Resource],
    timeout_s: float,
    here_and_now: Callable[..., Sequence[Unmet]],
    doc: str,
    needs: tuple[str, ...] = (),
) -> Skill:
    return Skill(name, doc, arguments, resources, timeout_s, needs, here_and_now)


SKILLS: dict[str, Skill] = {
    skill.name: skill
    for skill in (
        _skill("go_to", ToPlace, _MOVE, 120, affordances.go_to, "drive to a place"),
        _skill("look_for", OfObject, _MANIPULATE, 240, affordances.look_for, "search the flat for an object", _EYES),
        _skill("approach", OfObject, _MANIPULATE, 120, affordances.approach, "drive to where it can be held", _HANDS),
        _skill("pick", OfObject, _MANIPULATE, 90, affordances.pick, "grasp an object within reach", _HANDS),
        _skill("place", ObjectOnto, _MANIPULATE, 90, affordances.place, "put the held object on a surface", _HANDS),
        _skill("hand_over", OfObject, _GIVE, 90, affordances.hand_over, "give the held object to the person", _HANDS),
        _skill("dock", NoArguments, _MOVE, 120, affordances.dock, "drive to the dock and charge", _DOCK),
        _skill("undock", NoArguments, _MOVE, 30, affordances.undock, "leave the dock", _DOCK),
        _skill("relocalize", NoArguments, _MANIPULATE, 180, affordances.relocalize, "find out where the robot is"),
        _skill("say", Say, frozenset({Resource.VOICE}), 20, affordances.say, "speak to the person"),
        _skill("wait", Wait, _MOVE, 70, affordances.wait, "stand still for a while"),
        _skill("stop", NoArguments, _MANIPULATE, 10, affordances.stop, "stop every motion"),
    )
}


def skill(name: str) -> Skill:
    """The skill of that name; raises `UnknownSkill` that lists what there is."""
    try:
        return SKILLS[name]
    except KeyError:
        raise UnknownSkill(f"no skill {name!r}; there are {', '.join(SKILLS)}") from None


def render(name: str, arguments: str) -> str:
    """A call as people read it: ``place(red_cube, kitchen_table)``."""
    try:
        values = json.loads(arguments or "{}").values()
    except (ValueError, AttributeError):
        return f"{name}({arguments})"
    return f"{name}({', '.join(str(value) for value in values if value != '')})"
