"""The Cortex-M image in QEMU: one socket is the host's line, one the plant that stands for its pins.

The board's time is counted in instructions, and it stands still while nobody takes what it tells its motors: so whoever
steps it owns its time, however fast this machine is.
"""

from __future__ import annotations

import contextlib
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from anima_sim.board.avr import FIRMWARE, BoardError
from anima_sim.board.mega import Surroundings

IMAGE = FIRMWARE / "build" / "lm3s6965.elf"
LONGEST_STEP_S = 0.02
"""The board tells its motors what to do at least this often, in its own seconds."""

_PLANT = struct.Struct("<B4H3h3h2i2hhHh6h")
_MOTORS = struct.Struct("<BBhh6hB")
_PLANT_MARK, _MOTORS_MARK = 0xA5, 0x5A
_NOTHING_SEEN = 0xFFFF
# 8 ns an instruction, slower than any machine emulates them: what the lines bring is taken in meanwhile.
_COUNTED = "shift=3,align=off,sleep=on"
_FEW_BYTES = 1           # of unread output: the kernel makes it the least that a socket can have
_SLEEPS, _AWAKE = bytes.fromhex("bff34f8f30bf"), bytes.fromhex("bff34f8f00bf")
_PATIENCE_S = 60.0       # of the wall clock, for the emulator to answer: else it has died


@dataclass(frozen=True)
class Motors:
    """What the board last told its motors."""

    on: bool
    servos_on: bool
    duty_permille: tuple[int, int]


class QemuBoard:
    """An emulated LM3S6965 that runs from one word to its motors to the next. Call `close` in the end."""

    def __init__(self, image: Path = IMAGE) -> None:
        """Raises `BoardError` when QEMU or the image isn't there."""
        if not image.exists() or shutil.which("qemu-system-arm") is None:
            raise BoardError(f"{image} or qemu-system-arm is not there; build and install with: make firmware")
        self._folder = tempfile.mkdtemp(prefix="anima-qemu-")
        awake = Path(self._folder) / image.name
        awake.write_bytes(_kept_awake(image))
        (self._host, hosts), (self._plant, plants) = socket.socketpair(), socket.socketpair()
        plants.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _FEW_BYTES)
        lines = []
        for name, line in (("host", hosts), ("plant", plants)):
            lines += ["-chardev", f"socket,id={name},fd={line.fileno()}", "-serial", f"chardev:{name}"]
        self._child = subprocess.Popen(
            ["qemu-system-arm", "-M", "lm3s6965evb", "-kernel", str(awake), "-display", "none", "-monitor", "none",
             "-icount", _COUNTED, *lines],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(hosts.fileno(), plants.fileno()),
        )
        hosts.close()
        plants.close()
        self._host.setblocking(False)
        self._plant.setblocking(False)
        self._from_plant = b""
        self.motors: Motors | None = None

    def close(self) -> None:
        """End QEMU."""
        self._child.kill()
        self._child.wait()
        for line in (self._host, self._plant):
            line.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def step(self, to_board: bytes = b"", around: Surroundings | None = None) -> bytes:
        """Give it bytes from the host and what is around, and let it run until it next tells its motors what to do.

        That is after `LONGEST_STEP_S` of its time, or as soon as it switches them. Returns what came for the host.
        """
        if to_board:
            self._host.sendall(to_board)
        if around is not None:
            self._plant.sendall(_packed(around))
        until, to_host = time.monotonic() + _PATIENCE_S, b""
        while not self._told_motors():
            left_s = until - time.monotonic()
            ready, _, _ = select.select([self._host, self._plant], [], [], max(left_s, 0.0))
            if not ready or self._child.poll() is not None:
                raise BoardError("QEMU has died, or its board says nothing more")
            to_host += _all(self._host)
            with contextlib.suppress(BlockingIOError):
                self._from_plant += self._plant.recv(_MOTORS.size - len(self._from_plant))
        return to_host + _all(self._host)

    def _told_motors(self) -> bool:
        while len(self._from_plant) >= _MOTORS.size:
            mark, on, left, right, *_ = _MOTORS.unpack_from(self._from_plant)
            if mark == _MOTORS_MARK and sum(self._from_plant[1 : _MOTORS.size]) % 256 == 0:
                self.motors = Motors(bool(on & 1), bool(on & 2), (left, right))
                self._from_plant = self._from_plant[_MOTORS.size :]
                return True
            self._from_plant = self._from_plant[1:]
        return False


def _kept_awake(image: Path) -> bytes:
    """The image with a processor that waits for interrupts by doing nothing, as its manual allows.

    While it sleeps, the emulator would take its time from the clock on the wall.
    """
    data = image.read_bytes()
    if data.count(_SLEEPS) != 1:
        raise BoardError(f"{image} sleeps in {data.count(_SLEEPS)} places, not in port_idle alone")
    return data.replace(_SLEEPS, _AWAKE)


def _packed(around: Surroundings) -> bytes:
    switches = int(around.estop) | int(around.bumpers[0]) << 1 | int(around.bumpers[1]) << 2
    body = _PLANT.pack(
        switches,
        *(min(round(1000 * c), _NOTHING_SEEN) if c < 60.0 else _NOTHING_SEEN for c in around.cliffs_m),
        *(round(a / 9.80665 * 1000) for a in around.acceleration_mps2),
        *(round(1000 * w) for w in around.turning_radps),
        *around.wheel_counts,
        *(round(1000 * a) for a in around.wheel_a),
        round(1000 * around.arm_a),
        round(1000 * around.battery_v),
        round(1000 * around.battery_a),
        *(round(1000 * q) for q in around.joints_rad),
    )
    return bytes((_PLANT_MARK,)) + body + bytes((-sum(body) % 256,))


def _all(line: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(BlockingIOError):
        while part := line.recv(65536):
            data += part
    return data
