"""Whatever happens for however long: dispositions stay within bounds, and move no faster than they may."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from support.happenings import backlog, conflict, ended, taken_over

from anima.config import Settings
from anima.failure import Failure
from anima.regions.temperament import TemperamentDrift, load_temperament_tuning
from anima.runtime.component import Inbox

NAMES = ("initiative", "persistence", "caution")
HAPPENINGS = {
    "success": lambda: ended(),
    "failure": lambda: ended(Failure.STALLED),
    "done": lambda: backlog(o1="done"),
    "new": lambda: backlog(o1="focused"),
    "stopped": lambda: backlog(o1="cancelled"),
    "conflict": lambda: conflict(),
    "by_hand": lambda: taken_over(),
}
LIVES = st.lists(
    st.tuples(
        st.one_of(st.floats(0.0, 10.0), st.floats(0.0, 1e6), st.just(-50.0)),
        st.lists(st.sampled_from(sorted(HAPPENINGS)), max_size=30),
    ),
    max_size=40,
)


@settings(max_examples=80)
@given(life=LIVES, personality=st.sampled_from(["default", "driven", "skittish", "stoic"]), cut=st.integers(0, 40))
def test_dispositions_are_bounded_slow_and_survive_a_dump(
    life: list[tuple[float, list[str]]], personality: str, cut: int
) -> None:
    chosen = Settings(temperament=personality)
    region = TemperamentDrift(chosen)
    drift_s = load_temperament_tuning().drift_s
    now, before = 100.0, region.dump()
    for number, (passed_s, happened) in enumerate(life):
        if number == cut:
            region = TemperamentDrift.load(chosen, json.loads(json.dumps(region.dump())))
        now += passed_s
        region.step(now, Inbox.of([HAPPENINGS[name]() for name in happened]))
        after = region.dump()
        for name in NAMES:
            assert 0.1 <= after[name] <= 0.9
            assert abs(after[name] - before[name]) <= 0.8 * max(0.0, passed_s) / drift_s + 1e-9
        assert after["word"] in {"steady", "driven", "skittish", "stubborn", "bold", "wary", "quiet"}
        before = after
