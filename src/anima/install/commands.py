"""The commands `anima models …` (list, fetch and verify the model files) and `anima doctor`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from anima.install.errors import ModelError
from anima.install.fetch import Report, fetch
from anima.install.manifest import Manifest, Model
from anima.install.store import ModelStore, State

models_app = typer.Typer(help="The model files: what is here, fetch, verify.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(help="Names from `anima models list`; none: the required ones.")]
All = Annotated[bool, typer.Option("--all", help="The optional ones too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quick = Annotated[bool, typer.Option("--quick", help="Trust a hash taken earlier while the file is unchanged.")]


def _chosen(names: list[str] | None, everything: bool) -> list[Model]:
    manifest = Manifest.load()
    if names:
        return [manifest.get(name) for name in names]
    return [model for model in manifest.models if everything or model.required]


def _fail(error: ModelError) -> typer.Exit:
    print(f"anima: {error}", file=sys.stderr)
    return typer.Exit(1)


@models_app.command("list")
def list_models(as_json: Json = False) -> None:
    """Show every model that Anima knows and how its file stands."""
    store = ModelStore()
    try:
        models = Manifest.load().models
    except ModelError as error:
        raise _fail(error) from error
    if as_json:
        rows = [
            {
                **model.model_dump(include={"name", "use", "required", "size_bytes", "licence"}),
                "state": store.state(model).value,
                "path": str(store.path(model)),
            }
            for model in models
        ]
        print(json.dumps(rows, indent=2))
        return
    table = Table("model", "use", "size", "licence", "state", title=str(store.folder), title_justify="left")
    for model in models:
        use = model.use if model.required else f"{model.use} (optional)"
        table.add_row(model.name, use, f"{model.size_bytes / 1e6:.0f} MB", model.licence, store.state(model).value)
    Console().print(table)


@models_app.command("fetch")
def fetch_models(names: Names = None, everything: All = False) -> None:
    """Fetch model files: resumes, verifies the sha256, never runs a package's code."""
    store = ModelStore()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    try:
        # Where nobody watches, two lines a file do; a bar would fill the log.
        with Progress(*columns, disable=not sys.stdout.isatty()) as bar:
            for model in _chosen(names, everything):
                fetch(model, store, report=_reporter(bar, model))
                print(f"{model.name}: {store.path(model)}")
    except ModelError as error:
        raise _fail(error) from error


def _reporter(bar: Progress, model: Model) -> Report:
    task = bar.add_task(model.name, total=model.size_bytes, start=True)
    announced: set[str] = set()

    def report(what: str, done_bytes: int) -> None:
        bar.update(task, description=f"{what} {model.name}", completed=done_bytes)
        if bar.disable and what not in announced:
            announced.add(what)
            print(f"{what} {model.name} ({model.size_bytes / 1e6:.0f} MB)", flush=True)

    return report


@models_app.command("verify")
def verify_models(names: Names = None, everything: All = False, quick: Quick = False) -> None:
    """Take the sha256 of model files anew; exit code 1 when one is missing or wrong."""
    store = ModelStore()
    wrong = 0
    try:
        for model in _chosen(names, everything):
            try:
                if not (quick and store.state(model) is State.VERIFIED):
                    store.verify(model)
                print(f"{model.name}: right")
            except ModelError as error:
                wrong += 1
                print(f"{model.name}: {error}", file=sys.stderr)
    except ModelError as error:
        raise _fail(error) from error
    if wrong:
        raise typer.Exit(1)


def doctor(as_json: Json = False) -> None:
    """Say what is present on this machine, what is missing, and how to get it. Exit code 1: something is missing."""
    from anima.install.doctor import examine, print_findings  # only this command needs it

    raise typer.Exit(print_findings(examine(), as_json))
