"""`say`: speak a text, or tell where an object is."""

from __future__ import annotations

from anima.skills.arguments import Say
from anima.skills.program import Body, Command, Program
from anima.skills.words import whereabouts


def run(arguments: Say, body: Body) -> Program:
    """Say the text as it is, or a sentence composed from what is known of the object."""
    text = arguments.text or whereabouts(arguments.object, body.senses.known_world(), body.places)
    yield Command(speech=text, phase="speaking", progress=1.0)
    return f"said: {text}"
