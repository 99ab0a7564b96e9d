"""What a recording tells of stops and the robot's words: how soon they came, and whether the learner was at work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anima import topics as t
from anima.audit import promptness
from anima.audit.codec import encode
from anima.audit.promptness import Prompt, prompts_of
from anima.audit.recording import Chunk, Recording, read_told
from anima.audit.turns import Turn, turns_of
from anima.planner.llm.base import Mark
from anima.regions.basal_ganglia import SAID_STOP
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Lease, SkillCall, Speech, Utterance

WALL, MONOTONIC = 1_790_000_000.0, 500.0


def utterance(at: float, text: str) -> Sent:
    return t.UTTERANCE.of(Utterance(header=Header.at(at), id=f"u{at}", speaker="ana", text=text))


def reply(at: float, text: str) -> Sent:
    return t.REPLY.of(Speech(header=Header.at(at), text=text, cause="u"))


def taken_back(at: float) -> Sent:
    call = SkillCall.model_construct()
    return t.LEASE.of(
        Lease.model_construct(
            header=Header.at(at), id="l", call=call, resources=["base"], deadline=Time.at(at), granted=False,
            reason=SAID_STOP,
        )
    )


def journal(*steps: tuple[list[Sent], list[Sent], list[dict[str, object]]]) -> list[Chunk]:
    lines: list[dict[str, object]] = [{"session": 1, "clocks": {"wall_s": WALL, "monotonic_s": MONOTONIC}}]
    number = 0
    for arrived, sent, turns in steps:
        numbers: list[list[int]] = []
        for side in (arrived, sent):
            numbers.append([])
            for one in side:
                number += 1
                lines.append({"v": number, "t": one.topic.name, "d": json.loads(encode(one.value))})
                numbers[-1].append(number)
        lines.append({"s": "prefrontal_planner", "at": 1.0, "in": numbers[0], "out": numbers[1], "turns": turns})
    return [Chunk("planner", lines, False)]


def bid(began: float, ended: float) -> Turn:
    """The learner's turn, seconds after the clocks were read."""
    marks = (Mark(1, "begun", MONOTONIC + began, 0), Mark(2, "ended", MONOTONIC + ended, 50))
    return Turn("planner", "learner", "judge.reaction", True, 9.0, "", marks)


def listened(ended: float) -> dict[str, object]:
    mark = {"order": 3, "what": "ended", "at_s": MONOTONIC + ended, "tokens": 9}
    return {"role": "listen", "background": False, "error": "", "marks": [mark]}


def test_words_that_come_of_a_turn_are_timed_from_its_end_on_the_walls_clock() -> None:
    said = reply(3.0, "OK: I'll come.")
    (prompt,) = prompts_of(journal(([], [said], [listened(12.0)])), [(WALL + 12.25, said)], [bid(11.0, 13.0)])
    assert prompt == Prompt("words", "OK: I'll come.", "a turn listen", pytest.approx(0.25), "judge.reaction")
    assert not prompt.is_late


def test_words_that_answer_at_once_are_timed_from_what_was_heard() -> None:
    heard, said = utterance(2.0, "be brief"), reply(2.02, "OK, I'll keep it short.")
    told = [(WALL + 5.0, heard), (WALL + 5.1, said)]
    (prompt,) = prompts_of(journal(([heard], [said], [])), told, [bid(1.0, 2.0)])
    assert (prompt.cause, prompt.took_s, prompt.beside) == ("an utterance", pytest.approx(0.1, abs=1e-6), "")


@pytest.mark.parametrize(("let_go_after_s", "is_late"), [(0.1, False), (0.8, True)])
def test_a_stop_is_timed_until_the_base_is_let_go_and_is_late_only_beside_the_learner(
    let_go_after_s: float, is_late: bool
) -> None:
    told = [(WALL + 20.0, utterance(8.0, "stop")), (WALL + 20.0 + let_go_after_s, taken_back(8.1))]
    (beside,) = prompts_of(journal(), told, [bid(19.0, 22.0)])
    (alone,) = prompts_of(journal(), told, [bid(21.5, 22.0)])
    assert (beside.kind, beside.took_s) == ("stop", pytest.approx(let_go_after_s, abs=1e-6))
    assert beside.is_late == is_late
    assert not alone.is_late and alone.beside == ""


def test_a_stop_that_had_nothing_to_let_go_of_is_no_slow_stop() -> None:
    told = [(WALL + 20.0, utterance(8.0, "stop")), (WALL + 60.0, taken_back(48.0))]
    assert prompts_of(journal(), told, [bid(0.0, 90.0)]) == []


def test_a_record_that_does_not_tell_the_clocks_times_no_words() -> None:
    said = reply(3.0, "Done.")
    chunks = [Chunk("planner", journal(([], [said], [listened(1.0)]))[0].lines[1:], False)]
    assert promptness.clocks_of(chunks) == {}
    assert prompts_of(chunks, [(WALL + 1.0, said)], turns_of(chunks)) == []


def test_topics_are_read_back_from_a_recording_with_the_time_of_each(tmp_path: Path) -> None:
    heard, said = utterance(2.0, "stop"), reply(2.5, "OK.")
    with Recording(tmp_path / "run") as recording:
        recording.put(heard, 100.25)
        recording.put(t.SPEECH.of(said.value), 101.0)
        recording.put(said, 102.5)
    told = list(read_told(tmp_path / "run", promptness.TOPICS))
    assert [(at, one.topic.name, one.value) for at, one in told] == [
        (100.25, "utterance", heard.value), (102.5, "reply", said.value),
    ]
