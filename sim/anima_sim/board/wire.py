"""The wire between board and host: it passes bytes on, and can be told to spoil, lose, double or stop them."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import tty
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Noise:
    """Shares of the bytes, each 0 to 1: with a flipped bit, lost, doubled."""

    flipped: float = 0.0
    dropped: float = 0.0
    doubled: float = 0.0


class Wire:
    """One direction of a serial line. The same seed spoils the same bytes."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self.noise = Noise()
        self.cut = False
        """nothing gets through"""
        self.flood = b""
        """put in front of everything that is carried next, once"""

    def carry(self, data: bytes) -> bytes:
        """What comes out at the other end of what goes in."""
        data, self.flood = self.flood + data, b""
        if self.cut:
            return b""
        noise, chance = self.noise, self._random.random
        if noise == Noise():
            return data
        out = bytearray()
        for byte in data:
            if chance() < noise.dropped:
                continue
            if chance() < noise.flipped:
                byte ^= 1 << self._random.randrange(8)
            out.append(byte)
            if chance() < noise.doubled:
                out.append(byte)
        return bytes(out)


class Socket:
    """The host's end of the line: a pseudo terminal under a name that stays, as a device file does.

    What nobody reads is lost after a while, as on a real line; it never stops the board.
    """

    def __init__(self, name: Path) -> None:
        self._name = name
        self._board_side = self._host_side = -1
        self.lost = 0
        """bytes that nobody read"""
        self.plug()

    @property
    def plugged(self) -> bool:
        """Whether the cable is in."""
        return self._board_side >= 0

    def plug(self) -> None:
        """Put the cable in: the device appears."""
        if self.plugged:
            return
        self._board_side, self._host_side = os.openpty()
        tty.setraw(self._host_side)
        os.set_blocking(self._board_side, False)
        # The host's side stays open here, so that a host that closes it doesn't end the line.
        self._name.parent.mkdir(parents=True, exist_ok=True)
        new = self._name.with_suffix(".new")
        new.unlink(missing_ok=True)
        new.symlink_to(os.ttyname(self._host_side))
        new.replace(self._name)

    def pull(self) -> None:
        """Pull the cable: the device vanishes, and whoever holds it open gets an error."""
        if not self.plugged:
            return
        self._name.unlink(missing_ok=True)
        os.close(self._host_side)
        os.close(self._board_side)
        self._board_side = self._host_side = -1

    def read(self) -> bytes:
        """What the host has written since."""
        if not self.plugged:
            return b""
        try:
            return os.read(self._board_side, 16384)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EIO):
                return b""
            raise

    def write(self, data: bytes) -> None:
        """Send to the host; what finds no room is lost."""
        if not (self.plugged and data):
            self.lost += len(data)
            return
        sent = 0
        with contextlib.suppress(BlockingIOError):
            sent = os.write(self._board_side, data)
        self.lost += len(data) - sent
