"""`wait`: stand still for a while."""

from __future__ import annotations

from anima.skills.arguments import Wait
from anima.skills.program import Body, Command, Program


def run(arguments: Wait, body: Body) -> Program:
    """Hold the base still until the time is over."""
    start = body.senses.now
    while (waited := body.senses.now - start) < arguments.seconds:
        yield Command(velocity=(0.0, 0.0), phase="waiting", progress=waited / arguments.seconds)
    return f"waited {arguments.seconds:g} s"
