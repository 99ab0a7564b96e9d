"""The learner's turns that write words: prompts with worked examples, the grammar of each, and what counts as none."""

from __future__ import annotations

import functools

from pydantic import RootModel

from anima.config import CONFIG, ConfigError, Tuning, read_yaml
from anima.planner.judging.question import as_data
from anima.planner.llm.base import Message, Request

PROMPTS_FILE = CONFIG / "learning_prompts.yaml"
PREFILL_S, DECODE_S = 300.0, 120.0  # nobody waits for it
_WORDS = "[a-zA-Z0-9 ,'’-]"
_GRAMMARS = {
    "hint": f'root ::= "none." | [A-Z] {_WORDS}{{6,110}} "."\n',
    "belief": f'root ::= "none." | "I " {_WORDS}{{6,110}} "."\n',
    "fact": f'root ::= "none." | {{name}} {_WORDS}{{4,130}} "."\n',
    "portrait": f'root ::= s (" " s){{1,3}}\ns ::= ("I " | "I\'m " | "My " | "When " | "What ") {_WORDS}{{6,90}} "."\n',
    "do": f'root ::= [a-z] {_WORDS}{{4,90}} "."\n',
    "talk": f'root ::= [A-Z] {_WORDS}{{1,110}} [.?!] (" " [A-Z] {_WORDS}{{1,90}} [.?!])?\n',
}
_TOKENS = {"portrait": 110, "talk": 70}


class _Prompt(Tuning):
    system: str
    examples: tuple[tuple[str, str], ...] = ()


class _Prompts(RootModel[dict[str, _Prompt]]):
    """`config/learning_prompts.yaml`."""


@functools.lru_cache(maxsize=1)
def load_prompts() -> dict[str, _Prompt]:
    """The prompts by role; raises `ConfigError` that names the fault."""
    try:
        prompts = _Prompts.model_validate(read_yaml(PROMPTS_FILE)).root
    except ValueError as error:
        raise ConfigError(f"{PROMPTS_FILE}: {error}") from error
    if missing := set(_GRAMMARS) - set(prompts):
        raise ConfigError(f"{PROMPTS_FILE}: there is no prompt for {', '.join(sorted(missing))}")
    return prompts


def prefix(role: str) -> tuple[Message, ...]:
    """The turns of a role that are always the same bytes."""
    prompt = load_prompts()[role]
    turns = [Message("system", prompt.system.strip())]
    for question, answer in prompt.examples:
        turns += [Message("user", question), Message("assistant", answer)]
    return tuple(turns)


def request(role: str, question: str, name: str = "") -> Request:
    """A background turn that writes; `name` begins a fact."""
    stable = prefix(role)
    grammar = _GRAMMARS[role].replace("{name}", _quoted(name))
    return Request(
        role=f"learn.{role}",
        messages=(*stable, Message("user", question)),
        stable=len(stable),
        grammar=grammar,
        max_tokens=_TOKENS.get(role, 50),
        prefill_budget_s=PREFILL_S,
        decode_budget_s=DECODE_S,
        background=True,
    )


def line(label: str, text: str) -> str:
    """Somebody's words as one line of data behind a label."""
    return f"{label}: {as_data(text)}"


def written(text: str) -> str:
    """What a turn wrote, or empty when it found nothing."""
    text = " ".join(text.split())
    return "" if text.lower().startswith("none") else text


def _quoted(name: str) -> str:
    safe = "".join(c for c in name if c.isalnum() or c in " -'") or "The person"
    return '"' + safe + '"'
