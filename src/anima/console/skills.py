"""`anima skills`: what the robot can do."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

console = Console(highlight=False)


def skills() -> None:
    """List what the robot can do, with parameters and time limits."""
    from anima.skills.registry import SKILLS

    table = Table("skill", "parameters", "holds", "limit", "what it does")
    for skill in SKILLS.values():
        fields = ", ".join(skill.arguments.model_fields)
        holds = ", ".join(sorted(resource.value for resource in skill.resources))
        table.add_row(skill.name, fields, holds, f"{skill.timeout_s:.0f} s", skill.doc)
    console.print(table)
