"""`bring the red cube to the kitchen table`, skill by skill, with every motion going through the flashed image."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.skill_rig import SkillRig

from anima import brain
from anima import topics as t
from anima.body.places import load_places
from anima.config import Settings
from anima.failure import Failure
from anima.runtime.local_graph import LocalGraph
from anima.types.base import Header
from anima.types.mind import StopRequest
from anima_sim.board.plant import FirmwareWorld

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

NODES = {"driver", "reflex_kernel", "localization", "parietal_affordance", "motor_cortex", "perception"}
PATIENCE_S = 150.0


class FirmwareRig(SkillRig):
    """The same rig with the emulated board between reflexes and physics; armed, as a person does it."""

    def __init__(self, seed: int) -> None:
        self.settings = Settings(seed=seed, sim="firmware")
        rows = [row for row in brain.table("firmware") if row.node in NODES]
        self.graph = LocalGraph(self.settings, [brain.WORLD, *rows])
        body = self.graph.component("world")
        assert isinstance(body, FirmwareWorld)
        self.body, self.world = body, body.world
        self.places = load_places(self.settings.map_folder)
        self._leases = 0
        self.graph.run_for(1.0)
        self.graph.send(t.STOP_REQUEST.of(StopRequest(header=Header.at(self.graph.now), stop=False, source="person")))
        self.graph.run_for(1.0)

    def do(self, name: str, **arguments: str) -> None:
        lease = self.lease(name, **arguments)
        assert self.graph.run_until(lambda: self.outcome(lease) is not None, PATIENCE_S), f"{name} never ended"
        outcome = self.outcome(lease)
        assert outcome is not None and Failure(outcome.failure) is Failure.NONE, (name, outcome)


def test_the_red_cube_comes_to_the_kitchen_table_through_the_flashed_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    rig = FirmwareRig(seed=1)
    try:
        rig.do("undock")
        rig.do("go_to", place="shelf")
        rig.do("look_for", object="red_cube")
        rig.do("approach", object="red_cube")
        rig.do("pick", object="red_cube")
        rig.do("go_to", place="kitchen_table")
        rig.do("place", object="red_cube", surface="kitchen_table")
        assert rig.world.truth.on_surface("red_cube") == "kitchen_table"
        assert rig.world.truth.collisions == []
        assert rig.body.last.resets == 0
    finally:
        rig.body.close()
