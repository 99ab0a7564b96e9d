"""How fast the world runs on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable

from anima_sim.scene import load_scene
from anima_sim.world import World


def bench_speed(duration_s: float = 10.0, seed: int = 0) -> dict[str, float]:
    """Simulated seconds per second of wall clock while driving and moving the arm, alone and with sensors.

    Keys: `real_time_factor` (scan at 10 Hz, no cameras), `real_time_factor_with_camera` (and RGB-D of the mast at
    10 Hz), `scan_ms`, `rgbd_ms`.
    """
    world = World(load_scene("flat"), seed=seed)
    world.camera("mast")  # the first picture makes the graphics context
    plain = _run(world, duration_s, camera=False)
    world.reset(seed)
    full = _run(world, duration_s, camera=True)
    result = {
        "real_time_factor": duration_s / plain,
        "real_time_factor_with_camera": duration_s / full,
        "scan_ms": 1000 * _each(lambda: world.lidar()),
        "rgbd_ms": 1000 * _each(lambda: world.camera("mast")),
    }
    world.close()
    return result


def _run(world: World, duration_s: float, camera: bool) -> float:
    start = time.perf_counter()
    for tick in range(round(duration_s / 0.02)):
        world.command_base(0.25 if tick % 200 < 100 else -0.2, 0.3)
        if tick % 50 == 0:
            world.command_joints({"shoulder_pan": 1.0 if tick % 100 else -1.0, "elbow_flex": 0.5})
        world.step()
        if tick % 5 == 0:
            world.lidar()
            if camera:
                world.camera("mast")
    return time.perf_counter() - start


def _each(act: Callable[[], object], times: int = 20) -> float:
    start = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - start) / times
