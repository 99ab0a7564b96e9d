"""The serial device: opened when it is there, closed at the first error, never waited for."""

from __future__ import annotations

import contextlib
import os
from typing import Protocol

import serial

_MOST_BYTES = 4096


class Line(Protocol):
    """What the driver needs of a serial line."""

    def open(self) -> bool:
        """Try to open it; False, with the reason in `trouble`, when it can't be."""
        ...

    def read(self) -> bytes:
        """What has arrived; an error closes the line."""
        ...

    def write(self, data: bytes) -> None:
        """Send, or drop what finds no room: nothing old is sent later."""
        ...

    def close(self) -> None:
        """Close it."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether it can be read and written."""
        ...

    @property
    def trouble(self) -> str:
        """Why it was closed or can't be opened."""
        ...


class SerialPort:
    """A serial device by name, for this program alone."""

    def __init__(self, device: str, baud: int) -> None:
        self.device = device
        self._baud = baud
        self._port: serial.Serial | None = None
        self._trouble = "not opened yet"

    @property
    def is_open(self) -> bool:
        """Whether it can be read and written."""
        return self._port is not None

    @property
    def trouble(self) -> str:
        """Why it was closed or can't be opened."""
        return self._trouble

    def open(self) -> bool:
        """Try to open the device."""
        try:
            self._port = serial.Serial(self.device, self._baud, timeout=0, write_timeout=0, exclusive=True)
            # What came before belongs to somebody else's conversation.
            self._port.reset_input_buffer()
        except (OSError, serial.SerialException) as error:
            self.close()
            self._trouble = f"{self.device}: {_reason(error)}"
            return False
        return True

    def read(self) -> bytes:
        """What has arrived."""
        if self._port is None:
            return b""
        try:
            # A device that vanished still says that nothing waits; only reading tells.
            data = os.read(self._port.fileno(), _MOST_BYTES)
        except BlockingIOError:
            return b""
        except (OSError, serial.SerialException) as error:
            self._fail(error)
            return b""
        if not data and not os.path.exists(self.device):
            self._fail(OSError("the device is gone"))
        return data

    def write(self, data: bytes) -> None:
        """Send, or drop what finds no room."""
        if self._port is None or not data:
            return
        try:
            self._port.write(data)
        except serial.SerialTimeoutException:
            return
        except (OSError, serial.SerialException) as error:
            self._fail(error)

    def close(self) -> None:
        """Close the device."""
        if self._port is not None:
            with contextlib.suppress(OSError, serial.SerialException):
                self._port.close()
            self._port = None

    def _fail(self, error: Exception) -> None:
        self.close()
        self._trouble = f"{self.device}: {_reason(error)}"


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) else str(error)
