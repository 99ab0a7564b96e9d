"""What the conflict monitor calls useless is not offered, until the tactic has changed or a while has passed."""

from __future__ import annotations

import pytest
from support.gate_rig import call
from support.glue_rig import go_to, outcome

from anima import topics as t
from anima.failure import Failure
from anima.planner.budgets import load_budgets
from anima.planner.signals import Signals
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.glue import Conflict

NOW = 100.0


@pytest.fixture
def signals() -> Signals:
    signals = Signals(load_budgets())
    conflict = Conflict(
        header=Header.at(NOW), id="x1", kind="oscillation", objective="o1", advice="change_tactic",
        avoid=["go_to(shelf)"], why="it goes round", because=["c1"],
    )
    hear(signals, t.CONFLICT.of(conflict))
    return signals


def hear(signals: Signals, *sent: Sent) -> None:
    signals.take(Inbox.of(sent), lambda _: False)


def barred(signals: Signals, now: float = NOW + 1.0) -> set[str]:
    return set(signals.bias(now, "o1").barred)


def test_a_call_that_leads_nowhere_is_barred_for_its_objective_only(signals: Signals) -> None:
    assert barred(signals) == {"go_to(shelf)"}
    assert not signals.bias(NOW + 1.0, "o2").barred


def test_when_another_call_has_worked_it_is_offered_again(signals: Signals) -> None:
    hear(signals, outcome(NOW + 1, go_to("c2", "desk"), Failure.PATH_BLOCKED), outcome(NOW + 1, go_to("c3", "shelf")))
    assert barred(signals), "neither a failure nor the same call again is another tactic"
    hear(signals, outcome(NOW + 2, call("c4", "look_for", object="red_cube")))
    assert not barred(signals)


def test_after_a_while_it_is_offered_again(signals: Signals) -> None:
    assert not barred(signals, NOW + 1000.0)
