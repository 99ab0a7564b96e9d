"""Door 1 refuses every invalid call with a usable reason, and survives any text. Valid ones: see lesson L-1."""

from __future__ import annotations

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st
from support.valid_calls import ROOMS, SURFACES, call, thing, world

from anima.failure import Failure
from anima.planner.names import KnownNames
from anima.planner.validate import validate
from anima.skills.registry import SKILLS
from anima.types.mind import SkillCall

NAMES = KnownNames(
    places=(*ROOMS, *SURFACES, "dock", "person"), surfaces=SURFACES, objects=("red_cube", "blue_cylinder"),
    no_go=("stairs",),
)
BAD_VALUES = (
    st.none() | st.booleans() | st.lists(st.integers(), max_size=3) | st.integers() | st.floats()
    | st.sampled_from(["garden", "guitar", "stairs", "../kitchen", "red_sphere", "yellow_moon", ""])
)


@st.composite
def invalid(draw: st.DrawFn) -> SkillCall:
    skill, fields = draw(
        st.sampled_from(
            [("go_to", ["place"]), ("look_for", ["object"]), ("approach", ["object"]), ("pick", ["object"]),
             ("place", ["object", "surface"]), ("hand_over", ["object"])]
        )
    )
    values = {name: draw(BAD_VALUES) for name in fields}
    if draw(st.booleans()):
        values["speed"] = 3.0
        values["force"] = 1.0
    return call(skill, json.dumps(values))


@settings(max_examples=500, deadline=None)
@given(invalid())
def test_an_invalid_call_is_refused_with_a_type_a_reason_and_a_repair(proposed: SkillCall) -> None:
    verdict = validate(proposed, world(), NAMES)
    assert not verdict.accepted
    assert verdict.failure in (Failure.PARSE_ERROR, Failure.CONSTRAINT_PREVENTED, Failure.TOOL_MISMATCH)
    assert verdict.reason
    assert verdict.repair.partition("(")[0] in SKILLS


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from([*SKILLS, "rm -rf", "goto", ""]) | TEXT,
    TEXT | JSON.map(json.dumps) | st.sampled_from(
        ["[" * 1999, '{"a":' * 300, "9" * 1999, '{"seconds": ' + "9" * 1500 + "}", "NaN", '"\\ud800"',
         '{"seconds": 1e999}', '{"seconds": NaN}', '{"text": "\\ud800"}']
    ),
)
def test_any_text_gets_a_verdict_and_never_an_exception(skill: str, arguments: str) -> None:
    verdict = validate(call(skill, arguments), world(thing("red_cube", "confirmed", "shelf", 2.0, 2.0)), NAMES)
    if verdict.accepted:
        parsed = SKILLS[verdict.call.skill].parse(verdict.call.arguments)
        for value in parsed.model_dump().values():
            assert not isinstance(value, float) or math.isfinite(value)
    else:
        assert verdict.failure != Failure.NONE
        assert verdict.reason
