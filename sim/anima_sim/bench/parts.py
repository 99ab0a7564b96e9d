"""The inner life measured with the configured model: accuracy per role, scenarios, Selves, a week, planted words."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from anima.body.places import load_places
from anima.config import Settings, load_settings
from anima.parts import bench
from anima.parts.roles import load_parts_tuning
from anima.planner.lexicon import known_names
from anima.planner.llm.base import Mind
from anima.planner.session import open_model
from anima_sim.bench import parts_life
from anima_sim.bench.options import BenchParser

ACCURACY = {
    "bids": 0.75, "arbitration": 0.7, "worth_a_part": 0.75, "split": 0.75, "same_bid": 0.75, "concluded": 0.75,
    "prediction": 0.75,
}
PARSED = 1.0


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = BenchParser("parts", __doc__)
    parser.model()
    parser.add_argument("--roles", default="", help=f"only these, with commas: {', '.join(ACCURACY)}")
    parser.add_argument(
        "--set", dest="which", default="both", choices=["tuning", "heldout", "both"],
        help="which labelled cases (default both); heldout ones are used for nothing else",
    )
    parser.add_argument("--cases", type=int, default=1000, help="how many of each set, drawn by the seed (default all)")
    parser.add_argument("--scenarios", action="store_true", help="the concept's examples, each from end to end")
    parser.add_argument("--robot", action="store_true", help="the concept's acceptance list on the simulated robot")
    parser.add_argument("--variations", action="store_true", help="the same with other people, things and tasks")
    parser.add_argument("--selves", action="store_true", help="two Selves live the same day; what grew, and why")
    parser.add_argument("--planted", action="store_true", help="planted words in both modes: what they change")
    parser.add_argument("--life", type=float, default=0.0, metavar="DAYS", help="so many days of a simulated life")
    return parser.parse_args(arguments)


def bench_parts(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """What was asked for by the options; without any, the accuracy of every role."""
    options = _options(arguments)
    settings = load_settings({"llm.model": options.model} if options.model else None)
    model = open_model(settings.llm)
    try:
        chosen: list[tuple[str, Callable[[], tuple[dict[str, Any], bool]]]] = []
        if options.scenarios:
            chosen.append(("scenarios", lambda: parts_life.scenarios(model, console)))
        if options.robot:
            chosen.append(("robot", lambda: parts_life.on_the_robot(model, console)))
        if options.variations:
            chosen.append(("variations", lambda: parts_life.scenarios(model, console, "variations")))
        if options.selves:
            chosen.append(("selves", lambda: parts_life.selves(model, console)))
        if options.planted:
            chosen.append(("planted", lambda: parts_life.planted(model, console, options.cases)))
        if options.life:
            chosen.append(("life", lambda: parts_life.week(model, console, options.life, seed)))
        if not chosen:
            return _accuracy(settings, model, options, seed, console)
        figures: dict[str, Any] = {}
        met = True
        for name, run in chosen:
            found, good = run()
            figures |= {f"{name}_{key}": value for key, value in found.items()}
            met = met and good
        return figures, met
    finally:
        model.close()


def _accuracy(
    settings: Settings, model: Mind, options: argparse.Namespace, seed: int, console: Console
) -> tuple[dict[str, Any], bool]:
    tuning, names, places = load_parts_tuning(), known_names(settings), load_places(settings.map_folder)
    roles = [role.strip() for role in options.roles.split(",") if role.strip()] or list(ACCURACY)
    table = Table("role", "set", "cases", "right", "unsure", "right of the sure", "partly", "parsed", "s a call")
    figures: dict[str, Any] = {}
    met = True
    for role in roles:
        for which in ("tuning", "heldout") if options.which == "both" else (options.which,):
            cases = bench.cases_of(role, which)
            if len(cases) > options.cases:
                cases = random.Random(seed).sample(cases, options.cases)
            score = _score(role, cases, model, tuning, names, places, lambda line: console.print(line, markup=False))
            record = score.record()
            figures[f"{role}_{which}"] = record
            good = record["parsed"] >= PARSED and (which == "tuning" or record["accuracy"] >= ACCURACY[role])
            met = met and good
            colour = "green" if good else "red"
            table.add_row(
                role, which, str(record["cases"]), f"[{colour}]{record['accuracy']:.0%}[/{colour}]",
                f"{record['unsure']:.0%}", f"{record['accuracy_among_sure']:.0%}", f"{record['partly']:.0%}",
                f"{record['parsed']:.0%}", f"{record['seconds_per_call_s']:.1f}",
            )
            console.print(f"{role} on {which}: {record['accuracy']:.0%} of {record['cases']}", highlight=False)
    console.print(table)
    console.print(f"limits: all parse; on held-out cases {', '.join(f'{k} {v:.0%}' for k, v in ACCURACY.items())}")
    return figures, met


def _score(role: str, cases: list[dict[str, Any]], model: Mind, tuning: Any, names: Any, places: Any, say: Any) -> Any:
    if role == "bids":
        return bench.bids(cases, model, tuning, names, places, say)
    if role == "arbitration":
        return bench.arbitration(cases, model, tuning, say)
    return bench.judged(role, cases, model, say)
