"""How well each role of the inner life does on labelled cases, what of it parses, and what a call costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from anima.body.places import Places
from anima.config import ROOT, ConfigError, read_yaml
from anima.parts.asking import Answering, Ask, Train, ready_judge
from anima.parts.bidding import BadBid, ballot, bid_request, read_bid
from anima.parts.choosing import choose_request_of, read_choice
from anima.parts.happening import Happening
from anima.parts.roles import PartsTuning
from anima.parts.schema import Part
from anima.planner.judge import Judgement
from anima.planner.llm.base import Completion, Mind, Request
from anima.planner.names import KnownNames

SETS = {"tuning": ROOT / "tests" / "llm" / "parts", "heldout": ROOT / "tests" / "llm" / "heldout"}
JUDGED = ("worth_a_part", "split", "same_bid", "concluded", "prediction")
WRITTEN = ("bids", "arbitration")
_WAIT_S = 0.01


@dataclass
class Score:
    """One role on one set. `unsure` judgements count as wrong in `right`; `unread` texts did not parse."""

    role: str
    total: int = 0
    right: int = 0
    unsure: int = 0
    unread: int = 0
    partly: int = 0
    seconds: list[float] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """For programs."""
        sure = self.total - self.unsure
        return {
            "role": self.role, "cases": self.total, "accuracy": self.right / max(self.total, 1),
            "unsure": self.unsure / max(self.total, 1), "accuracy_among_sure": self.right / max(sure, 1),
            "parsed": 1.0 - self.unread / max(self.total, 1), "partly": self.partly / max(self.total, 1),
            "seconds_per_call_s": median(self.seconds) if self.seconds else 0.0, "misses": self.misses,
        }


def cases_of(role: str, which: str) -> list[dict[str, Any]]:
    """The labelled cases; raises `ConfigError` when there are none."""
    path: Path = SETS[which] / f"{role}.yaml"
    found = read_yaml(path).get("cases")
    if not isinstance(found, list) or not found:
        raise ConfigError(f"{path}: expected a list under `cases`")
    return found


def answer(wish: Request | Ask, model: Mind) -> Completion | Judgement:
    """A wish, waited for."""
    waiting = Answering(wish, model)
    while (done := waiting.poll()) is None:
        time.sleep(_WAIT_S)
    return done


def drive(train: Train[Any], model: Mind, seen: Callable[[Request | Ask, Completion | Judgement], None]) -> Any:
    """A train of thought to its end, with the real model."""
    sent: object = None
    try:
        while True:
            wish = train.send(sent)
            done = answer(wish, model)
            seen(wish, done)
            sent = done
    except StopIteration as stop:
        return stop.value


def judged(role: str, cases: Sequence[dict[str, Any]], model: Mind, say: Callable[[str], None]) -> Score:
    """A closed judgement on its cases."""
    score, known = Score(role), ready_judge(role)
    if known is None:
        raise ConfigError(f"there is no judgement {role!r}")
    for case in cases:
        done = answer(Ask(role, {slot: str(case[slot]) for slot in known.slots}), model)
        assert isinstance(done, Judgement)
        score.total += 1
        score.seconds.append(done.seconds)
        score.unsure += not done.is_sure
        score.right += done.label == case["label"]
        score.unread += bool(done.error)
        if done.label != case["label"]:
            score.misses.append(f"{case.get('id', '?')}: {case['label']} was judged {done.best} ({done.p:.2f})")
            say(f"  {role} {score.misses[-1]}")
    return score


def bids(
    cases: Sequence[dict[str, Any]], model: Mind, tuning: PartsTuning, names: KnownNames, places: Places,
    say: Callable[[str], None],
) -> Score:
    """Bids that are about what they should be: one of the focus words is in them, and nothing that must not."""
    score = Score("bids")
    for case in cases:
        part, event = _part(case["part"]), Happening("case", 0.0, case["event"], "lived")
        offered = ballot(part, event, names, places)
        done = answer(bid_request(part, event, offered, tuning), model)
        assert isinstance(done, Completion)
        score.total += 1
        score.seconds.append(done.prefill_s + done.decode_s)
        try:
            draft = read_bid(done.text, part, offered)
        except BadBid as error:
            score.unread += 1
            score.misses.append(f"{case.get('id', '?')}: {error}")
            continue
        said = f"{draft.want} {draft.leaning} {draft.focus} {draft.words}".lower()
        about = any(word.lower() in said for word in case["focus_words"])
        wrong = [word for word in case["must_not"] if word.lower() in said]
        first_person = draft.want.startswith("I ") and " we " not in f" {draft.want.lower()} "
        if about and not wrong and first_person:
            score.right += 1
        else:
            score.partly += about
            score.misses.append(f"{case.get('id', '?')}: {said!r}" + (f" has {wrong}" if wrong else ""))
            say(f"  bids {score.misses[-1]}")
    return score


def _part(given: dict[str, Any]) -> Part:
    fields: dict[str, Any] = {
        "suggestions_and_results": [], "core_part": False, "needs_evaluation": False, "conclude_when": "",
        "emotion": "Concern", "intensity": "Medium", "personality": "", "triggers": [], "phrases": [],
        "responses": [], "originating_event": {"timestamp": "2026-01-01T00:00:00+00:00", "result": "It is a case."},
    } | given
    return Part.model_validate(fields)


def arbitration(
    cases: Sequence[dict[str, Any]], model: Mind, tuning: PartsTuning, say: Callable[[str], None]
) -> Score:
    """Choices: `right` when exactly the bids are followed that the label says, `partly` when the first one is right."""
    score = Score("arbitration")
    for case in cases:
        lines = [f"{bid['part']}: {bid['recommendation']}" for bid in case["bids"]]
        began, leaning = time.monotonic(), []
        for line in lines:
            done = answer(Ask("follow", {"self": case["self"], "event": case["event"], "bid": line}), model)
            assert isinstance(done, Judgement)
            leaning.append(done.label)
        affects = [sentence.strip() for sentence in case["self"].split(".") if sentence.strip()]
        written = answer(choose_request_of(case["self"], affects, f'"{case["event"]}"', lines, tuning, leaning), model)
        assert isinstance(written, Completion)
        score.total += 1
        score.seconds.append(time.monotonic() - began)
        try:
            choice = read_choice(written.text, len(lines))
        except BadBid as error:
            score.unread += 1
            score.misses.append(f"{case.get('id', '?')}: {error} {written.error}")
            continue
        followed = [number for number, yes in enumerate(choice.followed) if yes]
        score.right += set(followed) == set(case["label"])
        score.partly += choice.first in case["label"]
        if set(followed) != set(case["label"]):
            wanted = f"{case['label']} was to be followed"
            score.misses.append(f"{case.get('id', '?')}: followed {followed}, first {choice.first}; {wanted}")
            say(f"  arbitration {score.misses[-1]}")
    return score
