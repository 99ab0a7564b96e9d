"""What the learner did in a recorded life is done again, bit by bit."""

from __future__ import annotations

import random
from pathlib import Path

from anima import topics as t
from anima.audit.journal import Journal, read_lines
from anima.audit.replay import Replay
from anima.config import Settings
from anima_sim.pure_mind import ChoosingModel, PureMind
from anima_sim.symbolic import Trouble


def test_a_recorded_life_with_a_memory_is_learned_from_again_in_the_same_way(tmp_path: Path) -> None:
    home = Settings(seed=3, memory_url=f"sqlite:///{tmp_path}/mind.db")
    for life in range(2):
        texts: list[str] = []
        journal = Journal("planner", home, texts.append)
        model = ChoosingModel(random.Random(3), strays=0.0)
        mind = PureMind(home, 3, Trouble(0.0, 0.0, 0.0), model, build=journal.build)
        mind.graph.run_for(1.0)
        mind.say("pick up the green cube")
        mind.graph.run_for(20.0)
        mind.say("that's too much detail, just tell me when you're done")
        mind.say("next time ask how the cat is")
        mind.say("goodbye")
        mind.graph.run_for(5.0)
        journal.flush()
        replay = Replay()
        for line in read_lines(texts):
            replay.feed(line)
        assert replay.report.first is None, str(replay.report.first)
        assert replay.report.nodes["learner"].sent >= 3
        assert not replay.report.nodes["learner"].skipped
        mind.graph.component("learner").component.close()  # type: ignore[attr-defined]
        mind.graph.component("memory").component.close()  # type: ignore[attr-defined]
        if life == 1:
            assert mind.graph.sent(t.GUIDANCE)[1].report_length == "short"
