"""Skill calls in the short form that people read and the model writes: ``place(red_cube, shelf)``, ``wait(5)``."""

from __future__ import annotations

import json
import re
from typing import Any

from anima.planner.names import KnownNames
from anima.skills.registry import SKILLS

_FORM = re.compile(r"\s*([a-z_]+)\(([^()]*)\)\s*\Z")


class CallError(ValueError):
    """A text that is no call of a skill; the message says why."""


def parse_call(text: str, names: KnownNames) -> tuple[str, str]:
    """Skill and JSON arguments of a short form; raises `CallError`."""
    match = _FORM.match(text)
    if match is None or match[1] not in SKILLS:
        raise CallError(f"{text[:80]!r} is not a call of a skill; skills: {', '.join(SKILLS)}")
    skill, parts = match[1], [part.strip() for part in match[2].split(",") if part.strip()]
    fields = list(SKILLS[skill].arguments.model_fields)
    if skill == "say":
        fields = ["object"] if parts and parts[0] in names.objects else ["text"]
    if len(parts) != len(fields):
        raise CallError(f"{text[:80]!r}: {skill} takes {', '.join(fields) or 'no arguments'}")
    values: dict[str, Any] = dict(zip(fields, parts, strict=True))
    if "seconds" in values:
        try:
            values["seconds"] = float(values["seconds"])
        except ValueError:
            raise CallError(f"{text[:80]!r}: {values['seconds']!r} is not a number of seconds") from None
    return skill, json.dumps(values)
