"""What the glue costs: microseconds per tick of all its regions and of each, and how fast the pure mind runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from anima.runtime.component import Component, Inbox
from anima.topics import Sent
from anima_sim.bench.options import BenchParser
from anima_sim.pure_mind import GLUE, ORDERS, ROWS, PureMind
from anima_sim.symbolic import Trouble

GLUE_TICK_S = 0.1  # the gate's period: in it every region that is due steps
MEDIAN_LIMIT_US = 1000.0
TICKS_PER_S_LIMIT = 1000.0
ORDER_EVERY_S = 20.0


class Timed:
    """A component whose steps are timed, in nanoseconds of this thread's clock."""

    def __init__(self, component: Component) -> None:
        self._component = component
        self.spent_ns = 0
        self.steps_ns: list[int] = []

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """One step, timed."""
        began = time.perf_counter_ns()
        sent = self._component.step(now, inbox)
        spent = time.perf_counter_ns() - began
        self.spent_ns += spent
        self.steps_ns.append(spent)
        return sent

    def why(self) -> str:
        """What the component says."""
        return self._component.why()


def _live(mind: PureMind, seconds: float, each_tick: list[Timed] | None = None) -> list[int]:
    """Give orders for a while; returns what each glue tick cost, in nanoseconds."""
    orders = sorted(ORDERS)
    ticks: list[int] = []
    for number in range(round(seconds / ORDER_EVERY_S)):
        mind.say(orders[number % len(orders)])
        for _ in range(round(ORDER_EVERY_S / GLUE_TICK_S)):
            before = sum(timed.spent_ns for timed in each_tick or ())
            mind.graph.run_for(GLUE_TICK_S)
            ticks.append(sum(timed.spent_ns for timed in each_tick or ()) - before)
        mind.graph.log.clear()
    return ticks


def bench_glue(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Orders, failures and chatter for ten minutes of the mind's time, on the symbolic flat."""
    parser = BenchParser("glue", bench_glue.__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the mind's time (default 10)")
    seconds = 60.0 * parser.parse_args(arguments).minutes
    trouble = Trouble(grasp_fails=0.3, search_fails=0.2, drive_fails=0.1)

    built = PureMind(seed=seed)
    timed = {row.node: Timed(built.graph.component(row.node)) for row in ROWS if row.node in GLUE}
    mind = PureMind(seed=seed, trouble=trouble, replace=timed)
    with console.status("every region, timed"):
        ticks = np.array(_live(mind, seconds, list(timed.values()))) / 1000
    table = Table("region", "steps", "median µs", "p99 µs", "share of the glue")
    total = sum(one.spent_ns for one in timed.values())
    regions: dict[str, Any] = {}
    for node, one in timed.items():
        steps = np.array(one.steps_ns or [0]) / 1000
        median, p99, share = float(np.median(steps)), float(np.percentile(steps, 99)), one.spent_ns / total
        regions[node] = {"steps": len(one.steps_ns), "median_us": median, "p99_us": p99, "share": share}
        table.add_row(node, str(len(one.steps_ns)), f"{median:.0f}", f"{p99:.0f}", f"{share:.0%}")
    console.print(table)

    plain = PureMind(seed=seed, trouble=trouble)
    with console.status("the pure mind, as fast as it goes"):
        began = time.perf_counter()
        _live(plain, seconds)
        spent = time.perf_counter() - began
    median, rate = float(np.median(ticks)), seconds / 0.02 / spent
    console.print(
        f"limits: a glue tick (all regions, {GLUE_TICK_S:g} s of the mind's time) at most {MEDIAN_LIMIT_US:g} µs in "
        f"the median, and at least {TICKS_PER_S_LIMIT:g} ticks of 20 ms a second"
    )
    figures = {
        "glue_tick_median_us": median,
        "glue_tick_p99_us": float(np.percentile(ticks, 99)),
        "pure_mind_ticks_per_s": rate,
        "pure_mind_times_real_time": seconds / spent,
        "regions": regions,
    }
    return figures, median <= MEDIAN_LIMIT_US and rate >= TICKS_PER_S_LIMIT
