"""How well the configured language model plans: labelled orders and labelled moments."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from anima.config import ROOT, Settings, load_settings
from anima.planner.bench import (
    Moment,
    Order,
    Score,
    Warmth,
    bench_act,
    bench_listen,
    bench_warmth,
    load_cases,
    sample,
)
from anima.planner.llm.llama import LlamaCpp, model_file
from anima.planner.session import open_model
from anima_sim.bench.options import BenchParser

CASES = ROOT / "tests" / "llm"
RIGHT_SHARE = 0.9


def _options(name: str, about: str | None, arguments: list[str]) -> tuple[Settings, int]:
    parser = BenchParser(name, about)
    parser.model()
    parser.add_argument("--cases", type=int, default=1000, help="how many cases, drawn by the seed (default all)")
    options = parser.parse_args(arguments)
    return load_settings({"llm.model": options.model} if options.model else None), options.cases


def _figures(score: Score) -> tuple[dict[str, Any], bool]:
    figures = {
        "cases": score.total,
        "right": score.right,
        "contested": score.contested,
        "contested_right": score.contested_right,
        "contested_right_by_lot": score.contested_by_lot,
        "seconds_per_turn_s": score.seconds_per_turn,
        "cached_share": score.cached_share,
        "misses": list(score.misses),
    }
    return figures, score.right >= RIGHT_SHARE * score.total


def bench_hearing(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Orders that no prompt was tuned on: how many are understood exactly."""
    settings, count = _options("listen", bench_hearing.__doc__, arguments)
    model = open_model(settings.llm)
    orders = sample(load_cases(CASES / "orders_heldout.yaml", Order), count, seed)
    score = bench_listen(settings, model, orders, say=lambda line: console.print(line, markup=False))
    model.close()
    return _figures(score)


def bench_choosing(seed: int, arguments: list[str], console: Console) -> tuple[dict[str, Any], bool]:
    """Moments that no prompt was tuned on: how often the next call is a right one."""
    settings, count = _options("act", bench_choosing.__doc__, arguments)
    model = open_model(settings.llm)
    moments = [moment for moment in load_cases(CASES / "situations.yaml", Moment) if moment.heldout]
    score = bench_act(
        settings, model, sample(moments, count, seed), say=lambda line: console.print(line, markup=False)
    )
    model.close()
    return _figures(score)


def measure_warmth(seed: int, turns: int = 8) -> Warmth:
    """A planner tick that computes its whole prompt, against ticks whose prefix is in the KV cache."""
    settings = load_settings()
    llm = settings.llm
    model = LlamaCpp(model_file(llm.model), llm.threads, llm.context_tokens, prefix_cache=None)
    moments = sample(load_cases(CASES / "situations.yaml", Moment), turns + 1, seed)
    warmth = bench_warmth(settings, model, moments)
    model.close()
    return warmth
