"""Grammars for the roles: JSON objects whose every field is closed or bounded, so that all that is decoded parses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

# Printable, without what would end a JSON string or look like the border of a turn.
_CHARACTER = r'[^"\\\x00-\x1f\x7f<>|{}]'
_FIRST = r'[^"\\\x00-\x1f\x7f<>|{} ,.;:!?-]'


def choice(options: Sequence[str]) -> str:
    """One of the options, as a JSON string."""
    return "( " + " | ".join(_literal(json.dumps(option, ensure_ascii=False)) for option in options) + " )"


def text(most: int, openings: Sequence[str] = ()) -> str:
    """A JSON string of at most `most` characters, which begins with one of the openings if there are any."""
    start = f"{_FIRST} {_CHARACTER}{{0,{most - 1}}}"
    if openings:
        begun = "( " + " | ".join(_literal(opening) for opening in openings) + " )"
        start = f"{begun} {_CHARACTER}{{3,{most}}}"
    return f'"\\"" {start} "\\""'


def array(item: str, most: int, least: int = 1) -> str:
    """A JSON array of `least` to `most` items."""
    more = f'( ", " {item} ){{{least - 1},{most - 1}}}' if most > 1 else ""
    return f'"[" {item} {more} "]"'


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass
class Fields:
    """A JSON object with exactly these fields, in this order; each value is a piece of grammar."""

    items: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, value: str) -> Fields:
        """One field more."""
        self.items.append((name, value))
        return self

    def grammar(self) -> str:
        """The GBNF."""
        rules = [f"f{number} ::= {value}" for number, (_, value) in enumerate(self.items)]
        body = ' ", " '.join(
            f'{_literal(json.dumps(name) + ": ")} f{number}' for number, (name, _) in enumerate(self.items)
        )
        return "\n".join([f'root ::= "{{" {body} "}}"', *rules]) + "\n"
