"""The reflex acceptance: four numbers, read off recordings of drives against hazards in MuJoCo and in Gazebo."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from anima_sim.acceptance.numbers import KINDS, Kind, Limits, Summary, judge
from anima_sim.acceptance.reading import read_drive, read_messages
from anima_sim.acceptance.trials import Simulator, Stage, Staged, tour
from anima_sim.bench.options import BenchParser
from anima_sim.config import load_robot

# What the limits are made of, all of it configured and told in docs/safety.md. To stop: a tick of the reflexes and one
# of the driver, 20 ms each, and 0.16 s of braking from full speed at 2.5 m/s²; before an obstacle one turn of the lidar
# (0.1 s) more, and the way up to the margin of 3 cm, which is slow on purpose. To resume: speeding up takes 0.05 s, and
# bumper and cliff are remembered for 0.5 s. Held: a person's stop is absolute. At its margin before an obstacle, where
# the lidar's noise of 1 cm decides, a body that is pushed on may creep below 3 cm/s, and now and then a turn of the
# lidar lets it go a little faster; blind, it bumps again every half second; it never touches what it can see.
LIMITS: dict[Kind, Limits] = {
    "software_stop": Limits(to_stop_s=0.30, to_resume_s=0.30, held=1.0),
    "bumper": Limits(to_stop_s=0.30, to_resume_s=0.80, held=0.90),
    "cliff": Limits(to_stop_s=0.30, to_resume_s=0.80, held=0.99),
    "obstacle": Limits(to_stop_s=1.00, to_resume_s=0.50, held=0.90),
}
FALSE_STOPS = 0
"""None at all: a robot that stops without a reason is switched off by its owner."""


def bench_reflex(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Drives against obstacles, bumps, edges and a person's stop, and tours on which nothing is in the way."""
    parser = BenchParser("reflex", __doc__)
    parser.add_argument("--sim", choices=["mujoco", "gazebo", "both"], default="both", help="(default both)")
    parser.add_argument("--each", type=int, default=5, help="drives against each kind of hazard (default 5)")
    parser.add_argument("--tours", type=int, default=1, help="tours of the flat (default 1)")
    parser.add_argument("--keep", type=Path, help="a folder for the recordings, which any MCAP viewer opens")
    parser.add_argument("--recording", type=Path, help="judge this recording instead of making some")
    options = parser.parse_args(arguments)
    robot = load_robot()
    if options.recording is not None:
        drive = read_drive(read_messages(options.recording), robot)
        return report(str(options.recording), Summary([judge(drive.samples, drive.hazards)]), console)
    figures: dict[str, Any] = {}
    met = True
    for sim in ("mujoco", "gazebo") if options.sim == "both" else (options.sim,):
        with tempfile.TemporaryDirectory(prefix="anima-reflex-") as scratch:
            folder = Path(options.keep or scratch) / sim
            recordings, missed = stage(sim, seed, options.each, options.tours, folder, console)
            summary = Summary()
            for path in track(recordings, f"{sim}: judging", console=console):
                drive = read_drive(read_messages(path), robot)
                summary.recordings.append(judge(drive.samples, drive.hazards))
        found, kept = report(sim, summary, console)
        if missed:
            console.print(f"[red]{sim}: a tour did not reach {', '.join(missed)}[/red]")
        figures |= {f"{sim}_{key}": value for key, value in found.items()}
        met = met and kept and not missed
    return figures, met


def stage(
    sim: Simulator, seed: int, each: int, tours: int, folder: Path, console: Console
) -> tuple[list[Path], list[str]]:
    """Makes the recordings; returns them, and the places that a tour did not reach."""
    made: list[Path] = []
    if each:
        stage = Stage(sim, seed)
        try:
            wanted = [Staged(kind, seed * 1000 + number) for kind in KINDS for number in range(each)]
            for number, staged in enumerate(track(wanted, f"{sim}: hazards", console=console)):
                made.append(folder / f"{number:03}-{staged.hazard}")
                stage.act(staged, made[-1])
        finally:
            stage.close()
    missed: list[str] = []
    for number in track(range(tours), f"{sim}: tours", console=console):
        made.append(folder / f"tour-{number}")
        missed += tour(sim, seed + number, made[-1])
    return made, missed


def report(name: str, summary: Summary, console: Console) -> tuple[dict[str, Any], bool]:
    """Prints the four numbers beside their limits; returns them, and whether they are kept."""
    head = ("hazard", "n", "to stop (s)", "least held", "to resume (s)", "touched")
    table = Table(*head, title=f"reflexes in {name}: worst (to stop: median, worst), and limit", box=SIMPLE)
    figures: dict[str, Any] = {}
    broken: list[str] = []
    for kind in KINDS:
        found = summary.figures(kind)
        if not found:
            continue
        limits = LIMITS[kind]
        figures |= {f"{kind}_{key}": value for key, value in found.items()}
        table.add_row(
            kind, f"{found['hazards']:.0f}",
            f"{found['median_to_stop_s']:.2f}, {found['worst_to_stop_s']:.2f} ≤ {limits.to_stop_s:.2f}",
            f"{found['least_held']:.1%} ≥ {limits.held:.0%}", _resumed(found["worst_to_resume_s"], limits),
            f"{found['touches']:.0f} = 0",
        )
        broken += [
            f"{kind} at {answer.hazard.began_s:.2f} s: {fault}"
            for one in summary.recordings for answer in one.of(kind) for fault in answer.faults(limits)
        ]
    console.print(table)
    console.print(
        f"{summary.false_stops} false stop(s) on {summary.driven_m:.1f} m without a hazard (limit {FALSE_STOPS})"
    )
    broken += [f"stopped without a reason at {at:.2f} s" for one in summary.recordings for at in one.false_stops_s]
    for line in broken:
        console.print(f"[red]{name}: {line}[/red]")
    figures |= {"false_stops": summary.false_stops, "driven_m": summary.driven_m}
    return figures, not broken


def _resumed(worst_s: float, limits: Limits) -> str:
    return "–" if math.isnan(worst_s) else f"{worst_s:.2f} ≤ {limits.to_resume_s:.2f}"
