"""The simulated world and body: one scene description and one robot description, stepped by MuJoCo, without ROS."""

from anima_sim.faults import Fault
from anima_sim.scene import Scene, load_scene
from anima_sim.speed import bench_speed
from anima_sim.truth import Truth
from anima_sim.world import World

__all__ = ["Fault", "Scene", "Truth", "World", "bench_speed", "load_scene"]
