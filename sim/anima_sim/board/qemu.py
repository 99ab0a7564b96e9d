"""The Cortex-M image in QEMU, in real time: one socket is the host's line, one the plant that stands for its pins."""

from __future__ import annotations

import contextlib
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
_PLANT = struct.Struct("<B4H3h3h2i2hhHh6h")
_MOTORS = struct.Struct("<BBhh6hB")
_PLANT_MARK, _MOTORS_MARK = 0xA5, 0x5A
_NOTHING_SEEN = 0xFFFF


@dataclass(frozen=True)
class Motors:
    """What the board last told its motors."""

    on: bool
    servos_on: bool
    duty_permille: tuple[int, int]


class QemuBoard:
    """An emulated LM3S6965. `exchange` reads both lines: one that nobody reads would freeze the processor."""

    def __init__(self, image: Path = IMAGE) -> None:
        """Raises `BoardError` when QEMU or the image isn't there."""
        if not image.exists() or shutil.which("qemu-system-arm") is None:
            raise BoardError(f"{image} or qemu-system-arm is not there; build and install with: make firmware")
        self._folder = tempfile.mkdtemp(prefix="anima-qemu-")
        serials = []
        for name in ("host", "plant"):
            serials += ["-serial", f"unix:{self._folder}/{name},server=on,wait=off"]
        self._child = subprocess.Popen(
            ["qemu-system-arm", "-M", "lm3s6965evb", "-kernel", str(image), "-display", "none", "-monitor", "none",
             *serials], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._host, self._plant = self._connect("host"), self._connect("plant")
        self._from_plant = b""
        self.motors: Motors | None = None

    def close(self) -> None:
        """End QEMU."""
        self._child.kill()
        self._child.wait()
        for line in (self._host, self._plant):
            line.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _connect(self, name: str) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        until = time.monotonic() + 10.0
        while True:
            try:
                line.connect(f"{self._folder}/{name}")
            except OSError as error:
                if time.monotonic() > until:
                    self._child.kill()
                    raise BoardError(f"QEMU doesn't open its line {name}") from error
                time.sleep(0.02)
            else:
                line.setblocking(False)
                return line

    def exchange(self, to_board: bytes, around: Surroundings | None = None) -> bytes:
        """Send bytes and surroundings; returns what came for the host since."""
        if to_board:
            self._host.sendall(to_board)
        if around is not None:
            self._plant.sendall(_packed(around))
        self._from_plant += _all(self._plant)
        self._read_motors()
        return _all(self._host)

    def _read_motors(self) -> None:
        while len(self._from_plant) >= _MOTORS.size:
            mark, on, left, right, *_ = _MOTORS.unpack_from(self._from_plant)
            if mark == _MOTORS_MARK and sum(self._from_plant[1 : _MOTORS.size]) % 256 == 0:
                self.motors = Motors(bool(on & 1), bool(on & 2), (left, right))
                self._from_plant = self._from_plant[_MOTORS.size :]
            else:
                self._from_plant = self._from_plant[1:]


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
