"""What the brainstem says, as the values that a body gives: usual units, frames and names (REP 103, 105, 117)."""

from __future__ import annotations

import math

import numpy as np

from anima.body.link import messages as link
from anima.body.link.config import Battery, LinkConfig
from anima.types import mind, std
from anima.types.base import Header

_POSE_COVARIANCE = np.diag([0.002, 0.002, 1e6, 1e6, 1e6, 0.005]).ravel()
_TWIST_COVARIANCE = np.diag([0.0005, 1e-6, 1e6, 1e6, 1e6, 0.0005]).ravel()
_GRAVITY = 9.80665
_COUNT_WRAP = 2**32
_INFRARED = 1
_NOTHING_SEEN = 0xFFFF
WHEELS = ["left_wheel_joint", "right_wheel_joint"]
# Open-circuit voltage of a lithium cell against charge, as a share of the way from empty to full.
_CHARGE = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)
_LEVEL = (0.0, 0.30, 0.52, 0.64, 0.84, 1.0)
# sensor_msgs/BatteryState
_STATUS_CHARGING, _STATUS_DISCHARGING, _STATUS_FULL = 1, 2, 4
_CHARGING_A, _FULL_SHARE = 0.1, 0.97


class DeadReckoning:
    """Pose from encoder counts and gyro: starts at zero, never jumps, not even when the brainstem restarts."""

    def __init__(self, config: LinkConfig) -> None:
        robot = config.robot
        self._metre = 2 * math.pi * robot.base.wheel_radius_m / robot.sensors.odometry.encoder_counts_per_turn
        self._track_m = robot.base.track_m
        self._last: link.Odometry | None = None
        self._turning: float | None = None
        self.pose = (0.0, 0.0, 0.0)
        self.velocity = (0.0, 0.0)

    def turning(self, radps: float | None) -> None:
        """The gyro's rate about the vertical; None while there is none, then the wheels tell the heading."""
        self._turning = radps

    def restart(self) -> None:
        """The counts begin anew."""
        self._last = None

    def update(self, reading: link.Odometry) -> None:
        """Adds the way since the last reading."""
        before, self._last = self._last, reading
        if before is None or reading.tick_ms <= before.tick_ms:
            return
        period = (reading.tick_ms - before.tick_ms) / 1000.0
        left, right = (self._metre * _way(a, b) for a, b in zip(before.count, reading.count, strict=True))
        turn = (right - left) / self._track_m if self._turning is None else self._turning * period
        ahead = (left + right) / 2
        x, y, yaw = self.pose
        middle = yaw + turn / 2
        heading = math.remainder(yaw + turn, 2 * math.pi)
        self.pose = (x + ahead * math.cos(middle), y + ahead * math.sin(middle), heading)
        self.velocity = (ahead / period, turn / period)

    def message(self, now: float) -> std.Odometry:
        """Pose of base_link in odom, velocity in base_link."""
        x, y, yaw = self.pose
        twist = std.Twist(linear=std.Vector3(x=self.velocity[0]), angular=std.Vector3(z=self.velocity[1]))
        return std.Odometry(
            header=Header.at(now, "odom"),
            child_frame_id="base_link",
            pose=std.PoseWithCovariance(pose=std.Pose.planar(x, y, yaw), covariance=_POSE_COVARIANCE),
            twist=std.TwistWithCovariance(twist=twist, covariance=_TWIST_COVARIANCE),
        )


def _way(before: int, after: int) -> int:
    """Counts between two readings of a counter that wraps around."""
    return (after - before + _COUNT_WRAP // 2) % _COUNT_WRAP - _COUNT_WRAP // 2


class Attitude:
    """Roll and pitch by a complementary filter, heading by the gyro alone: it starts at zero and drifts."""

    def __init__(self, config: LinkConfig) -> None:
        self._config = config
        self._angles: tuple[float, float, float] | None = None
        self._tick_ms = 0

    def message(self, now: float, reading: link.Imu) -> std.Imu:
        """The sample in imu_link (REP 145)."""
        unit = self._config.robot.sensors.imu
        ax, ay, az = (_GRAVITY * a / 1000.0 for a in reading.accel_mg)
        wx, wy, wz = (w / 1000.0 for w in reading.gyro_mradps)
        x, y, z, w = self._follow(reading.tick_ms, (ax, ay, az), (wx, wy, wz))
        return std.Imu(
            header=Header.at(now, unit.frame),
            orientation=std.Quaternion(x=x, y=y, z=z, w=w),
            orientation_covariance=np.diag([1e-4, 1e-4, 1e-2]).ravel(),
            angular_velocity=std.Vector3(x=wx, y=wy, z=wz),
            angular_velocity_covariance=(np.eye(3) * max(unit.gyro_noise_radps, 1e-3) ** 2).ravel(),
            linear_acceleration=std.Vector3(x=ax, y=ay, z=az),
            linear_acceleration_covariance=(np.eye(3) * max(unit.accel_noise_mps2, 1e-2) ** 2).ravel(),
        )

    def _follow(
        self, tick_ms: int, push: tuple[float, float, float], rates: tuple[float, float, float]
    ) -> tuple[float, float, float, float]:
        roll, pitch = math.atan2(push[1], push[2]), math.atan2(-push[0], math.hypot(push[1], push[2]))
        period = (tick_ms - self._tick_ms) / 1000.0
        self._tick_ms = tick_ms
        if self._angles is None or not 0.0 <= period < 1.0:
            self._angles = (roll, pitch, 0.0 if self._angles is None else self._angles[2])
        else:
            gain = period / (self._config.tuning.tilt_filter_s + period)
            was_roll, was_pitch, yaw = self._angles
            was_roll, was_pitch = was_roll + rates[0] * period, was_pitch + rates[1] * period
            self._angles = (
                was_roll + gain * (roll - was_roll),
                was_pitch + gain * (pitch - was_pitch),
                math.remainder(yaw + rates[2] * period, 2 * math.pi),
            )
        return _quaternion(*self._angles)


def _quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    cr, sr, cp, sp = math.cos(roll / 2), math.sin(roll / 2), math.cos(pitch / 2), math.sin(pitch / 2)
    cy, sy = math.cos(yaw / 2), math.sin(yaw / 2)
    return (
        sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy,
    )


class Joints:
    """Wheels, arm and gripper in one joint state."""

    def __init__(self, config: LinkConfig) -> None:
        self._config = config
        self._turn = 2 * math.pi / config.robot.sensors.odometry.encoder_counts_per_turn
        self._radius_m = config.robot.base.wheel_radius_m
        self.names = config.robot.joints
        self._arm: link.JointStates | None = None
        self._speed = np.zeros(len(self.names))
        self._wheels: link.Odometry | None = None
        self._amperes = (0.0, 0.0)

    def wheels(self, reading: link.Odometry) -> None:
        """Takes in what the wheels did."""
        self._wheels = reading

    def power(self, reading: link.Power) -> None:
        """Takes in the motors' currents."""
        self._amperes = (reading.wheel_ma[0] / 1000.0, reading.wheel_ma[1] / 1000.0)

    def arm(self, reading: link.JointStates) -> None:
        """Takes in where the arm is."""
        before, self._arm = self._arm, reading
        if before is not None and 0 < reading.tick_ms - before.tick_ms < 500:
            moved = np.subtract(reading.position_mrad, before.position_mrad)
            self._speed = 0.5 * (self._speed + moved / (reading.tick_ms - before.tick_ms))

    @property
    def positions(self) -> list[float] | None:
        """Where arm and gripper are, rad; None as long as nothing was heard."""
        return None if self._arm is None else [p / 1000.0 for p in self._arm.position_mrad]

    def message(self, now: float) -> std.JointState | None:
        """All joints, or None while not all are known."""
        arm, wheels = self._arm, self._wheels
        if arm is None or wheels is None:
            return None
        torque = self._config.tuning.wheel_torque_nm_per_a
        return std.JointState(
            header=Header.at(now),
            name=[*WHEELS, *self.names],
            position=np.array([*(self._turn * c for c in wheels.count), *(p / 1000.0 for p in arm.position_mrad)]),
            velocity=np.array([*(v / 1000.0 / self._radius_m for v in wheels.speed_mmps), *self._speed]),
            effort=np.array([*(torque * a for a in self._amperes), *(t / 1000.0 for t in arm.load_mnm)]),
        )


def bumpers(now: float, reading: link.Contacts) -> mind.Bumpers:
    """Left and right bumper."""
    return mind.Bumpers(
        header=Header.at(now, "base_link"),
        front_left=bool(reading.bumpers & link.Bumper.FRONT_LEFT),
        front_right=bool(reading.bumpers & link.Bumper.FRONT_RIGHT),
    )


def cliffs(now: float, reading: link.Contacts, config: LinkConfig) -> mind.Cliffs:
    """Distances to the floor, each in its sensor's frame."""
    sensors = config.robot.sensors.cliffs
    return mind.Cliffs(
        header=Header.at(now, "base_link"),
        ranges=[
            std.Range(
                header=Header.at(now, frame),
                radiation_type=_INFRARED,
                field_of_view=0.05,
                min_range=sensors.range_min_m,
                max_range=sensors.range_max_m,
                range=math.inf if mm == _NOTHING_SEEN else mm / 1000.0,
                variance=sensors.noise_m**2,
            )
            for frame, mm in zip(sensors.frames, reading.cliff_mm, strict=True)
        ],
    )


class Charge:
    """How full the battery is, by its voltage at rest: what a driver can know without a gauge."""

    def __init__(self, config: LinkConfig) -> None:
        self._battery: Battery = config.robot.battery
        self._filter_s = config.tuning.charge_filter_s
        self._share: float | None = None
        self._tick_ms = 0
        self._last: link.Power | None = None

    def update(self, reading: link.Power) -> None:
        """Takes in voltage and current."""
        b = self._battery
        self._last = reading
        rest_v = reading.battery_mv / 1000.0 + b.internal_resistance_ohm * reading.battery_ma / 1000.0
        level = (rest_v - b.empty_voltage_v) / (b.full_voltage_v - b.empty_voltage_v)
        share = float(np.interp(level, _LEVEL, _CHARGE))
        period = (reading.tick_ms - self._tick_ms) / 1000.0
        self._tick_ms = reading.tick_ms
        if self._share is None or not 0.0 <= period < 10.0:
            self._share = share if self._share is None else self._share
        else:
            self._share += (share - self._share) * period / (self._filter_s + period)

    def message(self, now: float) -> std.BatteryState | None:
        """The battery as ROS drivers tell it, or None before the first reading; what isn't known is NaN."""
        if self._last is None or self._share is None:
            return None
        current = -self._last.battery_ma / 1000.0
        full_ah = self._battery.capacity_wh / self._battery.full_voltage_v
        status = _STATUS_DISCHARGING
        if current > _CHARGING_A:
            status = _STATUS_CHARGING
        elif abs(current) <= _CHARGING_A and self._share > _FULL_SHARE:
            status = _STATUS_FULL
        none = np.zeros(0, np.float32)
        return std.BatteryState(
            header=Header.at(now, "base_link"), voltage=self._last.battery_mv / 1000.0, temperature=math.nan,
            current=current, charge=self._share * full_ah, capacity=full_ah, design_capacity=full_ah,
            percentage=self._share, power_supply_status=status, power_supply_health=1, power_supply_technology=2,
            present=True, cell_voltage=none, cell_temperature=none, location="base", serial_number="",
        )
