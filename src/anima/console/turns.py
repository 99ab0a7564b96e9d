"""`anima turns`: what the language model did in a recording, and that nothing in the background held up the planner."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from anima.audit.command import recordings_folder
from anima.audit.recording import NoRecording, newest, read_journals
from anima.audit.turns import Meeting, Turn, as_data, meetings, turns_of
from anima.planner.llm.engine import SHORT_BATCH_TOKENS

console = Console(highlight=False)
HELD_UP = 1


def turns(
    file: Annotated[Path | None, typer.Argument(help="A recording (folder or .mcap); the newest without it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs: every mark of every turn.")] = False,
) -> None:
    """Show every turn of the language model in a recording: queued, begun, first token, set aside, ended.

    Turns of parts and of the learner run in the background and give way. Exit codes: 0 each of them did, within a batch
    of tokens; 1 one held up a turn that somebody waited for; 2 there is nothing to look at.
    """
    try:
        found = turns_of(read_journals(file or newest(recordings_folder())))
    except NoRecording as error:
        raise _nothing(str(error)) from None
    if not found:
        raise _nothing("no turn of the model is in this recording, or it was made before turns were marked")
    met = meetings(found)
    held_up = [one for one in met if not one.gave_way or one.tokens > SHORT_BATCH_TOKENS]
    if as_json:
        print(json.dumps({"turns": [as_data(turn) for turn in found], **_figures(found, met, held_up)}, indent=2))
    else:
        console.print(_table(found))
        _say(found, met, held_up)
    raise typer.Exit(HELD_UP if held_up else 0)


def _nothing(why: str) -> typer.Exit:
    console.print(f"[red]{why}[/red]", soft_wrap=True)
    return typer.Exit(2)


def _figures(found: list[Turn], met: list[Meeting], held_up: list[Meeting]) -> dict[str, object]:
    return {
        "background_turns": sum(turn.background for turn in found),
        "came_while_background_ran": len(met),
        "held_up": len(held_up),
        "most_tokens_until_it_let_go": max((one.tokens for one in met), default=0),
        "longest_until_it_let_go_s": max((one.wait_s for one in met), default=0.0),
    }


def _table(found: list[Turn]) -> Table:
    table = Table("taken at", "asked by", "role", "", "waited", "first token", "over", "set aside", "how")
    for turn in found:
        began, last = turn.marks[0], turn.marks[-1]
        cells = []
        for what in ("begun", "first token"):
            mark = turn.mark(what)
            cells.append("" if mark is None else f"{mark.at_s - began.at_s:.2f} s")
        table.add_row(
            f"{turn.taken_at:.1f} s", turn.node, turn.role, "background" if turn.background else "", *cells,
            f"{last.at_s - began.at_s:.2f} s", f"{turn.set_aside} ×" if turn.set_aside else "",
            turn.error or last.what,
        )
    return table


def _say(found: list[Turn], met: list[Meeting], held_up: list[Meeting]) -> None:
    figures = _figures(found, met, held_up)
    console.print(
        f"{len(found)} turns, {figures['background_turns']} of them in the background. {len(met)} times another came "
        f"while one of those ran: that was let go of after at most {figures['most_tokens_until_it_let_go']} tokens and "
        f"{figures['longest_until_it_let_go_s']:.2f} s.",
        soft_wrap=True,
    )
    for one in held_up:
        console.print(
            f"[red]{one.turn.role} of {one.turn.node} was held up by {one.ran.role} of {one.ran.node}: "
            f"{one.tokens} tokens, {one.wait_s:.2f} s[/red]",
            soft_wrap=True,
        )
    if met and not held_up:
        console.print("[green]no background turn held up another[/green]")
