"""The world in one object: physics, the robot's body in it, and what its sensors say. No ROS, no clock but its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

from anima_sim.rendering import Image, Studio  # chooses the GL back end before mujoco is loaded

# isort: split
import mujoco
import numpy as np

from anima_sim.battery import Battery, BatteryState
from anima_sim.breakage import Breakage
from anima_sim.config import CameraConfig, RobotConfig, load_robot
from anima_sim.drive import BaseDriver, Odometer
from anima_sim.errors import CommandError, SensorLost, SimulationError
from anima_sim.fault_effects import FaultBox
from anima_sim.faults import Fault
from anima_sim.mjcf_scene import world_mjcf
from anima_sim.placement import start_poses
from anima_sim.robot import urdf
from anima_sim.scene import Scene, pose_rad
from anima_sim.sensing import Cliffs, Floats, Imu, InertialUnit, Intrinsics, Lidar, noisy_picture
from anima_sim.truth import ContactWatch, Truth

_T = TypeVar("_T")
_WHEELS = ("left_wheel_joint", "right_wheel_joint")
# How far the robot's rear contacts may be off the dock's strips and still charge.
_DOCK_GAP_M, _DOCK_SIDE_M, _DOCK_TURN_RAD = 0.02, 0.03, 0.20


class World:
    """A scene with the robot in it, docked, at time 0.

    The same seed and the same commands give the same trajectory and the same readings, bit for bit. Sensor noise has a
    stream per sensor: reading one doesn't change another. Commands may come at any time; they act from the next control
    period (20 ms) on.
    """

    def __init__(
        self,
        scene: Scene,
        seed: int = 0,
        cameras: bool = True,
        config: RobotConfig | None = None,
        battery_scale: float = 1.0,
    ) -> None:
        self.scene = scene
        self.config = config or load_robot()
        self.cameras = cameras
        self._battery_scale = battery_scale
        self._model: Any = mujoco.MjModel.from_xml_string(world_mjcf(scene, self.config, urdf()))
        self._data: Any = mujoco.MjData(self._model)
        self._studio = Studio(self._model)
        model, sim = self._model, self.config.simulation
        self._steps_per_period = max(1, round(sim.control_period_s / sim.timestep_s))
        self._joints = {n: model.joint(n).id for n in (*_WHEELS, *self.config.joints)}
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
        self.seed = seed
        self._count = 0
        sensors = self.config.sensors
        streams = [np.random.default_rng([seed, k]) for k in range(6)]
        self._place_everything(seed)
        self._targets = dict(self.config.arm.stow)
        self._setpoints = dict(self.config.arm.stow)
        for name, angle in self.config.arm.stow.items():
            self._data.qpos[self._model.jnt_qposadr[self._joints[name]]] = angle
            self._data.ctrl[self._motors[name]] = angle
        mujoco.mj_forward(self._model, self._data)
        self._driver = BaseDriver(self.config.base)
        self._odometer = Odometer(self.config.base, sensors.odometry, streams[0])
        self._imu = InertialUnit(self._model, self.config, streams[1])
        self._lidar = Lidar(self._model, sensors.lidar, streams[2])
        self._lidar.mask_own_body(self._data)
        self._cliffs = Cliffs(self._model, sensors.cliffs, streams[3])
        self._noise = {"mast": streams[4], "wrist": streams[5]}
        self._battery = Battery(self.config.battery, self._battery_scale)
        pads = self.config.simulation.pads.links
        self._watch = ContactWatch(self._model, self.scene, sensors.bumpers.links, pads)
        self.truth = self._breakage.truth = Truth(self._model, self._data, self.scene, self._watch)
        self._frozen: dict[str, Any] = {}
        self._speed_mps = 0.0
        self._power(True)

    def step(self, duration_s: float = 0.02) -> None:
        """Advances physics by `duration_s`, rounded to whole physics steps (2 ms)."""
        for _ in range(round(duration_s / self.config.simulation.timestep_s)):
            if self._count % self._steps_per_period == 0:
                self._begin_period()
            mujoco.mj_step(self._model, self._data)
            self._count += 1
            self._watch.look(self._data, self._speed_mps)
            if self._count % self._steps_per_period == 0:
                self._end_period()

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._count * self.config.simulation.timestep_s

    # -- commands ---------------------------------------------------------------------------------------------------

    def command_base(self, linear_mps: float, angular_radps: float) -> None:
        """Asks for a velocity; it must be repeated within 0.25 s, or the driver brakes to a stop.

        Raises `CommandError` for numbers that aren't finite.
        """
        self._driver.command(self.time, linear_mps, angular_radps)

    def command_joints(self, positions_rad: dict[str, float]) -> None:
        """Sends arm joints or the gripper to positions; clipped to the joint's range, at the servo's own top speed.

        Raises `CommandError` for unknown joints and numbers that aren't finite; then nothing moves.
        """
        for name, angle in positions_rad.items():
            if name not in self.config.joints:
                raise CommandError(f"no joint '{name}' to command (there are: {', '.join(self.config.joints)})")
            if not math.isfinite(angle):
                raise CommandError(f"joint '{name}' can't go to {angle}; nothing was moved")
        for name, angle in positions_rad.items():
            low, high = self._model.jnt_range[self._joints[name]]
            self._targets[name] = float(min(max(angle, low), high))

    # -- sensors ----------------------------------------------------------------------------------------------------

    def odometry(self) -> tuple[float, float, float, float, float]:
        """x, y, heading, linear and angular velocity in `odom`, which starts at zero where the robot starts."""
        return self._reading("odometry", lambda: (*self._odometer.pose, *self._odometer.velocity))

    def joint_states(self) -> dict[str, tuple[float, float, float]]:
        """Position (rad), velocity (rad/s) and effort (N·m) of wheels, arm joints and gripper."""
        return self._reading("joint_states", self._joint_states)

    def imu(self) -> Imu:
        """Last sample of the inertial unit."""
        return self._reading("imu", lambda: self._imu.read(self._data))

    def lidar(self) -> Floats:
        """A scan: see `sensing.Lidar` for angles and for what infinities and NaN mean. Shape (360,), float32."""
        return self._reading("lidar", lambda: self._lidar.read(self._data))

    def bumpers(self) -> tuple[bool, bool]:
        """Whether the left and the right bumper were pressed within the last period."""
        limit = self.config.sensors.bumpers.threshold_n
        left, right = self._watch.pressed
        return self._reading("bumpers", lambda: (left > limit, right > limit))

    def cliffs(self) -> Floats:
        """Distance to the floor along four slanted beams: front left, front right, rear left, rear right (m)."""
        return self._reading("cliffs", lambda: self._cliffs.read(self._data))

    def battery(self) -> BatteryState:
        """Charge, voltage, current (negative while discharging), whether it charges."""
        return self._reading("battery", lambda: self._battery.state)

    def on_dock(self) -> bool:
        """Whether the rear contacts touch the dock's strips."""
        x, y, yaw = self.truth.robot_pose()
        dx, dy, dyaw = pose_rad(self.scene.dock.docked)
        ahead = (x - dx) * math.cos(dyaw) + (y - dy) * math.sin(dyaw)
        aside = -(x - dx) * math.sin(dyaw) + (y - dy) * math.cos(dyaw)
        turn = math.remainder(yaw - dyaw, 2 * math.pi)
        return abs(ahead) < _DOCK_GAP_M and abs(aside) < _DOCK_SIDE_M and abs(turn) < _DOCK_TURN_RAD

    def camera(self, name: str) -> tuple[Image, Floats]:
        """Picture of "mast" or "wrist": colour (height, width, 3) uint8, depth (height, width) float32 in metres.

        Depth runs along the optical axis and is NaN where it couldn't be measured.
        """
        config = self._camera(name)
        if not self.cameras:
            raise SimulationError("this world was made with cameras=False and renders nothing")

        def shoot() -> tuple[Image, Floats]:
            colour, depth = self._studio.rgbd(self._data, name, config.width, config.height)
            return noisy_picture(colour, depth, config, self.config.sensors.camera_noise, self._noise[name])

        return self._reading(name, shoot)

    def intrinsics(self, name: str) -> Intrinsics:
        """Geometry of the camera called `name`."""
        return Intrinsics.of(self._camera(name))

    # -- faults and pictures ----------------------------------------------------------------------------------------

    def inject(self, fault: Fault) -> None:
        """Makes something go wrong from now on. Raises `FaultError` when this world can't produce it."""
        if fault.kind == "lost_sensor" and fault.frozen:
            fault.check()
            names = ["mast", "wrist"] if fault.target == "camera" else [fault.target]
            for name in names:
                self._frozen[name] = self._read_by_name(name)
        self._faults.inject(fault)
        if fault.kind == "low_battery":
            self._battery.percentage = min(self._battery.percentage, fault.charge())

    def faults(self) -> list[Fault]:
        """Faults in force, oldest first."""
        return self._faults.faults

    def clear_faults(self) -> None:
        """Ends all faults. Charge that is gone stays gone, and what was dropped stays dropped."""
        self._faults.clear()

    def place_robot(self, x: float, y: float, heading: float) -> None:
        """Sets the stage: lifts the robot to a pose in the map, standing still. Odometry doesn't notice."""
        self._place("base", (x, y, 0.001), heading)

    def place_object(self, name: str, x: float, y: float, z: float, heading: float = 0.0) -> None:
        """Sets the stage: puts an object's centre at a point in the map, at rest."""
        self.scene.object(name)
        self._place(name, (x, y, z), heading)

    def overview_image(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The whole place from above, shape (height, width, 3)."""
        return self._studio.picture(self._data, "overview", width, height, shadows)

    def third_person(self, width: int = 960, height: int = 720, shadows: bool = True) -> Image:
        """The robot from behind and above, for films, shape (height, width, 3)."""
        return self._studio.picture(self._data, "third_person", width, height, shadows)

    def close(self) -> None:
        """Frees the graphics contexts."""
        self._studio.close()

    # -- inside -----------------------------------------------------------------------------------------------------

    def _place_everything(self, seed: int) -> None:
        for name, (x, y, z, yaw) in start_poses(self.scene, seed).items():
            self._place(name, (x, y, z + 0.0005), yaw)

    def _place(self, joint: str, at: tuple[float, float, float], heading: float) -> None:
        place, speed = (int(getattr(self._model.joint(joint), k)[0]) for k in ("qposadr", "dofadr"))
        turned = (math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2))
        self._data.qpos[place : place + 7] = (*at, *turned)
        self._data.qvel[speed : speed + 6] = 0.0
        mujoco.mj_forward(self._model, self._data)

    def _begin_period(self) -> None:
        period = self.config.simulation.control_period_s
        self._faults.expire()
        self._watch.begin_period()
        for name, speed in zip(_WHEELS, self._driver.wheel_speeds(self.time, period), strict=True):
            self._data.ctrl[self._motors[name]] = speed
        reach = self.config.arm.max_joint_speed_radps * period
        for name, target in self._targets.items():
            now = self._setpoints[name]
            self._setpoints[name] = now + min(max(target - now, -reach), reach)
            self._data.ctrl[self._motors[name]] = self._setpoints[name]
        letting_go = self._faults.gripper_override()
        if letting_go is not None:
            self._data.ctrl[self._motors[self.config.arm.gripper]] = letting_go

    def _end_period(self) -> None:
        period = self.config.simulation.control_period_s
        turning = self._imu.update(self._data, period)
        lost = self._faults.lost("imu")
        angles = [float(self._data.qpos[self._model.jnt_qposadr[self._joints[w]]]) for w in _WHEELS]
        self._odometer.update(angles[0], angles[1], None if lost else turning, period)
        self._battery.update(self._motor_power_w(), self.on_dock(), period)
        self._power(self._battery.percentage > 0.0)
        self._speed_mps = self.truth.robot_velocity()[0]

    def _motor_power_w(self) -> float:
        c = self.config.battery
        total = 0.0
        for name, joint in self._joints.items():
            torque = float(self._data.actuator_force[self._motors[name]])
            speed = float(self._data.qvel[self._model.jnt_dofadr[joint]])
            loss = c.wheel_loss_w_per_nm2 if name in _WHEELS else c.arm_loss_w_per_nm2
            total += max(0.0, torque * speed) / c.drive_efficiency + loss * torque * torque
        return total

    def _power(self, on: bool) -> None:
        # A flat battery leaves the motors without torque.
        self._model.actuator_forcerange[:] = self._forces if on else 0.0

    def _joint_states(self) -> dict[str, tuple[float, float, float]]:
        data, model = self._data, self._model
        return {
            name: (
                float(data.qpos[model.jnt_qposadr[joint]]),
                float(data.qvel[model.jnt_dofadr[joint]]),
                float(data.actuator_force[self._motors[name]]),
            )
            for name, joint in self._joints.items()
        }

    def _camera(self, name: str) -> CameraConfig:
        cameras = {"mast": self.config.sensors.mast_camera, "wrist": self.config.sensors.wrist_camera}
        if name not in cameras:
            raise SimulationError(f"no camera '{name}' (there are: {', '.join(cameras)})")
        return cameras[name]

    def _reading(self, sensor: str, take: Callable[[], _T]) -> _T:
        lost = self._faults.lost(sensor)
        if lost is None:
            self._frozen.pop(sensor, None)
            return take()
        if lost.frozen and sensor in self._frozen:
            return cast(_T, self._frozen[sensor])
        raise SensorLost(f"{sensor} gives no data (injected fault); clear it with clear_faults()")

    def _read_by_name(self, sensor: str) -> Any:
        return self.camera(sensor) if sensor in self._noise else getattr(self, sensor)()
