"""An Arduino Mega in simavr, stepped from outside (firmware/host/avr_board.c): whoever steps it owns its time."""

from __future__ import annotations

import ctypes
import signal
import struct
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

from anima.config import ROOT
from anima_sim.errors import SimulationError

HERTZ = 16_000_000
FIRMWARE = ROOT / "firmware"
IMAGE = FIRMWARE / "build" / "mega2560.elf"
RUNNER = FIRMWARE / "build" / "avr_board"

_IO_BYTES = 280
_MOST_EVENTS, _MOST_BYTES = 4096, 16384
_REQUEST = struct.Struct("<IHH")
_EVENT = struct.Struct("<IBBH")
_ANSWER = struct.Struct(f"<QIIHHHB{_IO_BYTES}s")
_EDGE = struct.Struct("<IBBH")
_PR_SET_PDEATHSIG = 1


class BoardError(SimulationError):
    """The emulated board can't be started or has died; the message says what to do."""


class Kind(IntEnum):
    """What changes at the board's connectors."""

    PIN = 0
    ADC = 1
    """millivolts at an analogue input"""
    IMU = 2
    """a register of the inertial sensor"""
    POWER = 3
    """0 off, 1 on, 2 back on after the supply sagged"""
    IMU_ON_BUS = 4
    HANG = 5
    """the processor loops where it stands until it is reset"""


@dataclass(frozen=True)
class Change:
    """A change at the board's connectors, `at` cycles after the step's begin."""

    kind: Kind
    index: int
    value: int
    at: int = 0


@dataclass(frozen=True)
class Edge:
    """An output pin changed its level, at a cycle since the start; pins count 8 to a port, from port A."""

    cycle: int
    pin: int
    level: bool

    @property
    def time_s(self) -> float:
        """Seconds of the board's time since its start."""
        return self.cycle / HERTZ


@dataclass(frozen=True)
class Step:
    """What the board did in a step: cycles since its start, idle ones in the step, registers, bytes, pins' edges."""

    cycle: int = 0
    asleep_cycles: int = 0
    resets: int = 0
    unused_ram_bytes: int = 0
    """RAM that was never written since power came on"""
    powered: bool = True
    io: bytes = bytes(_IO_BYTES)
    edges: list[Edge] = field(default_factory=list)
    sent: bytes = b""


def pin(name: str) -> int:
    """The number of a pin, e.g. ``PA2`` or ``PL0``."""
    return 8 * (ord(name[1]) - ord("A")) + int(name[2])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class AvrBoard:
    """The board as a child process. Use as a context manager, or call `close`."""

    def __init__(self, image: Path = IMAGE, runner: Path = RUNNER) -> None:
        """Raises `BoardError` when image or runner aren't built."""
        for file in (image, runner):
            if not file.exists():
                raise BoardError(f"{file} is not there; build it with: make firmware")
        self._child = subprocess.Popen(
            [str(runner), str(image)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            preexec_fn=_die_with_parent,
        )
        self.last = Step()

    def __enter__(self) -> AvrBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the emulator."""
        self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def pid(self) -> int:
        """The emulator's process."""
        return self._child.pid

    @property
    def time_s(self) -> float:
        """Seconds of the board's time since its start."""
        return self.last.cycle / HERTZ

    def step(self, duration_s: float, changes: Iterable[Change] = (), received: bytes = b"") -> Step:
        """Run for `duration_s` with changes at the connectors and bytes from the host. Raises `BoardError`."""
        cycles = round((self.time_s + duration_s) * HERTZ) - self.last.cycle
        events = sorted(changes, key=lambda change: change.at)
        if len(events) > _MOST_EVENTS or len(received) > _MOST_BYTES:
            raise BoardError(f"{len(events)} changes and {len(received)} bytes are too many for one step")
        request = [_REQUEST.pack(max(cycles, 0), len(events), len(received))]
        request += [_EVENT.pack(e.at, e.kind, e.index, e.value & 0xFFFF) for e in events]
        self._write(b"".join([*request, received]))
        cycle, asleep, resets, n_edges, n_sent, unused, powered, io = _ANSWER.unpack(self._read(_ANSWER.size))
        began = self.last.cycle
        edges = [
            Edge(began + at, number, bool(level)) for at, number, level, _ in _EDGE.iter_unpack(
                self._read(n_edges * _EDGE.size)
            )
        ]
        self.last = Step(cycle, asleep, resets, unused, bool(powered), io, edges, self._read(n_sent))
        return self.last

    def _write(self, data: bytes) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(data)
        except OSError as error:
            raise BoardError(f"the emulated board ended with {self._child.wait()}") from error

    def _read(self, size: int) -> bytes:
        assert self._child.stdout is not None
        data = b""
        while len(data) < size:
            part = self._child.stdout.read(size - len(data))
            if not part:
                raise BoardError(f"the emulated board ended with {self._child.wait()}")
            data += part
        return data
