"""L-1: a guardrail that lies is catastrophic. Of 10,000 valid calls none is refused, and none is touched."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from support.valid_calls import valid

from anima.planner.validate import validate


@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_a_valid_call_is_never_refused_nor_touched(seed: int) -> None:
    luck = random.Random(seed)
    for _ in range(100):
        proposed, state, names = valid(luck)
        verdict = validate(proposed, state, names)
        assert verdict.accepted, verdict.reason
        assert verdict.correction == ""
        assert verdict.call == proposed
