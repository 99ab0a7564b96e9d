"""What a call was decided from: the ids in its `because`, each in words, and those of the calls among them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from anima import topics as t
from anima.audit.codec import encode
from anima.audit.timeline import Timeline
from anima.audit.words import in_words
from anima.skills.registry import render
from anima.types.mind import Outcome, SkillCall

_TOLD_BY_ID = (t.UTTERANCE.name, t.EVENTS.name, t.CONFLICT.name, t.EPISODES.name)


def origins(timeline: Timeline, call: SkillCall) -> list[tuple[str, str]]:
    """(id, what it was) for everything that led to the call, nearest first; what the record does not have is left out.

    A call that was made because another one failed leads on to what that one was made from.
    """
    found: dict[str, str] = {}
    ended = {outcome.call.id: outcome for _, outcome in timeline.of(t.OUTCOME)}
    todo = list(call.because)
    while todo:
        identity = todo.pop(0)
        if identity in found or identity == call.id:
            continue
        outcome = ended.get(identity)
        text = _what(timeline, identity) if outcome is None else _how(outcome)
        if text:
            found[identity] = text
        if outcome is not None:
            todo += outcome.call.because
    return list(found.items())


def _how(outcome: Outcome) -> str:
    call = outcome.call
    text = in_words(t.OUTCOME.name, json.loads(encode(outcome))).partition(": ")[2]
    return f"{text} at {outcome.header.stamp.seconds:.2f} s, by {call.source}"


def _what(timeline: Timeline, identity: str) -> str:
    return next(_found(timeline, identity), "")


def _found(timeline: Timeline, identity: str) -> Iterator[str]:
    objectives = [one for _, new in timeline.of(t.OBJECTIVES) for one in new.objectives]
    objectives += [one for _, backlog in timeline.of(t.BACKLOG) for one in backlog.objectives]
    for objective in objectives:
        if objective.id == identity:
            yield f"the objective {objective.condition}"
    for name in _TOLD_BY_ID:
        for told in timeline.topics.get(name, ()):
            if getattr(told.value, "id", "") == identity:
                yield f"{in_words(name, json.loads(encode(told.value)))}, at {told.at:.2f} s"
    for at, lease in timeline.of(t.LEASE):
        if lease.call.id == identity:
            yield f"{render(lease.call.skill, lease.call.arguments)}, leased at {at:.2f} s"
