"""What the console shows of a robot at work."""

from __future__ import annotations

from anima import topics as t
from anima.console.trace import Trace
from anima.failure import Failure
from anima.topics import Sent
from anima.types.base import Header, Time
from anima.types.mind import Outcome, SkillCall, SkillFeedback, StopState, Thought, Utterance, Verdict

HEADER = Header.at(12.0)
CALL = SkillCall(
    header=HEADER, id="c1", skill="place", arguments='{"object": "red_cube", "surface": "shelf"}',
    objective="o1", source="planner", because=["o1"],
)


def shown(trace: Trace, *sent: Sent) -> list[str]:
    return [line for item in sent for _, line in trace.lines(item)]


def verdict(accepted: bool, **more: object) -> Sent:
    fields = {"correction": "", "failure": 0, "reason": "", "repair": "", **more}
    return t.VERDICT.of(Verdict.model_validate({"header": HEADER, "call": CALL, "accepted": accepted, **fields}))


def test_a_correction_is_shown_with_the_call() -> None:
    (line,) = shown(Trace(), verdict(True, correction="'red cube' is red_cube"))
    assert line == "call: place(red_cube, shelf) - accepted (corrected: 'red cube' is red_cube)"


def test_a_refusal_shows_its_kind_its_reason_and_what_would_mend_it() -> None:
    refusal = verdict(
        False, failure=int(Failure.PRECONDITION_UNMET), reason="the robot is not at shelf", repair="go_to(shelf)"
    )
    (line,) = shown(Trace(), refusal)
    assert "refused, precondition_unmet: the robot is not at shelf; try go_to(shelf)" in line


def test_a_phase_is_shown_once_however_often_it_is_reported() -> None:
    phase = t.SKILL_FEEDBACK.of(
        SkillFeedback(header=HEADER, lease="l", call="c1", skill="place", phase="lowering", progress=0.5)
    )
    assert shown(Trace(), phase, phase) == ["  … place: lowering"]


def test_a_failed_outcome_names_the_failure() -> None:
    ended = Outcome(
        header=HEADER, lease="l", call=CALL, success=False, failure=int(Failure.SLIP), detail="lost it", duration_s=3.0
    )
    assert shown(Trace(), t.OUTCOME.of(ended)) == ["place(red_cube, shelf) ended with slip: lost it"]


def test_thoughts_are_shown_with_their_cost_and_failures_of_thought_with_their_reason() -> None:
    thought = Thought(
        header=HEADER, id="t", role="act", prompt="", text="undock()", prompt_tokens=1000, cached_tokens=950,
        completion_tokens=3, prefill_s=1.0, decode_s=0.5, error="",
    )
    failed = thought.model_copy(update={"error": "decode over its budget"})
    lines = shown(Trace(), t.THOUGHT.of(thought), t.THOUGHT.of(failed))
    assert lines[0] == "thinks (act): undock()   [1.5 s, 1000 tokens in (950 cached), 3 out]"
    assert lines[1] == "thought failed (act): decode over its budget"


def test_the_software_stop_is_shown_when_it_changes_and_not_each_second() -> None:
    latched = t.STOP_STATE.of(StopState(header=HEADER, latched=True, source="anima stop", active=[]))
    free = t.STOP_STATE.of(StopState(header=HEADER, latched=False, source="", active=[]))
    assert shown(Trace(), latched, latched, free) == ["software stop latched by anima stop", "software stop reset"]


def test_what_a_person_says_is_shown_as_said() -> None:
    said = t.UTTERANCE.of(Utterance(header=Header(stamp=Time(sec=1, nanosec=0)), id="u", speaker="person", text="[hi]"))
    assert shown(Trace(), said) == ["person: [hi]"]
