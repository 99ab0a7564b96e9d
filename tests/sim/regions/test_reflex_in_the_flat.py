"""The reflex kernel on the simulated body: a person holds the stick forward, and the robot keeps itself from harm."""

from __future__ import annotations

import pytest

from anima import topics as t
from anima.brain import TABLE
from anima.config import Settings
from anima.runtime.local_graph import TICK_S, LocalGraph
from anima.types.mind import Fault, GroundTruth
from anima.types.std import TwistStamped

pytestmark = pytest.mark.sim


class Flat:
    """Body and reflex kernel in the flat, the robot on its dock."""

    def __init__(self) -> None:
        rows = [row for row in TABLE if row.node in ("body", "reflex_kernel")]
        self.graph = LocalGraph(Settings(cameras=False, seed=1), rows)
        self.hold(0.5, 0.0)

    def hold(self, seconds: float, linear: float, angular: float = 0.0) -> GroundTruth:
        """The stick is held for a while; the truth after it."""
        for _ in range(round(seconds / TICK_S)):
            self.graph.send(t.CMD_VEL_TELEOP.of(TwistStamped.planar(self.graph.now, linear, angular)))
            self.graph.tick()
        truth = self.graph.last(t.GROUND_TRUTH)
        assert truth is not None
        return truth

    def told(self) -> set[str]:
        """The reflexes that began."""
        return {
            logged.sent.value.kind
            for logged in self.graph.log
            if logged.sent.topic is t.REFLEX_EVENT and logged.sent.value.active  # type: ignore[attr-defined]
        }


@pytest.fixture
def off_dock() -> Flat:
    flat = Flat()
    flat.hold(2.0, 0.3)
    return flat


def test_it_stops_at_the_stairs_and_can_back_off(off_dock: Flat) -> None:
    off_dock.hold(1.95, 0.0, -0.8)
    at_edge = off_dock.hold(9.0, 0.4)
    assert "cliff" in off_dock.told()
    assert at_edge.linear_speed == pytest.approx(0.0, abs=0.01)
    assert 6.7 < at_edge.robot.position.x < 7.1, "the floor ends at 7.10"
    assert off_dock.hold(2.0, -0.3).robot.position.x < at_edge.robot.position.x - 0.1


def test_it_comes_to_rest_before_a_wall_without_touching_it(off_dock: Flat) -> None:
    truth = off_dock.hold(15.0, 0.4, 0.3)
    assert "obstacle" in off_dock.told()
    assert truth.collisions == 0 and truth.linear_speed == pytest.approx(0.0, abs=0.01)


def test_it_can_back_into_its_dock(off_dock: Flat) -> None:
    assert off_dock.hold(7.0, -0.1).docked


def test_a_wheel_that_locks_is_noticed_and_the_other_one_stops(off_dock: Flat) -> None:
    off_dock.hold(0.5, 0.0)
    off_dock.graph.send(t.FAULT.of(Fault(kind="stalled_wheel", target="left_wheel", duration_s=3.0)))
    truth = off_dock.hold(1.2, 0.3)
    assert "stall" in off_dock.told()
    assert truth.wheel_speeds == pytest.approx([0.0, 0.0], abs=0.05)


def test_a_lost_lidar_ends_driving(off_dock: Flat) -> None:
    off_dock.graph.send(t.FAULT.of(Fault(kind="lost_sensor", target="lidar")))
    truth = off_dock.hold(1.5, -0.1)
    assert "sensor_silent" in off_dock.told() and truth.linear_speed == pytest.approx(0.0, abs=0.01)
