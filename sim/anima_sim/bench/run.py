"""The front of every benchmark: runs it by name, prints its figures, writes them as one JSON object."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import anima

Figures = dict[str, Any]
BenchFunction = Callable[[int, list[str], Console], tuple[Figures, bool]]


class UnknownBench(LookupError):
    """No benchmark of that name; the message lists what there is."""


def listed() -> str:
    """What there is, one line each."""
    return "\n".join(f"  {name:14} {bench.doc}" for name, bench in BENCHES.items())


@dataclass(frozen=True)
class Bench:
    """A benchmark: ``module:function`` of this package, called with seed, extra arguments and console.

    The function returns figures (snake_case names with units) and whether they meet the limits that it prints.
    """

    function: str
    doc: str

    def load(self) -> BenchFunction:
        """The function."""
        module, _, name = self.function.partition(":")
        found: BenchFunction = getattr(importlib.import_module(f"anima_sim.bench.{module}"), name)
        return found


BENCHES = {
    "errands": Bench("errands:bench_errands", "30 spoken errands on the whole graph: real LLM, the truth as judge"),
    "latency": Bench("latency:bench_latency", "planner warm against cold, KV reuse, reflex, simulation speed"),
    "listen": Bench("planner:bench_hearing", "labelled orders: how many are understood exactly"),
    "act": Bench("planner:bench_choosing", "labelled moments: how often the next call is a right one"),
    "learning": Bench("learning:bench_learning", "learning from people: judgements, pairs of days, planted words"),
    "judge": Bench("judge:bench_judge", "closed judgements: accuracy, share unsure, calibration (--heldout)"),
    "parts": Bench("parts:bench_parts", "parts and the Self: each role on labelled cases; scenarios, a week"),
    "glue": Bench("glue:bench_glue", "what the glue regions cost, and how fast the pure mind runs"),
    "temperament": Bench("temperament:bench_temperament", "robots of different temperaments in the same flats"),
    "localization": Bench("localization:bench_localization", "error of the pose, and the way back when carried off"),
    "reflex": Bench("reflex:bench_reflex", "time to stop, hold, time to resume, false stops: in MuJoCo and Gazebo"),
    "perception": Bench("perception:bench_perception", "what the camera sees against what is there"),
    "retrieval": Bench("retrieval:bench_retrieval", "parts found by meaning: time and recall at 1k, 10k and 100k"),
    "kills": Bench("kills:bench_kills", "1,000 SIGKILLs while a mind is written: nothing acknowledged may be lost"),
    "deaths": Bench("deaths:bench_deaths", "every process killed in the middle of an errand; --apart: every node"),
    "manipulation": Bench("manipulation:bench_manipulation", "picking up and putting down, again and again"),
    "pulled": Bench("pulled:bench_pulled", "behind the board, mid-errand: cable pulled, driver killed, host killed"),
    "link": Bench("link:bench_link", "the serial link: round trip, throughput, cost, and what faults on the line do"),
    "soak": Bench("soak:bench_soak", "an hour of the flashed image at accelerated time, with random faults"),
}

_PACKAGES = ("mujoco", "numpy", "opencv-python-headless", "llama_cpp_python", "pin", "pydantic")


def machine() -> Figures:
    """What the figures were measured on."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "absent"
    return {
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": os.cpu_count()},
        "versions": {"anima": anima.__version__, "python": platform.python_version(), **versions},
    }


def run_bench(name: str, seed: int, json_file: Path | None, arguments: list[str], console: Console) -> int:
    """Run a benchmark; 0 when its limits are met, else 1. Raises `UnknownBench` and `BadOption`."""
    if name not in BENCHES:
        raise UnknownBench(f"no benchmark {name!r}; there are\n{listed()}")
    figures, met = BENCHES[name].load()(seed, arguments, console)
    table = Table("figure", "value", title=f"{name}, seed {seed}")
    for key, value in figures.items():
        if not isinstance(value, list | dict):
            table.add_row(key, f"{value:.4g}" if isinstance(value, float) else str(value))
    console.print(table)
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        record = {"bench": name, "seed": seed, "limits_met": met, **figures, **machine()}
        json_file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        console.print(f"figures written to {json_file}", soft_wrap=True)
    console.print("[green]limits met[/green]" if met else "[red]limits not met[/red]")
    return 0 if met else 1
