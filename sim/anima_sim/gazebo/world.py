"""The world in Gazebo 11: the same scene and robot, stepped exactly, behind the same readings and commands."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Set
from typing import Any

import numpy as np
import numpy.typing as npt

from anima_sim.config import CameraConfig, RobotConfig, load_robot
from anima_sim.devices import Floats, Reals
from anima_sim.fault_effects import FaultBox
from anima_sim.faults import WHEELS
from anima_sim.gazebo import frames
from anima_sim.gazebo.prefix import Prefix
from anima_sim.gazebo.sdf import OVERVIEW_PX, OVERVIEWS, ROBOT, links_of, world_sdf
from anima_sim.gazebo.server import Server
from anima_sim.gazebo.touches import TouchWatch
from anima_sim.mjcf_scene import OBSTACLE_HALF_M, OBSTACLE_STORE_M, OBSTACLES, world_mjcf
from anima_sim.placement import start_poses
from anima_sim.robot import urdf
from anima_sim.robot_world import WHEEL_JOINTS, JointReading, Picture, RobotWorld
from anima_sim.scene import Scene, pose_rad
from anima_sim.truth import Collision, Pose2

_GRAVITY = np.array([0.0, 0.0, 9.81])
_ICE = 0.03
_TURNED_OFF_NM, _LOCKED_NM = 1e-4, 100.0
_NOTHING = -1.0
# Outside of the lidar's own housing.
_BEAM_FROM_M = 0.04


class GazeboTruth:
    """Gazebo's own knowledge, for the judge alone."""

    def __init__(self, scene: Scene, watch: TouchWatch) -> None:
        self._scene, self._watch = scene, watch
        self.state: dict[str, Any] = {}

    def robot_pose(self) -> Pose2:
        """x, y, heading of base_link."""
        x, y, _, *turn = self.state["models"][ROBOT][:7]
        matrix = frames.turn_of(*turn)
        return x, y, math.atan2(matrix[1, 0], matrix[0, 0])

    def robot_height(self) -> float:
        """Height of base_link over the floor (m)."""
        return float(self.state["models"][ROBOT][2])

    def robot_velocity(self) -> tuple[float, float]:
        """Speed over ground (m/s, never negative) and rate of turn (rad/s)."""
        vx, vy, _, _, _, turning = self.state["models"][ROBOT][7:]
        return math.hypot(vx, vy), float(turning)

    def wheel_speeds(self) -> tuple[float, float]:
        """Left and right wheel, rad/s."""
        left, right = (float(self.state["joints"][f"{ROBOT}::{name}"][1]) for name in WHEEL_JOINTS)
        return left, right

    def object_pose(self, name: str) -> tuple[Reals, Reals]:
        """Position (3,) and orientation quaternion (4,) w x y z of an object's centre."""
        self._scene.object(name)
        pose = np.array(self.state["models"][name])
        return pose[:3], pose[3:7]

    def object_poses(self) -> dict[str, tuple[float, float, float]]:
        """Position of every object."""
        poses = {}
        for thing in self._scene.objects:
            x, y, z = self.state["models"][thing.name][:3]
            poses[thing.name] = (x, y, z)
        return poses

    def on_surface(self, name: str) -> str | None:
        """What carries the object: a surface's name, "gripper", "floor", or None."""
        self._scene.object(name)
        heights = {thing.name: float(self.state["models"][thing.name][2]) for thing in self._scene.objects}
        return self._watch.carrier(name, heights)

    @property
    def collisions(self) -> list[Collision]:
        """Every touch between robot and surroundings since the start (wheels on the floor and the dock left out)."""
        return list(self._watch.collisions)

    def max_collision_speed_mps(self) -> float:
        """Fastest that the base was going when it touched something; 0 if it never did."""
        return max((c.speed_mps for c in self._watch.collisions), default=0.0)


class GazeboWorld(RobotWorld):
    """A `RobotWorld` in a gzserver of its own. It starts once: a fresh world is a fresh object (two seconds).

    `gui` opens Gazebo's own window. Raises `GazeboMissing` when Gazebo isn't installed here.
    """

    truth: GazeboTruth

    def __init__(
        self,
        scene: Scene,
        seed: int = 0,
        cameras: bool = True,
        config: RobotConfig | None = None,
        battery_scale: float = 1.0,
        gui: bool = False,
    ) -> None:
        super().__init__(scene, config or load_robot(), cameras, battery_scale)
        mjcf = world_mjcf(scene, self.config, urdf())
        self._tuning = self.config.simulation.gazebo
        self._links = links_of(mjcf)
        self._limits = _limits(mjcf)
        prefix = Prefix.find()
        sdf = world_sdf(mjcf, self.config, self._tuning, cameras, str(prefix.plugin))
        self._server = Server(prefix, sdf, seed, cameras, gui)
        self._steps_per_period = max(1, round(self.config.simulation.control_period_s / self._tuning.timestep_s))
        self._count = 0
        self._powered = True
        self._watch = TouchWatch(mjcf, scene, set(self.config.simulation.pads.links))
        self.truth = GazeboTruth(scene, self._watch)
        self._faults = FaultBox(_Breakage(self), scene, self.config)
        self._locked: frozenset[str] = frozenset()
        self._start_over(seed)
        self._set_up()

    def _set_up(self) -> None:
        self._place(None, (*pose_rad(self.scene.dock.docked)[:2], 0.0), pose_rad(self.scene.dock.docked)[2])
        for name, (x, y, z, yaw) in start_poses(self.scene, self.seed).items():
            self._place(name, (x, y, z + 0.0002), yaw)
        for joint, angle in self.config.arm.stow.items():
            self._server.tell(f"angle {ROBOT}::{joint} {angle}")
            force, gain = self._limits[joint][2], self._tuning.servo_gain_1ps
            speed = 1.5 * self.config.arm.max_joint_speed_radps
            self._server.tell(f"servo {ROBOT}::{joint} {force} {gain} {speed}")
        for joint in WHEEL_JOINTS:
            self._server.tell(f"motor {ROBOT}::{joint} {self._limits[joint][2]}")
        self._aim_beams()
        self._take(self._server.ask("state"))
        self._velocity = self._imu_velocity()
        self._push = _GRAVITY
        self._masked = np.zeros(self.config.sensors.lidar.beams, np.bool_)
        self._masked[self._server.ask("cast lidar")["own"]] = True

    def _aim_beams(self) -> None:
        lidar, cliffs = self.config.sensors.lidar, self.config.sensors.cliffs
        angles = np.arange(lidar.beams) * (2 * math.pi / lidar.beams)
        flat = np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
        self._declare("lidar", lidar.frame, _BEAM_FROM_M, lidar.range_max_m + 0.5, flat)
        for frame in cliffs.frames:
            self._declare(frame, frame, 0.0, 1.0, np.array([[1.0, 0.0, 0.0]]))

    def _declare(self, name: str, frame: str, near_m: float, far_m: float, beams: Reals) -> None:
        link, at = self._links[frame]
        turned = beams @ at[:3, :3].T
        words = frames.text([*at[:3, 3], *turned.ravel()])
        self._server.tell(f"beams {name} {ROBOT}::{link} {near_m} {far_m} {words}")

    # -- time -------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self._count * self._tuning.timestep_s

    def step(self, duration_s: float = 0.02) -> None:
        """Advances physics by `duration_s`, rounded to whole control periods (20 ms)."""
        for _ in range(round(duration_s / self.config.simulation.control_period_s)):
            wheels, servos = self._begin_period()
            for joint, speed in zip(WHEEL_JOINTS, wheels, strict=True):
                stuck = joint.removesuffix("_joint") in self._locked
                self._server.tell(f"set {ROBOT}::{joint} {0.0 if stuck else speed!r}")
            for joint, angle in servos.items():
                self._server.tell(f"set {ROBOT}::{joint} {angle!r}")
            self._take(self._server.ask(f"step {self._steps_per_period}"))
            self._count += self._steps_per_period
            before, self._velocity = self._velocity, self._imu_velocity()
            period = self.config.simulation.control_period_s
            self._push = (self._velocity - before) / period + _GRAVITY
            self._end_period()

    def _take(self, state: dict[str, Any]) -> None:
        self.truth.state = state
        self._watch.take(state["touches"], float(state["time"]), self._speed_mps)

    # -- pictures ---------------------------------------------------------------------------------------------------

    def overview_image(self, width: int = 960, height: int = 720, shadows: bool = True) -> Picture:
        """The whole place from above, shape (height, width, 3). Gazebo's view has no shadows."""
        size = (width, height)
        if size in OVERVIEWS:
            return self._colour(OVERVIEWS[size], *size)
        picture = self._colour(OVERVIEWS[OVERVIEW_PX], *OVERVIEW_PX)
        rows = np.arange(height) * OVERVIEW_PX[1] // height
        columns = np.arange(width) * OVERVIEW_PX[0] // width
        return picture[rows][:, columns]

    def close(self) -> None:
        """Ends the gzserver."""
        self._server.close()

    # -- what the physics tells and does --------------------------------------------------------------------------

    def _range_of(self, joint: str) -> tuple[float, float]:
        low, high, _ = self._limits[joint]
        return low, high

    def _joint_states(self) -> dict[str, JointReading]:
        joints = self.truth.state["joints"]
        found: dict[str, JointReading] = {}
        for name in (*WHEEL_JOINTS, *self.config.joints):
            position, speed, effort = joints[f"{ROBOT}::{name}"]
            found[name] = (position, speed, effort)
        return found

    def _base(self) -> tuple[Reals, Reals, Reals, Reals]:
        """Rotation (3, 3), position, velocity and angular velocity (3,) of base_link in the map."""
        values = np.array(self.truth.state["models"][ROBOT])
        return frames.turn_of(*values[3:7]), values[:3], values[7:10], values[10:13]

    def _imu_velocity(self) -> Reals:
        turn, _, velocity, turning = self._base()
        offset = turn @ self._links[self.config.sensors.imu.frame][1][:3, 3]
        moving: Reals = velocity + np.cross(turning, offset)
        return moving

    def _tilt(self) -> Reals:
        tilt: Reals = self._base()[0] @ self._links[self.config.sensors.imu.frame][1][:3, :3]
        return tilt

    def _turning(self) -> Reals:
        turning: Reals = self._tilt().T @ self._base()[3]
        return turning

    def _pushed(self) -> Reals:
        push: Reals = self._tilt().T @ self._push
        return push

    def _scan(self) -> tuple[Reals, npt.NDArray[np.bool_] | None]:
        return self._cast("lidar"), self._masked

    def _floor_below(self) -> Reals:
        return np.concatenate([self._cast(frame) for frame in self.config.sensors.cliffs.frames])

    def _cast(self, name: str) -> Reals:
        ranges = self._server.ask(f"cast {name}")["ranges"]
        return np.array([_NOTHING if distance is None else distance for distance in ranges])

    def _pressed(self) -> tuple[float, float]:
        return self._watch.pressed["bumper_left"], self._watch.pressed["bumper_right"]

    def _shoot(self, name: str, config: CameraConfig) -> tuple[Picture, Floats]:
        data, width, height = self._server.see(f"{name}_depth")
        depth = np.frombuffer(data, np.float32).reshape(height, width)
        return self._colour(name, config.width, config.height), depth.copy()

    def _colour(self, name: str, width: int, height: int) -> Picture:
        data, _, _ = self._server.see(name)
        return np.frombuffer(data, np.uint8).reshape(height, width, 3).copy()

    def _power(self, on: bool) -> None:
        if on == self._powered:
            return
        self._powered = on
        self._set_forces()

    def _set_forces(self) -> None:
        for joint in (*WHEEL_JOINTS, *self.config.joints):
            force = self._limits[joint][2] if self._powered else _TURNED_OFF_NM
            if joint.removesuffix("_joint") in self._locked:
                force = _LOCKED_NM
            self._server.tell(f"limit {ROBOT}::{joint} {force}")

    def _place(self, thing: str | None, at: tuple[float, float, float], heading: float) -> None:
        x, y, z = at
        self._server.tell(f"pose {thing or ROBOT} {x!r} {y!r} {z!r} {heading!r}")
        if self.truth.state:
            self._take(self._server.ask("state"))
            self._velocity = self._imu_velocity()

    def lock_wheels(self, wheels: frozenset[str]) -> None:
        """From now on exactly these wheels are held at rest, whatever they are told."""
        self._locked = wheels
        self._set_forces()

    def tell(self, words: str) -> None:
        """Words for the lock-step plugin that have no answer."""
        self._server.tell(words)


class _Breakage:
    """What faults do to Gazebo's physics: a `fault_effects.Physics`."""

    def __init__(self, world: GazeboWorld) -> None:
        self._world = world

    @property
    def now(self) -> float:
        return self._world.time

    def robot_pose(self) -> Pose2:
        return self._world.truth.robot_pose()

    def spoil_wheels(self, locked: Set[str], icy: Set[str]) -> None:
        self._world.lock_wheels(frozenset(locked))
        grip = self._world.config.simulation.wheel.sliding_friction
        for wheel in WHEELS:
            tyre = f"{ROBOT}::{wheel}_link::{wheel.replace('wheel', 'tyre')}"
            self._world.tell(f"friction {tyre} {_ICE if wheel in icy else grip}")

    def put_obstacle(self, name: str, at: tuple[float, float] | None) -> None:
        x, y, z = OBSTACLE_STORE_M[OBSTACLES.index(name)] if at is None else (*at, OBSTACLE_HALF_M[2])
        self._world.tell(f"pose {name} {x} {y} {z} 0")


def _limits(mjcf: str) -> dict[str, tuple[float, float, float]]:
    """Lowest and highest position (rad) and strongest force (N·m) of each driven joint."""
    root = ET.fromstring(mjcf)
    ranges = {joint.attrib["name"]: joint.get("range", "-inf inf") for joint in root.iter("joint")}
    found = {}
    for motor in root.findall("actuator/*"):
        joint = motor.attrib["joint"]
        low, high = frames.numbers(ranges[joint])
        found[joint] = (low, high, frames.numbers(motor.attrib["forcerange"])[1])
    return found
