"""What the sensors say is what is there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sim.world.motion import MakeWorld, bend, drive, wait

from anima_sim import World
from anima_sim.errors import SimulationError

pytestmark = pytest.mark.sim


def test_the_lidar_sees_the_walls_at_their_distance(world: World) -> None:
    world.place_robot(3.9, 2.0, 0.0)
    scan = world.lidar()
    assert scan.shape == (360,) and scan.dtype == np.float32
    assert scan[270] == pytest.approx(2.0 - 1.25, abs=0.04), "the corridor's south wall, to the right"
    assert scan[0] == pytest.approx(7.95 - 3.9, abs=0.06), "the far wall, across the stairs"


def test_nothing_within_reach_is_plus_infinity(make_world: MakeWorld) -> None:
    world = make_world()
    world.place_robot(40.0, 40.0, 0.0)
    scan = world.lidar()
    assert np.all(np.isposinf(scan[~np.isnan(scan)]))


def test_too_close_is_minus_infinity(world: World) -> None:
    world.place_robot(3.9, 1.25 + 0.04, 0.0)
    assert np.isneginf(world.lidar()[270])


def test_the_robots_own_mast_and_portal_are_masked_and_leave_the_view_ahead_free(world: World) -> None:
    masked = np.isnan(world.lidar())
    assert 0 < masked.sum() < 30
    assert not masked[np.arange(-40, 41)].any()


def test_the_arm_is_never_in_the_lidars_way(world: World) -> None:
    world.place_robot(4.6, 2.0, 0.0)
    before = world.lidar()
    bend(world, 3.0, shoulder_pan=-1.5, shoulder_lift=1.73, elbow_flex=0.0, wrist_flex=-0.1)  # as low as it goes
    # The folded and the stretched arm shift the robot's weight, and with it the plane, a little.
    assert world.lidar()[:180] == pytest.approx(before[:180], rel=0.05, abs=0.05, nan_ok=True)


def test_a_table_is_seen_only_by_its_legs(world: World) -> None:
    world.place_robot(6.7, 4.4, 0.0)
    scan = world.lidar()
    assert scan[0] == pytest.approx(7.95 - 6.7, abs=0.05), "under the top, to the wall"
    legs = scan[np.r_[314:328, 33:46]]
    assert np.nanmin(legs[:14]) < 0.85 and np.nanmin(legs[14:]) < 0.85


def test_the_cliff_sensors_see_the_stairs_before_the_wheels_get_there(world: World) -> None:
    world.place_robot(6.5, 2.0, 0.0)
    nominal = world.config.sensors.cliffs.nominal_range_m
    assert world.cliffs() == pytest.approx(np.full(4, nominal), abs=0.02)
    while not (world.cliffs()[:2] > nominal + 0.06).all():
        assert world.time < 10.0
        drive(world, 0.2, 0.0, 0.02)
    edge = world.scene.stairs.start[0]
    assert edge - world.truth.robot_pose()[0] > 0.2, "the wheels are well back, and so is the front caster"
    assert world.cliffs()[2:] == pytest.approx(np.full(2, nominal), abs=0.02)


def test_who_drives_on_falls(world: World) -> None:
    world.place_robot(6.6, 2.0, 0.0)
    drive(world, 0.3, 0.0, 4.0)
    wait(world, 1.0)
    assert world.truth.robot_height() < -0.05


def test_bumpers_tell_left_from_right(world: World) -> None:
    assert world.bumpers() == (False, False)
    # North, beside one post of the living room's door, then beside the other.
    for x, expected in ((3.82, (True, False)), (4.58, (False, True))):
        world.place_robot(x, 2.45, math.pi / 2)
        pressed = set()
        for _ in range(100):
            drive(world, 0.1, 0.0, 0.02)
            pressed.add(world.bumpers())
        assert pressed == {(False, False), expected}


def test_a_bump_into_the_wall_is_on_record_with_speed_and_force(world: World) -> None:
    world.place_robot(4.0, 1.9, -math.pi / 2)
    drive(world, 0.3, 0.0, 3.0)
    first = world.truth.collisions[0]
    assert first.part.startswith("bumper") and first.against.startswith("wall")
    assert first.speed_mps == pytest.approx(0.3, abs=0.03)
    assert first.force_n > 10.0
    assert all(world.bumpers())


def test_the_mast_camera_sees_an_object_where_it_is(make_world: MakeWorld) -> None:
    world = make_world(cameras=True)
    world.place_robot(6.75, 4.4, 0.0)
    world.place_object("red_cube", 7.35, 4.45, 0.4177)
    wait(world, 0.5)
    colour, depth = world.camera("mast")
    assert colour.shape == (240, 320, 3) and colour.dtype == np.uint8
    assert depth.shape == (240, 320) and depth.dtype == np.float32
    red = (colour[..., 0] > 90) & (colour[..., 1] < 60) & (colour[..., 2] < 60) & np.isfinite(depth)
    assert red.sum() > 30
    rows, columns = np.nonzero(red)
    lens = world.intrinsics("mast")
    z = depth[red]
    x, y = (columns - lens.cx) / lens.fx * z, (rows - lens.cy) / lens.fy * z
    tilt = math.radians(42)
    ahead = math.cos(tilt) * z - math.sin(tilt) * y - 0.07
    up = 0.95 - math.sin(tilt) * z - math.cos(tilt) * y
    robot_x, robot_y, _ = world.truth.robot_pose()
    assert np.median(ahead) == pytest.approx(7.35 - robot_x, abs=0.025)
    assert np.median(-x) == pytest.approx(4.45 - robot_y, abs=0.01)
    assert np.percentile(up, 90) == pytest.approx(0.435, abs=0.012)


def test_depth_that_cannot_be_measured_is_nan_never_a_number(make_world: MakeWorld) -> None:
    world = make_world(cameras=True)
    _, depth = world.camera("wrist")
    measured = depth[np.isfinite(depth)]
    assert measured.min() >= 0.0 and measured.max() <= 2.2
    assert np.isnan(depth).any()


def test_the_wrist_camera_looks_at_the_fingertips(make_world: MakeWorld) -> None:
    world = make_world(cameras=True)
    world.place_robot(2.4, 4.2, 0.0)
    bend(world, 2.5, shoulder_pan=0.0, shoulder_lift=0.0, elbow_flex=0.0, wrist_flex=1.2, gripper=0.3)
    _, depth = world.camera("wrist")
    near = np.isfinite(depth) & (depth < 0.13)
    assert near[150:].mean() > 0.1, "the fingers stand in the lower half"
    assert near[:60].mean() < 0.02, "and leave the view ahead free"


def test_a_world_without_cameras_says_so(world: World) -> None:
    with pytest.raises(SimulationError, match="cameras=False"):
        world.camera("mast")
