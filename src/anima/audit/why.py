"""Explains one decision in a screenful: from what was said to how it ended, with what mattered in between."""

from __future__ import annotations

from collections.abc import Iterator

from anima import topics as t
from anima.audit.origins import origins
from anima.audit.timeline import Timeline
from anima.failure import Failure
from anima.regions.gate.floor import PLAYBOOK
from anima.skills.registry import render
from anima.types.mind import Objective, SkillCall, Verdict

PROMPT_LINES = 14
ORIGINS = 8
WIDTH = 150
Line = tuple[str, str]


class UnknownCall(LookupError):
    """No such call in the record; the message lists some that there are."""


def calls_of(timeline: Timeline) -> dict[str, tuple[float, SkillCall]]:
    """Every call that was decided, by its id, with the time of its verdict."""
    found: dict[str, tuple[float, SkillCall]] = {}
    for topic in (t.VERDICT, t.OPERATOR_VERDICT):
        for at, verdict in timeline.of(topic):
            found.setdefault(verdict.call.id, (at, verdict.call))
    for at, lease in timeline.of(t.LEASE):
        found.setdefault(lease.call.id, (at, lease.call))
    return dict(sorted(found.items(), key=lambda item: item[1][0]))


def why(timeline: Timeline, call_id: str) -> list[Line]:
    """The explanation as (heading, text) pairs. Raises `UnknownCall`."""
    calls = calls_of(timeline)
    if call_id not in calls:
        some = ", ".join(list(calls)[-12:]) or "none"
        raise UnknownCall(f"no call {call_id!r} in the record; there are {len(calls)}, the last: {some}")
    at, call = calls[call_id]
    lines: list[Line] = [("call", f"{render(call.skill, call.arguments)}  [{call.id}] at {at:.2f} s, by {call.source}")]
    lines += _asked(timeline, call)
    lines += _focus(timeline, call, at)
    lines += _chosen(timeline, call, at)
    lines += _verdict(timeline, call)
    lines += _signals(timeline, call, at)
    lines += _leanings(timeline, call, at)
    lines += _course(timeline, call)
    return [(heading, _cut(text)) for heading, text in lines]


def _cut(text: str) -> str:
    return "\n".join(line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in text.splitlines())


def _objective(timeline: Timeline, id: str) -> Objective | None:
    for _, new in timeline.of(t.OBJECTIVES):
        for objective in new.objectives:
            if objective.id == id:
                return objective
    for _, backlog in timeline.of(t.BACKLOG):  # what the gate set itself, e.g. to charge
        for objective in backlog.objectives:
            if objective.id == id:
                return objective
    return None


def _asked(timeline: Timeline, call: SkillCall) -> Iterator[Line]:
    objective = _objective(timeline, call.objective)
    if objective is None:
        served = f"for {call.objective} (not in the record)" if call.objective else "by hand, for no objective"
        yield "asked", served
        return
    heard = next((u for _, u in timeline.of(t.UTTERANCE) if u.id == objective.source), None)
    if heard is not None:
        yield "heard", f"{heard.speaker}: {heard.text!r}  [{heard.id}]"
    elif objective.source:
        reason = _first_reason(timeline, objective.id)
        yield "from", f"{objective.source}: {reason}" if reason else objective.source
    yield from _bid_for(timeline, call, objective.id)
    yield "objective", f"{objective.condition}  [{objective.id}]"


def _first_reason(timeline: Timeline, objective: str) -> str:
    """Why the robot wanted it of itself, as the gate told it."""
    told = (one for _, backlog in timeline.of(t.BACKLOG) for one in backlog.objectives)
    return next((one.reason for one in told if one.id == objective and one.reason), "")


def _bid_for(timeline: Timeline, call: SkillCall, objective: str) -> Iterator[Line]:
    """The bid of a part that an objective, or a call, came from."""
    for _, choice in timeline.of(t.BIDS):
        for bid in choice.bids:
            if objective == f"part-{bid.id}" or bid.id in call.because:
                yield "bid", f"{bid.name}: {bid.recommendation}  [{bid.part} version {bid.version}, {bid.id}]"
                yield "the Self", f"{choice.self_name} ({choice.mode}) followed it: {bid.reason}; about {choice.about}"


def _leanings(timeline: Timeline, call: SkillCall, at: float) -> Iterator[Line]:
    """What parts had the robot avoid or prefer, and whether the call's way kept to it."""
    stances = timeline.last_before(t.STANCES, at)
    for stance in () if stances is None else stances.stances:
        if at >= stance.until.seconds:
            continue
        text = f"{stance.name} [{stance.part}, {stance.bid}] has it {stance.kind} {stance.target}".rstrip()
        if stance.kind == "avoid" and stance.area.size == 4 and "base" in _held(timeline, call):
            text += f"; {_way(timeline, call, list(map(float, stance.area)), stance.target)}"
        yield "part", f"{text}: {stance.why}"


def _held(timeline: Timeline, call: SkillCall) -> list[str]:
    found = [lease.resources for _, lease in timeline.of(t.LEASE) if lease.call.id == call.id and lease.granted]
    return found[0] if found else []


def _way(timeline: Timeline, call: SkillCall, area: list[float], name: str) -> str:
    """Whether the first way that the call took led through an area."""
    granted = [when for when, lease in timeline.of(t.LEASE) if lease.call.id == call.id and lease.granted]
    route = next((route for when, route in timeline.of(t.ROUTE) if granted and when >= granted[0]), None)
    if route is None:
        return "no way was planned"
    x0, y0, x1, y1 = area
    points = [pose.pose.position for pose in route.path.poses]
    inside = sum(x0 < p.x < x1 and y0 < p.y < y1 for p in points)
    if inside * 5 <= len(points):  # a goal at its edge is reached all the same
        return f"the way leads around the {name}"
    return f"the way still crosses the {name} ({inside} of {len(points)} points)"


def _focus(timeline: Timeline, call: SkillCall, at: float) -> Iterator[Line]:
    backlog = timeline.last_before(t.BACKLOG, at)
    if backlog is None:
        return
    yield "focus", backlog.why
    if backlog.failures:
        yield "failed so far", "; ".join(backlog.failures[-3:])
    if call.source == PLAYBOOK and backlog.recovery:
        yield "playbook", backlog.recovery


def _chosen(timeline: Timeline, call: SkillCall, at: float) -> Iterator[Line]:
    if call.source != "planner":
        return
    thoughts = [(when, thought) for when, thought in timeline.of(t.THOUGHT) if thought.role == "act" and when <= at]
    named = [pair for pair in thoughts if pair[1].id in call.because]
    if not thoughts:
        return
    when, thought = (named or thoughts)[-1]
    shown = thought.prompt.strip().splitlines()
    if len(shown) > PROMPT_LINES:
        shown = [*shown[: PROMPT_LINES - 6], f"  … {len(shown) - PROMPT_LINES + 1} lines more", *shown[-5:]]
    yield "was shown", "\n".join(shown)
    cost = f"{thought.prefill_s + thought.decode_s:.1f} s, {thought.prompt_tokens} tokens in"
    yield "model's word", f"{thought.text.strip()}  [{thought.id} at {when:.2f} s, {cost}]"


def _verdict(timeline: Timeline, call: SkillCall) -> Iterator[Line]:
    for topic in (t.VERDICT, t.OPERATOR_VERDICT):
        for _, verdict in timeline.of(topic):
            if verdict.call.id == call.id:
                yield "validator", _judged(verdict)


def _judged(verdict: Verdict) -> str:
    if verdict.accepted:
        return f"accepted, corrected: {verdict.correction}" if verdict.correction else "accepted as it is"
    repair = f"; {verdict.repair} would mend it" if verdict.repair else ""
    return f"refused, {Failure(verdict.failure).word}: {verdict.reason}{repair}"


def _signals(timeline: Timeline, call: SkillCall, at: float) -> Iterator[Line]:
    """What the glue had to say at that moment."""
    text = render(call.skill, call.arguments)
    for when, forecast in timeline.of(t.FORECAST):
        if forecast.call in (call.id, text) and abs(when - at) < 10.0:
            numbers = f"success {forecast.success:.0%}, hazard {forecast.hazard:.0%}, {forecast.cost_s:.0f} s"
            rather = f", rather {forecast.rather}" if forecast.rather else ""
            yield "forecast", f"{forecast.advice}{rather}: {forecast.why} ({forecast.rollouts} rollouts: {numbers})"
            break
    recall = timeline.last_before(t.RECALL, at)
    if recall is not None and recall.objective == call.objective and (recall.avoid or recall.prefer):
        sides = (("avoid", recall.avoid), ("prefer", recall.prefer))
        yield "recall", "; ".join(f"{word} {', '.join(found)}" for word, found in sides if found)
    conflicts = [c for when, c in timeline.of(t.CONFLICT) if c.objective == call.objective and when <= at]
    if conflicts:
        last = conflicts[-1]
        yield "conflict", f"{last.kind}, {last.advice}: {last.why}  [{last.id}]"
    condition = timeline.last_before(t.CONDITION, at)
    if condition is not None:
        yield "condition", f"{condition.label}, {condition.mode}: {condition.why}"
    resources = timeline.last_before(t.RESOURCES, at)
    if resources is not None:
        must = ", must dock" if resources.must_dock else ""
        yield "resources", f"battery {resources.battery:.0%}{must}: {resources.why}"
    salient = [s for when, s in timeline.of(t.SALIENCE) if at - 10.0 <= when <= at and s.interrupts != "none"]
    if salient:
        yield "interrupt", f"{salient[-1].event.text} ({salient[-1].interrupts}: {salient[-1].why})"
    chain = [f"{identity}: {text}" for identity, text in origins(timeline, call)]
    if chain:
        more = [f"and {len(chain) - ORIGINS} more"] if len(chain) > ORIGINS else []
        yield "because", "\n".join([*chain[:ORIGINS], *more])


def _course(timeline: Timeline, call: SkillCall) -> Iterator[Line]:
    leases = [(when, lease) for when, lease in timeline.of(t.LEASE) if lease.call.id == call.id]
    for when, lease in leases:
        if lease.granted:
            parts = ", ".join(lease.resources)
            reason = f" - {lease.reason}" if lease.reason else ""
            yield "lease", f"{parts} at {when:.2f} s until {lease.deadline.seconds:.2f} s{reason}"
        else:
            yield "taken back", f"at {when:.2f} s: {lease.reason}"
    for when, outcome in timeline.of(t.OUTCOME):
        if outcome.call.id == call.id:
            how = "done" if outcome.success else f"{Failure(outcome.failure).word}: {outcome.detail}"
            yield "outcome", f"{how} at {when:.2f} s, after {outcome.duration_s:.1f} s"
            return
    if not leases:
        yield "outcome", "it never got a lease"
    else:
        yield "outcome", "the record ends before it"
