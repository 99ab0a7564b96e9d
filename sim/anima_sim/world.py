"""The world in MuJoCo: physics, the robot's body in it, and what its sensors say. No ROS, no clock but its own."""

from __future__ import annotations

import math
from typing import Any

from anima_sim.rendering import Image, Studio  # chooses the GL back end before mujoco is loaded

# isort: split
import mujoco
import numpy as np
import numpy.typing as npt

from anima_sim.breakage import Breakage
from anima_sim.config import CameraConfig, RobotConfig, load_robot
from anima_sim.devices import Floats, Reals
from anima_sim.fault_effects import FaultBox
from anima_sim.mjcf_scene import world_mjcf
from anima_sim.placement import start_poses
from anima_sim.robot import urdf
from anima_sim.robot_world import WHEEL_JOINTS, JointReading, RobotWorld
from anima_sim.scene import Scene
from anima_sim.sensing import Cliffs, Inertia, Lidar
from anima_sim.truth import ContactWatch, Truth


class World(RobotWorld):
    """A `RobotWorld` in MuJoCo, which can start over and film the robot from behind."""

    truth: Truth

    def __init__(
        self,
        scene: Scene,
        seed: int = 0,
        cameras: bool = True,
        config: RobotConfig | None = None,
        battery_scale: float = 1.0,
    ) -> None:
        super().__init__(scene, config or load_robot(), cameras, battery_scale)
        self._model: Any = mujoco.MjModel.from_xml_string(world_mjcf(scene, self.config, urdf()))
        self._data: Any = mujoco.MjData(self._model)
        self._studio = Studio(self._model)
        model, sim = self._model, self.config.simulation
        self._steps_per_period = max(1, round(sim.control_period_s / sim.timestep_s))
        self._joints = {n: model.joint(n).id for n in (*WHEEL_JOINTS, *self.config.joints)}
        self._motors = {n: model.actuator(n).id for n in self._joints}
        self._forces = model.actuator_forcerange.copy()
        self._breakage = Breakage(model, self._data)
        self._faults = FaultBox(self._breakage, scene, self.config)
        self.reset(seed)

    # -- time -------------------------------------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Starts over: robot on the dock, arm stowed, objects where this seed puts them, no faults."""
        self._faults.clear()
        mujoco.mj_resetData(self._model, self._data)
        self._count = 0
        sensors = self.config.sensors
        for name, (x, y, z, yaw) in start_poses(self.scene, seed).items():
            self._place(name, (x, y, z + 0.0005), yaw)
        for name, angle in self.config.arm.stow.items():
            self._data.qpos[self._model.jnt_qposadr[self._joints[name]]] = angle
            self._data.ctrl[self._motors[name]] = angle
        mujoco.mj_forward(self._model, self._data)
        self._start_over(seed)
        self._lidar = Lidar(self._model, sensors.lidar)
        self._lidar.mask_own_body(self._data)
        self._cliffs = Cliffs(self._model, sensors.cliffs)
        self._inertia = Inertia(self._model, self._data, sensors.imu.frame)
        pads = self.config.simulation.pads.links
        self._watch = ContactWatch(self._model, self.scene, sensors.bumpers.links, pads)
        self.truth = self._breakage.truth = Truth(self._model, self._data, self.scene, self._watch)
        self._power(True)

    def step(self, duration_s: float = 0.02) -> None:
        """Advances physics by `duration_s`, rounded to whole physics steps (2 ms)."""
        for _ in range(round(duration_s / self.config.simulation.timestep_s)):
            if self._count % self._steps_per_period == 0:
                self._watch.begin_period()
                wheels, servos = self._begin_period()
                for name, value in (*zip(WHEEL_JOINTS, wheels, strict=True), *servos.items()):
                    self._data.ctrl[self._motors[name]] = value
            mujoco.mj_step(self._model, self._data)
            self._count += 1
            self._watch.look(self._data, self._speed_mps)
            if self._count % self._steps_per_period == 0:
                self._end_period()

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._count * self.config.simulation.timestep_s

    # -- pictures ---------------------------------------------------------------------------------------------------

    def overview_image(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The whole place from above, shape (height, width, 3)."""
        return self._studio.picture(self._data, "overview", width, height, shadows)

    def third_person(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The robot from behind and above, for films, shape (height, width, 3)."""
        return self._studio.picture(self._data, "third_person", width, height, shadows)

    def close(self) -> None:
        """Frees the graphics contexts."""
        self._studio.close()

    # -- what the physics tells and does --------------------------------------------------------------------------

    def _range_of(self, joint: str) -> tuple[float, float]:
        low, high = self._model.jnt_range[self._joints[joint]]
        return float(low), float(high)

    def _joint_states(self) -> dict[str, JointReading]:
        data, model = self._data, self._model
        return {
            name: (
                float(data.qpos[model.jnt_qposadr[joint]]),
                float(data.qvel[model.jnt_dofadr[joint]]),
                float(data.actuator_force[self._motors[name]]),
            )
            for name, joint in self._joints.items()
        }

    def _turning(self) -> Reals:
        return self._inertia.turning()

    def _pushed(self) -> Reals:
        return self._inertia.pushed()

    def _tilt(self) -> Reals:
        return self._inertia.tilt()

    def _scan(self) -> tuple[Reals, npt.NDArray[np.bool_] | None]:
        return self._lidar.look(self._data), self._lidar.masked

    def _floor_below(self) -> Reals:
        return self._cliffs.look(self._data)

    def _pressed(self) -> tuple[float, float]:
        left, right = self._watch.pressed
        return left, right

    def _shoot(self, name: str, config: CameraConfig) -> tuple[Image, Floats]:
        return self._studio.rgbd(self._data, name, config.width, config.height)

    def _power(self, on: bool) -> None:
        self._model.actuator_forcerange[:] = self._forces if on else 0.0

    def _place(self, thing: str | None, at: tuple[float, float, float], heading: float) -> None:
        joint = self._model.joint(thing or "base")
        place, speed = (int(getattr(joint, k)[0]) for k in ("qposadr", "dofadr"))
        turned = (math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))
        self._data.qpos[place : place + 7] = (*at, *turned)
        self._data.qvel[speed : speed + 6] = 0.0
        mujoco.mj_forward(self._model, self._data)
