"""The running trace: what was heard, thought, called, allowed, done and said, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from anima import topics as t
from anima.failure import Failure
from anima.skills.registry import render
from anima.topics import Sent
from anima.types.mind import (
    Backlog,
    Lease,
    Objectives,
    Outcome,
    ReflexEvent,
    SkillFeedback,
    Speech,
    StopState,
    Thought,
    Utterance,
    Verdict,
)

SHOWN = (
    t.UTTERANCE, t.THOUGHT, t.OBJECTIVES, t.VERDICT, t.OPERATOR_VERDICT, t.LEASE, t.SKILL_FEEDBACK, t.OUTCOME,
    t.REPLY, t.SPEECH, t.REFLEX_EVENT, t.STOP_STATE, t.BACKLOG,
)


class Trace:
    """Turns values into lines for people, as pairs of a style name and a text. Repeats are left out."""

    def __init__(self) -> None:
        self._phase = ""
        self._focus = ""
        self._latched = False

    def lines(self, sent: Sent) -> Iterator[tuple[str, str]]:
        """The lines that `sent` is worth, often none."""
        match sent.value:
            case Utterance() as heard:
                yield "person", f"{heard.speaker}: {heard.text}"
            case Thought() as thought if thought.error:
                yield "bad", f"thought failed ({thought.role}): {thought.error}"
            case Thought() as thought:
                cost = (
                    f"{thought.prefill_s + thought.decode_s:.1f} s, {thought.prompt_tokens} tokens in "
                    f"({thought.cached_tokens} cached), {thought.completion_tokens} out"
                )
                yield "thought", f"thinks ({thought.role}): {thought.text.strip()}   [{cost}]"
            case Objectives() as new:
                for objective in new.objectives:
                    reason = f" ({objective.reason})" if objective.reason else ""
                    yield "objective", f"objective: {objective.condition} {objective.state}{reason}"
            case Verdict() as verdict:
                yield from self._verdict(verdict)
            case Lease() as lease if not lease.granted:
                yield "bad", f"takes back {render(lease.call.skill, lease.call.arguments)}: {lease.reason}"
            case SkillFeedback() as feedback:
                phase = f"{feedback.skill}: {feedback.phase}"
                if phase != self._phase:
                    self._phase = phase
                    yield "phase", f"  … {phase}"
            case Outcome() as outcome:
                call = render(outcome.call.skill, outcome.call.arguments)
                if outcome.success:
                    detail = f" - {outcome.detail}" if outcome.detail else ""
                    yield "good", f"did {call} in {outcome.duration_s:.1f} s{detail}"
                else:
                    yield "bad", f"{call} ended with {Failure(outcome.failure).word}: {outcome.detail}"
            case Speech() as speech:
                yield "robot", f"robot: {speech.text}"
            case ReflexEvent() as event:
                yield "reflex", f"reflex {'on' if event.active else 'off'}: {event.kind} {event.detail}".rstrip()
            case StopState() as state if state.latched != self._latched:
                self._latched = state.latched
                yield "bad", f"software stop {'latched by ' + state.source if state.latched else 'reset'}"
            case Backlog() as backlog if backlog.focus and backlog.focus != self._focus:
                self._focus = backlog.focus
                condition = next((o.condition for o in backlog.objectives if o.id == backlog.focus), "")
                yield "objective", f"focus: {condition} - {backlog.why}"

    def _verdict(self, verdict: Verdict) -> Iterator[tuple[str, str]]:
        call = render(verdict.call.skill, verdict.call.arguments)
        if verdict.accepted:
            note = f" (corrected: {verdict.correction})" if verdict.correction else ""
            yield "call", f"call: {call} - accepted{note}"
        else:
            repair = f"; try {verdict.repair}" if verdict.repair else ""
            yield "bad", f"call: {call} - refused, {Failure(verdict.failure).word}: {verdict.reason}{repair}"
