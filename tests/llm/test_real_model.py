"""The default model under the real prompts and grammars: a sample of the labelled sets, with some room to err."""

from __future__ import annotations

from pathlib import Path

import pytest

from anima.config import Settings
from anima.planner.bench import Moment, Order, Score, bench_act, bench_listen, load_cases, sample
from anima.planner.llm.base import LanguageModel

HERE = Path(__file__).parent
SETTINGS = Settings()

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]


def held_to(score: Score, share: float) -> None:
    assert score.right >= share * score.total, "\n".join(score.misses)
    assert score.cached_share >= 0.85


def test_orders_that_nothing_was_tuned_on_are_understood(model: LanguageModel) -> None:
    orders = sample(load_cases(HERE / "orders_heldout.yaml", Order), 20, seed=1)
    held_to(bench_listen(SETTINGS, model, orders), 0.8)


def test_the_next_step_is_found_in_moments_that_nothing_was_tuned_on(model: LanguageModel) -> None:
    moments = [moment for moment in load_cases(HERE / "situations.yaml", Moment) if moment.heldout]
    score = bench_act(SETTINGS, model, moments[-12:])
    held_to(score, 0.9)
    assert score.contested_right > score.contested_by_lot
