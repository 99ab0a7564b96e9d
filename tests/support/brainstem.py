"""The firmware's core on the host: the very C code, as a shared library, with numbers in and out."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from anima.body.link.codec import Decoder, Frame, encode
from anima.body.link.messages import Arm, Clear, Drive, Hello, HelloAck, Message, Result, State
from anima.config import ROOT

FIRMWARE = ROOT / "firmware"


@dataclass
class Inputs:
    """What the robot senses; as it is a calm robot stands on a level floor."""

    estop: int = 0
    bumpers: int = 0
    cliff_mm: tuple[int, ...] = (115, 115, 115, 115)
    accel_mg: tuple[int, ...] = (0, 0, 1000)
    gyro_mradps: tuple[int, ...] = (0, 0, 0)
    wheel_count: tuple[int, ...] = (0, 0)
    wheel_ma: tuple[int, ...] = (0, 0)
    arm_ma: int = 0
    battery_mv: int = 12000
    battery_ma: int = 800
    joint_mrad: tuple[int, ...] = (0, 0, 0, 0, 0, 0)
    joint_load_mnm: tuple[int, ...] = (0, 0, 0, 0, 0, 0)

    def flat(self) -> list[int]:
        """All numbers in the order of port_input_t."""
        out: list[int] = []
        for value in vars(self).values():
            out.extend(value if isinstance(value, tuple) else (int(value),))
        return out


@dataclass(frozen=True)
class Outputs:
    """What the robot is driven with."""

    motors_on: bool
    duty_permille: tuple[int, int]
    wheel_mmps: tuple[int, int]
    servos_on: bool
    joint_mrad: tuple[int, ...]

    @property
    def all_off(self) -> bool:
        return not self.motors_on and self.duty_permille == (0, 0) and self.wheel_mmps == (0, 0)


@dataclass(frozen=True)
class Peek:
    """The core's inside."""

    state: int
    faults: int
    live: int
    escape_from: int
    linear_umps: int
    angular_uradps: int
    challenge: int
    challenge_ms: int
    session: int
    stale: int
    unknown: int
    good: int
    bad_crc: int
    bad_frame: int
    tx_lost: int
    gravity_q8: tuple[int, int, int]


@functools.cache
def library() -> ctypes.CDLL:
    """The core, built when it is older than its source. BRAINSTEM_LIBRARY names another build of it."""
    named = os.environ.get("BRAINSTEM_LIBRARY")
    path = Path(named) if named else FIRMWARE / "build" / "libbrainstem.so"
    if not named:
        subprocess.run(["make", "--no-print-directory", "-s", "-C", str(FIRMWARE), "native"], check=True)
    core = ctypes.CDLL(str(path))
    core.native_new.restype = ctypes.c_void_p
    core.native_new.argtypes = [ctypes.c_uint16, ctypes.c_uint8]
    core.native_delete.argtypes = [ctypes.c_void_p]
    core.native_receive.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32]
    core.native_transmit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8]
    core.native_transmit.restype = ctypes.c_uint8
    core.native_step.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_void_p
    ]
    core.native_peek.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    core.native_damage_state.argtypes = [ctypes.c_void_p, ctypes.c_uint8]
    core.native_encode.argtypes = [ctypes.c_uint8, ctypes.c_uint8, ctypes.c_char_p, ctypes.c_uint8, ctypes.c_void_p]
    core.native_encode.restype = ctypes.c_uint32
    return core


@dataclass
class Brainstem:
    """One running core: `tick` is a millisecond."""

    boot: int = 1
    reset: int = 1
    inputs: Inputs = field(default_factory=Inputs)
    lively: bool = True
    """the inertial sensor's last digit moves, as a living one's does"""
    listening: bool = True
    """what it says is taken off it after every tick"""

    def __post_init__(self) -> None:
        self._core = library()
        self._self = ctypes.c_void_p(self._core.native_new(self.boot, self.reset))
        self._decoder = Decoder()
        self._seq = 0
        self._tick = 0
        self._heard: list[Frame] = []
        self.sent: list[Frame] = []
        """what the firmware said so far"""

    def close(self) -> None:
        self._core.native_delete(self._self)

    def tick(self, count: int = 1, late_ms: int = 0, rx_lost: int = 0) -> Outputs:
        """`count` milliseconds with the present inputs; the last one's outputs."""
        raw = (ctypes.c_int32 * 12)()
        for _ in range(count):
            self._tick += 1
            inputs = self.inputs
            if self.lively:
                x, y, z = inputs.accel_mg
                inputs = replace(inputs, accel_mg=(x + self._tick % 2, y, z))
            values = inputs.flat()
            numbers = (ctypes.c_int32 * len(values))(*values)
            self._core.native_step(self._self, numbers, late_ms, rx_lost, raw)
            if self.listening:
                self._take(255)
        return outputs_of(list(raw))

    def hear(self, data: bytes) -> None:
        """Bytes arrive."""
        self._core.native_receive(self._self, data, len(data))

    def say(self, message: Message, seq: int | None = None) -> int:
        """A message arrives, with the next sequence number or `seq`; returns which it was."""
        if seq is None:
            self._seq = (self._seq + 1) & 0xFF
            seq = self._seq
        self.hear(encode(message, seq))
        return seq

    def _take(self, room: int) -> None:
        buffer = ctypes.create_string_buffer(256)
        while count := self._core.native_transmit(self._self, buffer, room):
            self._heard += self._decoder.feed(buffer.raw[:count])

    def listen(self, room: int = 255) -> list[Frame]:
        """What the firmware has said since the last call, taken off it `room` bytes at a time."""
        self._take(room)
        frames, self._heard = self._heard, []
        self.sent += frames
        return frames

    def heard(self, kind: type[Message]) -> Message:
        """The last message of `kind` in what `listen` returns now."""
        return [frame.message for frame in self.listen() if isinstance(frame.message, kind)][-1]

    def peek(self) -> Peek:
        raw = (ctypes.c_int32 * 18)()
        self._core.native_peek(self._self, raw)
        return Peek(*raw[:15], tuple(raw[15:]))  # type: ignore[arg-type]

    @property
    def state(self) -> State:
        return State(self.peek().state)

    def damage_state(self, state: int) -> None:
        self._core.native_damage_state(self._self, state)

    # What a host does, in its own order.

    def challenge(self) -> int:
        """A handshake; the challenge to echo."""
        self.listen()
        self.say(Hello(nonce=0xC0FFEE, schema=0))
        ack = self.heard(HelloAck)
        assert isinstance(ack, HelloAck)
        assert ack.nonce == 0xC0FFEE
        return ack.challenge

    def request(self, kind: type[Arm] | type[Clear], flags: int = 0) -> Result:
        """Asks to arm or to clear, with a fresh challenge, and ticks once."""
        challenge = self.challenge()
        self.say(kind(challenge=challenge, flags=flags))
        self.tick()
        result = self.heard(Result)
        assert isinstance(result, Result)
        return result

    def armed(self) -> Brainstem:
        """The same, armed."""
        self.tick(30)
        result = self.request(Arm)
        assert result.state == State.ARMED, result
        return self

    def drive(self, linear_mmps: int, angular_mradps: int = 0, ms: int = 1) -> Outputs:
        """Drives for `ms` milliseconds as a live host does: a command every 20 ms. The last outputs."""
        out = None
        for at in range(ms):
            if at % 20 == 0:
                self.say(Drive(self.peek().session, linear_mmps, angular_mradps))
            out = self.tick()
            self.roll(out)
        assert out is not None
        return out

    def roll(self, out: Outputs, share: float = 1.0) -> None:
        """The encoders follow the wheels for a millisecond; a `share` of 0 is a stuck wheel."""
        self._rolled: list[float] = getattr(self, "_rolled", [0.0, 0.0])
        for side in range(2):
            self._rolled[side] += share * out.wheel_mmps[side] / 1000 / 0.12272
        self.inputs.wheel_count = (int(self._rolled[0]), int(self._rolled[1]))


def outputs_of(raw: Sequence[int]) -> Outputs:
    """port_output_t from its numbers."""
    return Outputs(bool(raw[0]), (raw[1], raw[2]), (raw[3], raw[4]), bool(raw[5]), tuple(raw[6:]))
