"""The base of every value that crosses a topic, and the time and header that they share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

NANOSECONDS = 1_000_000_000

Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Int8s = NDArray[np.int8]


class Msg(BaseModel):
    """A value with the field names of the ROS interface named by `ros`, e.g. ``sensor_msgs/msg/LaserScan``.

    Values are immutable: a change is `model_copy(update=...)`. Sequences of numbers are numpy arrays.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    ros: ClassVar[str]


class Time(Msg):
    """A point in ROS time."""

    ros: ClassVar[str] = "builtin_interfaces/msg/Time"
    sec: int
    nanosec: int

    @classmethod
    def at(cls, seconds: float) -> Time:
        """The time `seconds` after the epoch of the clock in use."""
        total = round(seconds * NANOSECONDS)
        return cls(sec=total // NANOSECONDS, nanosec=total % NANOSECONDS)

    @property
    def seconds(self) -> float:
        """Seconds after the epoch of the clock in use."""
        return self.sec + self.nanosec / NANOSECONDS


class Duration(Msg):
    """A span of time."""

    ros: ClassVar[str] = "builtin_interfaces/msg/Duration"
    sec: int
    nanosec: int

    @classmethod
    def of(cls, seconds: float) -> Duration:
        """The span of `seconds`."""
        total = round(seconds * NANOSECONDS)
        return cls(sec=total // NANOSECONDS, nanosec=total % NANOSECONDS)

    @property
    def seconds(self) -> float:
        """The span in seconds."""
        return self.sec + self.nanosec / NANOSECONDS


class Header(Msg):
    """When and in which frame a value holds."""

    ros: ClassVar[str] = "std_msgs/msg/Header"
    stamp: Time
    frame_id: str = ""

    @classmethod
    def at(cls, seconds: float, frame_id: str = "") -> Header:
        """A header stamped `seconds` after the epoch."""
        return cls(stamp=Time.at(seconds), frame_id=frame_id)
