"""Acting: the request that turns the focus into one skill call, and how the answer is read."""

from __future__ import annotations

import functools
from pathlib import Path

from anima.config import CONFIG, Tuning, parse, read_yaml
from anima.planner.calls import parse_call
from anima.planner.llm.base import Message, Request
from anima.planner.options import Options
from anima.planner.packet import Situation

ACT_FILE = CONFIG / "planner" / "act.yaml"
GIVE_UP = "give_up"


class ActPrompt(Tuning):
    """`config/planner/act.yaml`: instructions and worked examples (packet, call)."""

    system: str
    examples: list[tuple[str, str]]


@functools.lru_cache(maxsize=2)
def load_act_prompt(file: Path = ACT_FILE) -> ActPrompt:
    """The prompt in `file`; raises `ConfigError` that names the fault."""
    prompt: ActPrompt = parse(ActPrompt, read_yaml(file), str(file))
    return prompt


class NotAChoice(ValueError):
    """The model's text is none of the calls that it was offered."""


def prefix(prompt: ActPrompt) -> tuple[Message, ...]:
    """The turns that are the same bytes in every request: instructions and examples."""
    turns = [Message("system", prompt.system.strip())]
    for shown, call in prompt.examples:
        turns += [Message("user", shown.strip()), Message("assistant", call)]
    return tuple(turns)


def grammar(calls: tuple[str, ...]) -> str:
    """GBNF that admits exactly the given calls."""
    return "root ::= " + " | ".join(f'"{call}"' for call in calls) + "\n"


def request(
    packet: str,
    choices: Options,
    stable: tuple[Message, ...],
    prefill_budget_s: float,
    decode_budget_s: float,
) -> Request:
    """One turn of the role "act" on a packet's text."""
    return Request(
        role="act",
        messages=(*stable, Message("user", packet)),
        stable=len(stable),
        grammar=grammar(choices.calls),
        max_tokens=40,
        prefill_budget_s=prefill_budget_s,
        decode_budget_s=decode_budget_s,
        choices=choices.calls,
    )


def read(text: str, situation: Situation, choices: Options) -> tuple[str, str]:
    """Skill and JSON arguments of the chosen call, or (`give_up`, reason). Raises `NotAChoice`."""
    call = text.strip()
    if call not in choices.calls:
        raise NotAChoice(f"{call[:80]!r} is none of {', '.join(choices.calls)}")
    if call.startswith(f"{GIVE_UP}("):
        return GIVE_UP, call[len(GIVE_UP) + 1 : -1]
    return parse_call(call, situation.names)
