"""Recordings of the pure mind, made without ROS in the format that the robot records in."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from anima import topics as t
from anima.audit.journal import Journal
from anima.audit.recording import Recording
from anima.config import Settings
from anima.types.audit import JournalChunk
from anima.types.base import Header
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble

FLUSH_EVERY_S = 1.0


def record(
    folder: Path, live: Callable[[PureMind], None], seed: int = 3, trouble: Trouble | None = None
) -> PureMind:
    """Record everything that `live` does with a mind, all topics and the journal, into `folder`."""
    texts: list[str] = []
    settings = Settings(seed=seed)
    journal = Journal("brain", settings, texts.append)
    model = ChoosingModel(random.Random(seed), strays=0.0)
    mind = PureMind(settings, seed, trouble or Trouble(0.0, 0.0, 0.0), model, build=journal.build)
    written = 0
    flushed = 0.0

    def write() -> None:
        nonlocal written, flushed
        flushed = mind.now
        journal.flush()
        for text in texts:
            chunk = JournalChunk(header=Header.at(mind.now), process="brain", sequence=written, lines=text)
            recording.put(t.JOURNALS["brain"].of(chunk), mind.now)
            written += 1
        texts.clear()

    with Recording(folder) as recording:
        mind.graph.tap(lambda logged: recording.put(logged.sent, logged.at))
        mind.graph.tap(lambda logged: write() if logged.at - flushed >= FLUSH_EVERY_S else None)
        live(mind)
        write()
    return mind
