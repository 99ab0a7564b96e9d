"""`stop`: bring base and arm to rest."""

from __future__ import annotations

from anima.body.arm.poses import ARM_JOINTS
from anima.skills.arguments import NoArguments
from anima.skills.program import Body, Command, Program, come_to_rest


def run(arguments: NoArguments, body: Body) -> Program:
    """Brake, and hold the arm where it is. The gripper keeps its grip."""
    here = {name: body.senses.joint(name) for name in ARM_JOINTS} if body.senses.has_arm else {}
    yield Command(velocity=(0.0, 0.0), joints=here, phase="stopping")
    yield from come_to_rest(body, phase="stopping")
    return "the body is at rest"
