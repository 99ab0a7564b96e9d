"""Things stay where they are put, and what is grasped is held."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim.world.motion import MakeWorld, bend, drive, wait

from anima_sim import Fault, World

pytestmark = pytest.mark.sim

# Hand down to the table from 0.26 m before its edge, 9 cm beyond it; and the same 8 cm higher.
_DOWN = {"shoulder_lift": 0.45699, "elbow_flex": 0.84311, "wrist_flex": 0.05907}
_UP = {"shoulder_lift": -0.22306, "elbow_flex": 0.83651, "wrist_flex": 0.74573}
_CARRY = {"shoulder_pan": 1.3, "shoulder_lift": -1.2, "elbow_flex": 1.0, "wrist_flex": 0.9}
_SPOT = (7.25 + 0.09, 4.4)


def _grasp(world: World, name: str) -> None:
    world.place_robot(7.25 - 0.26, 4.4, 0.0)
    bend(world, 2.0, shoulder_pan=0.0, wrist_roll=0.0, gripper=0.95, **_UP)
    # The jaws close along x here; a long block lies across.
    world.place_object(name, *_SPOT, 0.40 + world.scene.object(name).size_m[2] / 2 + 0.0005, math.pi / 2)
    bend(world, 1.5, **_DOWN)
    bend(world, 1.0, gripper=-0.17)
    bend(world, 1.5, **_UP)


@pytest.mark.parametrize("seed", range(5))
def test_objects_rest_where_they_were_put(make_world: MakeWorld, seed: int) -> None:
    world = make_world(seed=seed)
    start = world.truth.object_poses()
    wait(world, 5.0)
    for name, place in world.truth.object_poses().items():
        assert math.dist(place, start[name]) < 0.004, f"{name} moved"
        assert world.truth.on_surface(name) in world.scene.placements.surfaces


@pytest.mark.parametrize("name", ["red_cube", "blue_cylinder", "purple_block", "orange_ball"])
def test_what_is_between_the_pads_is_held_when_lifted_and_carried(world: World, name: str) -> None:
    _grasp(world, name)
    assert world.truth.on_surface(name) == "gripper"
    assert world.truth.object_poses()[name][2] > 0.46
    bend(world, 1.5, **_CARRY)
    assert world.joint_states()["gripper"][0] > 0.15, "closed on something"
    drive(world, -0.3, 0.0, 2.0)
    drive(world, 0.0, 0.8, 3.0)
    assert world.truth.on_surface(name) == "gripper"
    assert world.truth.collisions == []


def test_an_empty_gripper_closes_all_the_way(world: World) -> None:
    bend(world, 1.0, gripper=0.95)
    bend(world, 1.5, gripper=-0.17)
    assert world.joint_states()["gripper"][0] < 0.15


def test_what_is_dropped_lands_on_the_floor(world: World) -> None:
    _grasp(world, "red_cube")
    bend(world, 1.5, **_CARRY)
    drive(world, -0.3, 0.0, 2.5)
    world.inject(Fault("dropped_object"))
    wait(world, 2.0)
    assert world.truth.on_surface("red_cube") == "floor"


def test_a_ball_on_a_table_does_not_roll_away(world: World) -> None:
    world.place_object("orange_ball", 7.5, 4.4, 0.42)
    wait(world, 4.0)
    x, y, _ = world.truth.object_poses()["orange_ball"]
    assert math.hypot(x - 7.5, y - 4.4) < 0.01


def test_the_tray_carries_what_is_handed_over(world: World) -> None:
    x, y = world.scene.surface("person_tray").centre
    world.place_object("green_cube", x, y, 0.43)
    wait(world, 1.0)
    assert world.truth.on_surface("green_cube") == "person_tray"


def test_an_object_on_another_belongs_to_the_surface_below(world: World) -> None:
    world.place_object("red_cube", 7.5, 4.4, 0.4176)
    world.place_object("green_cube", 7.5, 4.4, 0.4530)
    wait(world, 1.0)
    assert world.truth.on_surface("green_cube") == "kitchen_table"
    world.place_object("green_cube", 7.5, 4.4, 0.9)
    assert world.truth.on_surface("green_cube") is None


def test_people_get_pictures_of_the_flat_and_of_the_robot(make_world: MakeWorld) -> None:
    world = make_world(cameras=True)
    above, behind = world.overview_image(320, 240), world.third_person(320, 240)
    assert above.shape == behind.shape == (240, 320, 3)
    assert above.std() > 10 and behind.std() > 10
    assert not np.array_equal(above, behind)
