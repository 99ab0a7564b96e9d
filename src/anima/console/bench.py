"""`anima bench`: the list of benchmarks, what one can be asked for, and its run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from anima.console.options import Seed

# What a benchmark takes besides the options of all is read by itself, its --help included.
PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
CANNOT_BEGIN = 2


def bench(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Which one; without a name they are listed.")] = "",
    seed: Seed = 1,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    about: Annotated[bool, typer.Option("--help", help="Tell this; after a name, that one's options.")] = False,
) -> None:
    """Measure something and print the figures. Exit codes: 0 limits met, 1 not met, 2 it could not begin.

    Each benchmark has options of its own: `anima bench NAME --help` tells them.
    """
    from anima_sim.bench.options import BadOption
    from anima_sim.bench.run import UnknownBench, listed, run_bench

    if not name:
        print(f"{context.get_help()}\n\nThere are\n{listed()}" if about else listed())
        return
    console = Console(highlight=False)
    try:
        code = run_bench(name, seed, json_file, ["--help"] if about else context.args, console)
    except (UnknownBench, BadOption) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(CANNOT_BEGIN) from None
    raise typer.Exit(code)
