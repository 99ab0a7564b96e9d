"""What a recorded value says, in a line that a person understands without knowing the message types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anima.failure import Failure
from anima.skills.registry import render

Data = Mapping[str, Any]
LONGEST = 200
# What is always there and moves no decision by itself: left out where a step's input is told.
BACKGROUND = frozenset(
    {"world_state", "joint_states", "pose", "battery_state", "scan", "skill_feedback", "software_stop/state", "context"}
)


def in_words(topic: str, data: Data) -> str:
    """`topic: what it says`, at most `LONGEST` characters. A topic that has no words here is told by its fields."""
    teller = _TELLERS.get(topic, _fields)
    text = " ".join(f"{topic}: {teller(data)}".split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _call(data: Data) -> str:
    return render(data["skill"], data["arguments"])


def _and(*texts: str) -> str:
    return "; ".join(text for text in texts if text)


def _lease(data: Data) -> str:
    call = _call(data["call"])
    if not data["granted"]:
        return f"{call} taken back, {data['reason']}"
    return f"{' and '.join(data['resources'])} for {call}"


def _verdict(data: Data) -> str:
    if data["accepted"]:
        return _and(f"{_call(data['call'])} accepted", data["correction"] and f"corrected: {data['correction']}")
    return f"{_call(data['call'])} refused, {_failure(data['failure'])}: {data['reason']}"


def _outcome(data: Data) -> str:
    if data["success"]:
        return f"{_call(data['call'])} done"
    return _and(f"{_call(data['call'])} failed, {_failure(data['failure'])}", data["detail"])


def _failure(code: int) -> str:
    return Failure(code).word if code in set(Failure) else str(code)


def _objectives(data: Data) -> str:
    return ", ".join(_objective(one) for one in data["objectives"]) or "nothing"


def _objective(one: Data) -> str:
    return f"{one['condition']} {one['state']}" + (f" ({one['reason']})" if one["reason"] else "")


def _backlog(data: Data) -> str:
    return _and(_objectives(data), data["why"], *data["failures"][-1:])


def _event(data: Data) -> str:
    return str(data["text"])


def _salience(data: Data) -> str:
    stops = "" if data["interrupts"] == "none" else f", interrupts {data['interrupts']}"
    return f"{data['event']['text']}, urgency {data['urgency']:.2f}{stops} ({data['why']})"


def _conflict(data: Data) -> str:
    avoid = f", avoid {', '.join(data['avoid'])}" if data["avoid"] else ""
    return f"{data['kind']}, {data['advice']}{avoid}: {data['why']}"


def _condition(data: Data) -> str:
    scales = f"budgets × {data['retry_scale']:g} retries, × {data['persistence_scale']:g} persistence"
    return f"{data['label']}, {data['mode']}, strain {data['strain']:.2f}, {scales}: {data['why']}"


def _resources(data: Data) -> str:
    must = ", must dock" if data["must_dock"] else ""
    may = " and ".join(word for word in ("simulate", "explore") if data[f"may_{word}"]) or "not simulate or explore"
    return (
        f"battery {data['battery']:.0%}, charge drive {data['charge_drive']:.2f}{must}, may {may}, "
        f"thinks {data['think_budget_s']:.0f} s, reaches {data['range_m']:.0f} m: {data['why']}"
    )


def _recall(data: Data) -> str:
    sides = (("avoid", data["avoid"]), ("prefer", data["prefer"]))
    return _and(*(f"{word} {', '.join(calls)}" for word, calls in sides if calls)) or "nothing comes to mind"


def _episode(data: Data) -> str:
    how = "worked" if data["success"] else _failure(data["failure"])
    return f"{data['call']} {how}" + (f", mended by {data['fix']}" if data["fix"] else "")


def _tension(data: Data) -> str:
    wants = f"wants {data['wants']} {data['objective'] or data['condition']}".rstrip()
    return f"{wants}, tension {data['tension']:.2f}, arousal {data['arousal']:.2f}: {data['why']}"


def _forecast(data: Data) -> str:
    rather = f" {data['rather']}" if data["rather"] else ""
    figures = f"success {data['success']:.0%}, hazard {data['hazard']:.0%}" if data["rollouts"] else "not imagined"
    return f"{data['call']}: {data['advice']}{rather}, {figures}: {data['why']}"


def _temperament(data: Data) -> str:
    values = ", ".join(f"{name} {data[name]:.2f}" for name in ("initiative", "persistence", "caution"))
    return f"{data['word']}: {values}"


def _thought(data: Data) -> str:
    return f"{data['role']}: {data['error'] or data['text'].strip()}"


def _said(data: Data) -> str:
    return f"“{data['text']}”"


def _fields(data: Data) -> str:
    return ", ".join(f"{key} {brief(value, 60)}" for key, value in data.items() if key != "header")


def brief(value: Any, longest: int = 160) -> str:
    """A JSON value in a few characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest else f"{text[: longest - 3]}…"


def told(values: Sequence[tuple[str, Data]], most: int = 6) -> tuple[str, ...]:
    """Several values in words, one line each; what is more than `most` is counted."""
    lines = [in_words(topic, data) for topic, data in values]
    more = len(lines) - most
    return (*lines[:most], f"and {more} more") if more > 0 else tuple(lines)


_TELLERS: Mapping[str, Callable[[Data], str]] = {
    "lease": _lease,
    "verdict": _verdict,
    "operator_verdict": _verdict,
    "operator_call": _call,
    "outcome": _outcome,
    "objectives": _objectives,
    "backlog": _backlog,
    "events": _event,
    "salience": _salience,
    "conflict": _conflict,
    "condition": _condition,
    "resources": _resources,
    "recall": _recall,
    "episodes": _episode,
    "goal_tension": _tension,
    "forecast": _forecast,
    "temperament": _temperament,
    "thought": _thought,
    "utterance": _said,
    "speech": _said,
    "reply": _said,
}
