"""A part changes what the robot does: after the rug held a wheel twice the way leads around it, and why tells so."""

from __future__ import annotations

import json
import re

import pytest
from support.inner_rig import BID, PART, choose, embedder

from anima.config import InnerSettings, Settings, Switches
from anima.parts.node import PartsSelf
from anima.planner.llm.base import Completion, Pending, Read, Reading, Request, Weighed, Weighing
from anima_sim.rug import RugDay

pytestmark = [pytest.mark.sim, pytest.mark.timeout(300)]

SETTINGS = Settings(seed=0, inner=InnerSettings(packs=("safety",)))


class _Said:
    def __init__(self, model: ScriptedWords, answer: object) -> None:
        self._model, self._answer = model, answer

    def poll(self) -> object:
        return self._answer if self._model.is_free else None

    def cancel(self) -> None:
        self._answer = Completion(error="cancelled")


class ScriptedWords:
    """Bids against the rug when a wheel stalled there; its judgement is never sure. Until it `is_free` it answers
    nothing, as while the planner has the model."""

    def __init__(self) -> None:
        self.is_free = False

    def start(self, request: Request) -> Pending[Completion]:
        shown = request.messages[-1].content
        happened = next((line for line in shown.splitlines() if line.startswith("happened:")), "")
        against = "stall" in happened and "avoid rug" in shown
        bid = BID if against else {**BID, "lean": "none"}
        text = {"parts.bid": json.dumps(bid), "parts.choose": choose(request), "parts.create": json.dumps(PART)}
        text["parts.query"] = "{}"  # these words look for no other part
        return _Said(self, Completion(text=text[request.role]))  # type: ignore[return-value]

    def read(self, reading: Reading) -> Pending[Read]:
        return _Said(self, reading.failed("scripted"))  # type: ignore[return-value]

    def weigh(self, weighing: Weighing) -> Pending[Weighed]:
        return _Said(self, weighing.failed("scripted"))  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing is held."""


def stall_twice(day: RugDay) -> None:
    for _ in range(2):
        day.grips = True
        assert not day.drive().outcome.success


def test_after_the_rug_stalled_the_wheel_twice_the_way_leads_around_it_and_why_names_part_and_bid() -> None:
    words = ScriptedWords()
    day = RugDay(SETTINGS, PartsSelf(SETTINGS, words, embedder()))
    stall_twice(day)
    words.is_free = True
    assert day.think()
    last = day.drive()
    assert last.outcome.success and last.on_the_rug < 0.1
    told = day.why(last.call)
    assert re.search(r"\[safety-[a-z-]+, bid-\d+\] has it avoid rug; the way leads around the rug", told), told


def test_without_parts_it_drives_over_the_rug_again() -> None:
    off = SETTINGS.model_copy(update={"learn": Switches(parts=False)})
    day = RugDay(off, PartsSelf(off))
    stall_twice(day)
    last = day.drive()
    assert last.on_the_rug > 0.15
    assert "rug" not in day.why(last.call)
