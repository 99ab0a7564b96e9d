"""The simulated robot as a component of the graph: sensors out, commands in, time with it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from anima import topics as t
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import mind
from anima_sim import messages
from anima_sim.config import RobotConfig, load_robot
from anima_sim.errors import CommandError, SensorLost
from anima_sim.faults import Fault
from anima_sim.robot_world import RobotWorld
from anima_sim.scene import Scene, load_scene
from anima_sim.world import World

_OVERVIEW_HZ, _OVERVIEW_SIZE = 5.0, (480, 360)
_TRUTH_HZ = 25.0
# After a longer gap (a suspended machine, a clock set anew) the world goes on from where it was.
_LONGEST_STEP_S = 2.0


class SimulatedBody:
    """A `RobotWorld` behind the topics of a robot: nothing above can tell it from a real one.

    Each step brings the world up to `now` and sends what its sensors say; a lost sensor sends nothing.
    The clock comes last, so that whoever it wakes has the readings of that moment.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `SceneError` or `RobotError` when the configured scene or robot can't be used, `GazeboMissing` when
        Gazebo is wanted and not installed."""
        scene, config = load_scene(settings.scene), load_robot(settings.robot_file)
        self._world = self._build_world(scene, config, settings)
        self._sensors = config.sensors
        self._due: dict[str, float] = {}
        self._refused = ""
        self._began: float | None = None
        self.watched: frozenset[str] = frozenset()
        """Names of the topics that somebody listens to: pictures for people are drawn only then."""

    def _build_world(self, scene: Scene, config: RobotConfig, settings: Settings) -> RobotWorld:
        if settings.sim == "gazebo":
            from anima_sim.gazebo.world import GazeboWorld

            return GazeboWorld(scene, settings.seed, settings.cameras, config, gui=settings.gui)
        return World(scene, seed=settings.seed, cameras=settings.cameras, config=config)

    def _advance(self, duration_s: float) -> None:
        self._world.step(duration_s)

    @property
    def world(self) -> RobotWorld:
        """The world behind the topics, for tests and films."""
        return self._world

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Takes commands and faults, advances physics to `now` (seconds), returns what the sensors say."""
        self.obey(inbox)
        return self.live(now)

    def live(self, now: float) -> list[Sent]:
        """Advances physics to `now` (seconds), returns what the sensors say."""
        self._advance(self._elapsed(now))
        out: list[Sent] = []
        self._proprioception(now, out)
        self._exteroception(now, out)
        if self._is_due("truth", _TRUTH_HZ, now):
            out.append(t.GROUND_TRUTH.of(messages.truth(now, self._world)))
        out.append(t.CLOCK.of(messages.clock(now)))
        return out

    def obey(self, inbox: Inbox) -> None:
        """Takes commands and faults. They act from the next control period on."""
        for fault in inbox.new(t.FAULT):
            self._try(lambda fault=fault: self.inject(fault))  # type: ignore[misc]
        self._command(inbox)

    def inject(self, fault: mind.Fault) -> None:
        """Puts a fault in force, or clears all when its kind is empty. Raises `FaultError` (a `ValueError`)."""
        if not fault.kind:
            self._world.clear_faults()
            return
        self._world.inject(Fault.named(fault.kind, fault.target, fault.duration_s))

    def why(self) -> str:
        """One sentence on what the body does, and on what it refused last."""
        faults = ", ".join(f"{f.kind} {f.target}".strip() for f in self._world.faults())
        speed = self._world.truth.robot_velocity()[0]
        doing = f"drives at {speed:.2f} m/s" if speed > 0.005 else "stands"
        return f"the simulated robot {doing}" + (f", with {faults}" if faults else "") + self._refused

    def _elapsed(self, now: float) -> float:
        """Seconds of physics up to `now`; one period on the first step and when the clock was set anew."""
        gap = math.inf if self._began is None else now - self._began - self._world.time
        if not 0.0 <= gap <= _LONGEST_STEP_S:
            gap = self._world.config.simulation.control_period_s
            self._began = now - self._world.time - gap
        return gap

    def _command(self, inbox: Inbox) -> None:
        for twist in inbox.new(t.CMD_VEL):
            linear, angular = twist.twist.linear.x, twist.twist.angular.z
            self._try(lambda v=linear, w=angular: self._world.command_base(v, w))  # type: ignore[misc]
        for trajectory in inbox.new(t.ARM_COMMAND):
            if trajectory.points:
                goal = dict(zip(trajectory.joint_names, map(float, trajectory.points[-1].positions), strict=False))
                self._try(lambda goal=goal: self._world.command_joints(goal))  # type: ignore[misc]

    def _try(self, act: Callable[[], None]) -> None:
        # A driver that is told nonsense goes on with what it had; it doesn't fall over.
        try:
            act()
        except (CommandError, ValueError) as error:
            self._refused = f"; it refused: {error}"

    def _proprioception(self, now: float, out: list[Sent]) -> None:
        world = self._world
        self._send(out, lambda: t.ODOM.of(messages.odometry(now, world.odometry())))
        self._send(out, lambda: t.JOINT_STATES.of(messages.joint_states(now, world.joint_states())))
        self._send(out, lambda: t.IMU.of(messages.imu(now, world.imu(), self._sensors.imu)))
        self._send(out, lambda: t.BUMPERS.of(messages.bumpers(now, world.bumpers())))
        self._send(out, lambda: t.CLIFFS.of(messages.cliffs(now, world.cliffs(), self._sensors.cliffs)))
        if self._is_due("battery", 2.0, now):
            self._send(out, lambda: t.BATTERY.of(messages.battery(now, world.battery(), world.config.battery)))

    def _exteroception(self, now: float, out: list[Sent]) -> None:
        world, sensors = self._world, self._sensors
        if self._is_due("lidar", sensors.lidar.rate_hz, now):
            self._send(out, lambda: t.SCAN.of(messages.scan(now, world.lidar(), sensors.lidar)))
        if not world.cameras:
            return
        if self._is_due("mast", sensors.mast_camera.rate_hz, now):
            self._look(now, out)
        if t.WRIST_IMAGE.name in self.watched and self._is_due("wrist", sensors.wrist_camera.rate_hz, now):
            frame = sensors.wrist_camera.frame
            self._send(out, lambda: t.WRIST_IMAGE.of(messages.colour(now, world.camera("wrist")[0], frame)))
        if t.OVERVIEW.name in self.watched and self._is_due("overview", _OVERVIEW_HZ, now):
            picture = world.overview_image(*_OVERVIEW_SIZE, shadows=False)
            out.append(t.OVERVIEW.of(messages.colour(now, picture, "map")))

    def _look(self, now: float, out: list[Sent]) -> None:
        try:
            colour, depth = self._world.camera("mast")
        except SensorLost:
            return
        frame = self._sensors.mast_camera.frame
        out.append(t.CAMERA_INFO.of(messages.camera_info(now, self._world.intrinsics("mast"), frame)))
        out.append(t.CAMERA_DEPTH.of(messages.depth(now, depth.astype(np.float32), frame)))
        out.append(t.CAMERA_COLOUR.of(messages.colour(now, colour, frame)))

    @staticmethod
    def _send(out: list[Sent], reading: Callable[[], Sent]) -> None:
        try:
            out.append(reading())
        except SensorLost:
            return

    def _is_due(self, what: str, rate_hz: float, now: float) -> bool:
        # Counted in whole periods, so that rates hold on average whatever the step.
        period = math.floor(now * rate_hz + 1e-6)
        if self._due.get(what) == period:
            return False
        self._due[what] = period
        return True
