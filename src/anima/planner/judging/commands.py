"""The commands `anima judges …`: which closed judgements there are, train their heads, ask one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from anima.config import ConfigError, Settings, load_settings
from anima.planner.judge import Judge, load_judge
from anima.planner.judging.examine import asked
from anima.planner.judging.head import HeadError, head_file, load_head
from anima.planner.judging.question import (
    Case,
    Question,
    cases_digest,
    cases_file,
    load_cases,
    load_question,
    names,
)
from anima.planner.llm.base import LlmError
from anima.planner.llm.cells import model_key
from anima.planner.llm.llama import model_file
from anima.planner.session import open_model

judges_app = typer.Typer(
    help="Closed judgements (which kind of reaction, a promise or not, …), read off the model's hidden states.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Model = Annotated[str, typer.Option(help="A name in models/manifest.yaml, or the path of a GGUF file.")]
Name = Annotated[str, typer.Argument(help="A judgement; `anima judges list` names them.")]
console = Console(highlight=False)


def _settings(model: str) -> Settings:
    return load_settings({"llm.model": model} if model else None)


def _beside_others(settings: Settings) -> Settings:
    """On a busy machine one thread gets several times as much done as two that wait for each other."""
    if os.getloadavg()[0] < (os.cpu_count() or 1):
        return settings
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"threads": 1})})


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (ConfigError, HeadError, LlmError) as error:
        print(f"anima: {error}", file=sys.stderr)
        raise typer.Exit(1) from error


@contextmanager
def bar_for(text: str) -> Iterator[Callable[[float], None]]:
    """A progress bar where somebody watches."""
    share = TextColumn("{task.percentage:.0f} %")
    columns = (TextColumn("{task.description}"), BarColumn(), share, TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not sys.stdout.isatty(), transient=True) as bar:
        task = bar.add_task(text, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _state(name: str, question: Question, cases: list[Case], key: str) -> tuple[str, dict[str, Any]]:
    """Whether the head is of use, in a word or two, and what is known of it."""
    try:
        head = load_head(name)
    except HeadError:
        return "not trained", {}
    origin = head.origin
    figures = {
        "cases": origin.count, "accuracy": origin.accuracy, "unsure": origin.unsure,
        "accuracy_among_sure": origin.sure_accuracy, "calibration_error": origin.calibration_error,
    }
    if origin.question != question.digest:
        return "other wording", figures
    if key and origin.model != key:
        return "other model", figures
    return ("ready" if origin.cases == cases_digest(cases) else "older cases"), figures


def _key(settings: Settings) -> str:
    path = model_file(settings.llm.model)
    return model_key(path) if path.is_file() and not settings.llm.server else ""


@judges_app.command("list")
def list_judges(model: Model = "", as_json: Json = False) -> None:
    """Show every judgement, whether its head fits the model, and how it did on cases that it had not seen."""
    rows = []
    with _explained():
        key = _key(_settings(model))
        for name in names():
            question = load_question(name)
            cases = load_cases(cases_file(name), question)
            state, known = _state(name, question, cases, key)
            rows.append(
                {"name": name, "doc": question.doc, "labels": list(question.labels), "state": state}
                | {"training_cases": len(cases), "cross_validated": known}
            )
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table("judgement", "answers", "cases", "right", "unsure", "right if sure", "head")
    for row in rows:
        seen: dict[str, Any] = row["cross_validated"]  # type: ignore[assignment]
        shares = [f"{seen[k]:.0%}" if seen else "–" for k in ("accuracy", "unsure", "accuracy_among_sure")]
        labels = ", ".join(row["labels"])  # type: ignore[arg-type]
        table.add_row(str(row["name"]), labels, str(row["training_cases"]), *shares, str(row["state"]))
    console.print(table)
    console.print("right, unsure: in cross-validation on the training cases. Measure with: anima bench judge --heldout")


@judges_app.command("show")
def show_judge(name: Name, as_json: Json = False) -> None:
    """Show a judgement's question, its slots and answers, and its head."""
    with _explained():
        question = load_question(name)
        cases = load_cases(cases_file(name), question)
        state, known = _state(name, question, cases, _key(_settings("")))
    record = {
        "name": name, "slots": list(question.slots), **question.model_dump(), "training_cases": len(cases),
        "state": state, "head": str(head_file(name)), "cross_validated": known,
    }
    if as_json:
        print(json.dumps(record, indent=2, ensure_ascii=False))
        return
    table = Table(show_header=False)
    for key, value in record.items():
        table.add_row(key, value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    console.print(table, markup=False)


@judges_app.command("train")
def train_judges(
    wanted: Annotated[list[str] | None, typer.Argument(help="Judgements; none: all whose head does not fit.")] = None,
    model: Model = "",
    everything: Annotated[bool, typer.Option("--all", help="Those whose head fits too.")] = False,
    as_json: Json = False,
) -> None:
    """Train heads from the cases in config/judges/cases for the model in use. A minute each; again, seconds.

    What the model makes of each case is kept in the cache folder, so only changed cases are read again.
    """
    from anima.planner.judging.train import StateCache, TrainingError, states_of, train

    done = []
    with _explained():
        settings = _settings(model)
        if settings.llm.server:
            raise ConfigError("llm.server is set: a server shows no hidden states, so no head can be trained for it")
        key, mind = _key(settings), open_model(_beside_others(settings).llm)
        try:
            for name in wanted or names():
                question = load_question(name)
                cases = load_cases(cases_file(name), question)
                if not wanted and not everything and _state(name, question, cases, key)[0] == "ready":
                    continue
                with bar_for(f"{name}: reading {len(cases)} cases") as progress:
                    states = states_of(name, question, cases, mind, StateCache(name), progress, key)
                try:
                    with bar_for(f"{name}: fitting") as progress:
                        head, choice = train(question, cases, states, key, progress)
                except TrainingError as error:
                    raise ConfigError(f"{cases_file(name)}: {error}") from error
                head.save(head_file(name))
                found = choice.figures
                layers = [f"{state.over} {state.depth:.2f}" for state in choice.states]
                done.append({"name": name, "cases": len(cases), "accuracy": found.accuracy, "unsure": found.unsure,
                             "accuracy_among_sure": found.sure_accuracy, "calibration_error": found.calibration_error,
                             "states": layers, "strength": choice.strength, "head": str(head_file(name))})
                if not as_json:
                    console.print(
                        f"{name}: {found.accuracy:.1%} right, {found.unsure:.0%} unsure, {found.sure_accuracy:.1%} "
                        f"right if sure, calibration error {found.calibration_error:.3f}; unseen folds of {len(cases)}"
                    )
        finally:
            mind.close()
    if as_json:
        print(json.dumps(done, indent=2))
    elif not done:
        console.print("every head fits its cases, its wording and the model")


@judges_app.command("ask")
def ask_judge(
    name: Name,
    slots: Annotated[list[str], typer.Argument(help='What it is about, e.g. robot="Shall I?" person="No, leave it."')],
    weigh: Annotated[bool, typer.Option("--weigh", help="Compare the answers' words instead, without a head.")] = False,
    model: Model = "",
    as_json: Json = False,
) -> None:
    """Make one judgement and show how likely each answer is."""
    with _explained():
        values = dict(_pair(text) for text in slots)
        judge: Judge = load_judge(name, "weigh" if weigh else "head")
        mind = open_model(_settings(model).llm)
        try:
            judged = asked(judge, values, mind)
        finally:
            mind.close()
    if as_json:
        print(json.dumps({"judgement": name, "label": judged.label, "best": judged.best, "p": judged.p,
                          "probabilities": dict(judged.probabilities), "seconds_s": judged.seconds}))
        return
    table = Table("answer", "p", title=f"{name}: {judged.label}", title_justify="left")
    for label, p in judged.probabilities.items():
        table.add_row(label, f"{p:.2f}")
    console.print(table)


def _pair(text: str) -> tuple[str, str]:
    slot, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r}: write what it is about as slot=words")
    return slot, value


def cases_of(name: str, question: Question, folder: Path | None) -> list[Case]:
    """Labelled cases: those in `folder`, or the training cases."""
    return load_cases(folder / f"{name}.yaml" if folder is not None else cases_file(name), question)
