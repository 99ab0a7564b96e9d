"""What every simulated world of the robot is to those who use it, whichever physics stands behind it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from anima_sim.battery import Battery, BatteryState
from anima_sim.config import CameraConfig, RobotConfig
from anima_sim.devices import (
    Floats,
    Imu,
    InertialUnit,
    Intrinsics,
    Reals,
    measured_cliffs,
    measured_scan,
    noisy_picture,
)
from anima_sim.drive import BaseDriver, Odometer
from anima_sim.errors import CommandError, SensorLost, SimulationError
from anima_sim.fault_effects import FaultBox
from anima_sim.faults import Fault
from anima_sim.scene import Scene, pose_rad
from anima_sim.truth import Collision, Pose2

Picture = npt.NDArray[np.uint8]
WHEEL_JOINTS = ("left_wheel_joint", "right_wheel_joint")
JointReading = tuple[float, float, float]
"""Position (rad), velocity (rad/s), effort (N·m)."""
_T = TypeVar("_T")
# How far the robot's rear contacts may be off the dock's strips and still charge.
_DOCK_GAP_M, _DOCK_SIDE_M, _DOCK_TURN_RAD = 0.02, 0.03, 0.20


class Judge(Protocol):
    """What really happened. Poses are in the map frame, metres and radians."""

    def robot_pose(self) -> Pose2:
        """x, y, heading of base_link."""
        ...

    def robot_height(self) -> float:
        """Height of base_link over the floor (m): 0 on the floor, less when it fell down the stairs."""
        ...

    def robot_velocity(self) -> tuple[float, float]:
        """Speed over ground (m/s, never negative) and rate of turn (rad/s)."""
        ...

    def wheel_speeds(self) -> tuple[float, float]:
        """Left and right wheel, rad/s."""
        ...

    def object_pose(self, name: str) -> tuple[Reals, Reals]:
        """Position (3,) and orientation quaternion (4,) w x y z of an object's centre."""
        ...

    def object_poses(self) -> dict[str, tuple[float, float, float]]:
        """Position of every object."""
        ...

    def on_surface(self, name: str) -> str | None:
        """What carries the object: a surface's name, "gripper", "floor", or None."""
        ...

    @property
    def collisions(self) -> list[Collision]:
        """Every touch between robot and surroundings since the start."""
        ...

    def max_collision_speed_mps(self) -> float:
        """Fastest that the base was going when it touched something; 0 if it never did."""
        ...


class RobotWorld(ABC):
    """A scene with the robot in it, docked, at time 0: commands in, readings out, faults, truth.

    The same seed and the same commands give the same trajectory and the same readings, bit for bit. Sensor noise has a
    stream per sensor: reading one doesn't change another. Commands may come at any time; they act from the next control
    period (20 ms) on.
    """

    truth: Judge
    _faults: FaultBox

    def __init__(self, scene: Scene, config: RobotConfig, cameras: bool, battery_scale: float) -> None:
        self.scene = scene
        self.config = config
        self.cameras = cameras
        self._battery_scale = battery_scale

    def _start_over(self, seed: int) -> None:
        """Driver, odometer, devices and battery as they are at time 0."""
        sensors = self.config.sensors
        self.seed = seed
        odometer, inertia, self._scan_noise, self._cliff_noise, mast, wrist = (
            np.random.default_rng([seed, k]) for k in range(6)
        )
        self._targets = dict(self.config.arm.stow)
        self._setpoints = dict(self.config.arm.stow)
        self._driver = BaseDriver(self.config.base)
        self._odometer = Odometer(self.config.base, sensors.odometry, odometer)
        self._imu = InertialUnit(sensors.imu, inertia)
        self._noise = {"mast": mast, "wrist": wrist}
        self._battery = Battery(self.config.battery, self._battery_scale)
        self._frozen: dict[str, Any] = {}
        self._speed_mps = 0.0

    # -- time -------------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated seconds since the start."""

    @abstractmethod
    def step(self, duration_s: float = 0.02) -> None:
        """Advances physics by `duration_s`, rounded to whole physics steps."""

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
            low, high = self._range_of(name)
            self._targets[name] = float(min(max(angle, low), high))

    # -- sensors ----------------------------------------------------------------------------------------------------

    def odometry(self) -> tuple[float, float, float, float, float]:
        """x, y, heading, linear and angular velocity in `odom`, which starts at zero where the robot starts."""
        return self._reading("odometry", lambda: (*self._odometer.pose, *self._odometer.velocity))

    def joint_states(self) -> dict[str, JointReading]:
        """Position (rad), velocity (rad/s) and effort (N·m) of wheels, arm joints and gripper."""
        return self._reading("joint_states", self._joint_states)

    def imu(self) -> Imu:
        """Last sample of the inertial unit."""
        return self._reading("imu", lambda: self._imu.read(self._pushed(), self._tilt()))

    def lidar(self) -> Floats:
        """A scan: see `devices.measured_scan` for what infinities and NaN mean. Shape (360,), float32.

        Beam i points at i · 360°/beams, counted from the robot's x axis to the left.
        """

        def scan() -> Floats:
            true, masked = self._scan()
            return measured_scan(true, masked, self.config.sensors.lidar, self._scan_noise)

        return self._reading("lidar", scan)

    def bumpers(self) -> tuple[bool, bool]:
        """Whether the left and the right bumper were pressed within the last period."""
        limit = self.config.sensors.bumpers.threshold_n
        left, right = self._pressed()
        return self._reading("bumpers", lambda: (left > limit, right > limit))

    def cliffs(self) -> Floats:
        """Distance to the floor along four slanted beams: front left, front right, rear left, rear right (m)."""
        config = self.config.sensors.cliffs
        return self._reading("cliffs", lambda: measured_cliffs(self._floor_below(), config, self._cliff_noise))

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

    def camera(self, name: str) -> tuple[Picture, Floats]:
        """Picture of "mast" or "wrist": colour (height, width, 3) uint8, depth (height, width) float32 in metres.

        Depth runs along the optical axis and is NaN where it couldn't be measured.
        """
        config = self._camera(name)
        if not self.cameras:
            raise SimulationError("this world was made with cameras=False and renders nothing")

        def shoot() -> tuple[Picture, Floats]:
            colour, depth = self._shoot(name, config)
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
        self._place(None, (x, y, 0.001), heading)

    def place_object(self, name: str, x: float, y: float, z: float, heading: float = 0.0) -> None:
        """Sets the stage: puts an object's centre at a point in the map, at rest."""
        self.scene.object(name)
        self._place(name, (x, y, z), heading)

    @abstractmethod
    def overview_image(self, width: int = 960, height: int = 720, shadows: bool = True) -> Picture:
        """The whole place from above, shape (height, width, 3)."""

    @abstractmethod
    def close(self) -> None:
        """Frees what the simulator holds outside of this process's memory."""

    # -- one control period -------------------------------------------------------------------------------------------

    def _begin_period(self) -> tuple[tuple[float, float], dict[str, float]]:
        """What the motors are told for the next period: wheel speeds (rad/s) and where the servos go (rad)."""
        period = self.config.simulation.control_period_s
        self._faults.expire()
        wheels = self._driver.wheel_speeds(self.time, period)
        reach = self.config.arm.max_joint_speed_radps * period
        for name, target in self._targets.items():
            now = self._setpoints[name]
            self._setpoints[name] = now + min(max(target - now, -reach), reach)
        wanted = dict(self._setpoints)
        letting_go = self._faults.gripper_override()
        if letting_go is not None:
            wanted[self.config.arm.gripper] = letting_go
        return wheels, wanted

    def _end_period(self) -> None:
        """What the devices that never sleep make of the period that is over."""
        period = self.config.simulation.control_period_s
        turning = self._imu.update(self._turning(), period)
        lost = self._faults.lost("imu")
        joints = self._joint_states()
        left, right = (joints[name][0] for name in WHEEL_JOINTS)
        self._odometer.update(left, right, None if lost else turning, period)
        self._battery.update(self._motor_power_w(joints), self.on_dock(), period)
        self._power(self._battery.percentage > 0.0)
        self._speed_mps = self.truth.robot_velocity()[0]

    def _motor_power_w(self, joints: dict[str, JointReading]) -> float:
        c = self.config.battery
        total = 0.0
        for name, (_, speed, torque) in joints.items():
            loss = c.wheel_loss_w_per_nm2 if name in WHEEL_JOINTS else c.arm_loss_w_per_nm2
            total += max(0.0, torque * speed) / c.drive_efficiency + loss * torque * torque
        return total

    # -- what the physics must tell and do ---------------------------------------------------------------------------

    @abstractmethod
    def _range_of(self, joint: str) -> tuple[float, float]:
        """Lowest and highest position of a joint, rad."""

    @abstractmethod
    def _joint_states(self) -> dict[str, JointReading]:
        """Of the wheels, the arm and the gripper."""

    @abstractmethod
    def _turning(self) -> Reals:
        """True angular velocity (3,) in imu_link, rad/s."""

    @abstractmethod
    def _pushed(self) -> Reals:
        """True acceleration with gravity's reaction (3,) in imu_link, m/s²."""

    @abstractmethod
    def _tilt(self) -> Reals:
        """Rotation (3, 3) of imu_link in the map."""

    @abstractmethod
    def _scan(self) -> tuple[Reals, npt.NDArray[np.bool_] | None]:
        """True lidar distances (-1: nothing), and which beams the robot itself stands in."""

    @abstractmethod
    def _floor_below(self) -> Reals:
        """True distances of the four cliff beams (-1: nothing)."""

    @abstractmethod
    def _pressed(self) -> tuple[float, float]:
        """The hardest push on the left and the right bumper in the last period, N."""

    @abstractmethod
    def _shoot(self, name: str, config: CameraConfig) -> tuple[Picture, Floats]:
        """A clean picture: colour (height, width, 3) and depth (height, width) in metres."""

    @abstractmethod
    def _power(self, on: bool) -> None:
        """Whether the motors have torque: a flat battery leaves them without."""

    @abstractmethod
    def _place(self, thing: str | None, at: tuple[float, float, float], heading: float) -> None:
        """Puts an object, or the robot (None), somewhere at rest."""

    # -- inside -----------------------------------------------------------------------------------------------------

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
