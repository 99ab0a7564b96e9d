"""`anima mind export|import|verify|history`: what the robot remembers, as a file, checked, and looked into."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Table

from anima.config import ConfigError, Settings, load_settings
from anima.memory.difference import Difference, differences
from anima.memory.errors import StoreError
from anima.memory.opening import open_store
from anima.memory.rows import Item
from anima.memory.store import Store
from anima.memory.transfer import export_lines, import_mind, write_export

mind_app = typer.Typer(
    help="What the robot remembers: save it, bring it to another robot, check it, look into it.\n\n"
    'Example: `anima mind history part` lists its parts, `anima mind history part fear-of-dogs` one part\'s versions.',
    no_args_is_help=True,
)

Memory = Annotated[str, typer.Option(help="A database URL, e.g. sqlite:////folder/mind.db. Empty: as configured.")]
Json = Annotated[bool, typer.Option("--json", help="For programs.")]
Kind = Annotated[str, typer.Argument(help="A kind of item, e.g. part or episode; without it the kinds are counted.")]
Id = Annotated[str, typer.Argument(help="One item; without it the kind's items are listed.")]

_WIDTH = 160
_LEFT = Console(highlight=False)


@contextmanager
def _opened(memory: str) -> Iterator[Store]:
    try:
        settings: Settings = load_settings({"memory_url": memory} if memory else {})
        store = open_store(settings)
        if store is None:
            raise ConfigError("memory_url is none: nothing is kept, so there is nothing to look at; try --memory")
        with store:
            yield store
    except (StoreError, ConfigError, OSError) as error:
        print(f"anima: {error}", file=sys.stderr)
        raise typer.Exit(1) from error


@mind_app.command("export")
def export_mind(
    file: Annotated[str, typer.Argument(help="The file to write, or - for standard output.")],
    memory: Memory = "",
    as_json: Json = False,
) -> None:
    """Write all that is remembered, with its whole history, to one file of JSON lines. The robot may be running."""
    with _opened(memory) as store:
        if file == "-":
            for line in export_lines(store.everything()):
                print(line)
            return
        with Progress(SpinnerColumn(), TextColumn("{task.description}"), disable=not sys.stdout.isatty()) as bar:
            task = bar.add_task("writing")
            count = write_export(
                store.everything(), Path(file), lambda done: bar.update(task, description=f"{done} versions")
            )
        _told({"file": file, "versions": count}, f"{count} versions written to {file}", as_json)


@mind_app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="A file that `anima mind export` wrote.")],
    memory: Memory = "",
    as_json: Json = False,
) -> None:
    """Take in what another mind remembered: the whole file or, when anything in it is wrong, nothing of it.

    What is here already is left as it is; a file whose past differs from what is here is refused.
    """
    with _opened(memory) as store:
        count, new = import_mind(store, file)
        known = f", {count - new} were here already" if count - new else ""
        _told({"versions": count, "new": new}, f"{new} versions taken in{known}", as_json)


@mind_app.command("verify")
def verify_mind(memory: Memory = "", as_json: Json = False) -> None:
    """Check every page, every version and the chain between them. Exit code 1 when something is wrong."""
    with _opened(memory) as store:
        began = time.monotonic()
        faults = store.verify()
        kinds = Counter(item.kind for item in store.everything())
        took_s = time.monotonic() - began
    if as_json:
        print(json.dumps({"sound": not faults, "faults": faults, "versions": dict(kinds)}, indent=2))
    else:
        for fault in faults:
            _LEFT.print(f"[red]{escape(fault)}[/red]", soft_wrap=True)
        said = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items())) or "nothing kept yet"
        verdict = f"[red]{len(faults)} faults[/red]" if faults else "[green]sound[/green]"
        _LEFT.print(f"{verdict}: {sum(kinds.values())} versions ({said}), {took_s:.1f} s", soft_wrap=True)
    raise typer.Exit(1 if faults else 0)


@mind_app.command("history")
def show_history(kind: Kind = "", id: Id = "", memory: Memory = "", as_json: Json = False) -> None:
    """Show what is kept and how it came to be: the kinds, a kind's items, or one item's versions and their changes."""
    with _opened(memory) as store:
        if not kind:
            _show_kinds(store, as_json)
        elif not id:
            _show_items(store, kind, as_json)
        else:
            _show_versions(store, kind, id, as_json)


def _show_kinds(store: Store, as_json: bool) -> None:
    versions: Counter[str] = Counter()
    newest: dict[tuple[str, str], Item] = {}
    for item in store.everything():
        versions[item.kind] += 1
        newest[(item.kind, item.id)] = item
    items = Counter(kind for kind, _ in newest)
    archived = Counter(item.kind for item in newest.values() if item.archived)
    rows = [
        {"kind": kind, "items": items[kind] - archived[kind], "archived": archived[kind], "versions": versions[kind]}
        for kind in sorted(versions)
    ]
    _table(rows, as_json, "nothing kept yet")


def _show_items(store: Store, kind: str, as_json: bool) -> None:
    store.model(kind)
    newest = {item.id: item for item in store.since(kind, 0)}
    rows = [
        {
            "id": item.id, "version": item.version, "since": _when(item), "who": item.who, "why": item.why,
            "archived": item.archived,
        }
        for item in newest.values()
    ]
    _table(rows, as_json, f"no {kind} kept yet")


def _show_versions(store: Store, kind: str, id: str, as_json: bool) -> None:
    model = store.model(kind)
    store.get(kind, id)  # says it when there is none
    rows: list[dict[str, Any]] = []
    before: Item | None = None
    for item in store.history(kind, id):
        changes = differences({} if before is None else before.data, item.data, model)
        rows.append({"version": item.version, "item": item, "changes": changes})
        before = item
    if as_json:
        print(json.dumps([_version(row["item"], row["changes"]) for row in rows], indent=2, ensure_ascii=False))
        return
    table = _folding("version", "since", "who", "why", "because of", "what changed")
    for row in rows:
        item = row["item"]
        put_away = ["put away"] if item.archived else []
        first = ["begun"] if item.version == 1 else [_said(change) for change in row["changes"]]
        cells = (
            str(item.version), _when(item), item.who, item.why, ", ".join(item.because),
            "\n".join([*first, *put_away]),
        )
        table.add_row(*(escape(cell) for cell in cells), end_section=True)
    _LEFT.print(table)


def _version(item: Item, changes: Sequence[Difference]) -> dict[str, Any]:
    return {
        "version": item.version, "since": _when(item), "archived": item.archived, "who": item.who, "why": item.why,
        "because": list(item.because), "changes": [asdict(change) for change in changes], "data": dict(item.data),
    }


def _said(change: Difference) -> str:
    if change.before is None:
        return f"+ {change.path}: {_short(change.after)}"
    if change.after is None:
        return f"- {change.path}: {_short(change.before)}"
    return f"{change.path}: {_short(change.before)} → {_short(change.after)}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _when(item: Item) -> str:
    try:
        return datetime.fromtimestamp(item.at.utc_s).astimezone().isoformat(sep=" ", timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return f"{item.at.utc_s:.0f} s"


def _table(rows: Sequence[dict[str, Any]], as_json: bool, nothing: str) -> None:
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    elif not rows:
        print(nothing)
    else:
        table = _folding(*rows[0])
        for row in rows:
            cells = ("yes" if cell is True else "" if cell is False else str(cell) for cell in row.values())
            table.add_row(*map(escape, cells))
        _LEFT.print(table)


def _folding(*names: str) -> Table:
    table = Table()
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _told(figures: dict[str, Any], text: str, as_json: bool) -> None:
    print(json.dumps(figures) if as_json else text)
