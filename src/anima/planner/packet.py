"""The context packet: what the planner must know at this moment, in the order of the context contract.

Focus, what is known and was learned, what the Self leans to, concerns, history, mode; then what bars the way; at the
end, where the eye of the model rests when it decides, what is new and what can be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from anima.failure import Failure
from anima.planner.bias import NO_BIAS, Bias
from anima.planner.budgets import MUST, Budgets, Count, Item, Section, estimate, fit, load_budgets
from anima.planner.names import KnownNames
from anima.planner.options import Options, Step, options
from anima.types.mind import Objective, WorldState
from anima.world.predicates import Predicate, find_object

MAX_DETAIL_CHARS = 80
MAX_SAID_CHARS = 60
LOW_BATTERY = 0.2
LOOKED_AT = 0.5  # coverage from which a surface counts as searched
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class Concern:
    """Something that matters now: a tag, one short fact, and how much it matters (0..1)."""

    tag: str
    text: str
    urgency: float


@dataclass(frozen=True)
class Situation:
    """Everything that one decision depends on.

    `history` are the ended calls for this objective, oldest first; `news` what came since the last turn, most recent
    last; `refused` what the validator said of the last proposal, or empty. `recall` is what came to mind or was learned
    before, most important first; `lessons` is what people taught, surest first; `leanings` are what the Self holds to
    of its parts' bids (``avoid rug``): closed words and names of the map. `mode` and `disposition` are one word each,
    or empty while nobody has said.
    """

    objective: Objective
    state: WorldState
    names: KnownNames
    history: tuple[Step, ...] = ()
    news: tuple[str, ...] = ()
    refused: str = ""
    concerns: tuple[Concern, ...] = ()
    recall: tuple[str, ...] = ()
    mode: str = ""
    disposition: str = ""
    bias: Bias = NO_BIAS
    lessons: tuple[str, ...] = ()
    leanings: tuple[str, ...] = ()

    @property
    def condition(self) -> Predicate:
        """The done-condition."""
        return Predicate.parse(self.objective.condition)

    def options(self) -> Options:
        """The choices of this moment."""
        return options(self.condition, self.state, self.names, self.history, self.bias)


@dataclass(frozen=True)
class Packet:
    """The turn's text, and the sections that it is made of, in its order."""

    text: str
    sections: tuple[Section, ...]
    tokens: int


def build(
    situation: Situation, choices: Options, count: Count = estimate, budgets: Budgets | None = None
) -> Packet:
    """The packet of the situation, each section within its budget. Pure; `count` says how many tokens a text has."""
    b = budgets or load_budgets()
    sections = (
        fit("focus", _focus(situation, choices), b.focus, count),
        fit("know", [*_known(situation), *_recalled(situation)], b.know, count),
        fit("lessons", _lessons(situation), b.lessons, count),
        fit("leanings", _falling("my own leanings", situation.leanings), b.leanings, count),
        fit("concerns", _concerns(situation), b.concerns, count, b.concerns_shown),
        fit("history", _history(situation), b.history, count, b.steps_shown),
        fit("mode", _mode(situation), b.mode, count),
        fit("blocked", _blocked(choices), b.blocked, count),
        fit("new", _news(situation), b.new, count),
        fit("can", _can(situation, choices), b.can, count),
    )
    text = "\n".join(section.text for section in sections if section.text)
    return Packet(text, sections, count(text))


def one_line(text: str, limit: int) -> str:
    """`text` without line breaks or control characters, cut to `limit` characters: it can't pose as a line."""
    text = _UNSEEN.sub(" ", text).strip()
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def quoted(text: str) -> str:
    """Somebody's words, as data."""
    return '"{}"'.format(one_line(text.replace('"', "'"), MAX_SAID_CHARS))


def _falling(line: str, texts: Iterable[str]) -> list[Item]:
    """Items of one line, the first the most important."""
    return [Item(line, text, -float(rank)) for rank, text in enumerate(texts)]


def _focus(situation: Situation, choices: Options) -> list[Item]:
    way = choices.way
    ends = f"{way[0]} <- … <- {way[-1]}" if len(way) > 2 else ""
    return [Item("focus", situation.objective.condition, MUST), Item("way", " <- ".join(way), MUST, ends)]


def _known(situation: Situation) -> list[Item]:
    state = situation.state
    where = " ".join(
        part for part in (f"at {state.place}" if state.place else "", f"in {state.room}" if state.room else "") if part
    )
    facts = [f"robot {where or 'somewhere'}", f"hand {state.holding or 'empty'}"]
    for name in (arg for arg in situation.condition.args if arg in situation.names.objects):
        thing = find_object(state, name)
        if thing is None or thing.status == "tentative":
            facts.append(f"{name} not seen")
        elif thing.status == "absent":
            facts.append(f"{name} gone from {thing.place or 'where it was'}")
        else:
            facts.append("in hand" if thing.place == "gripper" else f"on {thing.place or 'the floor'}")
            facts[-1] = f"{name} {facts[-1]}"
            continue
        searched = [surface.name for surface in state.surfaces if surface.coverage >= LOOKED_AT]
        facts += [f"searched {', '.join(searched)}"] if searched else []
    if situation.condition.name == "charged" or state.battery < LOW_BATTERY:
        facts.append(f"battery {state.battery:.0%}")
    return [Item("know", fact, MUST if rank < 3 else -float(rank)) for rank, fact in enumerate(facts)]


def _recalled(situation: Situation) -> list[Item]:
    return _falling("recall", [one_line(text, 2 * MAX_DETAIL_CHARS) for text in situation.recall])


def _lessons(situation: Situation) -> list[Item]:
    """Marked as what they are: learned from people, no orders of this moment."""
    return _falling("lessons from people", [one_line(text, 2 * MAX_DETAIL_CHARS) for text in situation.lessons])


def _concerns(situation: Situation) -> list[Item]:
    """One per tag and text, the most urgent first. What the state itself says needs no messenger and bears none."""
    state = situation.state
    own = [Concern("stop", "stop is latched", 1.0)] if state.stopped else []
    own += [] if state.localized else [Concern("position", "position unknown", 0.95)]
    own += [Concern("battery", "battery low", 0.8)] if state.battery < LOW_BATTERY else []
    tags = {concern.tag for concern in own}
    found = own + [concern for concern in situation.concerns if concern.tag not in tags]
    best: dict[tuple[str, str], Concern] = {}
    for concern in sorted(found, key=lambda c: (-c.urgency, c.tag, c.text)):
        best.setdefault((concern.tag, concern.text), concern)
    return [
        Item("concerns", f"[{concern.tag}] {one_line(concern.text, MAX_DETAIL_CHARS)}", concern.urgency)
        for concern in best.values()
    ]


def _history(situation: Situation) -> list[Item]:
    """Thought, action, result, oldest first; the newest weighs most."""
    return [
        Item("history", f"{step.thought}: {text}" if step.thought else text, float(rank), text if step.thought else "")
        for rank, step in enumerate(situation.history)
        for text in [f"{step.call} {step.ended}"]
    ]


def _mode(situation: Situation) -> list[Item]:
    mode = situation.mode or _mode_by_itself(situation)
    word = one_line(situation.disposition, 20)
    return [Item("mode", f"{mode} {word}" if word else mode, MUST, mode if word else "")]


def _mode_by_itself(situation: Situation) -> str:
    """The mode while no insula has spoken."""
    if situation.state.stopped or situation.state.battery < LOW_BATTERY:
        return "CAUTIOUS"
    return "RECOVERY" if situation.history and situation.history[-1].failure is not Failure.NONE else "FOCUSED"


def _blocked(choices: Options) -> list[Item]:
    """What the next call needs weighs most: the way's end comes before its beginning."""
    ranks = {call: rank for rank, call in enumerate(choices.way)}
    return [
        Item("blocked", f"{b.call}: {b.reason}" + (f" -> {b.mend}" if b.mend else ""), float(ranks.get(b.call, -1)))
        for b in choices.blocked
    ]


def _news(situation: Situation) -> list[Item]:
    """What changed, the freshest last; how the last call ended, and why one was refused, weighs most."""
    items = [Item("new", one_line(text, 2 * MAX_DETAIL_CHARS), float(n)) for n, text in enumerate(situation.news)]
    if situation.history:
        last = situation.history[-1]
        text = f"{last.call} {last.ended}"
        detail = one_line(last.detail, MAX_DETAIL_CHARS) if last.failure is not Failure.NONE else ""
        items.append(Item("new", f"{text} ({detail})", MUST, text) if detail else Item("new", text, MUST))
    if situation.refused:
        items.append(Item("new", f"refused: {one_line(situation.refused, 2 * MAX_DETAIL_CHARS)}", 1e6))
    return items or [Item("new", "nothing", MUST)]


def _can(situation: Situation, choices: Options) -> list[Item]:
    """Every call that can be decoded, on a line of its own; only the notes may go."""
    items = [Item("", "can:", MUST)]
    for call in choices.calls:
        note = choices.note(call, situation.history)
        items.append(Item("", f"{call}, {note}", MUST, call) if note else Item("", call, MUST))
    return items
