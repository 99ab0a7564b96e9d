"""`anima turns`: what the language model did in a recording, and that nothing in the background held anything up."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from anima.audit.command import recordings_folder
from anima.audit.promptness import PROMPT_S, TOPICS, Prompt, clocks_of, prompts_of
from anima.audit.recording import NoRecording, newest, read_journals, read_told
from anima.audit.turns import Meeting, Turn, as_data, meetings, turns_of
from anima.planner.llm.engine import SHORT_BATCH_TOKENS

console = Console(highlight=False)
HELD_UP = 1


def turns(
    file: Annotated[Path | None, typer.Argument(help="A recording (folder or .mcap); the newest without it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs: every mark of every turn.")] = False,
) -> None:
    """Show every turn of the language model in a recording: queued, begun, first token, set aside, ended.

    Turns of parts and of the learner run in the background and give way. Below the table stands what that cost: how
    soon each was let go of when the planner asked, and how soon stops and the robot's words came while one ran. Exit
    codes: 0 nothing was held up: turns gave way within a batch of tokens, stops and words came within half a second;
    1 one held up something; 2 there is nothing to look at.
    """
    try:
        path = file or newest(recordings_folder())
        chunks = list(read_journals(path))
        found = turns_of(chunks)
        prompts = prompts_of(chunks, read_told(path, TOPICS), found) if clocks_of(chunks) else None
    except NoRecording as error:
        raise _nothing(str(error)) from None
    if not found:
        raise _nothing("no turn of the model is in this recording, or it was made before turns were marked")
    met = meetings(found)
    held_up = [one for one in met if not one.gave_way or one.tokens > SHORT_BATCH_TOKENS]
    late = [one for one in prompts or () if one.is_late]
    if as_json:
        more = {"prompts": [asdict(one) for one in prompts]} if prompts is not None else {}
        data = {"turns": [as_data(turn) for turn in found], **more, **_figures(found, met, held_up)}
        print(json.dumps(data, indent=2))
    else:
        console.print(_table(found))
        _say(found, met, held_up)
        _say_prompts(prompts)
        if (met or prompts) and not held_up and not late:
            console.print("[green]no background turn held up another, a stop, or the robot's words[/green]")
    raise typer.Exit(HELD_UP if held_up or late else 0)


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


def _say_prompts(prompts: list[Prompt] | None) -> None:
    if prompts is None:
        console.print("Stops and words can't be timed: this recording does not tell how its two clocks stand.")
        return
    names = {"stop": "stops, until what moved was let go", "words": "times the robot spoke, from what it answered"}
    for kind, name in names.items():
        those = [one for one in prompts if one.kind == kind]
        beside = [one.took_s for one in those if one.beside]
        alone = [one.took_s for one in those if not one.beside]
        console.print(
            f"{name}: {_longest(beside)} while a background turn ran, {_longest(alone)} while none did.",
            soft_wrap=True,
        )
    for one in prompts:
        if one.is_late:
            console.print(
                f"[red]«{one.text}» came {one.took_s:.2f} s after {one.cause}, while {one.beside} ran "
                f"(limit {PROMPT_S} s)[/red]",
                soft_wrap=True,
            )


def _longest(seconds: list[float]) -> str:
    return f"{len(seconds)} within {max(seconds):.2f} s" if seconds else "none"
