"""The acid test: the text alone tells what is known, what is being done, what has just changed, what is in the way.

Nothing in it is false, and whatever of it was left out is on record.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from support.situations import NAMES, situation

from anima.failure import Failure
from anima.planner.packet import LOW_BATTERY, Situation, build
from anima.world.predicates import find_object


@dataclass
class Reading:
    """What a reader who has nothing but the text makes of it."""

    focus: str
    next_step: str
    known: list[str]
    changed: list[str]
    concerns: list[str]
    history: list[str]
    mode: str
    can: list[str]
    bars: dict[str, str]

    @property
    def is_blocked(self) -> bool:
        """Whether the next step can't be taken now."""
        return self.next_step not in self.can


def read(text: str) -> Reading:
    """Parses the packet as anybody would: ``head: piece; piece``, then the choices one a line."""
    before, _, choices = text.partition("\ncan:\n")
    lines = dict(line.split(": ", 1) for line in before.splitlines())

    def pieces(head: str) -> list[str]:
        return lines[head].split("; ") if head in lines else []

    return Reading(
        focus=lines["focus"],
        next_step=lines["way"].split(" <- ")[-1],
        known=pieces("know"),
        changed=pieces("new"),
        concerns=pieces("concerns"),
        history=[piece.partition(": ")[2] or piece for piece in pieces("history")],
        mode=lines["mode"],
        can=[re.sub(r"(?<=\)), .*", "", line) for line in choices.splitlines()],
        bars={call: why for call, _, why in (piece.partition(": ") for piece in pieces("blocked"))},
    )


def thing_as_known(moment: Situation, name: str) -> str:
    thing = find_object(moment.state, name)
    if thing is None or thing.status == "tentative":
        return f"{name} not seen"
    if thing.status == "absent":
        return f"{name} gone from {thing.place}"
    if thing.place == "gripper":
        return f"{name} in hand"
    return f"{name} on {thing.place}"


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32))
def test_the_four_questions_are_answered_by_the_text_alone(seed: int) -> None:
    moment = situation(random.Random(seed))
    choices = moment.options()
    packet = build(moment, choices)
    cut = {section.name: section.cut for section in packet.sections}
    seen = read(packet.text)
    state = moment.state

    # What do I know?
    at = f"at {state.place} " if state.place else ""
    things = [thing_as_known(moment, arg) for arg in moment.condition.args if arg in NAMES.objects]
    must = [f"robot {at}in {state.room}", f"hand {state.holding or 'empty'}", *things]
    assert seen.known[: len(must)] == must
    searched = [s.name for s in state.surfaces if s.coverage >= 0.5]
    truths = {*must, f"searched {', '.join(searched)}", f"battery {state.battery:.0%}"}
    assert set(seen.known) <= truths

    # What am I doing?
    assert seen.focus == moment.objective.condition
    assert seen.next_step == choices.way[-1]
    shown = [f"{step.call} {step.ended}" for step in moment.history][-len(seen.history):] if seen.history else []
    assert seen.history == shown
    assert bool(seen.history) == bool(moment.history)

    # What has just changed?
    if moment.history:
        last = moment.history[-1]
        assert any(piece.startswith(f"{last.call} {last.ended}") for piece in seen.changed)
    truths = {" ".join(line.split()) for line in (*moment.news, f"refused: {moment.refused}", "nothing")}
    done = {f"{step.call} {step.ended}" for step in moment.history[-1:]}
    assert all(piece in truths or piece.partition(" (")[0] in done for piece in seen.changed)
    for line in moment.news:
        assert line in seen.changed or line in cut["new"]

    # Am I blocked?
    assert seen.can == list(choices.calls)
    assert seen.is_blocked == (choices.way[-1] not in choices.possible)
    for bar in choices.blocked:
        assert bar.call in seen.bars or any(piece.startswith(bar.call) for piece in cut["blocked"])
    assert all(any(bar.call == call and why.startswith(bar.reason) for bar in choices.blocked)
               for call, why in seen.bars.items())

    # And what worries me: most urgent first, seven at most, the state's own words among them.
    assert len(seen.concerns) <= 7
    assert ("[stop] stop is latched" in seen.concerns) == state.stopped
    assert ("[battery] battery low" in seen.concerns) == (state.battery < LOW_BATTERY) or cut["concerns"]
    urgency = {f"[{c.tag}] {c.text}": c.urgency for c in moment.concerns}
    ours = [urgency[piece] for piece in seen.concerns if piece in urgency]
    assert ours == sorted(ours, reverse=True)
    for piece, weight in urgency.items():
        if piece not in seen.concerns:
            assert piece in cut["concerns"]
            assert all(weight <= other for other in ours)

    # One mode, and one word of temperament at most.
    assert len(seen.mode.split()) <= 2
    if moment.mode:
        assert seen.mode.split()[0] == moment.mode
    elif moment.history and moment.history[-1].failure is not Failure.NONE:
        assert seen.mode.split()[0] in ("RECOVERY", "CAUTIOUS")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_the_same_situation_gives_the_same_bytes(seed: int) -> None:
    first, second = (situation(random.Random(seed)) for _ in range(2))
    assert build(first, first.options()) == build(second, second.options())
