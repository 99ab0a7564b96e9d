"""`anima replay` and `anima why`: what they print, and the exit codes 0 identical, 1 diverged, 2 not possible."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from anima.audit.journal import unpack_config
from anima.audit.recording import Chunk, NoRecording, files_of, newest, read_journals
from anima.audit.replay import BadRecord, Replay
from anima.audit.report import IDENTICAL, NOT_POSSIBLE, for_programs, tell, verdict
from anima.audit.timeline import Timeline
from anima.audit.why import UnknownCall, why
from anima.config import CONFIG, ConfigError, Settings, load_settings
from anima.console.folders import state_folder

CHANGES = "ANIMA_REPLAY_CHANGES"


def recordings_folder() -> Path:
    """Where recordings lie."""
    return state_folder() / "recordings"


def explain(call: str, file: Path | None, console: Console) -> int:
    """Print why a call was made; the newest recording unless `file` names another."""
    try:
        lines = why(Timeline.of_chunks(read_journals(file or newest(recordings_folder()))), call)
    except (NoRecording, UnknownCall, LookupError) as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        return NOT_POSSIBLE
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for heading, text in lines:
        table.add_row(heading, text.replace("[", r"\["))
    console.print(table)
    return IDENTICAL


def replay(file: Path | None, changes: Sequence[str], as_json: bool, console: Console) -> int:
    """Replay a recording with the configuration of its day, in a process of its own that is started with that.

    `changes` are ``file.key=value`` for a file of `config/` (``gate.retries_per_signature=1``) or a setting
    (``settings.seed=3``). The report is for people, or as one JSON object.
    """
    try:
        path = file or newest(recordings_folder())
        session = first_session(path)
        with tempfile.TemporaryDirectory(prefix="anima-replay-") as folder:
            unpack_config(session["config"], Path(folder))
            settings = [change.removeprefix("settings.") for change in changes if change.startswith("settings.")]
            before = _dotted(session["settings"])
            pairs = [change.split("=", 1) for change in settings if "=" in change]
            told = [f"settings.{key} {before.get(key)} -> {value}" for key, value in pairs]
            told += [change_config(Path(folder), one) for one in changes if not one.startswith("settings.")]
            more = {"ANIMA_CONFIG_DIR": folder, CHANGES: json.dumps({"settings": settings, "told": told})}
            environment = {**os.environ, **more}
            command = [sys.executable, "-m", "anima.audit", str(path), *(["--json"] if as_json else [])]
            return subprocess.run(command, env=environment, check=False).returncode
    except (NoRecording, ConfigError, BadRecord, ValueError) as error:
        console.print(f"[red]{error}[/red]", soft_wrap=True)
        return NOT_POSSIBLE


def first_session(path: Path) -> dict[str, Any]:
    """The first keyframe of a recording; raises `BadRecord` if it has none."""
    for chunk in read_journals(path):
        for line in chunk.lines:
            if "session" in line:
                return line
    raise BadRecord(f"{path}: its journal has no keyframe, so nobody knows how the mind was configured")


def change_config(folder: Path, change: str) -> str:
    """Write one changed number into the files of a configuration; returns ``gate.stable_s 0.5 -> 1.5``. Raises
    `ConfigError` that says what there is."""
    dotted, equals, value = change.partition("=")
    name, *keys = dotted.split(".")
    file = folder / f"{name}.yaml"
    if not (equals and keys):
        raise ConfigError(f"--set {change}: write it as file.key=value, e.g. gate.retries_per_signature=1")
    if not file.is_file():
        there = ", ".join(sorted(str(p.relative_to(folder).with_suffix("")) for p in folder.rglob("*.yaml")))
        raise ConfigError(f"--set {change}: no {name}.yaml in the recorded configuration; there are {there}")
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    target = data
    for key in keys[:-1]:
        target = target[key] if isinstance(target, dict) and isinstance(target.get(key), dict) else {}
    if keys[-1] not in target:
        there = ", ".join(target or data)
        raise ConfigError(f"--set {change}: {name}.yaml has no key {'.'.join(keys)}; it has {there}")
    before, target[keys[-1]] = target[keys[-1]], yaml.safe_load(value)
    file.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return f"{dotted} {before} -> {target[keys[-1]]}"


def _asked() -> dict[str, list[str]]:
    """What the command that started this process was asked to change: settings, and all of it in words."""
    asked: dict[str, list[str]] = json.loads(os.environ.get(CHANGES, '{"settings": [], "told": []}'))
    return asked


def _changed(settings: Settings) -> Settings:
    """The recorded settings with what `--set settings.…` changes."""
    changes = _asked()["settings"]
    if not changes:
        return settings
    pairs = dict(change.split("=", 1) for change in changes)
    return load_settings({**_dotted(settings.model_dump()), **{k: yaml.safe_load(v) for k, v in pairs.items()}})


def _dotted(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in data.items():
        found |= _dotted(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def replay_here(path: Path, as_json: bool, console: Console) -> int:
    """Replay with the configuration of this process, print how it went, return the exit code."""
    replays: dict[str, Replay] = {}
    try:
        for chunk in _with_progress(path, console):
            run = replays.setdefault(chunk.process, Replay(_changed))
            if chunk.gap:
                run.interrupt(f"a part of the journal of the {chunk.process} process is missing")
            for line in chunk.lines:
                run.feed(line)
    except (NoRecording, BadRecord, ConfigError, LookupError, ValueError) as error:
        # The recorded configuration lies in a folder that nobody knows; the file's name says enough.
        console.print(str(error).replace(f"{CONFIG}{os.sep}", ""), style="red", markup=False, soft_wrap=True)
        return NOT_POSSIBLE
    reports, changes = [run.report for run in replays.values()], _asked()["told"]
    if as_json:
        print(json.dumps(for_programs(reports, changes), indent=1))
    else:
        tell(reports, changes, console)
    return verdict(reports)


def _with_progress(path: Path, console: Console) -> Iterator[Chunk]:
    size = sum(file.stat().st_size for file in files_of(path)) / (1 << 20)
    with console.status(f"replaying {path.name} ({size:.1f} MiB)") as status:
        for number, chunk in enumerate(read_journals(path)):
            if number % 20 == 0:
                at = next((line["at"] for line in reversed(chunk.lines) if "at" in line), None)
                status.update(f"replaying {path.name}" + ("" if at is None else f": at {at:.0f} s of the mind's time"))
            yield chunk
