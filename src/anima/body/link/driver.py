"""The body behind the serial link: the driver that takes velocities and arm targets, and gives what sensors say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anima import topics as t
from anima.body.link import messages as link
from anima.body.link import telemetry
from anima.body.link.config import load_link
from anima.body.link.serial_port import Line, SerialPort
from anima.body.link.session import Phase, Session, Wish
from anima.config import Settings
from anima.runtime.component import Inbox
from anima.topics import Sent
from anima.types.base import Header
from anima.types.link import LinkState
from anima.types.mind import StopRequest

_ASK_AGAIN_S = 0.5
_STATE_PERIOD_S = 0.5
_CONTACT = int(link.Fault.BUMPER | link.Fault.CLIFF)


@dataclass
class _Velocity:
    linear_mps: float
    angular_radps: float
    stamp_s: float


class SerialBody:
    """A robot's body over its serial link, on the same topics as the simulated one.

    The brainstem starts disarmed, and whenever a session with it is lost (a pulled cable, a silence, a fault, a
    restart on either side), this driver latches the software stop and says why. Only the act that resets the stop
    permits to arm again, after a new echo handshake; what was commanded before is forgotten. An exception is a bare
    contact (bumper, cliff): it arms at once to let the reflexes back away, slowly, and nothing else.
    """

    def __init__(self, settings: Settings, line: Line | None = None) -> None:
        """Raises `ConfigError` when `config/link.yaml` or the robot's file can't be used."""
        config = load_link(settings)
        self._config, self._tuning = config, config.tuning
        self._line = line or SerialPort(str(settings.link_device), config.tuning.baud)
        self._session = Session(config.tuning)
        self._dead_reckoning = telemetry.DeadReckoning(config)
        self._attitude = telemetry.Attitude(config)
        self._joints = telemetry.Joints(config)
        self._charge = telemetry.Charge(config)
        self._next_open = self._next_ask = self._next_state = -math.inf
        self._latched: bool | None = None
        self._permitted = self._escape = False
        self._trouble = "it was never armed since this driver started"
        self._velocity: _Velocity | None = None
        self._targets: dict[str, float] = {}
        self._boot: int | None = None

    @property
    def session(self) -> Session:
        """The conversation with the brainstem."""
        return self._session

    def step(self, now: float, inbox: Inbox) -> list[Sent]:
        """Talks with the brainstem; returns what its sensors said since the last step."""
        self._follow_stop(inbox)
        self._listen(now, inbox)
        self._keep_open(now)
        received = self._line.read()
        if not self._line.is_open and self._session.phase is not Phase.CLOSED:
            self._close()
        else:
            sent = self._session.step(now, received, self._wish(now))
            self._line.write(sent)
            if not self._line.is_open:
                self._close()
        out = self._told(now)
        out += self._judge(now)
        return out

    # --- the stop --------------------------------------------------------------------------------

    def _follow_stop(self, inbox: Inbox) -> None:
        for state in inbox.new(t.STOP_STATE):
            if self._latched and not state.latched:
                self._permitted, self._escape = True, False
            elif state.latched:
                self._permitted = False
            self._latched = state.latched

    def _judge(self, now: float) -> list[Sent]:
        """Latches the stop when the body isn't armed though nothing holds it; asks again until that is heard."""
        session = self._session
        ended = session.lost or session.refused
        if session.lost and self._bare_contact():
            self._permitted, self._escape = False, True  # for one step, see _wish
            self._forget_commands()
            return []
        if ended:
            self._trouble = ended
            self._permitted = False
            self._forget_commands()
        if self._escape and not self._permitted and self._latched is False:
            self._permitted = True
        if self._permitted or self._latched is not False or now < self._next_ask:
            return []
        self._next_ask = now + _ASK_AGAIN_S
        return [t.STOP_REQUEST.of(StopRequest(header=Header.at(now), stop=True, source=f"body: {self._trouble}"))]

    def _bare_contact(self) -> bool:
        status = self._session.status
        faults = status.faults if status is not None and self._line.is_open else 0
        return bool(faults) and not faults & ~_CONTACT and self._permitted

    def _forget_commands(self) -> None:
        self._velocity = None
        self._targets.clear()

    # --- commands --------------------------------------------------------------------------------

    def _listen(self, now: float, inbox: Inbox) -> None:
        for twist in inbox.new(t.CMD_VEL):
            linear, angular = twist.twist.linear.x, twist.twist.angular.z
            if math.isfinite(linear) and math.isfinite(angular):
                self._velocity = _Velocity(linear, angular, now)
        for trajectory in inbox.new(t.ARM_COMMAND):
            if not trajectory.points or not self._session.armed:
                continue
            goal = zip(trajectory.joint_names, map(float, trajectory.points[-1].positions), strict=False)
            wanted = {name: angle for name, angle in goal if name in self._joints.names and math.isfinite(angle)}
            if wanted:
                self._targets |= wanted
                self._session.joints_changed()

    def _wish(self, now: float) -> Wish:
        velocity = self._velocity
        if velocity is None or now - velocity.stamp_s > self._tuning.command_timeout_s:
            # Silence is passed on as a standstill: the line stays alive, and nothing old is driven.
            linear = angular = 0.0
        else:
            linear, angular = velocity.linear_mps, velocity.angular_radps
        joints, here = None, self._joints.positions
        if self._targets and here is not None:
            for name, angle in zip(self._joints.names, here, strict=True):
                self._targets.setdefault(name, angle)
            joints = [self._targets[name] for name in self._joints.names]
        return Wish(self._permitted, self._escape, linear, angular, joints)

    # --- the line --------------------------------------------------------------------------------

    def _keep_open(self, now: float) -> None:
        if self._line.is_open or now < self._next_open:
            return
        self._next_open = now + self._tuning.reopen_s
        if self._line.open():
            self._session.opened(now)
            self._dead_reckoning.restart()

    def _close(self) -> None:
        self._session.readings = []
        self._session.closed(f"the cable or the device is gone ({self._line.trouble})")
        self._dead_reckoning.restart()

    def _told(self, now: float) -> list[Sent]:
        session, out = self._session, []
        if session.boot != self._boot:
            self._boot = session.boot
            self._dead_reckoning.restart()
        # Of several readings of a kind the newest is told, and odometry adds up all.
        newest: dict[type[link.Message], link.Message] = {}
        for reading in session.readings:
            newest[type(reading)] = reading
            if isinstance(reading, link.Odometry):
                self._dead_reckoning.update(reading)
                self._joints.wheels(reading)
        for reading in newest.values():
            out += self._one(now, reading)
        if session.lost or session.refused or now >= self._next_state:
            self._next_state = now + _STATE_PERIOD_S
            out.append(t.LINK_STATE.of(self._state(now)))
        return out

    def _one(self, now: float, reading: link.Message) -> list[Sent]:
        match reading:
            case link.Odometry():
                return [t.ODOM.of(self._dead_reckoning.message(now))]
            case link.Imu():
                self._dead_reckoning.turning(reading.gyro_mradps[2] / 1000.0)
                return [t.IMU.of(self._attitude.message(now, reading))]
            case link.Contacts():
                there = telemetry.bumpers(now, reading)
                return [t.BUMPERS.of(there), t.CLIFFS.of(telemetry.cliffs(now, reading, self._config))]
            case link.JointStates():
                self._joints.arm(reading)
                joints = self._joints.message(now)
                return [] if joints is None else [t.JOINT_STATES.of(joints)]
            case link.Power():
                self._joints.power(reading)
                self._charge.update(reading)
                battery = self._charge.message(now)
                return [] if battery is None else [t.BATTERY.of(battery)]
            case _:
                return []

    def _state(self, now: float) -> LinkState:
        session, quality = self._session, self._session.quality
        status = session.status
        return LinkState(
            header=Header.at(now),
            phase=session.phase.value,
            trouble="" if session.armed else self._trouble if self._line.is_open else self._line.trouble,
            faults=[] if status is None else _words(status.faults),
            round_trip_s=quality.round_trip_s,
            heard_share=quality.heard_share,
            frames_sent=quality.sent,
            frames_received=quality.received,
            frames_lost=quality.lost,
            frames_bad=quality.bad,
        )

    def why(self) -> str:
        """One sentence: how the link is, and what holds the body still."""
        if not self._line.is_open:
            return f"no line to the brainstem: {self._line.trouble}"
        if self._session.armed:
            return f"the brainstem is armed and obeys ({self._quality()})"
        return f"the brainstem is not armed: {self._trouble} ({self._quality()}); a reset of the stop arms it"

    def _quality(self) -> str:
        quality = self._session.quality
        heard = "" if math.isnan(quality.heard_share) else f", {quality.heard_share:.0%} heard"
        return f"{self._session.phase.value}{heard}, {quality.lost} frames lost, {quality.bad} spoiled"


def _words(faults: int) -> list[str]:
    return [str(bit.name).lower() for bit in link.Fault if faults & bit]
