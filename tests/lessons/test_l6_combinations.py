"""L-6: spot checks miss what only combinations show, so thousands of them are lived through in the pure mind.

A message during a loop during a low battery during a sensor loss, and every other mix of two to five events within
six seconds. 1,500 by default, which the suite has time for; `ANIMA_COMBINATIONS=5000` is the full run.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os

import pytest
from support.combinations import EVENTS, Combination, faults_of

from anima.audit.codec import encode

COMBINATIONS = int(os.environ.get("ANIMA_COMBINATIONS", "1500"))
BATCH = 50


@pytest.mark.timeout(900)
def test_no_combination_of_events_breaks_the_mind() -> None:
    """No deadlock, no two foci, no lease without deadline, no motion after a stop, every refusal explained."""
    batches = [range(first, min(first + BATCH, COMBINATIONS)) for first in range(0, COMBINATIONS, BATCH)]
    workers = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(min(4, os.cpu_count() or 1), mp_context=workers) as pool:
        faults = [fault for batch in pool.map(faults_of, batches) for fault in batch]
    assert not faults, f"{len(faults)} faults, the first:\n" + "\n".join(faults[:10])


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_each_event_alone_leaves_the_mind_in_order(event: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Combination, "_draw", lambda self: [event])
    assert [fault for seed in range(3) for fault in Combination(seed).run()] == []


def test_the_same_seed_gives_the_same_course() -> None:
    first, second = Combination(7), Combination(7)
    first.run()
    second.run()
    assert [(item.at, encode(item.sent.value)) for item in first.mind.graph.log] == [
        (item.at, encode(item.sent.value)) for item in second.mind.graph.log
    ]
