"""A reflex kernel on the bench: every sensor healthy unless a test says otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from anima import topics as t
from anima.config import Settings
from anima.regions.brainstem import ReflexKernel
from anima.regions.reflex.config import load_reflex
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Duration, Header
from anima.types.mind import Bumpers, Cliffs, Heartbeat, ReflexEvent, StopRequest, StopState
from anima.types.std import (
    Imu,
    JointState,
    JointTrajectory,
    JointTrajectoryPoint,
    LaserScan,
    Odometry,
    Pose,
    PoseWithCovariance,
    Quaternion,
    Range,
    Twist,
    TwistStamped,
    TwistWithCovariance,
    Vector3,
)

SETTINGS = Settings()
CONFIG = load_reflex(SETTINGS)
TICK_S = 0.02
BEAMS = 360
NOTHING = np.zeros(0)
ARM = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
CLIFFS = tuple(CONFIG.tuning.contact.cliff_sides)


def scan(now: float, ranges: Sequence[float] | None = None) -> LaserScan:
    """A scan of 360 beams from -180 degrees on; free all around by default."""
    values = np.full(BEAMS, math.inf, dtype=np.float32) if ranges is None else np.array(ranges, dtype=np.float32)
    return LaserScan(
        header=Header.at(now, "laser_link"), angle_min=-math.pi, angle_max=math.pi, angle_increment=math.tau / BEAMS,
        time_increment=0.0, scan_time=0.1, range_min=0.06, range_max=10.0, ranges=values,
        intensities=np.zeros(0, dtype=np.float32),
    )


def beam(degrees: float) -> int:
    """The index of the beam at a bearing, counter-clockwise from straight ahead."""
    return round(degrees + 180) % BEAMS


def scan_with(now: float, at: Mapping[float, float]) -> LaserScan:
    """A free scan but for the ranges at the given bearings, degrees -> metres."""
    ranges = [math.inf] * BEAMS
    for degrees, distance in at.items():
        ranges[beam(degrees)] = distance
    return scan(now, ranges)


def wall(now: float, ahead_m: float) -> LaserScan:
    """A wall across the way, `ahead_m` from the laser; negative is behind."""
    bearings = {float(d): abs(ahead_m) / math.cos(math.radians(d)) for d in range(-50, 51)}
    return scan_with(now, bearings if ahead_m > 0 else {d + 180: r for d, r in bearings.items()})


def cliffs(now: float, ranges: Mapping[str, float] | None = None) -> Cliffs:
    """The floor under every sensor, but for the given ranges."""
    values = {name: CONFIG.body.floor_range_m for name in CLIFFS} | dict(ranges or {})
    return Cliffs(
        header=Header.at(now),
        ranges=[
            Range(
                header=Header.at(now, name),
                radiation_type=1,
                field_of_view=0.1,
                min_range=0.02,
                max_range=0.4,
                range=value,
                variance=0.0,
            )
            for name, value in values.items()
        ],
    )


def imu(now: float, tilt_rad: float = 0.0) -> Imu:
    """An IMU that leans by `tilt_rad` about y."""
    return Imu(
        header=Header.at(now, "imu_link"), orientation=Quaternion(y=math.sin(tilt_rad / 2), w=math.cos(tilt_rad / 2)),
        orientation_covariance=np.zeros(9), angular_velocity=Vector3(), angular_velocity_covariance=np.zeros(9),
        linear_acceleration=Vector3(z=9.81), linear_acceleration_covariance=np.zeros(9),
    )


def odom(now: float) -> Odometry:
    """Odometry."""
    return Odometry(
        header=Header.at(now, "odom"), child_frame_id="base_link",
        pose=PoseWithCovariance(pose=Pose(), covariance=np.zeros(36)),
        twist=TwistWithCovariance(twist=Twist(), covariance=np.zeros(36)),
    )


def joints(
    now: float,
    wheel_radps: tuple[float, float] = (0.0, 0.0),
    wheel_nm: float = 0.1,
    arm: Mapping[str, float] | None = None,
) -> JointState:
    """Joint states; the arm at 0 by default."""
    positions = [0.0, 0.0, *((arm or {}).get(name, 0.0) for name in ARM)]
    return JointState(
        header=Header.at(now), name=["left_wheel_joint", "right_wheel_joint", *ARM],
        position=np.array(positions, dtype=np.float64),
        velocity=np.array([*wheel_radps, *[0.0] * len(ARM)]), effort=np.array([wheel_nm] * 2 + [0.0] * len(ARM)),
    )


def bumpers(now: float, left: bool = False, right: bool = False) -> Bumpers:
    """Bumpers."""
    return Bumpers(header=Header.at(now), front_left=left, front_right=right)


def drive(now: float, linear: float = 0.0, angular: float = 0.0) -> TwistStamped:
    """A velocity command stamped `now`."""
    return TwistStamped.planar(now, linear, angular)


def reach(now: float, targets: Mapping[str, float], time_s: float = 0.0) -> JointTrajectory:
    """An arm command of one point."""
    point = JointTrajectoryPoint(
        positions=np.array(list(targets.values()), dtype=np.float64), velocities=NOTHING, accelerations=NOTHING,
        effort=NOTHING, time_from_start=Duration.of(time_s),
    )
    return JointTrajectory(header=Header.at(now), joint_names=list(targets), points=[point])


def request(now: float, stop: bool, source: str = "ana") -> StopRequest:
    """A stop, or its reset."""
    return StopRequest(header=Header.at(now), stop=stop, source=source)


def beat(now: float, process: str) -> Sent:
    """A sign of life."""
    return t.HEARTBEATS[process].of(Heartbeat(header=Header.at(now), process=process))


class Rig:
    """Steps a kernel tick by tick. `kernel` and `now` may be looked at; `events` and `states` gather what it told.

    Wheels and arm follow what was last let through; with `stuck_nm` set the wheels stand still at that effort.
    """

    def __init__(self, now: float = 100.0) -> None:
        self.kernel = ReflexKernel(SETTINGS)
        self.now = now
        self.out = (0.0, 0.0)
        self.events: list[ReflexEvent] = []
        self.states: list[StopState] = []
        self.arm: JointTrajectory | None = None
        self.stuck_nm: float | None = None
        self.arm_at: dict[str, float] = {}
        self.mute: set[str] = set()
        self.sense: dict[str, Sent] = {}

    def healthy(self) -> list[Sent]:
        """Every sensor's message of this moment; `sense` replaces by topic name, `mute` leaves out."""
        limits = CONFIG.body.base
        turn = self.out[1] * limits.track_m / 2
        wheels = ((self.out[0] - turn) / limits.wheel_radius_m, (self.out[0] + turn) / limits.wheel_radius_m)
        stuck = self.stuck_nm is not None
        message = joints(self.now, (0.0, 0.0) if stuck else wheels, self.stuck_nm if stuck else 0.1, self.arm_at)
        sent = [
            t.SCAN.of(scan(self.now)), t.BUMPERS.of(bumpers(self.now)), t.CLIFFS.of(cliffs(self.now)),
            t.IMU.of(imu(self.now)), t.ODOM.of(odom(self.now)), t.JOINT_STATES.of(message),
        ]
        return [self.sense.get(item.topic.name, item) for item in sent if item.topic.name not in self.mute]

    def tick(self, *extra: Sent, dt: float = TICK_S) -> tuple[float, float]:
        """One step; returns the velocity that was let through. Sensor messages in `extra` come after the healthy."""
        self.now += dt
        return self.step([*self.healthy(), *(self._stamped(item) for item in extra)])

    def _stamped(self, item: Sent) -> Sent:
        """The value, stamped with this tick's time: tests write what arrives, not when."""
        header = getattr(item.value, "header", None)
        if header is None or header.stamp.seconds != 0.0:
            return item
        fresh = Header.at(self.now, header.frame_id)
        return Sent(item.topic, item.value.model_copy(update={"header": fresh}))

    def step(self, sent: Sequence[Sent]) -> tuple[float, float]:
        """One step at `now` with exactly this inbox."""
        commands = []
        self.arm = None
        for item in self.kernel.step(self.now, Inbox.of(sent)):
            if isinstance(item.value, TwistStamped):
                commands.append(item.value)
            elif isinstance(item.value, JointTrajectory):
                self.arm = item.value
                self.arm_at |= dict(zip(self.arm.joint_names, self.arm.points[0].positions.tolist(), strict=True))
            elif isinstance(item.value, ReflexEvent):
                self.events.append(item.value)
            elif isinstance(item.value, StopState):
                self.states.append(item.value)
        assert len(commands) == 1, "every step publishes one velocity"
        assert abs(commands[0].header.stamp.seconds - self.now) < 1e-6
        self.out = (commands[0].twist.linear.x, commands[0].twist.angular.z)
        return self.out

    def drive(self, linear: float, angular: float = 0.0, seconds: float = 1.0, *extra: Sent) -> tuple[float, float]:
        """A skill asks for a velocity at every tick of a while."""
        for _ in range(round(seconds / TICK_S)):
            self.tick(t.CMD_VEL_SKILL.of(drive(0.0, linear, angular)), *extra)
        return self.out

    def rest(self, seconds: float) -> tuple[float, float]:
        """Nobody asks for anything for a while."""
        for _ in range(round(seconds / TICK_S)):
            self.tick()
        return self.out

    def told(self, kind: str) -> list[bool]:
        """The begins (True) and ends (False) that were told of a reflex."""
        return [event.active for event in self.events if event.kind == kind]

    @property
    def active(self) -> list[str]:
        """What the newest stop state says."""
        return self.states[-1].active
