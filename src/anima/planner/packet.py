"""The context packet: what the planner must know at this moment, in the order of the context contract."""

from __future__ import annotations

from dataclasses import dataclass

from anima.failure import Failure
from anima.planner.names import KnownNames
from anima.planner.options import Options, Step, options
from anima.types.mind import Objective, WorldState
from anima.world.predicates import Predicate, find_object

MAX_CONCERNS = 7
MAX_HISTORY = 5
MAX_NEWS = 4
MAX_DETAIL_CHARS = 80
LOW_BATTERY = 0.2


@dataclass(frozen=True)
class Situation:
    """Everything that one decision depends on.

    `history` are the ended calls for this objective, oldest first; `news` what came since the last turn, most recent
    last; `refused` what the validator said of the last proposal, or empty.
    """

    objective: Objective
    state: WorldState
    names: KnownNames
    history: tuple[Step, ...] = ()
    news: tuple[str, ...] = ()
    refused: str = ""

    @property
    def condition(self) -> Predicate:
        """The done-condition."""
        return Predicate.parse(self.objective.condition)

    def options(self) -> Options:
        """The choices of this moment."""
        return options(self.condition, self.state, self.names, self.history)


def packet(situation: Situation, choices: Options) -> str:
    """The turn's text: six sections, then what can be done and what can't. About 100 to 300 tokens."""
    lines = [
        f"focus: {situation.objective.condition}",
        f"way: {' <- '.join(choices.way)}",
        f"know: {'; '.join(_known(situation))}",
    ]
    concerns = _concerns(situation)
    if concerns:
        lines.append(f"concerns: {'; '.join(concerns[:MAX_CONCERNS])}")
    if situation.history:
        recent = situation.history[-MAX_HISTORY:]
        lines.append(f"history: {'; '.join(f'{step.call} {step.ended}' for step in recent)}")
    lines.append(f"mode: {_mode(situation)}")
    if choices.blocked:
        blocked = [f"{b.call}: {b.reason}" + (f" -> {b.mend}" if b.mend else "") for b in choices.blocked]
        lines.append(f"blocked: {'; '.join(blocked)}")
    news = _news(situation)
    lines.append(f"new: {'; '.join(news[-MAX_NEWS:]) or 'nothing'}")
    lines.append("can:")
    for call in choices.calls:
        note = choices.note(call, situation.history)
        lines.append(f"{call}, {note}" if note else call)
    return "\n".join(lines)


def _known(situation: Situation) -> list[str]:
    state = situation.state
    where = " ".join(part for part in (f"at {state.place}" if state.place else "", f"in {state.room}") if part)
    facts = [f"robot {where}", f"hand {state.holding or 'empty'}"]
    for name in (arg for arg in situation.condition.args if arg in situation.names.objects):
        thing = find_object(state, name)
        if thing is None or thing.status == "tentative":
            facts.append(f"{name} not seen")
        elif thing.status == "absent":
            facts.append(f"{name} gone from {thing.place or 'where it was'}")
        else:
            facts.append(f"{name} on {thing.place}" if thing.place != "gripper" else f"{name} in hand")
    if situation.condition.name == "charged" or state.battery < LOW_BATTERY:
        facts.append(f"battery {state.battery:.0%}")
    return facts


def _concerns(situation: Situation) -> list[str]:
    state = situation.state
    found = []
    if state.stopped:
        found.append("stop is latched")
    if not state.localized:
        found.append("position unknown")
    if state.battery < LOW_BATTERY:
        found.append("battery low")
    return found


def _mode(situation: Situation) -> str:
    if situation.state.stopped or situation.state.battery < LOW_BATTERY:
        return "CAUTIOUS"
    return "RECOVERY" if situation.history and situation.history[-1].failure is not Failure.NONE else "FOCUSED"


def _news(situation: Situation) -> list[str]:
    news = list(situation.news)
    if situation.history:
        last = situation.history[-1]
        detail = f" ({last.detail[:MAX_DETAIL_CHARS]})" if last.detail and last.failure is not Failure.NONE else ""
        news.append(f"{last.call} {last.ended}{detail}")
    if situation.refused:
        news.append(f"refused: {situation.refused[:MAX_DETAIL_CHARS]}")
    return news
