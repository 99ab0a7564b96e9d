"""The world in MuJoCo: the robot's body in it, and what its sensors say. No ROS, no clock but its own."""

from __future__ import annotations

from collections.abc import Sequence

from anima_sim.physics import Physics  # chooses the GL back end before mujoco is loaded
from anima_sim.rendering import Image

# isort: split
import mujoco
import numpy as np
import numpy.typing as npt

from anima_sim.breakage import Breakage
from anima_sim.config import CameraConfig, RobotConfig, load_robot
from anima_sim.devices import Floats, Reals
from anima_sim.fault_effects import FaultBox
from anima_sim.mjcf_scene import OBSTACLES
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
        physics: Physics | None = None,
    ) -> None:
        """With `physics` it is the next robot in a world of several, which all begin when the last has joined."""
        super().__init__(scene, config or load_robot(), cameras, battery_scale)
        self._physics = physics = physics or Physics(scene, self.config)
        self._index = len(physics.robots)
        self._prefix = prefix = physics.prefixes[self._index]
        self._model, self._data, self._studio = physics.model, physics.data, physics.studio
        model, names = self._model, (*WHEEL_JOINTS, *self.config.joints)
        self._joints = {n: model.joint(prefix + n).id for n in names}
        self._motors = {n: model.actuator(prefix + n).id for n in names}
        self._forces = model.actuator_forcerange.copy()
        self._breakage = Breakage(model, self._data, prefix)
        boxes = OBSTACLES[self._index :: len(physics.prefixes)]
        self._faults = FaultBox(self._breakage, scene, self.config, boxes)
        physics.robots.append(self)
        if len(physics.robots) == len(physics.prefixes):
            self.reset(seed)

    @classmethod
    def of_several(
        cls, scene: Scene, names: Sequence[str], seed: int = 0, cameras: bool = True, config: RobotConfig | None = None
    ) -> dict[str, World]:
        """Several robots in one world, by name: stepping one steps all. Raises what `Physics` raises."""
        config = config or load_robot()
        physics = Physics(scene, config, [f"{name}_" for name in names])
        return {name: cls(scene, seed, cameras, config, physics=physics) for name in names}

    # -- time -------------------------------------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Starts over: robot on the dock, arm stowed, objects where this seed puts them, no faults.

        Of several robots the first is on the dock, and all start over.
        """
        self._physics.start_over(seed)

    def step(self, duration_s: float = 0.02) -> None:
        """Advances physics by `duration_s`, rounded to whole physics steps (2 ms)."""
        self._physics.step(duration_s)

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._physics.time

    # -- as a resident of the physics ---------------------------------------------------------------------------------

    def start(self, seed: int) -> None:
        """The physics have started over."""
        self._faults.clear()
        sensors = self.config.sensors
        for name, angle in self.config.arm.stow.items():
            self._data.qpos[self._model.jnt_qposadr[self._joints[name]]] = angle
            self._data.ctrl[self._motors[name]] = angle
        mujoco.mj_forward(self._model, self._data)
        self._start_over(seed)
        self._lidar = Lidar(self._model, sensors.lidar, self._index, self._prefix)
        self._lidar.mask_own_body(self._data)
        self._cliffs = Cliffs(self._model, sensors.cliffs, self._prefix)
        self._inertia = Inertia(self._model, self._data, sensors.imu.frame, self._prefix)
        pads = self.config.simulation.pads.links
        self._watch = ContactWatch(self._model, self.scene, sensors.bumpers.links, pads, self._prefix)
        self.truth = Truth(self._model, self._data, self.scene, self._watch, self._prefix)
        self._breakage.truth = self.truth
        self._power(True)

    def begin_period(self) -> None:
        """Tells the motors what to do in the next control period."""
        self._watch.begin_period()
        wheels, servos = self._begin_period()
        for name, value in (*zip(WHEEL_JOINTS, wheels, strict=True), *servos.items()):
            self._data.ctrl[self._motors[name]] = value

    def touch(self) -> None:
        """Looks at what touches after a physics step."""
        self._watch.look(self._data, self._speed_mps)

    def end_period(self) -> None:
        """Lets the devices have their look at the period that is over."""
        self._end_period()

    # -- pictures ---------------------------------------------------------------------------------------------------

    def overview_image(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The whole place from above, shape (height, width, 3)."""
        return self._studio.picture(self._data, "overview", width, height, shadows)

    def third_person(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The robot from behind and above, for films, shape (height, width, 3)."""
        base = f"{self._prefix}base_link"
        return self._studio.picture(self._data, "third_person", width, height, shadows, base)

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
        return self._studio.rgbd(self._data, self._prefix + name, config.width, config.height)

    def _power(self, on: bool) -> None:
        own = list(self._motors.values())
        self._model.actuator_forcerange[own] = self._forces[own] if on else 0.0

    def _place(self, thing: str | None, at: tuple[float, float, float], heading: float) -> None:
        self._physics.place(thing or f"{self._prefix}base", at, heading)
