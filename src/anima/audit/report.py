"""How a replay went, for people and for programs: where each region first came out otherwise, then and now, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from anima.audit.replay import NodeReport, Report

IDENTICAL, DIVERGED, NOT_POSSIBLE = 0, 1, 2
TOLD_IN_FULL = 3
HOW_TO_READ = (
    "Each region is given what was recorded, not what the others would now have sent: its first difference is another "
    "decision in the very same situation; what it does later may follow from that."
)


def verdict(reports: Sequence[Report]) -> int:
    """The exit code."""
    if not any(report.steps for report in reports):
        return NOT_POSSIBLE
    return IDENTICAL if all(report.identical or not report.steps for report in reports) else DIVERGED


def tell(reports: Sequence[Report], changes: Sequence[str], console: Console) -> None:
    """Print the regions as a table, and in full where the first of them came out otherwise."""
    for change in changes:
        console.print(f"changed: {change}", markup=False)
    table = Table("region", "steps", "sent", "otherwise", "first at", "")
    for node, told in _nodes(reports):
        first = told.first_decided or told.first
        at = "" if first is None else f"{first.at:.2f} s"
        only = "no other decision: numbers, reasons, repetitions" if first is not None and not first.decided else ""
        table.add_row(node, str(told.steps), str(told.sent), str(told.diverged), at, told.skipped or only)
    console.print(table)
    for report in reports:
        for gap in report.gaps:
            console.print(f"[yellow]{gap}; what follows is replayed from the next keyframe on[/yellow]")
    code = verdict(reports)
    steps = sum(report.steps for report in reports)
    if code == NOT_POSSIBLE:
        console.print("[red]no step could be replayed[/red]")
    elif code == IDENTICAL:
        console.print(f"[green]identical[/green]: {steps} steps decided the same, bit by bit")
        if changes:
            console.print("what was changed made no difference to anything that happened in this recording")
    else:
        _differences(reports, console)


def _differences(reports: Sequence[Report], console: Console) -> None:
    """The first differences, decisions before mere numbers, the earliest first."""
    found = [(node, told.first_decided or told.first, told) for node, told in _nodes(reports)]
    firsts = [(node, first, told) for node, first, told in found if first is not None]
    firsts.sort(key=lambda one: (not one[1].decided, one[1].at))
    for _, first, told in firsts[:TOLD_IN_FULL]:
        console.print()
        console.print(str(first), style="red" if first.decided else "yellow", markup=False, soft_wrap=True)
        if told.first is not None and told.first is not first:
            line = f"  before    numbers or repetitions from {told.first.at:.2f} s on: {told.first.differences[0]}"
            console.print(line, style="yellow", markup=False, soft_wrap=True)
    if len(firsts) > TOLD_IN_FULL:
        others = ", ".join(f"{node} at {first.at:.2f} s" for node, first, _ in firsts[TOLD_IN_FULL:])
        console.print(f"\nalso: {others}", markup=False, soft_wrap=True)
    console.print(f"\n{HOW_TO_READ}", soft_wrap=True)


def _nodes(reports: Sequence[Report]) -> Iterator[tuple[str, NodeReport]]:
    for report in reports:
        yield from report.nodes.items()


def for_programs(reports: Sequence[Report], changes: Sequence[str]) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "changes": list(changes),
        "identical": verdict(reports) == IDENTICAL,
        "steps": sum(report.steps for report in reports),
        "gaps": [gap for report in reports for gap in report.gaps],
        "regions": {node: asdict(told) for node, told in _nodes(reports)},
    }
