"""The context packet for people: what the model saw, what each section cost, and what was left out."""

from __future__ import annotations

import json

from rich.console import Console
from rich.text import Text

from anima.types.glue import ContextPacket


def as_json(packet: ContextPacket) -> str:
    """The packet for programs, with the text as the model reads it."""
    return json.dumps({**packet.model_dump(mode="json"), "text": text_of(packet)}, indent=2, ensure_ascii=False)


def text_of(packet: ContextPacket) -> str:
    """The packet as the model reads it."""
    return "\n".join(section.text for section in packet.sections if section.text)


def show(packet: ContextPacket, console: Console) -> None:
    """Print the packet section by section, with tokens used and allowed in the margin, and the cuts beneath."""
    head = f"turn {packet.thought}: {packet.prefix_tokens} tokens that never change, then {packet.tokens}"
    console.print(head, style="dim")
    for section in packet.sections:
        margin = f"{section.tokens:>4}/{section.budget:<4}"
        for number, line in enumerate(section.text.splitlines()):
            console.print(Text.assemble((margin if number == 0 else " " * len(margin), "dim"), line), soft_wrap=True)
        for cut in section.cut:
            console.print(Text(f"{' ' * len(margin)}cut from {section.name}: {cut}", style="yellow"), soft_wrap=True)
