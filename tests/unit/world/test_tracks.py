"""How sightings become objects that the robot knows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from anima.types.mind import Detection, ObjectState
from anima.types.std import Point, Vector3
from anima.world.tracks import ABSENT, CONFIRMED, GRIPPER, TENTATIVE, Tracker
from anima.world.tuning import load_world_tuning

TUNING = load_world_tuning().tracks
KNOWN = {"red": "cube", "blue": "cylinder"}
TABLE_Z = 0.4175


def sighting(
    x: float = 1.0, y: float = 2.0, colour: str = "red", shape: str = "cube", confidence: float = 0.9, yaw: float = 0.0
) -> Detection:
    return Detection(
        colour=colour, shape=shape, position=Point(x=x, y=y, z=TABLE_Z), yaw=yaw,
        size=Vector3(x=0.035, y=0.035, z=0.035), confidence=confidence,
    )


class Rig:
    """A tracker that is shown a picture every tenth of a second."""

    def __init__(self) -> None:
        self.tracker = Tracker(TUNING, KNOWN)
        self.now = 0.0

    def show(self, *detections: Detection, times: int = 1, watching: bool = True) -> Sequence[ObjectState]:
        for _ in range(times):
            self.now += 0.1
            self.tracker.see(self.now, detections, lambda x, y, z: "table", lambda x, y, z: watching)
        return self.tracker.objects()

    def only(self) -> ObjectState:
        (thing,) = self.tracker.objects()
        return thing


def test_one_sighting_is_a_maybe_and_three_are_knowledge() -> None:
    rig = Rig()
    rig.show(sighting())
    assert rig.only().status == TENTATIVE
    rig.show(sighting(), times=2)
    assert (rig.only().name, rig.only().status, rig.only().place) == ("red_cube", CONFIRMED, "table")


def test_three_sightings_over_a_long_time_are_still_a_maybe() -> None:
    rig = Rig()
    for _ in range(3):
        rig.show(sighting())
        rig.now += TUNING.confirm_window_s
    assert rig.only().status == TENTATIVE


def test_a_maybe_that_is_not_seen_again_is_forgotten() -> None:
    rig = Rig()
    rig.show(sighting())
    assert rig.show(times=3, watching=True) == []


def test_what_was_looked_for_where_it_was_and_is_gone_becomes_absent() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    rig.show(times=TUNING.absent_looks - 1)
    assert rig.only().status == CONFIRMED, "a few blinks are no proof"
    rig.show()
    assert rig.only().status == ABSENT


def test_looking_elsewhere_makes_nothing_absent() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    rig.show(times=100, watching=False)
    assert rig.only().status == CONFIRMED


def test_a_doubtful_glimpse_of_the_colour_speaks_for_the_object_but_moves_it_nowhere() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    before = rig.only().position
    rig.show(sighting(x=1.06, confidence=0.1), times=20)
    assert rig.only().status == CONFIRMED and rig.only().position == before


def test_a_doubtful_glimpse_alone_makes_no_object() -> None:
    assert Rig().show(sighting(confidence=TUNING.min_confidence - 0.01), times=10) == []


def test_an_absent_object_that_is_seen_again_is_known_again() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    rig.show(times=10)
    rig.show(sighting(x=1.01), times=3)
    assert rig.only().status == CONFIRMED


def test_an_object_that_moved_across_the_table_is_one_object_at_its_new_place() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    rig.show(sighting(x=1.3, y=2.4), times=3)
    assert (rig.only().status, rig.only().position.x) == (CONFIRMED, pytest.approx(1.3, abs=0.01))


def test_a_nudged_object_is_followed() -> None:
    rig = Rig()
    rig.show(sighting(), times=10)
    for step in range(10):
        rig.show(sighting(x=1.0 + 0.004 * (step + 1)), times=2)
    rig.show(sighting(x=1.04), times=10)
    assert rig.only().position.x == pytest.approx(1.04, abs=0.003)


def test_many_noisy_sightings_settle_near_the_truth() -> None:
    rig = Rig()
    rng = np.random.default_rng(0)
    for _ in range(30):
        dx, dy = rng.normal(0, 0.005, 2)
        rig.show(sighting(1.0 + dx, 2.0 + dy))
    at = rig.only().position
    assert math.hypot(at.x - 1.0, at.y - 2.0) < 0.004


def test_a_heading_across_the_quarter_turn_does_not_average_to_its_opposite() -> None:
    rig = Rig()
    for i in range(20):
        rig.show(sighting(yaw=math.radians(44 if i % 2 else -44)))
    assert abs(abs(rig.only().yaw) - math.pi / 4) < math.radians(3)


def test_the_colour_decides_which_known_object_it_is() -> None:
    rig = Rig()
    rig.show(sighting(colour="blue", shape="block"), times=4)
    assert (rig.only().name, rig.only().shape) == ("blue_cylinder", "cylinder")


def test_something_unknown_is_named_as_it_looks_most_of_the_time() -> None:
    rig = Rig()
    for shape in ("ball", "cube", "cube", "cube"):
        rig.show(sighting(colour="green", shape=shape))
    assert rig.only().name == "green_cube"


def test_objects_of_different_colours_side_by_side_stay_apart() -> None:
    rig = Rig()
    rig.show(sighting(), sighting(x=1.02, colour="blue", shape="cylinder"), times=5)
    assert [thing.name for thing in rig.tracker.objects()] == ["blue_cylinder", "red_cube"]


def test_the_held_object_is_where_the_hand_is_and_is_not_missed_on_the_table() -> None:
    rig = Rig()
    rig.show(sighting(), times=5)
    track = rig.tracker.hold("red_cube", (0.5, 0.5, 0.7), rig.now)
    rig.show(times=20)
    rig.tracker.carry(track, (0.6, 0.5, 0.7), rig.now)
    assert (rig.only().place, rig.only().status, rig.only().position.x) == (GRIPPER, CONFIRMED, 0.6)


def test_a_held_object_that_is_seen_elsewhere_long_enough_is_there() -> None:
    rig = Rig()
    rig.tracker.hold("red_cube", (0.5, 0.5, 0.7), rig.now)
    rig.show(sighting(), times=2)
    found = rig.tracker.find("red_cube")
    assert found is not None and found.place == GRIPPER
    rig.show(sighting())
    assert (rig.only().place, rig.only().position.x) == ("table", 1.0)


def test_let_go_above_a_top_it_is_there_and_let_go_in_the_air_nobody_knows() -> None:
    rig = Rig()
    track = rig.tracker.hold("red_cube", (1.0, 2.0, 0.42), rig.now)
    rig.tracker.release(track, (1.0, 2.0, TABLE_Z), "table", rig.now)
    assert (rig.only().place, rig.only().status) == ("table", CONFIRMED)
    track = rig.tracker.hold("red_cube", (1.0, 2.0, 0.8), rig.now)
    rig.tracker.release(track, (1.0, 2.0, 0.8), "", rig.now)
    assert (rig.only().place, rig.only().status) == ("", TENTATIVE)


def test_a_restored_tracker_goes_on_like_the_one_that_was_dumped() -> None:
    rig, twin = Rig(), Rig()
    rig.show(sighting(), sighting(x=1.2, colour="blue", shape="cylinder"), times=4)
    twin.tracker.restore(json.loads(json.dumps(rig.tracker.dump())))
    twin.now = rig.now
    assert rig.show(sighting(x=1.01), times=7) == twin.show(sighting(x=1.01), times=7)
