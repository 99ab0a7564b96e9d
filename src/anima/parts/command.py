"""The commands `anima parts` and `anima bids`: what the robot is made of inside, how it became so, who wanted what."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from anima.config import ConfigError, Settings, load_settings
from anima.memory.difference import differences
from anima.memory.errors import StoreError
from anima.memory.kinds import PART, PART_LINEAGE
from anima.memory.opening import open_store
from anima.memory.store import Store
from anima.parts.library import KeptPart
from anima.parts.record import BidTold, told_bids
from anima.parts.schema import Lineage, Part, timestamp
from anima.parts.selves import PACKS, SELVES, load_pack, load_self, names_in
from anima.parts.vocabulary import record_of

parts_app = typer.Typer(
    help="Dynamic parts: the viewpoints that the robot's mind is made of. They are read from where it remembers.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="For programs: JSON instead of a table.")]
Memory = Annotated[str, typer.Option(help="A database URL; empty: as config/anima.yaml says.")]
Id = Annotated[str, typer.Argument(help="A part's id, as `anima parts list` shows it.")]
console = Console(highlight=False)


def _opened(memory: str) -> Store:
    try:
        settings: Settings = load_settings({"memory_url": memory} if memory else None)
        store = open_store(settings)
    except (ConfigError, StoreError) as error:
        raise _fail(str(error)) from None
    if store is None:
        raise _fail("memory_url is none, so nothing is kept; name a store with --memory")
    return store


def _fail(message: str) -> typer.Exit:
    console.print(f"[red]{message}[/red]", soft_wrap=True)
    return typer.Exit(2)


def _with(memory: str, act: Callable[[Store], Any]) -> Any:
    with _opened(memory) as store:
        try:
            return act(store)
        except StoreError as error:
            raise _fail(str(error)) from None


def _all(store: Store, archived: bool) -> list[KeptPart]:
    items = {item.id: item for item in store.since(PART, 0)}.values() if archived else store.all(PART)
    return [kept for item in items if (kept := KeptPart.of(item)).archived == archived]


def _moment(kept: KeptPart) -> str:
    return timestamp(kept.at.utc_s)


def _summary(kept: KeptPart) -> dict[str, Any]:
    entries = kept.part.suggestions_and_results
    return {
        "id": kept.id, "name": kept.part.name, "version": kept.version, "core": kept.part.core_part,
        "emotion": kept.part.emotion, "intensity": kept.part.intensity,
        "record": record_of([entry.result for entry in entries]),
        "waiting": sum(bool(e.predicted_result) and not e.result for e in entries), "changed": _moment(kept),
        "why": kept.why,
    }


@parts_app.command("list")
def list_parts(
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away instead.")] = False,
    as_json: Json = False, memory: Memory = "",
) -> None:
    """List the parts that may bid, the last changed first."""
    found = _with(memory, lambda store: [_summary(kept) for kept in _all(store, archived)])[::-1]
    if as_json:
        print(json.dumps(found))
        return
    table = Table(Column("id", no_wrap=True), Column("v.", no_wrap=True), "what it is", "last change")
    for one in found:
        waits = f", {one['waiting']} predictions open" if one["waiting"] else ""
        core = "core part, " if one["core"] else ""
        feels = f"{core}{one['emotion']} ({one['intensity']}), {one['record']}{waits}"
        table.add_row(one["id"], str(one["version"]), f"{one['name']}\n[dim]{feels}[/dim]", one["why"])
    console.print(table)
    if not found:
        console.print("no parts yet: they grow from what is lived, or come with a pack (anima up --packs safety)")


@parts_app.command()
def show(id: Id, version: Annotated[int, typer.Option(help="An older version.")] = 0, as_json: Json = False,
         memory: Memory = "") -> None:
    """Show a part as it is, or as it was: the JSON that is kept, and who wrote it why."""
    kept = _with(memory, lambda store: KeptPart.of(store.get(PART, id, version or None)))
    if not as_json:
        state = "archived, " if kept.archived else ""
        console.print(f"[bold]{kept.part.name}[/bold]  [{id}] {state}version {kept.version} of {_moment(kept)}")
        console.print(f"by {kept.who}: {kept.why}; because of {', '.join(kept.because)}", soft_wrap=True)
    print(json.dumps(kept.part.model_dump(mode="json"), indent=2, ensure_ascii=False))


@parts_app.command()
def diff(id: Id, before: Annotated[int, typer.Argument(help="A version; the one before the last without it.")] = 0,
         after: Annotated[int, typer.Argument(help="A later one; the last without it.")] = 0, as_json: Json = False,
         memory: Memory = "") -> None:
    """Show what is different between two versions of a part, and the events that it came from."""
    def compared(store: Store) -> dict[str, Any]:
        newest = store.get(PART, id).version
        last = after or newest
        first = before or max(1, last - 1)
        old, new = store.get(PART, id, first), store.get(PART, id, last)
        found = [asdict(one) for one in differences(old.data, new.data, Part)]
        return {"before": first, "after": last, "why": new.why, "because": list(new.because), "differences": found}

    found = _with(memory, compared)
    if as_json:
        print(json.dumps(found))
        return
    cause = f"{found['why']} ({', '.join(found['because'])})"
    console.print(f"{id}, version {found['before']} to {found['after']}: {cause}", soft_wrap=True)
    table = Table("what", "before", "after")
    for one in found["differences"]:
        table.add_row(one["path"], _short(one["before"]), _short(one["after"]))
    console.print(table)


def _short(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@parts_app.command()
def why(id: Id, as_json: Json = False, memory: Memory = "") -> None:
    """Explain how a part came to be what it is: each version with its reason, its events, and its descent."""
    def told(store: Store) -> dict[str, Any]:
        versions = [KeptPart.of(item) for item in store.history(PART, id)]
        if not versions:
            store.get(PART, id)  # says that there is none
        descent = store.some(PART_LINEAGE, [id]).get(id)
        lineage = Lineage() if descent is None else Lineage.model_validate(descent.data)
        return {
            "id": id, "born_of": versions[0].part.originating_event.result, "lineage": lineage.model_dump(),
            "versions": [
                {"version": k.version, "at": _moment(k), "who": k.who, "why": k.why, "because": list(k.because),
                 "archived": k.archived} for k in versions
            ],
        }

    found = _with(memory, told)
    if as_json:
        print(json.dumps(found))
        return
    console.print(f"[bold]{id}[/bold] was born of: {found['born_of']}", soft_wrap=True)
    for name, of in found["lineage"].items():
        if of:
            console.print(f"{name.replace('_', ' ')}: {of if isinstance(of, str) else ', '.join(of)}")
    table = Table("version", "at", "by", "why", "because of")
    for one in found["versions"]:
        reason = f"{one['why']} (put away)" if one["archived"] else one["why"]
        table.add_row(str(one["version"]), one["at"], one["who"], reason, ", ".join(one["because"]))
    console.print(table)


@parts_app.command()
def selves(as_json: Json = False) -> None:
    """List the Selves and the packs that can be loaded (`anima up --self guardian --packs safety,social`)."""
    minds = [load_self(name) for name in names_in(SELVES)]
    packs = [load_pack(name) for name in names_in(PACKS)]
    if as_json:
        print(json.dumps({"selves": [m.model_dump() for m in minds], "packs": [p.model_dump() for p in packs]}))
        return
    table = Table("Self", "what it is like")
    for mind in minds:
        table.add_row(mind.name, f"{mind.persona}\n[dim]{mind.text}[/dim]", end_section=True)
    console.print(table)
    table = Table("pack", "core parts", "what for")
    for pack in packs:
        table.add_row(pack.name, ", ".join(part.name for part in pack.parts), pack.description)
    console.print(table)


def bids(
    id: Annotated[str, typer.Argument(help="A bid or a part; all bids without it.")] = "",
    file: Annotated[Path | None, typer.Option("--file", help="A recording; the newest one without it.")] = None,
    as_json: Json = False,
) -> None:
    """Show what parts bid for in a recording, what the Self followed, and why; one bid in full by its id."""
    try:
        found = told_bids(file)
    except LookupError as error:
        raise _fail(str(error)) from None
    chosen = [one for one in found if id in ("", one.bid.id, one.bid.part)]
    if id and not chosen:
        raise _fail(f"no bid and no part {id!r} in the record; there are {len(found)} bids")
    if as_json:
        print(json.dumps([one.as_data() for one in chosen]))
    elif len(chosen) == 1 and id == chosen[0].bid.id:
        _explain(chosen[0])
    else:
        table = Table("at", "bid", "part", "wants", "leans to", "the Self")
        for one in chosen:
            verdict = "[green]followed[/green]" if one.bid.followed else "ignored"
            leans = "" if one.bid.stance == "none" else f"{one.bid.stance} {one.bid.target}"
            table.add_row(f"{one.at:.1f} s", one.bid.id, one.bid.name, one.bid.recommendation, leans,
                          f"{verdict}: {one.bid.reason}")
        console.print(table)


def _explain(one: BidTold) -> None:
    bid = one.bid
    console.print(f"[bold]{bid.id}[/bold] by {bid.name} [{bid.part}, version {bid.version}] at {one.at:.1f} s")
    lines = [
        ("event", f"{one.choice.about}  [{one.choice.event}]"), ("wants", bid.recommendation),
        ("focus", bid.focus or "none"), ("leans to", f"{bid.stance} {bid.target}".strip()),
        ("predicts", f"{bid.prediction} ({bid.confidence}, within {bid.within_s:.0f} s)"),
        ("the Self", f"{one.choice.self_name}, {one.choice.mode}"),
        ("followed" if bid.followed else "ignored", bid.reason),
    ]
    for heading, text in lines:
        console.print(f"  {heading:10} {text}", soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Hang the commands into `anima`."""
    app.add_typer(parts_app, name="parts")
    app.command("bids")(bids)
