"""What one decision depends on, gathered from memory and signals; and what the model saw of it, as a message."""

from __future__ import annotations

from dataclasses import replace

from anima.planner.memory import Memory
from anima.planner.names import KnownNames
from anima.planner.packet import Packet, Situation
from anima.planner.signals import Signals
from anima.types.base import Header
from anima.types.glue import ContextPacket, ContextSection
from anima.types.mind import Objective, WorldState
from anima.world.predicates import Predicate


def gather(
    now: float,
    focus: Objective,
    state: WorldState,
    names: KnownNames,
    memory: Memory,
    signals: Signals,
    refused: str,
) -> Situation:
    """The situation of a decision about `focus`. What is new counts as told with this."""
    news = memory.news(now, state, Predicate.parse(focus.condition), signals.budgets.concern_life_s)
    situation = Situation(
        objective=focus,
        state=state,
        names=names,
        history=memory.history(focus.id),
        news=news,
        refused=refused,
        concerns=signals.concerns(now, focus.id, news),
        mode=signals.mode,
        disposition=signals.disposition,
        bias=signals.bias(now, focus.id),
        lessons=signals.lessons,
        leanings=signals.leanings(now),
    )
    choices = situation.options()
    learned = memory.learned(focus.id, (*choices.way, *choices.possible))
    return replace(situation, recall=(*signals.recall(focus.id), *learned))


def context_packet(now: float, thought: str, packet: Packet, prefix_tokens: int) -> ContextPacket:
    """The packet that the turn `thought` reads after a prefix of `prefix_tokens`."""
    sections = [
        ContextSection(name=s.name, text=s.text, tokens=s.tokens, budget=s.budget, cut=list(s.cut))
        for s in packet.sections
    ]
    return ContextPacket(
        header=Header.at(now), thought=thought, prefix_tokens=prefix_tokens, tokens=packet.tokens, sections=sections
    )
