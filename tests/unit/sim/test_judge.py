"""The judge believes the simulator and nobody else."""

from __future__ import annotations

import numpy as np
import pytest

from anima.body.places import Places, load_places
from anima.config import Settings
from anima.types.base import Header
from anima.types.mind import GroundTruth, ObjectTruth
from anima.types.std import Pose
from anima.world.predicates import Predicate
from anima_sim.bench.errands import Order, fill, load_kinds
from anima_sim.judge import is_true

PLACES: Places = load_places(Settings().map_folder)


def truth(x: float = 6.2, y: float = 3.6, docked: bool = False, **support: str) -> GroundTruth:
    return GroundTruth(
        header=Header.at(5.0), robot=Pose.planar(x, y, 0.0), linear_speed=0.0, angular_speed=0.0,
        wheel_speeds=np.zeros(2), collisions=0, worst_collision_speed=0.0, docked=docked,
        objects=[ObjectTruth(name=name, pose=Pose(), support=where) for name, where in support.items()],
    )


@pytest.mark.parametrize(
    ("condition", "found", "expected"),
    [
        ("at(red_cube, shelf)", truth(red_cube="shelf"), True),
        ("at(red_cube, shelf)", truth(red_cube="floor"), False),
        ("at(red_cube, person)", truth(red_cube="person_tray"), True),
        ("at(red_cube, person)", truth(red_cube="gripper"), False),
        ("holding(red_cube)", truth(red_cube="gripper"), True),
        ("hand_empty", truth(red_cube="gripper"), False),
        ("at(robot, kitchen)", truth(), True),
        ("at(robot, office)", truth(), False),
        ("docked", truth(docked=True), True),
        ("charged(80)", truth(docked=False), False),
    ],
)
def test_a_condition_is_held_against_what_is(condition: str, found: GroundTruth, expected: bool) -> None:
    assert is_true(Predicate.parse(condition), found, PLACES, []) is expected


def test_telling_counts_only_when_the_place_told_is_the_true_one() -> None:
    told = Predicate.parse("told(orange_ball)")
    real = truth(orange_ball="office_table")
    assert is_true(told, real, PLACES, ["The orange ball is on the office table."])
    assert not is_true(told, real, PLACES, ["The orange ball is on the shelf."])
    assert not is_true(told, real, PLACES, ["The red cube is on the office table."])


def test_an_order_of_the_benchmark_never_asks_for_what_is_already_so() -> None:
    order = Order(say="bring the red cube to the {target}", expect=("at(red_cube, {target})",))
    for seed in range(6):
        filled = fill(order, truth(red_cube="shelf"), seed)
        assert "shelf" not in filled.say and "{target}" not in filled.say
        assert filled.expect[0].split(", ")[1][:-1].replace("_", " ") in filled.say


def test_the_benchmark_has_ten_kinds_in_three_phrasings_each() -> None:
    kinds = load_kinds()
    assert len(kinds) == 10
    assert all(len({order.say for order in kind.orders}) == 3 for kind in kinds)
