"""Door 1: a proposed call is accepted, accepted corrected, or refused with a typed reason and what mends it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anima.failure import Failure
from anima.planner.names import KnownNames, canonical, is_close, resolve
from anima.skills.arguments import ObjectOnto
from anima.skills.registry import SKILLS, InvalidArguments, Skill, render
from anima.types.mind import SkillCall, Verdict, WorldState
from anima.world.predicates import PERSON, is_seen

__all__ = ["KnownNames", "validate"]

MAX_ARGUMENTS_CHARS = 2000
MAX_WAIT_S = 60.0
MAX_TEXT_CHARS = 200
_SECONDS = re.compile(r"\s*([-+]?[0-9]*\.?[0-9]+)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)?\s*\Z", re.I)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")


class _Refused(Exception):
    """Ends the check; carried out of the helpers, never out of `validate`."""

    def __init__(self, failure: Failure, reason: str, repair: str) -> None:
        super().__init__(reason)
        self.failure, self.reason, self.repair = failure, reason, repair


@dataclass
class _Draft:
    """A call on its way through the checks, and what was changed on the way."""

    skill: Skill
    values: dict[str, Any]
    changes: list[str]


def validate(call: SkillCall, state: WorldState, names: KnownNames) -> Verdict:
    """What may be done with `call` in `state`. Pure; raises nothing, whatever the text of the call.

    A call that names a skill, has its parameters, speaks of known names only and whose preconditions hold is
    always accepted as it is. What is meant beyond doubt (spelling, word order, the object in the hand, units) is
    corrected, and `correction` says how. The rest is refused: `failure`, `reason`, and in `repair` a call that
    would mend it.
    """
    try:
        draft = _read(call, state, names)
        _fit_to_world(draft, state, names)
        text = json.dumps(draft.values)
        arguments = draft.skill.parse(text)
    except _Refused as refused:
        return _verdict(call, refused.failure, refused.reason, refused.repair)
    except InvalidArguments as error:
        return _verdict(call, Failure.PARSE_ERROR, str(error), _example(call.skill, names))
    unmet = draft.skill.unmet(arguments, state)
    if unmet:
        reason = "; ".join(u.reason for u in unmet)
        repair = next((u.repair for u in unmet if u.repair), "wait(5.0)")
        return _verdict(call, Failure.PRECONDITION_UNMET, reason, _complete(repair, state, names))
    if not draft.changes:
        return Verdict(
            header=call.header, call=call, accepted=True, correction="", failure=Failure.NONE, reason="", repair=""
        )
    corrected = call.model_copy(update={"skill": draft.skill.name, "arguments": text})
    return Verdict(
        header=call.header,
        call=corrected,
        accepted=True,
        correction="; ".join(draft.changes),
        failure=Failure.NONE,
        reason="",
        repair="",
    )


def _verdict(call: SkillCall, failure: Failure, reason: str, repair: str) -> Verdict:
    return Verdict(
        header=call.header, call=call, accepted=False, correction="", failure=failure, reason=reason, repair=repair
    )


def _example(skill: str, names: KnownNames) -> str:
    """A well-formed call of the skill, to show what was expected."""
    shown: dict[str, Any] = {
        "place": next(iter(names.places), "dock"),
        "object": next(iter(names.objects), "object"),
        "surface": next(iter(names.surfaces), "surface"),
        "text": "Hello.",
        "seconds": 5.0,
    }
    known = SKILLS.get(skill)
    if known is None:
        return "wait(5.0)"
    fields = ["text"] if skill == "say" else list(known.arguments.model_fields)
    return render(skill, json.dumps({name: shown[name] for name in fields}))


def _complete(repair: str, state: WorldState, names: KnownNames) -> str:
    """A repair whose open slot is filled by where the robot stands, so that it can be called as it is."""
    if "…" not in repair:
        return repair
    surface = state.place if state.place in names.surfaces else next(iter(names.surfaces), "")
    return repair.replace("…", surface)


# --- reading: text -> skill and values -----------------------------------------------------------


def _read(call: SkillCall, state: WorldState, names: KnownNames) -> _Draft:
    changes: list[str] = []
    skill = SKILLS.get(call.skill)
    if skill is None:
        wanted = canonical(call.skill)
        close = [s for s in SKILLS if s.replace("_", "") == wanted.replace("_", "")] or [
            s for s in SKILLS if is_close(wanted[:60], s)
        ]
        if len(close) != 1:
            raise _Refused(
                Failure.TOOL_MISMATCH,
                f"there is no skill {call.skill[:60]!r}; there are {', '.join(SKILLS)}",
                _example(next(iter(SKILLS)), names),
            )
        skill = SKILLS[close[0]]
        changes.append(f"skill {call.skill!r} read as {skill.name}")
    values = _values(call.arguments, skill, names, changes)
    _rename_fields(values, skill, state, names, changes)
    return _Draft(skill, values, changes)


def _values(text: str, skill: Skill, names: KnownNames, changes: list[str]) -> dict[str, Any]:
    """The JSON object in `text`; a list or a single value is read as the parameters in order."""
    if len(text) > MAX_ARGUMENTS_CHARS:
        raise _Refused(
            Failure.PARSE_ERROR,
            f"arguments are {len(text)} characters long, at most {MAX_ARGUMENTS_CHARS} are read",
            _example(skill.name, names),
        )
    if text and not text.strip():
        changes.append("blank arguments read as none")
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _Refused(
            Failure.PARSE_ERROR, f"arguments are not JSON: {str(error)[:120]}", _example(skill.name, names)
        ) from error
    fields = list(skill.arguments.model_fields)
    if isinstance(data, dict):
        return data
    given = data if isinstance(data, list) else [data]
    if data is None or len(given) > len(fields):
        raise _Refused(
            Failure.PARSE_ERROR,
            f"{skill.name} takes {', '.join(fields) or 'no arguments'}, got {str(data)[:60]!r}",
            _example(skill.name, names),
        )
    changes.append(f"bare values read as {', '.join(fields[: len(given)])}")
    return dict(zip(fields, given, strict=False))


def _rename_fields(
    values: dict[str, Any], skill: Skill, state: WorldState, names: KnownNames, changes: list[str]
) -> None:
    """One unknown parameter where exactly one is missing is that one; a missing object is the one in the hand."""
    fields = skill.arguments.model_fields
    unknown = [name for name in values if name not in fields]
    missing = [name for name, f in fields.items() if f.is_required() and name not in values]
    if len(unknown) == 1 and len(missing) == 1:
        values[missing[0]] = values.pop(unknown[0])
        changes.append(f"parameter {unknown[0][:40]!r} read as {missing[0]}")
        missing = []
    elif unknown:
        raise _Refused(
            Failure.PARSE_ERROR,
            f"{skill.name} has no parameter {unknown[0][:40]!r}; it takes {', '.join(fields) or 'none'}",
            _example(skill.name, names),
        )
    if "object" in missing and skill.name in ("place", "hand_over") and state.holding:
        values["object"] = state.holding
        changes.append(f"object is what the hand holds, {state.holding}")


# --- fitting: names, units, limits, and the skill that is really meant ------------------------------


def _fit_to_world(draft: _Draft, state: WorldState, names: KnownNames) -> None:
    if draft.skill.name == "go_to":
        _go_to_an_object(draft, state, names)
    if draft.skill.arguments is ObjectOnto:
        _onto_the_person(draft, state, names)
    fitters: dict[str, Callable[[Any], Any]] = {
        "object": lambda v: _name(v, "object", names.objects, draft, names),
        "place": lambda v: _name(v, "place", names.places, draft, names),
        "surface": lambda v: _name(v, "surface", names.surfaces, draft, names),
        "seconds": lambda v: _seconds(v, draft),
        "text": lambda v: _text(v, draft),
    }
    for name, value in draft.values.items():
        if name == "object" and value == "" and not draft.skill.arguments.model_fields[name].is_required():
            continue
        fitted = fitters[name](value) if name in fitters else value
        if fitted != value:
            draft.changes.append(f"{name} {str(value)[:60]!r} read as {str(fitted)[:60]!r}")
            draft.values[name] = fitted


def _name(value: Any, kind: str, known: tuple[str, ...], draft: _Draft, names: KnownNames) -> Any:
    if not isinstance(value, str) or value in known:
        return value
    found = resolve(value, known)
    if found is not None:
        return found
    example = _example(draft.skill.name, names)
    forbidden = resolve(value, names.no_go)
    if forbidden is not None:
        raise _Refused(Failure.CONSTRAINT_PREVENTED, f"{forbidden} is off limits", example)
    raise _Refused(
        Failure.CONSTRAINT_PREVENTED,
        f"no {kind} {value[:60]!r} is known; known: {', '.join(known) or 'none'}",
        example,
    )


def _go_to_an_object(draft: _Draft, state: WorldState, names: KnownNames) -> None:
    """Driving to a thing is approaching it, or searching for it while it has not been seen."""
    value = draft.values.get("place")
    if not isinstance(value, str) or resolve(value, (*names.places, *names.no_go)) is not None:
        return
    thing = resolve(value, names.objects)
    if thing is None:
        return
    draft.skill = SKILLS["approach" if is_seen(state, thing) else "look_for"]
    draft.values = {"object": thing}
    draft.changes.append(f"go_to({thing}) read as {draft.skill.name}({thing})")


def _onto_the_person(draft: _Draft, state: WorldState, names: KnownNames) -> None:
    """Putting something on a person, or on the tray beside the person that the robot faces, is handing it over."""
    surface = draft.values.get("surface")
    if not isinstance(surface, str):
        return
    name = resolve(surface, (*names.surfaces, PERSON))
    holder = names.holders.get(name or "")
    if name == PERSON or (holder is not None and state.place == holder):
        draft.skill = SKILLS["hand_over"]
        draft.values = {k: v for k, v in draft.values.items() if k != "surface"}
        draft.changes.append(f"place on {name} read as hand_over")


def _seconds(value: Any, draft: _Draft) -> Any:
    if isinstance(value, str):
        match = _SECONDS.match(value)
        if match is None:
            return value
        unit = (match[2] or "s").lower()
        value = float(match[1]) * (0.001 if unit.startswith(("ms", "milli")) else 60.0 if unit[0] == "m" else 1.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if abs(value) > 1e9 or not math.isfinite(value):  # the first also keeps huge integers from overflowing
        raise _Refused(Failure.PARSE_ERROR, f"seconds is {str(value)[:20]}, not a usable number", "wait(5.0)")
    if value > MAX_WAIT_S:
        return MAX_WAIT_S
    if value <= 0:
        raise _Refused(
            Failure.CONSTRAINT_PREVENTED, f"cannot wait {value:g} s, only 0 to {MAX_WAIT_S:.0f} s", "wait(5.0)"
        )
    return value


def _text(value: Any, draft: _Draft) -> Any:
    if not isinstance(value, str):
        return value
    text = _CONTROL.sub(" ", value)
    if len(text) > MAX_TEXT_CHARS:
        text = text[: MAX_TEXT_CHARS - 1].rsplit(" ", 1)[0][: MAX_TEXT_CHARS - 1] + "…"
    return text
