"""What was recorded of the mind is decided again, bit by bit; a changed number shows where it decides otherwise."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from anima import topics as t
from anima.audit.codec import decode, encode
from anima.audit.journal import Journal, read_lines
from anima.audit.replay import Replay, Report, decides
from anima.brain import TABLE, Row
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.mind import Speech
from anima.types.std import LaserScan
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble

Lines = Sequence[dict[str, Any]]


def recorded(seconds: float = 60.0, seed: int = 3, moods: float = 0.0) -> Lines:
    """The journal of an errand in the pure mind, with things that fail."""
    texts: list[str] = []
    settings = Settings(seed=seed)
    journal = Journal("brain", settings, texts.append)
    model = ChoosingModel(random.Random(seed), moods=moods)
    mind = PureMind(settings, seed, Trouble(grasp_fails=0.4), model, build=journal.build)
    mind.graph.run_for(1.0)
    mind.say("bring me the red cube")
    mind.graph.run_for(seconds / 2)
    mind.say("how is your battery?")
    mind.graph.run_for(seconds / 2)
    journal.flush()
    return read_lines(texts)


@pytest.fixture(scope="module")
def errand() -> Lines:
    return recorded()


def replayed(lines: Lines, **more: Any) -> Report:
    replay = Replay(**more)
    for line in lines:
        replay.feed(line)
    return replay.report


def test_a_recorded_errand_is_decided_again_bit_by_bit(errand: Lines) -> None:
    report = replayed(errand)
    assert report.first is None, str(report.first)
    assert report.identical
    assert report.nodes["basal_ganglia_gate"].steps > 500
    assert report.nodes["prefrontal_planner"].sent > 10
    assert not any(node.skipped for node in report.nodes.values())


def test_a_model_that_fails_and_answers_nonsense_is_replayed_too() -> None:
    lines = recorded(moods=0.3, seed=5)
    assert any(turn["error"] for line in lines for turn in line.get("turns", ()))
    assert replayed(lines).identical


def test_a_changed_outcome_in_the_record_shows_where_the_decisions_part(errand: Lines) -> None:
    changed = json.loads(json.dumps(errand))
    outcome = next(line for line in changed if line.get("t") == "outcome")
    outcome["d"]["success"], outcome["d"]["failure"] = False, 320
    report = replayed(changed)
    assert not report.identical
    assert report.first is not None
    first_taken = next(line["at"] for line in changed if outcome["v"] in line.get("in", ()))
    assert report.first.at >= first_taken
    assert " -> " in report.first.differences[0]
    assert any("failed" in line for line in report.first.took)


def test_another_word_of_the_model_makes_another_decision(errand: Lines) -> None:
    changed = json.loads(json.dumps(errand))
    turn = next(turn for line in changed for turn in line.get("turns", ()) if turn["text"] == "undock()")
    turn["text"] = "look_for(red_cube)"
    report = replayed(changed)
    assert report.first is not None
    assert report.first.node == "prefrontal_planner"


def test_a_question_that_the_recorded_model_never_got_is_reported(errand: Lines) -> None:
    changed = json.loads(json.dumps(errand))
    turn = next(turn for line in changed for turn in line.get("turns", ()) if turn["text"] == "undock()")
    turn["asked"] = "0" * 16
    report = replayed(changed)
    assert report.first is not None
    assert "asked something else" in report.first.differences[0]


def test_a_journal_can_be_taken_up_in_the_middle(errand: Lines) -> None:
    lines = recorded(seconds=150.0)
    starts = [index for index, line in enumerate(lines) if "session" in line]
    assert len(starts) > 1
    report = replayed(lines[starts[1] :])
    assert report.first is None, str(report.first)
    assert report.nodes["basal_ganglia_gate"].steps > 100
    for node, told in report.nodes.items():
        assert told.steps or "middle" in told.skipped, node


def test_the_steps_after_a_gap_are_left_out_until_the_next_keyframe() -> None:
    lines = recorded(seconds=150.0)
    starts = [index for index, line in enumerate(lines) if "session" in line]
    replay = Replay()
    for line in lines[: starts[1] - 400]:
        replay.feed(line)
    before = replay.report.steps
    replay.interrupt("300 lines are missing")
    for line in lines[starts[1] - 100 : starts[1]]:
        assert replay.feed(line) is None
    assert replay.report.steps == before
    for line in lines[starts[1] :]:
        replay.feed(line)
    assert replay.report.steps > before
    assert replay.report.first is None, str(replay.report.first)


def test_other_numbers_and_reasons_are_told_apart_from_another_decision() -> None:
    then = {"header": {"stamp": {"sec": 1}}, "wants": "resume", "tension": 0.45, "why": "it presses (0.45)"}
    assert not decides(then, then | {"tension": 0.5, "why": "it presses (0.50)", "header": {"stamp": {"sec": 2}}})
    assert decides(then, then | {"wants": "nothing"})
    assert decides({"avoid": []}, {"avoid": ["pick(red_cube)"]})


def test_values_come_back_to_the_last_bit() -> None:
    scan = LaserScan(
        header=Header.at(1.25, "laser_link"), angle_min=-0.1, angle_max=0.1 + 0.2, angle_increment=1e-17,
        time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=float("inf"),
        ranges=np.array([1.1, np.inf, -np.inf, np.nan, 1e-45], np.float32), intensities=np.zeros(0, np.float32),
    )
    text = encode(scan)
    again = decode(t.SCAN, json.loads(text))
    assert encode(again) == text
    assert again.ranges.tobytes() == scan.ranges.tobytes()
    assert again.angle_max == scan.angle_max


class Breaking:
    def __init__(self, settings: Settings) -> None:
        self._steps = 0

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        self._steps += 1
        if inbox.new(t.UTTERANCE):
            raise ZeroDivisionError("too much talk")
        return [t.REPLY.of(Speech(header=Header.at(now), text=f"step {self._steps}", cause=""))]

    def why(self) -> str:
        return "It breaks."


def test_a_crash_is_written_down_with_what_led_to_it_and_happens_again() -> None:
    from support.gate_rig import said

    row = Row("breaking", "", TABLE[-1].process, 10, f"{__name__}:Breaking", (t.UTTERANCE,), (t.REPLY,), "breaks")
    texts: list[str] = []
    journal = Journal("brain", Settings(), texts.append)
    watched = journal.watch("breaking", Breaking(Settings()))
    watched.step(1.0, Inbox())
    with pytest.raises(ZeroDivisionError):
        watched.step(2.0, Inbox.of([said(2.0, "hello")]))
    lines = read_lines(texts)
    assert lines[-1]["error"] == "ZeroDivisionError: too much talk"

    class Here(Row):
        def load(self) -> type[Breaking]:
            return Breaking

    report = replayed(lines, rows=[Here(**{name: getattr(row, name) for name in row.__dataclass_fields__})])
    assert report.identical
