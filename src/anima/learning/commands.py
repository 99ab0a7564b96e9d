"""`anima lessons|beliefs|portrait|intentions|facts`: list, show, compare, explain, correct, pin and forget."""

from __future__ import annotations

import datetime as dt
import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from anima.config import ConfigError, load_settings
from anima.learning import edit, items
from anima.learning.book import Book
from anima.learning.edit import events_of
from anima.learning.items import Portrait
from anima.learning.tuning import load_learning_tuning
from anima.memory.difference import differences
from anima.memory.errors import NotThere, StoreError
from anima.memory.opening import open_store
from anima.memory.rows import REAL_CLOCK, Item, Stamp
from anima.memory.store import Store

console = Console(highlight=False)

MemoryOption = Annotated[str, typer.Option("--memory", help="A database URL; empty: as config/anima.yaml says.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Id = Annotated[str, typer.Argument(help="The id, as the list shows it; the beginning of it is enough.")]

_ABOUT = {
    items.LESSON: ("lessons", "what it learned about dealing with people, and how sure it is"),
    items.BELIEF: ("beliefs", "what it holds of itself, and how much each weighs"),
    items.PORTRAIT: ("portrait", "who it says that it is, in every version"),
    items.INTENTION: ("intentions", "what it means to do or ask later"),
    items.FACT: ("facts", "what it knows about people"),
}

_SHOWN = {
    items.LESSON: ("id", "rule", "confidence", "evidence", "standing"),
    items.BELIEF: ("belief", "weight", "evidence", "pinned", "since"),
    items.INTENTION: ("id", "do", "person", "state", "due"),
    items.FACT: ("id", "content", "core", "because"),
}


class NoMemory(ConfigError):
    """The settings keep nothing."""


@contextmanager
def _store(memory: str) -> Any:
    try:
        settings = load_settings({"memory_url": memory} if memory else None)
        store = open_store(settings)
        if store is None:
            raise NoMemory(
                "memory_url is none: nothing is kept. Name a database with --memory sqlite:////folder/mind.db"
            )
        with store:
            yield store
    except (ConfigError, StoreError) as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        raise typer.Exit(1) from None


def _now() -> Stamp:
    now = time.time()
    return Stamp(now, REAL_CLOCK, now)


def _find(store: Store, kind: str, id: str) -> Item:
    """The item of that id, or the only one whose id begins so; raises `NotThere`."""
    known = {item.id for item in store.since(kind, 0)}
    if id in known:
        return store.get(kind, id)
    near = sorted(name for name in known if name.startswith(id))
    if len(near) == 1:
        return store.get(kind, near[0])
    listed = ", ".join(near or sorted(known)[:10]) or "none yet"
    raise NotThere(f"{'several' if near else 'no'} {_ABOUT[kind][0]} begin with {id!r}: {listed}")


def _when(utc_s: float | None) -> str:
    if utc_s is None:
        return ""
    return dt.datetime.fromtimestamp(utc_s).astimezone().strftime("%Y-%m-%d %H:%M")


def _weight(book: Book, kind: str, id: str, now: Stamp) -> float | None:
    held = book.lessons.get(id) if kind == items.LESSON else book.beliefs.get(id) if kind == items.BELIEF else None
    return None if held is None else book.sure(held, now.utc_s)


def _row(kind: str, item: Item, weight: float | None) -> dict[str, Any]:
    data = item.data
    row: dict[str, Any] = {"id": item.id}
    if kind == items.LESSON:
        evidence = data["evidence"]
        row |= {
            "person": data["person"] or "everybody", "situation": data["situation"] or "any", "rule": data["rule"],
            "effect": data["effect"], "confidence": weight, "evidence": len(evidence),  # type: ignore[arg-type]
            "standing": "pinned" if data["pinned"] else data["standing"],
        }
    elif kind == items.BELIEF:
        row |= {"belief": data["text"], "weight": weight, "evidence": len(data["evidence"]), "pinned": data["pinned"]}  # type: ignore[arg-type]
    elif kind == items.INTENTION:
        due = data["due_utc_s"]
        row |= {
            "do": data["do"], "person": data["person"], "state": data["state"],
            "due": _when(float(due)) if isinstance(due, int | float) else "at the next encounter",
        }
    elif kind == items.FACT:
        row |= {name: data[name] for name in ("content", "person", "core", "entities", "because")}
    else:
        row |= {"text": data["text"], "beliefs": len(data["beliefs"])}  # type: ignore[arg-type]
    return {**row, "version": item.version, "since": _when(item.at.utc_s)}


def _print(rows: list[dict[str, Any]], as_json: bool, empty: str) -> None:
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    elif not rows:
        console.print(empty)
    else:
        table = Table()
        for name in rows[0]:
            table.add_column(name, overflow="fold", ratio=_WIDE.get(name))
        for row in rows:
            table.add_row(*(_cell(value) for value in row.values()))
        console.print(table)


_WIDE = {"id": 2, "rule": 3, "belief": 3, "do": 2, "content": 3, "path": 1}


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value).replace("[", r"\[")


def _listed(kind: str, memory: str, as_json: bool, archived: bool) -> None:
    with _store(memory) as store:
        book = Book(load_learning_tuning())
        book.read(store)
        newest = {item.id: item for item in store.since(kind, 0)}
        found = [item for item in newest.values() if archived or not item.archived]
        rows = [_row(kind, item, _weight(book, kind, item.id, _now())) for item in found]
        if archived:
            rows = [{**row, "archived": item.archived} for row, item in zip(rows, found, strict=True)]
    rows.sort(key=lambda row: -(row.get("confidence") or row.get("weight") or 0.0))
    if not as_json:  # a terminal is narrow: person and situation stand in the id, the rest is in `show`
        shown = _SHOWN[kind]
        rows = [{name: row[name] for name in (*shown, "archived") if name in row} for row in rows]
    _print(rows, as_json, f"There are no {_ABOUT[kind][0]} yet.")


def _why(store: Store, kind: str, item: Item) -> list[dict[str, Any]]:
    """Every version with its reason, and what is known of the events behind it."""
    rows = []
    for version in store.history(kind, item.id):
        events = [_event(store, event) for event in version.because]
        rows.append(
            {
                "version": version.version,
                "when": _when(version.at.utc_s),
                "who": version.who,
                "why": version.why,
                "events": events,
            }
        )
    return rows


def _event(store: Store, event: str) -> str:
    for id in (event, f"r-{event}"):
        try:
            seen = store.get(items.OBSERVATION, id).data
        except NotThere:
            continue
        words = f"“{seen['said']}”" if seen["said"] else seen["what"]
        return f"{event}: {seen['person']} {words} ({seen['kind']}) after “{seen['act']}”"
    return event


def app_for(kind: str) -> typer.Typer:
    """The commands for one kind of item."""
    name, about = _ABOUT[kind]
    app = typer.Typer(
        name=name, no_args_is_help=False, pretty_exceptions_enable=False, invoke_without_command=True,
        help=f"Show {about}.\n\nWithout a command they are listed. Every change is a new version; nothing is deleted.",
    )

    if kind == items.PORTRAIT:

        @app.callback()
        def portrait(
            context: typer.Context,
            memory: MemoryOption = "",
            as_json: AsJson = False,
            timeline: Annotated[Path | None, typer.Option(help="Draw beliefs over time into this PNG or SVG.")] = None,
        ) -> None:
            if context.invoked_subcommand is not None:
                return
            if timeline is not None:
                from anima.learning.timeline import draw

                with _store(memory) as store:
                    try:
                        console.print(f"drawn into {draw(store, timeline)}", soft_wrap=True)
                    except ValueError as error:
                        console.print(f"[red]{error}[/red]", soft_wrap=True)
                        raise typer.Exit(2) from None
                return
            _portrait(memory, as_json)
    else:

        @app.callback()
        def listed(
            context: typer.Context,
            memory: MemoryOption = "",
            as_json: AsJson = False,
            archived: Annotated[
                bool, typer.Option("--all", help="Also what was superseded, kept or forgotten.")
            ] = False,
        ) -> None:
            if context.invoked_subcommand is None:
                _listed(kind, memory, as_json, archived)

    @app.command()
    def show(
        id: Id = items.SELF, version: int | None = None, memory: MemoryOption = "", as_json: AsJson = False
    ) -> None:
        """Show one in full, as it is now or in an older version."""
        with _store(memory) as store:
            found = _find(store, kind, id)
            item = store.get(kind, found.id, version)
            said = {
                "id": item.id, "version": item.version, "who": item.who, "why": item.why, "when": _when(item.at.utc_s),
                "archived": item.archived, "because": list(item.because), **item.data,
            }
        _show(said, as_json)

    @app.command()
    def diff(
        id: Id = items.SELF,
        old: Annotated[int, typer.Option("--from", help="Version; 0 for the one before --to.")] = 0,
        new: Annotated[int, typer.Option("--to", help="Version; 0 for the newest.")] = 0,
        memory: MemoryOption = "",
        as_json: AsJson = False,
    ) -> None:
        """Show what changed between two versions."""
        with _store(memory) as store:
            found = _find(store, kind, id)
            after = store.get(kind, found.id, new or None)
            before = store.get(kind, found.id, old or max(1, after.version - 1))
            changed = differences(before.data, after.data, store.model(kind))
        rows = [
            {"path": one.path, f"version {before.version}": one.before, f"version {after.version}": one.after}
            for one in changed
        ]
        _print(rows, as_json, f"Versions {before.version} and {after.version} say the same.")

    @app.command()
    def why(id: Id = items.SELF, memory: MemoryOption = "", as_json: AsJson = False) -> None:
        """Explain one: each version, who made it, why, and the events behind it."""
        with _store(memory) as store:
            rows = _why(store, kind, _find(store, kind, id))
        if as_json:
            print(json.dumps(rows, indent=2, ensure_ascii=False))
            return
        for row in rows:
            console.print(
                f"version {row['version']}, {row['when']}, by {row['who']}: {row['why']}", soft_wrap=True, markup=False
            )
            for event in row["events"]:
                console.print(f"    because of {event}", style="dim", soft_wrap=True, markup=False)

    _edit(app, "correct", kind)
    if kind in edit.PINNABLE:

        @app.command()
        def pin(
            id: Id,
            off: Annotated[bool, typer.Option("--off", help="Let it go again.")] = False,
            memory: MemoryOption = "",
        ) -> None:
            """Hold one for certain, whatever comes."""
            with _store(memory) as store:
                item = edit.pin(store, kind, _find(store, kind, id).id, _now(), not off)
            console.print(f"{item.id}: {item.why}")

    @app.command()
    def forget(id: Id = items.SELF, memory: MemoryOption = "") -> None:
        """Archive one; it is never learned again from the same events."""
        with _store(memory) as store:
            item = edit.forget(store, kind, _find(store, kind, id).id, _now())
            events = events_of(item)
        console.print(f"{item.id} is forgotten; {len(events)} events behind it teach it no more")

    return app


def _edit(app: typer.Typer, command: str, kind: str) -> None:
    @app.command(command)
    def correct(
        id: Id, words: Annotated[str, typer.Argument(help="What it shall say; for lessons also an effect=value.")],
        memory: MemoryOption = "",
    ) -> None:
        """Put one into your own words; they count as told."""
        with _store(memory) as store:
            item = edit.correct(store, kind, _find(store, kind, id).id, words, _now())
        console.print(f"{item.id} is now in version {item.version}")


def _show(said: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(said, indent=2, ensure_ascii=False))
        return
    for name, value in said.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            console.print(f"{name}:", markup=False)
            for one in value:
                console.print(
                    "  - " + ", ".join(f"{k} {_when(v) if k == 'at_utc_s' else v}" for k, v in one.items()),
                    markup=False,
                    soft_wrap=True,
                )
        else:
            shown = _when(value) if name.endswith("_utc_s") and isinstance(value, int | float) else value
            console.print(f"{name.removesuffix('_utc_s')}: {shown}", markup=False, soft_wrap=True)


def _portrait(memory: str, as_json: bool) -> None:
    with _store(memory) as store:
        versions = store.history(items.PORTRAIT, items.SELF)
    if as_json:
        print(
            json.dumps(
                [_row(items.PORTRAIT, item, None) | {"data": dict(item.data)} for item in versions],
                indent=2,
                ensure_ascii=False,
            )
        )
        return
    if not versions:
        console.print("There is no portrait yet: it is drawn when an encounter ends.")
        return
    newest = versions[-1]
    portrait = Portrait.model_validate(newest.data)
    console.print(portrait.text, markup=False, soft_wrap=True)
    table = Table("belief", "weight", "events", title=f"version {newest.version} of {_when(newest.at.utc_s)}")
    for one in portrait.beliefs:
        table.add_row(one.text, f"{one.weight:.2f}", str(len(one.events)))
    console.print(table)


def add_to(app: typer.Typer) -> None:
    """The commands of learning, as part of the tool."""
    for kind, (name, _) in _ABOUT.items():
        app.add_typer(app_for(kind), name=name)
