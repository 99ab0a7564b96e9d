"""A part changes what the robot does: after the rug held a wheel twice the way leads around it, and why tells so."""

from __future__ import annotations

import json

import pytest
from support.inner_rig import BID, PART, choose, embedder

from anima.config import InnerSettings, Settings, Switches
from anima.parts.node import PartsSelf
from anima.planner.llm.base import Completion, Pending, Read, Reading, Request, Weighed, Weighing
from anima_sim.rug import RugDay

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]

SETTINGS = Settings(seed=0, inner=InnerSettings(packs=("safety",)))


class _Said:
    def __init__(self, answer: object) -> None:
        self._answer = answer

    def poll(self) -> object:
        return self._answer

    def cancel(self) -> None:
        self._answer = Completion(error="cancelled")


class ScriptedWords:
    """Bids against the rug once a drive has stalled there for the second time; its judgement is never sure."""

    def __init__(self) -> None:
        self.stalls: set[str] = set()

    def start(self, request: Request) -> Pending[Completion]:
        shown = request.messages[-1].content
        happened = next((line for line in shown.splitlines() if line.startswith("happened:")), "")
        if "stalled" in happened and "avoid rug" in shown:
            self.stalls.add(happened)
        bid = BID if len(self.stalls) >= 2 else {**BID, "lean": "none"}
        text = {"parts.bid": json.dumps(bid), "parts.choose": choose(request), "parts.create": json.dumps(PART)}
        return _Said(Completion(text=text[request.role]))  # type: ignore[return-value]

    def read(self, reading: Reading) -> Pending[Read]:
        return _Said(reading.failed("scripted"))  # type: ignore[return-value]

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        return _Said(weighing.failed("scripted"))  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing is held."""


def live(day: RugDay, thinks: bool) -> None:
    for _ in range(2):
        day.grips = True
        assert not day.drive().outcome.success
        if thinks:
            day.think()


def test_after_the_rug_stalled_the_wheel_twice_the_way_leads_around_it_and_why_names_part_and_bid() -> None:
    day = RugDay(SETTINGS, PartsSelf(SETTINGS, ScriptedWords(), embedder()))
    first = day.drive()
    assert first.outcome.success and first.on_the_rug > 0.15
    live(day, thinks=True)
    last = day.drive()
    assert last.outcome.success and last.on_the_rug < 0.1
    told = day.why(last.call)
    assert "My Own Wheels has it avoid rug" in told and "the way leads around the rug" in told
    assert "[safety-my-own-wheels, bid-" in told


def test_without_parts_it_drives_over_the_rug_again() -> None:
    off = SETTINGS.model_copy(update={"learn": Switches(parts=False)})
    day = RugDay(off, PartsSelf(off))
    live(day, thinks=False)
    last = day.drive()
    assert last.on_the_rug > 0.15
    assert "rug" not in day.why(last.call)
