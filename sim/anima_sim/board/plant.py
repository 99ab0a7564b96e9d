"""The simulated world with the emulated board in it: physics moves what the firmware drives, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types import mind
from anima_sim.board.avr import AvrBoard, Change, Kind, Step
from anima_sim.board.mega import MOTORS_ON, Drives, Surroundings, Wiring, drives
from anima_sim.board.wire import Noise, Socket, Wire
from anima_sim.body import SimulatedBody
from anima_sim.config import RobotConfig
from anima_sim.errors import FaultError, SensorLost
from anima_sim.robot_world import WHEEL_JOINTS
from anima_sim.scene import Scene
from anima_sim.world import World

COUPLING_S = 0.004
"""Board and physics exchange outputs and readings this often, in simulated seconds."""

BOARD_FAULTS = {
    "pulled_cable": "empty: the device of the serial line vanishes from the host",
    "noisy_line": "the share of bytes that get a flipped bit, both ways, 0..1",
    "estop_pressed": "empty: the hardware stop is pressed",
    "hung_firmware": "empty: the processor loops where it stands",
    "brown_out": "empty: the board's supply sags and comes back",
}
"""Faults of the board beside those of the world, and what `target` means for each."""

_FREE_SPEED_RADPS = 10.0  # of a wheel at full duty
_WHEEL_NM_PER_A = 0.5
_ARM_A_PER_NM, _ARM_IDLE_A = 0.4, 0.3
_Missing = TypeVar("_Missing")
_T = TypeVar("_T")


class DrivenWorld(World):
    """A world whose motors get what somebody else decides, instead of what a driver of its own makes of a command."""

    wheels_radps: tuple[float, float] = (0.0, 0.0)

    def _begin_period(self) -> tuple[tuple[float, float], dict[str, float]]:
        _, servos = super()._begin_period()
        return self.wheels_radps, servos


@dataclass
class _Active:
    kind: str
    until_s: float


class FirmwareWorld(SimulatedBody):
    """The world, the emulated board, and the wire to the host.

    Wheels and servos follow what the board's pins say, sensors are voltages and registers on its connectors, and the
    host sees a serial device. Camera and lidar are the host's own devices, as on a robot.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises `BoardError` when the firmware isn't built."""
        super().__init__(settings)
        self._board = AvrBoard()
        self._wiring = Wiring()
        self._socket = Socket(settings.link_device)
        self._to_board, self._to_host = Wire(2 * settings.seed), Wire(2 * settings.seed + 1)
        self._active: list[_Active] = []
        self._pending: list[Change] = []
        self._counts_per_rad = self._sensors.odometry.encoder_counts_per_turn / (2 * math.pi)
        self._counts = (0, 0)
        self._switched: list[tuple[float, bool]] = []
        self.last = Step()

    def close(self) -> None:
        """End the emulator and take the device away."""
        self._socket.pull()
        self._board.close()
        self.world.close()

    def take_switches(self) -> list[tuple[float, bool]]:
        """When the board's pin switched the motors since this was asked last, and whether on."""
        taken, self._switched = self._switched, []
        return taken

    def inject(self, fault: mind.Fault) -> None:
        """Puts a fault of board, line or world in force, or clears all when its kind is empty. Raises `FaultError`."""
        if not fault.kind:
            for active in self._active:
                self._end(active.kind)
            self._active.clear()
        if fault.kind not in BOARD_FAULTS:
            super().inject(fault)
            return
        self._begin(fault)
        until = self.world.time + fault.duration_s if fault.duration_s > 0.0 else math.inf
        self._active = [a for a in self._active if a.kind != fault.kind] + [_Active(fault.kind, until)]

    def why(self) -> str:
        """One sentence on what the world does and how the board is."""
        faults = "".join(f", {a.kind}" for a in self._active)
        return f"{super().why()}; the board runs{faults}, {self.last.resets} resets"

    def _build_world(self, scene: Scene, config: RobotConfig, settings: Settings) -> World:
        finer = config.simulation.model_copy(update={"control_period_s": COUPLING_S})
        config = config.model_copy(update={"simulation": finer})
        return DrivenWorld(scene, seed=settings.seed, cameras=settings.cameras, config=config)

    def _command(self, inbox: Inbox) -> None:
        """Commands come over the line."""

    def _proprioception(self, now: float, out: list[Sent]) -> None:
        """The driver gives it."""

    def _advance(self, duration_s: float) -> None:
        self._expire()
        received = self._to_board.carry(self._socket.read())
        for _ in range(round(duration_s / COUPLING_S)):
            changes = [*self._wiring.changes(self._surroundings(), COUPLING_S), *self._pending]
            self._pending.clear()
            self.last = self._board.step(COUPLING_S, changes, received)
            self._switched += [(edge.time_s, edge.level) for edge in self.last.edges if edge.pin == MOTORS_ON]
            received = b""
            self._socket.write(self._to_host.carry(self.last.sent))
            self._drive(drives(self.last))
            self.world.step(COUPLING_S)

    def _drive(self, to: Drives) -> None:
        world = self.world
        assert isinstance(world, DrivenWorld)
        left, right = to.duty or (0.0, 0.0)
        world.wheels_radps = (left * _FREE_SPEED_RADPS, right * _FREE_SPEED_RADPS)
        if to.joints_rad is not None:
            # Servos without pulses are held by their gears.
            world.command_joints(dict(zip(world.config.joints, to.joints_rad, strict=True)))

    def _surroundings(self) -> Surroundings:
        world, now = self.world, Surroundings()
        now.estop = any(a.kind == "estop_pressed" for a in self._active)
        now.bumpers = _or((True, True), world.bumpers)  # a torn wire reads as pressed
        front_left, front_right, rear_left, rear_right = _or([math.inf] * 4, lambda: [float(d) for d in world.cliffs()])
        now.cliffs_m = (front_left, front_right, rear_left, rear_right)
        try:
            imu = world.imu()
            now.acceleration_mps2, now.turning_radps = imu.linear_acceleration, imu.angular_velocity
        except SensorLost:
            now.imu_connected = False
        joints = _or(None, world.joint_states)
        if joints is not None:
            left, right = (joints[name] for name in WHEEL_JOINTS)
            now.wheel_counts = (round(left[0] * self._counts_per_rad), round(right[0] * self._counts_per_rad))
            now.wheel_a = (left[2] / _WHEEL_NM_PER_A, right[2] / _WHEEL_NM_PER_A)
            now.joints_rad = tuple(joints[name][0] for name in world.config.joints)
            now.arm_a = _ARM_IDLE_A + _ARM_A_PER_NM * sum(abs(joints[name][2]) for name in world.config.joints)
            self._counts = now.wheel_counts
        else:
            now.wheel_counts = self._counts
            now.joints_rad = (math.nan,) * len(world.config.joints)
        battery = _or(None, world.battery)
        now.battery_v, now.battery_a = (0.0, 0.0) if battery is None else (battery.voltage_v, -battery.current_a)
        return now

    def _begin(self, fault: mind.Fault) -> None:
        match fault.kind:
            case "pulled_cable":
                self._socket.pull()
            case "noisy_line":
                share = _share(fault.target)
                self._to_board.noise = self._to_host.noise = Noise(flipped=share)
            case "hung_firmware":
                self._pending.append(Change(Kind.HANG, 0, 0))
            case "brown_out":
                self._pending.append(Change(Kind.POWER, 0, 2))

    def _end(self, kind: str) -> None:
        if kind == "pulled_cable":
            self._socket.plug()
        elif kind == "noisy_line":
            self._to_board.noise = self._to_host.noise = Noise()

    def _expire(self) -> None:
        for active in [a for a in self._active if self.world.time >= a.until_s]:
            self._end(active.kind)
            self._active.remove(active)


def _or(missing: _Missing, read: Callable[[], _T]) -> _Missing | _T:
    try:
        return read()
    except SensorLost:
        return missing


def _share(text: str) -> float:
    try:
        share = float(text or 0.01)
    except ValueError as error:
        raise FaultError(f"'{text}' is not a share: give {BOARD_FAULTS['noisy_line']}") from error
    if not 0.0 <= share <= 1.0:
        raise FaultError(f"noisy_line can't spoil {share}: give {BOARD_FAULTS['noisy_line']}")
    return share
