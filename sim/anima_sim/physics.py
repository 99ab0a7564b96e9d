"""MuJoCo's physics of a scene, and the robots in it: whoever steps it steps them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from anima_sim.rendering import Studio  # chooses the GL back end before mujoco is loaded

# isort: split
import math

import mujoco

from anima_sim.config import RobotConfig
from anima_sim.errors import SimulationError
from anima_sim.mjcf_robot import MOST_ROBOTS
from anima_sim.mjcf_scene import world_mjcf
from anima_sim.placement import start_poses
from anima_sim.robot import urdf
from anima_sim.scene import Scene


class Resident(Protocol):
    """A robot in the physics."""

    def start(self, seed: int) -> None:
        """The physics have started over: so does the robot."""
        ...

    def begin_period(self) -> None:
        """A control period begins: the motors are told what to do in it."""
        ...

    def touch(self) -> None:
        """One physics step is over."""
        ...

    def end_period(self) -> None:
        """The control period is over."""
        ...


class Physics:
    """A scene with one robot, or with several whose names in it begin with what `prefixes` says.

    Robots join in the order of the prefixes. What they do within a period doesn't depend on which is asked first.
    """

    def __init__(self, scene: Scene, config: RobotConfig, prefixes: Sequence[str] = ("",)) -> None:
        """Raises `SceneError` when the scene has no place for so many robots, `SimulationError` for more than three."""
        if not 1 <= len(set(prefixes)) == len(prefixes) <= MOST_ROBOTS:
            raise SimulationError(f"one to {MOST_ROBOTS} robots of different names, not: {', '.join(prefixes)}")
        self.scene, self.config, self.prefixes = scene, config, tuple(prefixes)
        self.model: Any = mujoco.MjModel.from_xml_string(world_mjcf(scene, config, urdf(), prefixes))
        self.data: Any = mujoco.MjData(self.model)
        self.studio = Studio(self.model)
        sim = config.simulation
        self._timestep_s = sim.timestep_s
        self._steps_per_period = max(1, round(sim.control_period_s / sim.timestep_s))
        self._count = 0
        self.robots: list[Resident] = []

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self._count * self._timestep_s

    def start_over(self, seed: int) -> None:
        """Everything as at time 0, with the objects where this seed puts them. Each robot has luck of its own."""
        mujoco.mj_resetData(self.model, self.data)
        self._count = 0
        for name, (x, y, z, yaw) in start_poses(self.scene, seed).items():
            self.place(name, (x, y, z + 0.0005), yaw)
        for index, robot in enumerate(self.robots):
            robot.start(seed + 7919 * index)

    def step(self, duration_s: float) -> None:
        """Advances by `duration_s`, rounded to whole physics steps."""
        for _ in range(round(duration_s / self._timestep_s)):
            if self._count % self._steps_per_period == 0:
                for robot in self.robots:
                    robot.begin_period()
            mujoco.mj_step(self.model, self.data)
            self._count += 1
            for robot in self.robots:
                robot.touch()
            if self._count % self._steps_per_period == 0:
                for robot in self.robots:
                    robot.end_period()

    def place(self, joint: str, at: tuple[float, float, float], heading: float) -> None:
        """Puts what hangs on a free joint somewhere, at rest."""
        free = self.model.joint(joint)
        place, speed = (int(getattr(free, k)[0]) for k in ("qposadr", "dofadr"))
        turned = (math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))
        self.data.qpos[place : place + 7] = (*at, *turned)
        self.data.qvel[speed : speed + 6] = 0.0
        mujoco.mj_forward(self.model, self.data)
