"""`hand_over`: give the held thing to the person, on the tray, and say so."""

from __future__ import annotations

from anima.body.places import UnknownPlace
from anima.failure import Failure
from anima.skills.arguments import OfObject
from anima.skills.program import Body, Command, Failed, Program
from anima.skills.programs.place import put
from anima.world.predicates import PERSON


def run(arguments: OfObject, body: Body) -> Program:
    """Put the thing down where the person takes it."""
    try:
        surface = body.places.surface(PERSON)
    except UnknownPlace as error:
        raise Failed(Failure.TOOL_MISMATCH, f"nobody on this map takes things: {error}") from error
    done = yield from put(body, arguments.object, surface)
    words = arguments.object.replace("_", " ")
    yield Command(velocity=(0.0, 0.0), phase="saying so", speech=f"Here is the {words}.")
    return done
